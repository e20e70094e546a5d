"""The perturbing role: it plants one error of a named dimension in a text, for each of a list of errors (FOCUS, 2.3)."""

from collections.abc import Sequence
from functools import partial

from dokimasia.agents.asking import Ask
from dokimasia.domain.perturbation import Change, Target
from dokimasia.domain.sample import ImageRef
from dokimasia.parsing.perturbation import parse_perturbations
from dokimasia.prompts import lines_text
from dokimasia.prompts.dimensions import dimensions, error_dimensions

__all__ = ["dimensions", "error_dimensions", "plant_errors"]


def plant_errors(
    text: str, targets: Sequence[Target], *, images: Sequence[ImageRef] = (), repeat: int = 0
) -> Ask[Sequence[tuple[Change, ...]]]:
    """A model plants each of the named errors in a text, by itself, and says what it changed; nothing for one it cannot.

    It is shown the text, the dimensions and what each error is to concern, and the image where it is given.

    Args:
        text: what the errors are planted in, which is right.
        targets: the errors, one or more.
        images: what the text is about.
        repeat: which independent draw.
    """
    used = {target.dimension.name: target.dimension for target in targets}
    described = (
        {"dimension": one.name, "definition": one.definition, "right": one.right, "wrong": one.wrong}
        for one in used.values()
    )
    errors = (
        {"n": number, "dimension": target.dimension.name, **({"about": target.about} if target.about else {})}
        for number, target in enumerate(targets, start=1)
    )
    read = partial(parse_perturbations, text=text, expected=len(targets))
    return Ask(
        "perturbation",
        {"text": text, "dimensions": lines_text(described), "errors": lines_text(errors)},
        shown=("text", "dimensions", *(("image",) if images else ())),
        parse=read,
        parse_again=partial(read, lenient=True),
        images=images,
        repeat=repeat,
    )
