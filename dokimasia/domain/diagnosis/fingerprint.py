"""The fingerprint test: which of two models each of two anonymised reports describes (ATOM, section 4.4 and G.1)."""

from typing import Literal

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import Provenance

Letter = Literal["A", "B"]


class FingerprintTask(Value):
    """One trial: two models, the samples whose answers are shown, and how all of it is shown without names.

    `first` and `second` are the models; `a` is the one that is called A in `answers`, `one` the one that the first of the
    two reports is about. `answers` is a JSON object a line. `removed` counts what anonymising took out of the answers;
    `known` is what both models are called, beside `first` and `second`, and `others` what the run's other models are, so
    that the same names can be taken out of reports.
    """

    first: str
    second: str
    trial: int = Field(ge=1)
    samples: tuple[str, ...] = Field(min_length=1)
    a: str
    one: str
    answers: str
    removed: int = Field(default=0, ge=0)
    known: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def truth(self) -> Letter:
        """The model that the first report describes."""
        return "A" if self.one == self.a else "B"

    @property
    def two(self) -> str:
        """The model that the second report describes."""
        if self.one == self.first:
            return self.second
        return self.first


class FingerprintMatch(Value):
    """What somebody said of a task: whom the first report is about; `by` is a judge's name, or a person's."""

    task: str
    said: Letter
    right: bool
    by: str
    provenance: Provenance | None = None
