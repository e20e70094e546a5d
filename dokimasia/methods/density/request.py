"""The density filter: thresholds (`domain=x,y`, or a JSON file), request, plan and acceptance."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar, cast, get_args

import orjson
from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from dokimasia.domain.density import DOMAINS, Domain, FilterOptions, Threshold
from dokimasia.domain.options import GraphOptions
from dokimasia.errors import InputError
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, ExpectedCalls, total_estimate
from dokimasia.runs.plans import JudgedPlan, prompts_used
from dokimasia.runs.requests import DataRequest, Judge, Option
from dokimasia.runs.session import Accepted, Session

RATING_TOKENS = 150

Thresholds = dict[Domain, Threshold]


def read_thresholds(texts: Sequence[str]) -> Thresholds:
    """Return thresholds from `domain=x,y` (x: visual complexity, y: informativeness) or JSON files of the same.

    `all=5,5` applies to every domain that is not named; a file contains `{"natural": [6, 5], ...}`. Later thresholds
    take precedence.

    Raises:
        InputError: a threshold cannot be read; the message names it and the expected format.
    """
    thresholds: Thresholds = {}
    general: Threshold | None = None
    for text in texts:
        for name, value in _pairs(text):
            threshold = _threshold(name, value, text)
            if name == "all":
                general = threshold
            elif name in DOMAINS:
                thresholds[name] = threshold
            else:
                raise InputError(f"--thresholds {text}: no domain {name!r}; there are: {', '.join(DOMAINS)}, all")
    if general is not None:
        thresholds = {domain: thresholds.get(domain, general) for domain in get_args(Domain)}
    return thresholds


_NUMBERS = TypeAdapter(tuple[float, float])


def _pairs(text: str) -> list[tuple[str, JsonValue]]:
    name, equals, value = text.partition("=")
    if equals:
        return [(name.strip(), [*value.split(",")])]
    path = Path(text)
    try:
        content = orjson.loads(path.read_bytes())
    except OSError as error:
        raise InputError(
            f"--thresholds {text}: no such file ({error.strerror}); write domain=x,y or name a JSON file"
        ) from None
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path}: no JSON: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f'{path}: not an object of the form {{"natural": [6, 5], "all": [5, 5]}}')
    return list(cast("dict[str, JsonValue]", content).items())


def _threshold(name: str, value: JsonValue, text: str) -> Threshold:
    try:
        complexity, informativeness = _NUMBERS.validate_python(value)
        return Threshold(visual_complexity=complexity, informativeness=informativeness)
    except ValidationError:
        raise InputError(
            f"--thresholds {text}: the threshold of {name!r} is not two numbers from 1 to 10: write {name}=6,5"
        ) from None


class FilterRequest(DataRequest):
    """Rate every image of DATA by visual complexity and informativeness, and keep those that reach the thresholds.

    The domain comes from the data (`domain`, or a category of that name), else from the judge. A line of DATA needs
    only `id` and `image`. The same command continues an interrupted run, or prints its results.
    """

    VERB: ClassVar[str] = "filter"

    judge: Judge
    thresholds: Annotated[Thresholds, Option(repeated=True, metavar="DOMAIN=X,Y|FILE", read=read_thresholds)] = Field(
        default_factory=dict,
        description="Keep a domain's images from complexity X and informativeness Y on (1 to 10); all=X,Y for the rest.",
    )
    output: Annotated[Path | None, Option(flags=("-o", "--output"), metavar="FILE", written=True)] = Field(
        default=None, description="Write what is kept as a data file."
    )


class FilterPlan(JudgedPlan):
    """The plan of a run of the density filter."""

    thresholds: Thresholds = Field(default_factory=dict)

    @property
    def options(self) -> GraphOptions:
        """The options of the graph."""
        return FilterOptions(judge=self.judge.ref.name, models=self.models, thresholds=self.thresholds)


async def accept(request: FilterRequest, session: Session) -> Accepted[FilterPlan]:
    """Validate a request, and return its plan, its estimate and its samples."""
    data = await asyncio.to_thread(session.store_samples, request, images=True)
    (judge,) = session.models((request.judge,), "--judge")
    plan = FilterPlan(
        data=data.hash,
        limit=request.limit,
        seed=request.seed,
        judge=judge,
        thresholds=request.thresholds,
        prompts=prompts_used(session.library, ("density", "domain", "repair")),
    )
    calls: list[ExpectedCalls] = []
    for size in data.sizes_of_images:
        calls.append(ExpectedCalls(judge, 2, INSTRUCTION_TOKENS + size.images_for(judge), RATING_TOKENS))
    return data.accepted(plan, total_estimate(calls, len(data.entries), items=len(data.entries)))
