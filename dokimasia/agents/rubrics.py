"""The roles that make and judge rubrics: writer, miner, mender, checker and judge (PerceptionRubrics, 3.3.2 and 3.4).

The mender also replaces rubrics; the role that inserts errors for trying rubrics is in `agents.perturbation`.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from dokimasia.agents.answers import answer_inputs, image_if, shown_as
from dokimasia.agents.asking import Ask
from dokimasia.domain.density import Domain
from dokimasia.domain.options import prompt_of_protocol, scoring_prompt
from dokimasia.domain.rubric import CheckedRubric, Rubric, RubricAssessment, RubricSet, WrittenRubric
from dokimasia.domain.sample import Sample
from dokimasia.parsing.assessment import parse_reasoned_assessment, parse_rubric_assessment
from dokimasia.parsing.rubrics import parse_cross_check, parse_easy_wrong, parse_must_right, parse_repaired
from dokimasia.prompts import lines_text

_WRITTEN = '"statement": "<The response must ...>", "kind": "<the kind>", "evidence": "<words of the golden caption>"'
MUST_RIGHT_FORM = f"[{{{_WRITTEN}}}, <two to four more>]"
EASY_WRONG_FORM = (
    '[{"statement": "<The response must ... or must not ...>", "polarity": "<positive or negative>", "kind": "<the kind>", '
    '"evidence": "<words of the golden caption>", "responses": [<numbers>]}, <more, or none>]'
)
REPAIR_FORM = (
    f'[{{"n": <number>, {_WRITTEN}, "responses": [<numbers>]}}, '
    '{"n": <number of one that is given up>, "drop": true}]'
)
"""Empty forms for people."""


def rubrics_text(rubrics: Sequence[Rubric]) -> str:
    """Return rubrics as a model sees them: a JSON array with one object per line, numbered from 1; `[]` for none."""
    if not rubrics:
        return "[]"
    return lines_text({"n": number, "statement": rubric.statement} for number, rubric in enumerate(rubrics, start=1))


def responses_text(texts: Sequence[str]) -> str:
    """Return a pool as the judge sees it: a JSON array with one object per line, numbered from 1, without names."""
    return lines_text({"response": number, "text": text} for number, text in enumerate(texts, start=1))


def write_must_right(sample: Sample, caption: str, domain: Domain) -> Ask[Sequence[WrittenRubric]]:
    """Ask a judge for 3 to 5 must-right rubrics by the domain's prompt; it sees image and golden caption."""
    return Ask(
        f"must_right_{domain}",
        {"caption": caption},
        shown=("image", "caption") if sample.images else ("caption",),
        parse=parse_must_right,
        images=sample.images,
        form=MUST_RIGHT_FORM,
    )


def mine_easy_wrong(
    caption: str, responses: Sequence[str], gate: Sequence[Rubric] = (), *, published: bool = False
) -> Ask[Sequence[WrittenRubric]]:
    """Ask a judge for rubrics on the errors of a pool, and on the likely errors of a careless describer.

    It sees the golden caption, the responses, and the existing rubrics (`gate`), but no image. With `published`, the
    request covers only the errors of the pool, and no other rubrics are shown.
    """
    inputs, shown = {"caption": caption, "responses": responses_text(responses)}, ("caption", "responses")
    if gate and not published:
        inputs["rubrics"], shown = rubrics_text(gate), ("caption", "rubrics", "responses")
    return Ask(
        prompt_of_protocol("easy_wrong", published=published),
        inputs,
        shown=shown,
        parse=partial(parse_easy_wrong, n_responses=len(responses), published=published),
        form=EASY_WRONG_FORM,
    )


def repair_rubrics(
    rubrics: Sequence[Rubric],
    caption: str,
    problems: Mapping[int, Sequence[str]],
    *,
    replaced: Collection[int] = (),
    responses: Sequence[str] = (),
) -> Ask[Mapping[int, WrittenRubric | None]]:
    """Ask a judge to repair or replace faulty rubrics, by number from 1; None stands for an abandoned one.

    It sees no image, and the pool's responses only if it has to find another error in them.

    Args:
        rubrics: all rubrics of the sample.
        caption: the golden caption.
        problems: the problems, by the number of the rubric.
        replaced: the numbers of the rubrics to replace.
        responses: the pool, whose errors provide replacements for easy-wrong rubrics.
    """
    lines = [f"rubric {number}: {'; '.join(texts)}" for number, texts in sorted(problems.items())]
    numbered = enumerate(rubrics, start=1)
    rubric_lines = lines_text(
        {"n": n, "stream": rubric.stream.replace("_", "-"), "statement": rubric.statement} for n, rubric in numbered
    )
    mined = {number for number in replaced if rubrics[number - 1].stream == "easy_wrong"}
    pool = {"responses": responses_text(responses)} if mined else {}
    return Ask(
        "rubric_repair",
        {"caption": caption, "rubrics": rubric_lines, "problems": "\n".join(lines), **pool},
        shown=("caption", "rubrics", *pool),
        parse=partial(parse_repaired, named=set(problems), mined=mined, n_responses=len(responses)),
        form=REPAIR_FORM,
    )


def cross_check(rubrics: Sequence[Rubric], caption: str) -> Ask[Sequence[CheckedRubric]]:
    """Ask a member of the panel whether the caption passes each rubric, and whether it is atomic and decidable.

    It sees only the golden caption and the rubrics.
    """
    return Ask(
        "rubric_cross_check",
        {"caption": caption, "rubrics": rubrics_text(rubrics)},
        shown=("caption", "rubrics"),
        parse=partial(parse_cross_check, expected=len(rubrics)),
        count=len(rubrics),
        form="\n".join(
            f"{n} | passes: <yes or no> | atomic: <yes or no> | decidable: <yes or no>"
            for n in range(1, len(rubrics) + 1)
        ),
    )


def assess_response(
    sample: Sample,
    rubrics: RubricSet,
    response: str,
    *,
    show_image: bool = False,
    published: bool = False,
    reasons: bool = False,
    repeat: int = 0,
) -> Ask[RubricAssessment]:
    """Ask a judge whether a response satisfies each rubric; must-right rubrics are group A, easy-wrong ones group B.

    It sees the response and the rubrics and, with `show_image`, the image, but never the golden caption. With
    `published`, the prompt is the paper's (C.4), which does not require exact wording of quoted text; with `reasons`,
    it asks for a sentence on each rubric.
    """
    group_a, group_b = rubrics.must_right, rubrics.easy_wrong
    return Ask(
        scoring_prompt("rubric_assessment", published=published, reasons=reasons),
        {"group_a": rubrics_text(group_a), "group_b": rubrics_text(group_b), **answer_inputs("response", response)},
        shown=("rubrics", shown_as("response", response), *image_if(show_image and sample.images)),
        parse=partial(
            parse_reasoned_assessment if reasons else parse_rubric_assessment, n_a=len(group_a), n_b=len(group_b)
        ),
        images=sample.images if show_image else (),
        repeat=repeat,
        form="\n".join(
            (
                "<Assessment>",
                *_results("A", len(group_a), reasons=reasons),
                *_results("B", len(group_b), reasons=reasons),
                "</Assessment>",
            )
        ),
    )


def _results(group: str, count: int, *, reasons: bool) -> list[str]:
    """Return the lines of a group in the empty form of an assessment."""
    lines = [f"<Group{group}>"]
    for number in range(1, count + 1):
        lines.append(f"<Result>(true or false, on rubric {number} of group {group})</Result>")
        lines += ["<Reason>SENTENCE</Reason>"] * reasons
    return [*lines, f"</Group{group}>"]
