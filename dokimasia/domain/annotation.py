"""What people say of responses, pairs of responses and criteria: the thing that is rated, and one rating of it by one person."""

from typing import Literal, NamedTuple

Kind = Literal["pair", "response", "criterion"]
"""What is rated: two responses against each other, one response, or one atomic criterion."""

VERDICT, SCORE, ACCURACY, NECESSITY = "verdict", "score", "accuracy", "necessity"
HOLDS = "holds"
"""Whether a rubric holds for a response, 0 or 1: what is said of a criterion of a model's response, and never handed out."""

MEASURES: dict[Kind, tuple[str, ...]] = {
    "pair": (VERDICT,),
    "response": (SCORE,),
    "criterion": (ACCURACY, NECESSITY),
}
"""What is asked of each kind of thing."""

SCALES: dict[str, tuple[int, int]] = {
    VERDICT: (-2, 2),
    SCORE: (1, 5),
    ACCURACY: (1, 3),
    NECESSITY: (1, 3),
    HOLDS: (0, 1),
}
"""The lowest and highest rating, unless another is asked for; a verdict is 2 where the model is much better than the baseline
(Creation-MMBench, 3.3), accuracy and necessity are ATOM's (appendix C)."""


class AnnotationUnit(NamedTuple):
    """A thing that is rated on one measure.

    `id` is the sample's name; `model` whose response it is, and `baseline` the model that it is compared with; `criterion`
    counts the criteria of the sample from 1. What does not apply is empty, or 0.
    """

    id: str
    measure: str
    model: str = ""
    baseline: str = ""
    criterion: int = 0

    @property
    def thing(self) -> "AnnotationUnit":
        """The thing itself, whatever is asked of it."""
        return self._replace(measure="")

    def __str__(self) -> str:
        """Return how messages name it."""
        of = f", criterion {self.criterion}" if self.criterion else f", {self.model}" if self.model else ""
        against = f" against {self.baseline}" if self.baseline else ""
        return f"{self.id!r}{of}{against}, {self.measure}"


def kind_of(unit: AnnotationUnit) -> Kind:
    """Return what kind of thing a unit is."""
    return "criterion" if unit.criterion else "pair" if unit.baseline else "response"


class ResponsePair(NamedTuple):
    """Two responses to one sample, the model's and the baseline's, and what a judge was told to go by."""

    unit: AnnotationUnit
    response: str
    baseline_response: str
    criteria: str = ""


class Annotation(NamedTuple):
    """One person's rating of one unit; with `adjudicates` it decides where others differ.

    `category` and `cluster` (what shares an image) are empty where they are not known; `line` is its place in its file.
    `error` is the kind of error (a dimension or group) that makes a response wrong; empty where nobody says.
    `response_sha256` is that of the response's text in UTF-8, empty where it is not known which response was rated.
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
