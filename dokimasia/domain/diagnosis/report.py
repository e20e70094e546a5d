"""Written diagnoses: sentences with placeholders for figures, reports on each model and across models."""

from typing import ClassVar, Literal

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import Provenance

WORDS = 400
"""The requested maximum number of words of a report."""

MOST_WORDS = 1_200
"""The number of words from which a report is rejected and, after a second attempt, cut."""

EVERYONE = ""
"""The subject of the report across models."""

FaultKind = Literal["literal_digit", "no_such_place", "no_test"]
"""Why a sentence is unverified: a number written by its writer; a place that does not exist; a comparison of two cells
without a paired test.
"""


class WrittenSentence(Value):
    """A sentence as written, with its placeholders, and its paragraph (from 0)."""

    written: str
    paragraph: int = Field(default=0, ge=0)
    heading: bool = False


class ParsedReport(Value):
    """A reply read as a report: its sentences, how many words it had, and whether it was cut."""

    stored_as: ClassVar[str] = "Written"

    sentences: tuple[WrittenSentence, ...]
    words: int = Field(ge=0)
    cut: bool = False


class FigureReference(Value):
    """A place that was printed: as it was written, where its text stands in the sentence, and the row that it leads to.

    `row` is `ASSET:ROW`, of a comparison the row of its test; empty where a table as a whole was quoted.
    """

    stored_as: ClassVar[str] = "Place"

    written: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    row: str = ""


class SentenceFault(Value):
    """A reason why a sentence is unverified."""

    stored_as: ClassVar[str] = "Fault"

    kind: FaultKind
    reason: str = Field(max_length=500)


class Sentence(WrittenSentence):
    """A sentence with its places printed; a place that cannot be printed stands in `text` as it was written."""

    text: str
    places: tuple[FigureReference, ...] = ()
    faults: tuple[SentenceFault, ...] = ()

    @property
    def verified(self) -> bool:
        """Whether the program wrote every number and every tested comparison in the sentence."""
        return not self.faults


class Report(Value):
    """A report in words on one model, or (with an empty `subject`) across models.

    `unverified_at_first` counts the unverified sentences before the writer was told; `words` and `cut` are of the reply
    that counts.
    """

    subject: str
    sentences: tuple[Sentence, ...]
    words: int = Field(ge=0)
    cut: bool = False
    unverified_at_first: int = Field(default=0, ge=0)
    repaired: bool = False
    provenance: Provenance

    @property
    def verified(self) -> tuple[Sentence, ...]:
        """The verified sentences, in order."""
        return tuple(sentence for sentence in self.sentences if sentence.verified)

    @property
    def unverified(self) -> tuple[Sentence, ...]:
        """The unverified sentences, in order."""
        return tuple(sentence for sentence in self.sentences if not sentence.verified)


class ReportDraft(Value):
    """A report as a judge wrote it: the raw reply, the parsed report, and the reply's call."""

    stored_as: ClassVar[str] = "Draft"

    subject: str
    text: str
    written: ParsedReport
    provenance: Provenance


class Salience(Value):
    """What a judge picked from a subject's assets as worth reporting, the most telling first.

    `rows` are references to rows (`leaves/sim-weak:3`); `unknown` counts references to what is not there.
    """

    subject: str
    rows: tuple[str, ...]
    unknown: int = Field(default=0, ge=0)
    provenance: Provenance
