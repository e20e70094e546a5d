"""A diagnosis in words: sentences with their references, which of them hold, and reports of models and across them."""

from typing import Literal

from pydantic import Field

from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import Provenance

WORDS = 400
"""Words that a report is asked to have at most."""

MOST_WORDS = 1_200
"""Words from which a report is sent back, and, written once more, cut."""

StrikeKind = Literal[
    "uncited_number",
    "no_such_asset",
    "no_such_cell",
    "wrong_number",
    "wrong_unit",
    "wrong_subject",
    "wrong_direction",
    "no_evidence",
    "denied_difference",
    "uncited_claim",
]
"""Why a sentence does not stand: a number without a reference; a reference to no asset, or to no cell of one; a number
that is not the cell's; a percentage for a score, or the reverse; another model or capability than the cited one; a
comparison the wrong way round; a difference that its interval does not bear out; one denied that it does bear out; a
comparison, or a weakness, that rests on nothing cited."""


class Citation(Value):
    """A reference as it stands in a sentence: from `start` to `end` (brackets included), and what it refers to."""

    ref: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class Sentence(Value):
    """A sentence of a report as it was written, its references, and the paragraph that it belongs to (from 0)."""

    text: str
    citations: tuple[Citation, ...] = ()
    paragraph: int = Field(default=0, ge=0)
    heading: bool = False


class Written(Value):
    """A reply read as a report: its sentences, how many words it had, and whether it was cut."""

    sentences: tuple[Sentence, ...]
    words: int = Field(ge=0)
    cut: bool = False


class Strike(Value):
    """Why a sentence was struck."""

    kind: StrikeKind
    reason: str = Field(max_length=500)


class Checked(Value):
    """A sentence and, where it does not hold, why it is struck."""

    sentence: Sentence
    strike: Strike | None = None

    @property
    def kept(self) -> bool:
        """Whether it stands."""
        return self.strike is None


class Report(Value):
    """A report in words on one model, or (with an empty `subject`) across models.

    `sentences` are all of them, the struck ones too; `struck_at_first` counts those that were struck before the writer
    was told; `words` and `cut` are of the reply that counts.
    """

    subject: str
    sentences: tuple[Checked, ...]
    words: int = Field(ge=0)
    cut: bool = False
    struck_at_first: int = Field(default=0, ge=0)
    repaired: bool = False
    provenance: Provenance

    @property
    def kept(self) -> tuple[Sentence, ...]:
        """The sentences that stand, in order."""
        return tuple(one.sentence for one in self.sentences if one.kept)

    @property
    def struck(self) -> tuple[Checked, ...]:
        """The sentences that were struck, in order."""
        return tuple(one for one in self.sentences if not one.kept)


class Draft(Value):
    """A report as a judge wrote it: the reply as it stands, what was read in it, and the reply's call."""

    subject: str
    text: str
    written: Written
    provenance: Provenance


class Salience(Value):
    """What a judge picked from a subject's assets as worth reporting, the most telling first.

    `rows` are references to rows (`leaves/sim-weak:3`); `unknown` counts references to what is not there.
    """

    subject: str
    rows: tuple[str, ...]
    unknown: int = Field(default=0, ge=0)
    provenance: Provenance
