"""What duels are asked, and what decides their results."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.duel import AGAIN, PLACES, REFERENCE, TEXT, DuelOptions, FactualityBy, Instruction, Place
from dokimasia.errors import ConfigError
from dokimasia.methods.passports import BLIND_BELOW, HELP, Passports
from dokimasia.runs.plans import (
    AnswerItem,
    AnswersPlan,
    AnyOrder,
    JudgedPlan,
    OutsideIdentity,
    model_identity,
    two_of_one_name,
)
from dokimasia.runs.requests import MOST_REPEATS, SHARED_HELP, DataRequest, Judge, Models, Option
from dokimasia.runs.responses import ResponsesFiles, check_no_blind_arm
from dokimasia.storage.results import ResultRow

Sees = Literal["image", "text"]


class DuelRequest(DataRequest):
    """Hold models' answers to the cases of DATA against a baseline's: a judge compares them, with the places swapped.

    Of a line of DATA `meta` may hold `criteria` (a text, or `subjective` and `factuality`), `task_name` and `ground_truth`.
    The same command continues interrupted duels, or prints their results.
    """

    VERB: ClassVar[str] = "duel"

    models: Models = Field(default=(), description="The models to hold against the baseline, separated by commas.")
    baseline: Judge = Field(description="A model, or `reference` for the reference answers of the data.")
    judge: Annotated[str | None, Option(models=True)] = Field(default=None, description=SHARED_HELP["judge"])
    single: bool = Field(
        default=False, description="Judge in one order alone, the model's answer before the baseline's."
    )
    noise_floor: bool = Field(
        default=False, description="Also hold a second, separately drawn answer of the baseline against its first."
    )
    factuality: FactualityBy = Field(
        default="text",
        description="What visual factuality is judged by: the ground truth, the images as well, or it is not asked. A case "
        "without a ground truth is judged by its images.",
    )
    judge_sees: Sees = Field(default="image", description="Whether the judge of the duels is shown the images.")
    repeats: int = Field(default=1, ge=1, le=MOST_REPEATS, description=SHARED_HELP["repeats"])
    no_image: bool = Field(default=False, description="Also ask every model without the image (arm NAME#blind).")
    describer: Annotated[str | None, Option(models=True)] = Field(
        default=None,
        description="Also ask every model by a description of the images that this model writes (arm NAME#text).",
    )
    descriptions: Instruction = Field(
        default="generic",
        description="What a description is asked for: all that an image shows, or that and what the request turns on.",
    )
    text_models: Models = Field(
        default=(), description="Language models that answer by the descriptions alone, separated by commas."
    )
    responses: ResponsesFiles = Field(default=(), description=f"Judge {SHARED_HELP['responses']}")
    passports: Passports = Field(default=(), description=HELP["passports"])
    blind_below: float = Field(default=BLIND_BELOW, ge=0, le=1, description=HELP["blind_below"])
    choose_judge: Models = Field(default=(), description=HELP["choose_judge"])


class DuelPlan(AnswersPlan, JudgedPlan):
    """Duels by their content: `baseline` is None where answers that exist stand in its place, under `baseline_name`.

    `text_models` are language models that answer by the `describer`'s descriptions alone; the candidates then answer by
    them, too. `given` are answers that exist, ids by model and sample, one a repeat; `given_hash` is theirs. Who has given
    answers is not asked.
    """

    KIND: ClassVar[str] = "duel"

    baseline: ModelSpec | None
    baseline_name: str
    single: bool = False
    noise_floor: bool = False
    factuality: FactualityBy = "text"
    judge_sees: Sees = "image"
    describer: ModelSpec | None = None
    descriptions: Instruction = "generic"
    text_models: Annotated[tuple[ModelSpec, ...], AnyOrder] = ()
    given_hash: str | None = None
    given: Annotated[dict[str, dict[str, tuple[str, ...]]], OutsideIdentity] = Field(default_factory=dict)

    @property
    def places(self) -> tuple[Place, ...]:
        """The orders that the judge is asked in."""
        return PLACES[:1] if self.single else PLACES

    @property
    def asked(self) -> tuple[ModelSpec, ...]:
        """The models that are asked for answers by the request and its images, the baseline last."""
        own = tuple(one for one in self.candidates if one.ref.name not in self.given)
        return own if self.baseline is None else (*own, self.baseline)

    @property
    def described(self) -> tuple[ModelSpec, ...]:
        """The models that are asked for answers by a description of the images."""
        if self.describer is None:
            return ()
        return (*(one for one in self.candidates if one.ref.name not in self.given), *self.text_models)

    @property
    def models(self) -> dict[str, ModelSpec]:
        """Every model that is asked anything, by its shown name.

        Raises:
            ConfigError: two that are asked differently bear one name.
        """
        found: dict[str, ModelSpec] = {}
        for spec in (*self.asked, *self.described, *filter(None, (self.describer,)), self.judge):
            if model_identity(found.setdefault(spec.ref.name, spec)) != model_identity(spec):
                raise two_of_one_name(spec)
        return found

    @property
    def options(self) -> DuelOptions:
        """The plan as the graph needs it."""
        return DuelOptions(
            judge=self.judge.ref.name,
            models=self.models,
            baseline=self.baseline_name,
            places=self.places,
            judge_sees=self.judge_sees,
            factuality=self.factuality,
            describer="" if self.describer is None else self.describer.ref.name,
            descriptions=self.descriptions,
        )

    @property
    def per_sample(self) -> int:
        """How many answers to a sample are held against the baseline's."""
        return super().per_sample + (len(self.described) + self.noise_floor) * self.repeats

    def items(self, sample_id: str) -> Iterator[AnswerItem]:
        """The answers that are held against the baseline's, in a fixed order; its own second one comes last."""
        yield from super().items(sample_id)
        more = [(one.ref.name, TEXT) for one in self.described] + [(self.baseline_name, AGAIN)] * self.noise_floor
        for name, arm in more:
            for repeat in range(self.repeats):
                yield AnswerItem(f"{self.KIND}/{sample_id}/{name}/{arm}/{repeat}", name, arm, repeat)

    def held_against(self, row: ResultRow) -> str:
        """Return the name of the model that the answer of a result was held against."""
        return self.baseline_name

    def given_to(self, model: str, sample_id: str, repeat: int) -> str | None:
        """Return the id of the answer that a model has given already; None where it is asked. A reference has no repeats."""
        ids = self.given.get(model, {}).get(sample_id)
        return None if ids is None else ids[0 if model == REFERENCE else repeat]


def check_request(request: DuelRequest) -> None:
    """Refuse what cannot be asked together.

    Raises:
        ConfigError: naming the options, and a way out.
    """
    if request.baseline in request.models:
        raise ConfigError(
            f"--models names the baseline {request.baseline!r}, and its answer is no rival of itself: --noise-floor draws a "
            "second one"
        )
    if request.noise_floor and request.baseline == REFERENCE:
        raise ConfigError("--noise-floor draws a second answer of the baseline, and a reference answer cannot be drawn")
    if request.responses:
        check_no_blind_arm(request.no_image)
    if request.text_models and request.describer is None:
        raise ConfigError("--text-models answer by descriptions of the images: name who writes them with --describer")
    if both := sorted({*request.text_models} & {*request.models, request.baseline}):
        raise ConfigError(
            f"--text-models names {both[0]!r}, which is shown the images, too; with --describer every one of --models "
            "answers by the descriptions as well"
        )
    if request.responses and request.describer is not None and not request.text_models:
        raise ConfigError("--describer asks models anew, which --responses does not; name them with --text-models")
    if not (request.models or request.text_models or request.noise_floor) and not request.responses:
        raise ConfigError("name at least one model with --models, or answers that exist with --responses FILE")
