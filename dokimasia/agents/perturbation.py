"""The roles for inserted errors: inserting one into a text, writing gold answers, and checking both (FOCUS, 2)."""

from collections.abc import Iterable, Sequence
from functools import partial

from dokimasia.agents.answers import image_if
from dokimasia.agents.asking import Ask
from dokimasia.agents.evaluation import question_inputs
from dokimasia.domain.blindspots import NEUTRAL, ErrorDimension
from dokimasia.domain.perturbation import Dimension, PerturbationTarget, Rewritten, TextChange
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.parsing.blindspots.perturbed import (
    ChangeCheckReply,
    ErrorReply,
    HarmlessReply,
    NoneReply,
    PassagesReply,
    WrongGoldReply,
    parse_change_check,
    parse_gold,
    parse_gold_check,
    parse_passages,
    parse_rewrite,
)
from dokimasia.parsing.declared import blank
from dokimasia.parsing.perturbation import NotPlantedReply, PlantedReply, parse_perturbations
from dokimasia.prompts import lines_text
from dokimasia.prompts.dimensions import dimensions, error_dimensions

__all__ = [
    "check_change",
    "check_gold",
    "dimensions",
    "error_dimensions",
    "perturb_answer",
    "plant_errors",
    "write_gold",
]


def plant_errors(
    text: str, targets: Sequence[PerturbationTarget], *, images: Sequence[ImageRef] = (), repeat: int = 0
) -> Ask[Sequence[tuple[TextChange, ...]]]:
    """Ask a model to insert each of the named errors into a text separately, and to say what it changed.

    It sees the text, the dimensions, the subject of each error, and the images, if any. An error that it cannot insert
    has no changes.

    Args:
        text: the text to insert the errors into, which is right.
        targets: the errors, one or more.
        images: the images that the text is about.
        repeat: number of the independent draw.
    """
    used = {target.dimension.name: target.dimension for target in targets}
    errors = (
        {"n": number, "dimension": target.dimension.name, **({"about": target.about} if target.about else {})}
        for number, target in enumerate(targets, start=1)
    )
    read = partial(parse_perturbations, text=text, expected=len(targets))
    return Ask(
        "perturbation",
        {"text": text, "dimensions": dimensions_text(used.values()), "errors": lines_text(errors)},
        shown=("text", "dimensions", *image_if(images)),
        parse=read,
        parse_again=partial(read, lenient=True),
        images=images,
        repeat=repeat,
        form=f"[{blank(PlantedReply)}, {blank(NotPlantedReply)}]",
    )


def write_gold(sample: Sample) -> Ask[str]:
    """Ask a model for a gold answer to a sample's request; it sees image and request."""
    return Ask("gold_answer", question_inputs(sample), ("image", "question"), parse=parse_gold, images=sample.images)


def check_gold(sample: Sample, answer: str) -> Ask[tuple[str, str]]:
    """Ask a model which words of a gold answer are wrong and what is true instead; both are empty if it is right.

    It sees image and request, and the reference answer if there is one.
    """
    inputs = {**question_inputs(sample), "answer": answer}
    shown = ["image", "question", "answer"]
    if sample.reference_text not in (None, answer):
        inputs["reference_answer"] = sample.reference_text
        shown.append("reference_answer")
    read = partial(parse_gold_check, gold=answer)
    return Ask("gold_check", inputs, shown, parse=read, images=sample.images, form=blank(WrongGoldReply))


def perturb_answer(sample: Sample, gold: str, dimension: ErrorDimension) -> Ask[Rewritten]:
    """Ask a model to make a gold answer worse, or harmlessly different, in one dimension (FOCUS, section 2.3).

    It sees image, request, gold answer and dimension. In most dimensions, it changes passages; in those that concern
    the text as a whole, it rewrites the answer.
    """
    name = dimension.name
    if name == NEUTRAL:
        prompt, form, parse = (
            "harmless_rewrite",
            blank(HarmlessReply, NoneReply),
            partial(parse_rewrite, gold=gold, neutral=True),
        )
    elif dimension.whole:
        prompt, form, parse = "error_throughout", blank(ErrorReply, NoneReply), partial(parse_rewrite, gold=gold)
    else:
        prompt, form, parse = "error_in_passages", blank(PassagesReply, NoneReply), partial(parse_passages, gold=gold)
    inputs = {**question_inputs(sample), "answer": gold, "dimension": dimensions_text([dimension])}
    shown = ("image", "question", "gold", "dimension")
    return Ask(prompt, inputs, shown, parse=parse, images=sample.images, form=form)


def check_change(
    sample: Sample, gold: str, perturbed: str, among: Sequence[ErrorDimension]
) -> Ask[tuple[str, tuple[str, ...], bool, str]]:
    """Ask a model for the dimension of an answer's change, what else is worse, whether the answer is worse, and why.

    It sees image, request and both answers, but not the intended dimension.
    """
    told = lines_text({"name": dimension.name, "definition": dimension.definition} for dimension in among)
    return Ask(
        "change_check",
        {**question_inputs(sample), "answer": gold, "changed": perturbed, "dimensions": told},
        ("image", "question", "gold", "perturbed"),
        parse=partial(parse_change_check, names=[dimension.name for dimension in among]),
        images=sample.images,
        form=blank(ChangeCheckReply),
    )


def dimensions_text(among: Iterable[Dimension]) -> str:
    """Return dimensions as a model sees them: one object per line, with definition and example."""
    return lines_text(
        {
            "dimension": dimension.name,
            "definition": dimension.definition,
            "right": dimension.right,
            "wrong": dimension.wrong,
        }
        for dimension in among
    )
