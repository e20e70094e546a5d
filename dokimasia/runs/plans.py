"""Plans, which decide a run's results, and the run's id, which is a hash of its plan."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import Annotated, Any, ClassVar, NamedTuple, Protocol, Self, TypedDict, TypeVar

from pydantic import JsonValue

from dokimasia.agents.candidate import BLIND
from dokimasia.agents.schemas import takes_schema
from dokimasia.domain.call import STORED, ModelRef, ModelSpec
from dokimasia.domain.identity import Value, digest
from dokimasia.domain.options import FormerNames, GraphOptions
from dokimasia.errors import ConfigError
from dokimasia.prompts import PromptLibrary
from dokimasia.settings import Settings, resolve_model

P = TypeVar("P", bound="RunPlan")
RUN_ID_LENGTH = 16

SIMULATED = "sim/"
"""The prefix of the names of models that this process simulates."""

WAY = "@"
"""The separator in a shown name between a model's name and how it is asked."""


class OutsideIdentity:
    """Marks a field of a plan that is not part of the run's identity."""


class AnyOrder:
    """Marks models of a plan whose order does not affect results."""


class RunPlan(Value):
    """A run by its content; every field is part of its identity unless it is marked as `OutsideIdentity`.

    `prompts` are versions and hashes by name; `fresh` is how often this plan was deliberately rerun.
    """

    seed: int = 0
    prompts: dict[str, str]
    fresh: int = 0

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse a field that would hide an attribute of every plan, such as `models`.

        Raises:
            TypeError: a field has the name of a property or function of the plan.
        """
        super().__pydantic_init_subclass__(**kwargs)
        own_names = [name for base in cls.__mro__[1:] if issubclass(base, RunPlan) for name in vars(base)]
        names = sorted(set(own_names) & cls.model_fields.keys())
        if names:
            raise TypeError(
                f"{cls.__name__}: no field of a plan can be called {' or '.join(names)}, since every plan computes that from its "
                "fields; choose another name"
            )

    @property
    def models(self) -> dict[str, ModelSpec]:
        """Every model of the plan by its shown name.

        Raises:
            ConfigError: two different models have the same name.
        """
        models: dict[str, ModelSpec] = {}

        def take(spec: ModelSpec) -> ModelSpec:
            if model_identity(models.setdefault(spec.ref.name, spec)) != model_identity(spec):
                raise two_of_one_name(spec)
            return spec

        self.map_models(take)
        return models

    @property
    def judge_name(self) -> str:
        """The shown name of the judge that the figures rest on; empty without a judge."""
        return ""

    @property
    def options(self) -> GraphOptions:
        """The plan's options for graphs; without a judge, its first model serves as the judge."""
        models = self.models
        return GraphOptions(judge=self.judge_name or next(iter(models)), models=models)

    def map_models(self, change: Callable[[ModelSpec], ModelSpec]) -> Self:
        """Return the plan with every model replaced by what `change` makes of it."""
        return self.model_copy(update={name: _mapped(getattr(self, name), change) for name in type(self).model_fields})


class DataPlan(RunPlan):
    """A run over a data set; `data` hashes the samples' names and contents in order."""

    data: str
    limit: int | None = None


class JudgedPlan(DataPlan):
    """A run over a data set in which one judge serves all steps."""

    judge: ModelSpec

    @property
    def judge_name(self) -> str:
        """The judge's shown name."""
        return self.judge.ref.name


class AnswersPlan(DataPlan):
    """A run in which candidates answer each sample, in one or two arms, `repeats` times each, and each answer is judged.

    `responses` is a hash of files of existing answers; their candidates are not called.
    """

    KIND: ClassVar[str]
    """The prefix of the names of the answers' items."""

    candidates: Annotated[tuple[ModelSpec, ...], AnyOrder]
    repeats: int = 1
    no_image: bool = False
    show_image: bool = False
    responses: str | None = None

    @property
    def asked(self) -> tuple[ModelSpec, ...]:
        """The candidates whose answers do not exist yet."""
        return tuple(spec for spec in self.candidates if spec.ref.endpoint != STORED)

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms of every candidate: with the image, and with `no_image` also without."""
        if self.no_image:
            return ("", BLIND)
        return ("",)

    @property
    def per_sample(self) -> int:
        """The number of answers to a sample."""
        return len(self.candidates) * len(self.arms) * self.repeats

    def items(self, sample_id: str) -> "Iterator[AnswerItem]":
        """Yield the judged answers to one sample, in a fixed order."""
        for candidate, arm in product(self.candidates, self.arms):
            for repeat in range(self.repeats):
                name = f"{self.KIND}/{sample_id}/{candidate.ref.name}/{arm}/{repeat}"
                yield AnswerItem(name, candidate.ref.name, arm, repeat)


class AnswerPlace(TypedDict):
    """An answer's model, arm and repeat, as fields of a graph's item and of a result row."""

    model: str
    arm: str
    repeat: int


class AnswerItem(NamedTuple):
    """One answer of one candidate to one sample, to be judged; `name` is unique in its run."""

    name: str
    model: str
    arm: str
    repeat: int

    @property
    def place(self) -> AnswerPlace:
        """The answer's model, arm and repeat, as fields of a graph's item and of a result row."""
        return {"model": self.model, "arm": self.arm, "repeat": self.repeat}


def identity(plan: Value) -> dict[str, JsonValue]:
    """Return the part of a plan that is hashed: models by name and sampling, without transport, limits and price."""
    hashed: dict[str, JsonValue] = {}
    for name, field in type(plan).model_fields.items():
        if any(mark is OutsideIdentity or isinstance(mark, OutsideIdentity) for mark in field.metadata):
            continue
        value = getattr(plan, name)
        if any(mark is AnyOrder or isinstance(mark, AnyOrder) for mark in field.metadata):
            value = sorted(value, key=lambda spec: spec.ref.name)
        for mark in field.metadata:
            if isinstance(mark, FormerNames):
                value = mark.former(value)
        hashed[name] = _identified(value)
    return hashed


class VersionedMethod(Protocol):
    """The parts of a method that enter the ids of its runs: its name, its version and those of its graphs."""

    @property
    def name(self) -> str:
        """The method's name."""
        ...

    @property
    def version(self) -> int:
        """The method's version."""
        ...

    @property
    def graphs_of(self) -> Callable[[Any], Mapping[str, int]]:
        """Returns the versions of a plan's graphs, by name."""
        ...


def run_id(method: VersionedMethod, plan: RunPlan) -> str:
    """Return a run's id: 16 hexadecimal digits over its plan, and the versions of its method and graphs."""
    versions = {"method": [method.name, method.version], "graphs": dict(sorted(method.graphs_of(plan).items()))}
    return digest("run", {**versions, "plan": identity(plan)})[:RUN_ID_LENGTH]


def model_identity(spec: ModelSpec, *, schemas: bool = True) -> dict[str, JsonValue]:
    """Return the parts of a model's configuration that decide its results: names, sampling, image size, and whether its
    replies follow schemas."""
    hashed = {
        "name": spec.ref.name,
        "model": spec.ref.model,
        "endpoint": spec.ref.endpoint,
        "sampling": spec.sampling.model_dump(mode="json", exclude_none=True),
    }
    if spec.max_image_side is not None:
        hashed["max_image_side"] = spec.max_image_side
    return hashed | ({"structured_output": True} if schemas and takes_schema(spec) else {})


def as_configured_now(plan: P, settings: Settings) -> P:
    """Return the plan with the present configuration of each model that is unchanged.

    The name in the run, sampling, capabilities and image limit stay as accepted, since they determine the calls.
    """
    settled = ("ref", "sampling", "capabilities", "max_image_side")

    def now(spec: ModelSpec) -> ModelSpec:
        configured = as_configured(settings, spec.ref.name, spec.ref)
        if configured is None:
            return spec
        return with_known_price(configured).model_copy(update={name: getattr(spec, name) for name in settled})

    return plan.map_models(now)


def with_known_price(spec: ModelSpec) -> ModelSpec:
    """Return the spec, with price 0 for a model that this process simulates."""
    if spec.ref.model.startswith(SIMULATED) and spec.input_price is None and spec.output_price is None:
        return spec.model_copy(update={"input_price": 0.0, "output_price": 0.0})
    return spec


def as_configured(settings: Settings, name: str, ref: ModelRef | None = None) -> ModelSpec | None:
    """Return the present configuration of the model that a run shows under a name.

    A method that asks one model in several ways shows it as NAME@WAY, which the configuration does not know.

    Args:
        settings: the configuration.
        name: the shown name.
        ref: the expected model; by default any of the name.

    Returns:
        The spec; None if the configuration has no such model, or the name belongs to another one.
    """
    for candidate in dict.fromkeys((name, name.rpartition(WAY)[0])):
        try:
            spec = resolve_model(settings, candidate)
        except ConfigError:
            continue
        if ref is None or (spec.ref.model, spec.ref.endpoint) == (ref.model, ref.endpoint):
            return spec
    return None


def two_of_one_name(spec: ModelSpec) -> ConfigError:
    """Return the error of a plan in which two different models have the same name."""
    return ConfigError(
        f"two models of this run are called {spec.ref.name!r} and are not the same; give one of them another name in "
        "dokimasia.toml"
    )


def prompts_used(library: PromptLibrary, names: Iterable[str]) -> dict[str, str]:
    """Return version and hash of prompts, by name in alphabetical order.

    Raises:
        ConfigError: the library has none of some name.
    """
    identities = library.identity()
    names = sorted(names)
    missing = sorted(set(names) - identities.keys())
    if missing:
        raise ConfigError(
            f"there is no prompt called {', '.join(missing)}; a method with prompts of its own adds their folder by `library`"
        )
    return {name: identities[name] for name in names}


def _mapped(value: object, change: Callable[[ModelSpec], ModelSpec]) -> object:
    if isinstance(value, ModelSpec):
        return change(value)
    if isinstance(value, tuple):
        return tuple(_mapped(part, change) for part in value)
    if isinstance(value, dict):
        return {name: _mapped(part, change) for name, part in value.items()}
    return value


def _identified(value: Any) -> JsonValue:
    if isinstance(value, ModelSpec):
        return model_identity(value)
    if isinstance(value, Value):
        return value.model_dump(mode="json")
    if isinstance(value, tuple | list):
        return [_identified(part) for part in value]
    if isinstance(value, Mapping):
        return {name: _identified(part) for name, part in sorted(value.items())}
    return value
