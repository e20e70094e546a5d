"""Human ratings of responses, pairs of responses and criteria: the rated unit, and a person's rating of it."""

from typing import Literal, NamedTuple

Kind = Literal["pair", "response", "criterion"]
"""A thing rated individually: two responses against each other, one response, or one atomic criterion."""

FormKind = Kind | Literal["ranking"]
"""The kind of an item in a form: an individually rated thing, or all responses to a sample, which are ranked."""

VERDICT, SCORE, ACCURACY, NECESSITY = "verdict", "score", "accuracy", "necessity"
HOLDS = "holds"
"""The measure of whether a rubric holds for a response, 0 or 1: a rating of a response's criterion,
never handed out.
"""

PLACE = "place"
"""The measure of a response's place in a person's ranking of all responses to a sample, from 1 (best); equal places are
ties.
"""

MOST_STEPS = 11
"""The maximum number of steps of a scale."""

MOST_RANKED = 8
"""The maximum number of responses in a ranking."""

MEASURES: dict[Kind, tuple[str, ...]] = {
    "pair": (VERDICT,),
    "response": (SCORE,),
    "criterion": (ACCURACY, NECESSITY),
}
"""The measures of each individually rated kind."""

SCALES: dict[str, tuple[int, int]] = {
    VERDICT: (-2, 2),
    SCORE: (1, 5),
    ACCURACY: (1, 3),
    NECESSITY: (1, 3),
    HOLDS: (0, 1),
    PLACE: (1, MOST_RANKED),
}
"""The default lowest and highest rating. A verdict of 2 means that the model is much better than the baseline
(Creation-MMBench, 3.3); accuracy and necessity are ATOM's (appendix C).
"""


def scale_ends(text: str) -> tuple[int, int]:
    """Return the ends of a scale such as `1-5`.

    Raises:
        ValueError: the text is not a scale of 2 to 11 whole numbers.
    """
    low, _, high = text.rpartition("-")
    ends = int(low), int(high)
    if not 2 <= ends[1] - ends[0] + 1 <= MOST_STEPS:
        raise ValueError(f"{text!r} has another number of steps than 2 to {MOST_STEPS}")
    return ends


class AnnotationUnit(NamedTuple):
    """A unit rated on one measure.

    `id` is the sample's name; `model` the author of the response, `baseline` the model it is compared with; `criterion`
    numbers the sample's criteria from 1. Fields that do not apply are empty, or 0.
    """

    id: str
    measure: str
    model: str = ""
    baseline: str = ""
    criterion: int = 0

    @property
    def thing(self) -> "AnnotationUnit":
        """The unit without its measure."""
        return self._replace(measure="")

    def __str__(self) -> str:
        """Return the unit's name in messages."""
        of = f", {self.model}" if self.model else ""
        if self.criterion:
            of = f", criterion {self.criterion}"
        against = f" against {self.baseline}" if self.baseline else ""
        return f"{self.id!r}{of}{against}, {self.measure}"


def kind_of(unit: AnnotationUnit) -> Kind:
    """Return the kind of a unit."""
    if unit.criterion:
        return "criterion"
    return "pair" if unit.baseline else "response"


class ResponsePair(NamedTuple):
    """Two responses to a sample, the model's and the baseline's, and the criteria a judge was given."""

    unit: AnnotationUnit
    response: str
    baseline_response: str
    criteria: str = ""


class Annotation(NamedTuple):
    """A person's rating of a unit; with `adjudicates` it decides where others differ.

    `category` and `cluster` (samples that share an image) are empty where unknown; `line` is the line of its file.
    `error` is the kind of error (a dimension or group) that makes a response wrong; empty where none is stated.
    `response_sha256` hashes the response's text in UTF-8; empty where the rated response is unknown.
    `scale` is the scale of a score, such as `0-1`; empty where the file does not have it.
    """

    unit: AnnotationUnit
    annotator: str
    value: float
    adjudicates: bool = False
    category: str = ""
    cluster: str = ""
    comment: str = ""
    line: int = 0
    error: str = ""
    response_sha256: str = ""
    scale: str = ""
