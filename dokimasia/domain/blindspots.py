"""Blind spots of judges: kinds of error, gold answers with their perturbed versions, and a judge's verdicts on both (FOCUS)."""

import operator
from typing import Annotated, Literal, NamedTuple, Self, get_args

from pydantic import Field, model_validator

from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import Provenance
from dokimasia.domain.perturbation import Dimension
from dokimasia.domain.sample import ImageRef

Task = Literal["image-to-text", "text-to-image"]
"""The type of judged answer: a text on an image, or an image made from a prompt."""

NEUTRAL = "score_neutral"
"""The dimension of changes that do not harm an answer, such as a paraphrase; it belongs to no group."""

Label = Literal["valid", "score_invariant", "incorrect", "not_relevant", "gold_wrong", "not_sure"]
"""A person's label of a perturbation (FOCUS, appendix B), or of the gold answer behind it (`gold_wrong`). Only the
first two enter a probe.
"""

LABELS: tuple[Label, ...] = get_args(Label)
ENTERING: tuple[Label, ...] = LABELS[:2]

OVERALL = "overall"

AXES: dict[Task, tuple[str, ...]] = {
    "image-to-text": (
        "relevance",
        "trustworthiness",
        "visual_grounding",
        "clarity",
        "coherence",
        "completeness",
        "creativity",
        OVERALL,
    ),
    "text-to-image": (
        "prompt_adherence",
        "alignment",
        "image_quality",
        "accuracy",
        "completeness",
        "safety",
        "bias",
        OVERALL,
    ),
}
"""Axes by task (FOCUS, appendix C.1); `creativity` is only for pairwise comparison."""

PAIRWISE_ONLY = ("creativity",)

Evaluator = Literal[
    "single-vanilla",
    "single-rubric",
    "single-axes",
    "single-axes-rubric",
    "pairwise-vanilla",
    "pairwise-rules",
    "pairwise-axes",
    "pairwise-axes-rules",
    "reference",
    "checkpoints",
    "gated",
    "right-or-wrong",
]
"""Ways of judging: the nine of FOCUS (section 3), and three whose prompts evaluations and audits use."""

EVALUATORS: tuple[Evaluator, ...] = get_args(Evaluator)
PUBLISHED: tuple[Evaluator, ...] = EVALUATORS[:9]
IN_USE: tuple[Evaluator, ...] = EVALUATORS[9:]

Paradigm = Literal["single", "pairwise", "reference", "checkpoints", "gated", "right-or-wrong"]

Points = Annotated[float, Field(ge=1, le=10, allow_inf_nan=False)]
Choice = Literal["first", "second", "tie"]


def paradigm_of(evaluator: Evaluator) -> Paradigm:
    """Return the paradigm of an evaluator."""
    head = evaluator.partition("-")[0]
    if head == "single":
        return "single"
    if head == "pairwise":
        return "pairwise"
    return evaluator  # pyright: ignore[reportReturnType]


def by_axes(evaluator: Evaluator) -> bool:
    """Return whether an evaluator asks for several axes including `overall`, rather than for `overall` alone."""
    return "axes" in evaluator.split("-")


class ErrorDimension(Dimension):
    """A dimension of error that judges are probed with: the task and group it belongs to, and its group's relevant axes.

    `group` is empty, and all axes are relevant, where the dimension is `score_neutral`. `title` is its published name.
    `whole` says that the change runs through the text, which is written anew; else it is made of few changed passages.
    `least_words` is the fewest words of a gold answer in which it can be planted.
    """

    task: Task
    group: str = ""
    title: str = Field(min_length=1)
    axes: tuple[str, ...] = Field(min_length=1)
    whole: bool = False
    least_words: int = Field(default=1, ge=1)

    @model_validator(mode="after")
    def _axes_are_of_the_task(self) -> Self:
        if unknown := set(self.axes) - set(AXES[self.task]):
            raise ValueError(f"{self.name}: no axes of {self.task}: {', '.join(sorted(unknown))}")
        if (self.name == NEUTRAL) != (not self.group):
            raise ValueError(f"{self.name}: only {NEUTRAL} belongs to no group")
        return self


class Perturbed(Value):
    """A gold answer to a sample, and the same with one change of a dimension in it.

    `sample` is the sample's digest. Image-to-text: `gold` and `perturbed` are texts, and the sample holds the image.
    Text-to-image: `gold_image` and `perturbed_image` are what is judged, the sample holds the prompt (and as its image the
    gold one), and `instruction` is what the editing model was told. `description` says what was changed, and `rationale` why
    that is easy to miss, in the words of who changed it. `by` is the name of the perturbing model; empty where the item was
    brought in a file.
    """

    sample: str
    sample_id: str
    task: Task
    dimension: str
    gold: str = ""
    perturbed: str = ""
    gold_image: ImageRef | None = None
    perturbed_image: ImageRef | None = None
    description: str = ""
    rationale: str = Field(default="", exclude_if=operator.not_)
    instruction: str = ""
    by: str = ""

    @model_validator(mode="after")
    def _both_are_there(self) -> Self:
        texts, images = (self.gold, self.perturbed), (self.gold_image, self.perturbed_image)
        complete = all(texts) and not any(images) if self.task == "image-to-text" else all(images) and not any(texts)
        if not complete:
            raise ValueError(f"a perturbation of {self.task} has a gold and a perturbed answer, and of no other task")
        return self

    @property
    def neutral(self) -> bool:
        """Whether the change was meant to preserve the answer's quality."""
        return self.dimension == NEUTRAL


class Probe(NamedTuple):
    """A perturbation for probing judges: its id, the perturbation, and its type after all checks.

    `neutral` is people's label (`score_invariant`), or else the intent of the change. `checked` states that a person
    decided. `cluster` names samples that share an image. For an answer padded to measure length bias, `pads` is the id
    of the probe whose answer it pads, empty for the gold answer; None means that it is planted, not padded.
    """

    id: str
    item: Perturbed
    neutral: bool
    checked: bool
    cluster: str
    pads: str | None = None


class AxisScores(Value):
    """What a judge gave one answer: points on each axis that it was asked for, 1 to 10, `overall` among them.

    `justification` is what it said beside the scores. `judged` is the id of the answer: a response, or an image's SHA-256.
    """

    sample: str
    evaluator: Evaluator
    judged: str
    scores: dict[str, Points]
    justification: str = ""
    provenance: Provenance


class AxisChoices(Value):
    """What a judge preferred of two answers, on each axis that it was asked for, `overall` among them; by place."""

    sample: str
    evaluator: Evaluator
    first: str
    second: str
    choices: dict[str, Choice]
    justification: str = ""
    provenance: Provenance


class Noticed(Value):
    """What a reader found in a judge's justification: whether it names the error that was planted, and in what words."""

    judgement: str
    named: bool
    words: str = ""
    provenance: Provenance


Case = Literal["error", "neutral", "retest", "gold", "padded"]
"""The case shown to the judge: an answer made worse, one changed without harm, the gold answer again or for the first
time, or one of these answers with empty sentences prepended.
"""


class Detection(NamedTuple):
    """The outcome of one item under one evaluator of one judge: the unit over which blind-spot rates are counted.

    The gold answer's own judgement, with which the others are compared, is a separate detection (case `gold`): nothing
    is detected in it, and it counts among the requested and failed judgements.

    Attributes:
        judge: the judge's shown name, with `@BUDGET`, `+tools` or `+new-reference` if asked that way.
        task: the item's task.
        evaluator: the way of judging.
        case: the case shown to it.
        dimension: the item's dimension.
        group: the dimension's group; empty for a neutral one.
        cluster: the samples that share an image; items of one cluster belong together.
        item: the item's id.
        undetected: of an error, whether no relevant axis detects it, 0 or 1; in between if two orders differ. None:
            the judgement failed.
        strict: the same in the strict form: no relevant axis lower. Pairwise: the error was not detected in both
            orders.
        equal: of a neutral item or a retest, whether both were judged equal (by reference: the full score), 0 or 1; of
            a padded one, whether it was judged on the whole as it was without the padding; else None.
        worse: whether the changed answer was judged better than the gold one on the whole, 0 or 1, a padded one better
            than without the padding; None if it failed.
        majority: of an error, whether no majority of the relevant axes detects it, 0 or 1, or in between. None: as
            `overall`.
        overall: of an error, whether it goes undetected by the axis `overall` alone, 0 or 1: single, `overall` is
            unchanged; pairwise, the gold answer alone is not chosen on `overall`, mean of both orders. None: the
            evaluator asks for no axes (one that asks for `overall` alone says so in `undetected`), or the judgement
            failed.
        named: whether the justification names an error according to a reader, 0 or 1; None without a reader.
        failure: why there is no judgement; empty if there is one.
        asked: whether the judge was asked. It was not where the gold answer's own judgement failed, or what both rest
            on; `failure` is that one's.
        orders: of a pair judged in both orders, the verdicts for the gold answer by a majority of the relevant axes,
            shown first and shown second: 1 where it was chosen, 0 where neither was, -1 where the changed answer was.
        model: the judge's name without settings; empty if equal to `judge`.
        budget: the requested reasoning effort; empty for the default.
        tools: whether it had tools for closer looks.
        new_reference: under reference-guided scoring, whether the reference was drawn anew.
    """

    judge: str
    task: Task
    evaluator: Evaluator
    case: Case
    dimension: str
    group: str
    cluster: str
    item: str
    undetected: float | None = None
    strict: float | None = None
    equal: float | None = None
    worse: float | None = None
    majority: float | None = None
    overall: float | None = None
    named: float | None = None
    failure: str = ""
    asked: bool = True
    orders: tuple[int, int] | None = None
    model: str = ""
    budget: str = ""
    tools: bool = False
    new_reference: bool = False
