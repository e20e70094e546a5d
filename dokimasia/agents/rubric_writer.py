"""The rubric writer: must-right rubrics from image and golden caption, and the one mending of rubrics that break a rule."""

from collections.abc import Mapping, Sequence

from dokimasia.agents.asking import Asked, ask_judge
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.density import Domain
from dokimasia.domain.identity import canonical_json
from dokimasia.domain.judgement import Rejected
from dokimasia.domain.ports import Gateway
from dokimasia.domain.rubric import Rubric, WrittenRubric
from dokimasia.domain.sample import Sample
from dokimasia.parsing.rubrics import parse_must_right, parse_repaired
from dokimasia.prompts import PromptLibrary


def rubrics_text(rubrics: Sequence[Rubric]) -> str:
    """Return rubrics as a model is shown them: a JSON array, an object a line, numbered from 1; `[]` for none."""
    rows = [
        canonical_json({"n": number, "statement": rubric.statement}).decode()
        for number, rubric in enumerate(rubrics, start=1)
    ]
    return "[\n" + ",\n".join(rows) + "\n]" if rows else "[]"


async def write_must_right(
    sample: Sample,
    caption: str,
    domain: Domain,
    *,
    gateway: Gateway,
    judge: ModelSpec,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[Sequence[WrittenRubric]]:
    """Return 3 to 5 must-right rubrics by the domain's own prompt; the judge is shown the image and the golden caption."""
    return await ask_judge(
        f"must_right_{domain}",
        {"caption": caption},
        parse=parse_must_right,
        shown=("image", "caption") if sample.images else ("caption",),
        gateway=gateway,
        judge=judge,
        images=sample.images,
        rejected=rejected,
        library=library,
    )


async def repair_rubrics(
    rubrics: Sequence[Rubric],
    caption: str,
    problems: Mapping[int, Sequence[str]],
    *,
    gateway: Gateway,
    judge: ModelSpec,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[Mapping[int, WrittenRubric | None]]:
    """Return mended rubrics by number, from 1, None for one that is given up.

    Args:
        rubrics: all rubrics of the sample.
        caption: the golden caption; the judge sees no image here.
        problems: what is wrong, by the number of the rubric.
    """
    lines = [f"rubric {number}: {'; '.join(texts)}" for number, texts in sorted(problems.items())]
    return await ask_judge(
        "rubric_repair",
        {"caption": caption, "rubrics": rubrics_text(rubrics), "problems": "\n".join(lines)},
        parse=lambda text: parse_repaired(text, set(problems)),
        shown=("caption", "rubrics"),
        gateway=gateway,
        judge=judge,
        rejected=rejected,
        library=library,
    )
