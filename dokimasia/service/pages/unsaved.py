"""Corrections by hand that are not saved yet: kept for each person and sample, as drafts of reviews are."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from dokimasia.domain.identity import Value, digest
from dokimasia.errors import InputError
from dokimasia.methods.checks import keep_draft
from dokimasia.storage.decisions import clear_draft, draft_file
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run

LONGEST = 200_000
"""Characters of all that is written for one sample."""


class Unsaved(Value):
    """What a form of a sample's page holds: of one model's answer, or without a model that the sample is left out."""

    model: str = Field(default="", max_length=400)
    repeat: int = Field(default=0, ge=0, lt=2**31)
    answer: Literal["", "right", "wrong"] = ""
    criteria: tuple[Annotated[str, Field(max_length=1)], ...] = Field(default=(), max_length=10_000)
    reason: str = Field(default="", max_length=500)

    @property
    def said(self) -> bool:
        """Whether anything was chosen or written."""
        return bool(self.answer or self.reason or any(self.criteria))


_ALL = TypeAdapter(tuple[Unsaved, ...])


def unsaved(home: Home, run: Run, sample: str, who: str) -> tuple[Unsaved, ...]:
    """Return what a person has not saved yet of their corrections of a sample."""
    path = draft_file(home.path, _item(run, sample), who)
    try:
        return _ALL.validate_json(path.read_bytes()) if path.is_file() else ()
    except (FileNotFoundError, ValidationError):  # saved meanwhile, or damaged
        return ()


def read_unsaved(text: str) -> tuple[Unsaved, ...]:
    """Return what a page sent of its forms.

    Raises:
        InputError: it is none of this.
    """
    try:
        return _ALL.validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"text: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def keep_unsaved(home: Home, run: Run, sample: str, who: str, forms: Iterable[Unsaved]) -> None:
    """Keep what is not saved of a sample's corrections in the place of what was kept before."""
    left = tuple(one for one in forms if one.said)
    if left:
        keep_draft(home, _item(run, sample), who, _ALL.dump_json(left).decode())
    else:
        clear_draft(home.path, _item(run, sample), who)


def saved(home: Home, run: Run, sample: str, who: str, model: str, repeat: int) -> None:
    """Forget what was not saved of one answer, or without a model of the sample, once it is."""
    forms = unsaved(home, run, sample, who)
    if forms:
        keep_unsaved(home, run, sample, who, (one for one in forms if (one.model, one.repeat) != (model, repeat)))


def _item(run: Run, sample: str) -> str:
    return f"correction-{run.id}-{digest('sample', sample)[:16]}"
