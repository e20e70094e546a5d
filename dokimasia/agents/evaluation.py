"""The roles of an evaluation: a judge solves, compares answers, draws criteria and scores (ATOM, sections 3.1 and 3.3)."""

from collections.abc import Iterator, Sequence
from functools import partial

import orjson

from dokimasia.agents import schemas
from dokimasia.agents.answers import answer_inputs, image_if, shown_as
from dokimasia.agents.asking import Ask
from dokimasia.domain.criterion import CriteriaCheck, CriteriaSet, Criterion, ReferenceChain
from dokimasia.domain.judgement import CriterionScore
from dokimasia.domain.options import scoring_prompt
from dokimasia.domain.sample import Sample
from dokimasia.parsing.chains import parse_chain
from dokimasia.parsing.criteria import parse_criteria
from dokimasia.parsing.criteria_check import parse_criteria_check
from dokimasia.parsing.criterion_scores import parse_criterion_scores, parse_reasoned_scores
from dokimasia.parsing.verdicts import parse_equivalence
from dokimasia.prompts import choices_text, lines_text

PLACEHOLDER_CHAIN = ReferenceChain(reasoning="(the judge's reasoning stands here)", answer="(its final answer)")
PLACEHOLDER_CRITERIA = CriteriaSet(
    criteria=(Criterion(question="(the judge's question)", ground_truth="(what it holds to be true)", weight=10),)
)
"""What stands in the preview of a prompt for text that the judge writes."""


def question_inputs(sample: Sample) -> dict[str, str]:
    """Return the inputs shared by every prompt about a sample: the question and, if there are any, its options."""
    inputs = {"question": sample.prompt}
    if sample.choices:
        inputs["choices"] = choices_text(sample.choices)
    return inputs


def chain_text(chain: ReferenceChain) -> str:
    """Return a chain as a judge sees it: its reasoning, then its final answer on a separate line."""
    return f"{chain.reasoning}\n\nFinal answer: {chain.answer}"


def criteria_text(criteria: CriteriaSet, paths: Sequence[str] = ()) -> str:
    """Return the criteria as the judge sees them: a JSON array with one object per line, numbered from 1.

    `paths` are their capabilities' paths in a tree, in order, if there is one; an empty path is not shown.
    """
    path_of = dict(enumerate(paths, start=1))
    return lines_text(
        {
            "n": number,
            "question": criterion.question,
            "ground_truth": criterion.ground_truth,
            "weight": criterion.weight,
            **({"capability": path} if (path := path_of.get(number)) else {}),
        }
        for number, criterion in enumerate(criteria.criteria, start=1)
    )


def write_chain(sample: Sample) -> Ask[ReferenceChain]:
    """Ask the solver for a sample's reference chain; it sees image, question and the reference answer, if any."""
    inputs = question_inputs(sample)
    shown = ["image", "question"] if sample.images else ["question"]
    if sample.reference_text is not None:
        inputs["reference_answer"] = sample.reference_text
        shown.append("reference_answer")
    return Ask("solver", inputs, shown, parse_chain, images=sample.images, tools=True)


def judge_equivalence(sample: Sample, answer: str, *, repeat: int = 0) -> Ask[bool]:
    """Ask a judge whether an answer is equivalent to one of the sample's reference answers.

    Raises:
        ValueError: the sample has no reference answer.
    """
    if sample.reference_text is None:
        raise ValueError(f"sample {sample.id} has no reference answer to compare with")
    return Ask(
        "equivalence",
        {**question_inputs(sample), **answer_inputs("answer", answer), "reference_answer": sample.reference_text},
        shown=("question", shown_as("answer", answer), "reference_answer"),
        parse=parse_equivalence,
        structured=schemas.equivalence(),
        repeat=repeat,
    )


def extract_criteria(sample: Sample, chain: ReferenceChain, *, count: str | None = None) -> Ask[Sequence[Criterion]]:
    """Ask the extractor for atomic criteria of a chain (equation 1); it sees image, question and chain.

    It does not see the reference answer. The caller checks the criteria against the rules. `count` is the requested
    number, in words; without it, the request is the paper's: three to five criteria, about another solution.
    """
    inputs = {**question_inputs(sample), "chain": chain_text(chain)}
    return Ask(
        "criteria_published" if count is None else "criteria",
        inputs if count is None else {**inputs, "count": count},
        shown=("image", "question", "chain") if sample.images else ("question", "chain"),
        parse=partial(parse_criteria, image_count=len(sample.images), sizes=image_sizes(sample)),
        structured=schemas.criteria(len(sample.images), published=count is None, sizes=image_sizes(sample)),
        images=sample.images,
    )


def image_sizes(sample: Sample) -> tuple[tuple[int, int], ...]:
    """Return the width and height of each of a sample's images, in pixels."""
    return tuple((image.width, image.height) for image in sample.images)


def criteria_reply(criteria: Sequence[Criterion]) -> str:
    """Return criteria in the form of the extractor's reply."""
    rows = [criterion.model_dump(include={"question", "ground_truth", "weight", "final"}) for criterion in criteria]
    for row, criterion in zip(rows, criteria, strict=True):
        box = criterion.anchor.box
        if box is not None:
            row["anchor"] = {"image": criterion.anchor.image, "box": [box.x0, box.y0, box.x1, box.y1]}
    return "[" + ",\n".join(orjson.dumps(row).decode() for row in rows) + "]"


def examine_criteria(sample: Sample, chain: ReferenceChain, criteria: Sequence[Criterion]) -> Ask[CriteriaCheck]:
    """Ask a judge for a second look at criteria; it sees question, chain and criteria but, to save cost, no image."""
    points = lines_text(
        {"n": number, "question": criterion.question, "ground_truth": criterion.ground_truth}
        for number, criterion in enumerate(criteria, start=1)
    )
    return Ask(
        "criteria_check",
        {**question_inputs(sample), "chain": chain_text(chain), "criteria": points},
        shown=("question", "chain", "criteria"),
        parse=partial(parse_criteria_check, expected=len(criteria)),
        structured=schemas.criteria_check(len(criteria)),
        count=len(criteria),
    )


def criteria_previews(sample: Sample, *, count: str | None) -> Iterator[Ask[object]]:
    """Yield the asks that make criteria of a chain, with a placeholder for it; without `count` as in the paper."""
    yield extract_criteria(sample, PLACEHOLDER_CHAIN, count=count)
    if count is not None:
        yield examine_criteria(sample, PLACEHOLDER_CHAIN, PLACEHOLDER_CRITERIA.criteria)


def score_criteria(
    sample: Sample,
    criteria: CriteriaSet,
    response: str,
    *,
    paths: Sequence[str] = (),
    show_image: bool = False,
    published: bool = False,
    reasons: bool = False,
    repeat: int = 0,
) -> Ask[Sequence[CriterionScore]]:
    """Ask a judge to score all criteria of one response in a single call: 1 to 5 (fully agrees), in their order.

    It may say that the response does not address a criterion, which counts as 1. With `published`, it need not
    distinguish silence from error, and every criterion counts as addressed. With `reasons`, it writes a sentence on
    each score.

    It sees the question, the criteria with ground truth and any path in a capability tree (Figure 10), and the
    response; with `show_image` also the image, and then it may be offered tools to look closer.
    """
    show_image = show_image and bool(sample.images)
    expected = len(criteria.criteria)
    read = parse_reasoned_scores if reasons else parse_criterion_scores
    parse = partial(read, expected=paths if any(paths) else expected)
    return Ask(
        scoring_prompt(published=published, reasons=reasons),
        {**question_inputs(sample), "criteria": criteria_text(criteria, paths), **answer_inputs("response", response)},
        shown=(
            "question",
            "criteria",
            *(("path",) if any(paths) else ()),
            shown_as("response", response),
            *image_if(show_image),
        ),
        parse=partial(schemas.silence_unasked, parse) if published else parse,
        structured=schemas.criterion_scores(expected, published=published, reasons=reasons),
        images=sample.images if show_image else (),
        tools=True,
        count=expected,
        repeat=repeat,
    )
