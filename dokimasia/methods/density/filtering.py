"""`filter`: a judge rates how much each image holds to be perceived, and each domain's threshold keeps or drops it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast, get_args

import orjson
from pydantic import Field, ValidationError

from dokimasia.domain.density import DOMAINS, DensityRating, Domain, FilterOptions, Threshold
from dokimasia.domain.identity import digest
from dokimasia.domain.options import GraphOptions
from dokimasia.errors import InputError
from dokimasia.graphs.density import density_filter
from dokimasia.graphs.drive import GraphFile
from dokimasia.methods.density.figures import filter_figures
from dokimasia.methods.evaluation.plan import RUN_ID_LENGTH, model_identity
from dokimasia.methods.graph.images import ImageItem, ImageRun, resolve_models, samples_by_name, simulated
from dokimasia.methods.graph.plan import GraphItem, GraphPlan
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Asking, Estimate, SampleSize, added_up
from dokimasia.runs.export_formats import write_whole
from dokimasia.runs.samples import DataRequest
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.results import results
from dokimasia.storage.reviews import made_values
from dokimasia.storage.runs import Run

KIND = "filter"
RATING_TOKENS = 150

Thresholds = dict[Domain, Threshold]


class FilterRequest(DataRequest):
    """What the user asks of the filter: data, a judge, and the least ratings of each domain."""

    judge: str
    thresholds: Thresholds = Field(default_factory=dict)


class FilterPlan(GraphPlan):
    """A run of the filter by its content."""

    thresholds: Thresholds = Field(default_factory=dict)

    @property
    def options(self) -> GraphOptions:
        """The plan as the graph needs it."""
        name = self.judge.ref.name
        return FilterOptions(judge=name, models={name: self.judge}, thresholds=self.thresholds)

    @property
    def run_id(self) -> str:
        """The run's id: 16 hexadecimal digits over everything that decides its results."""
        identity = {
            "command": KIND,
            "version": self.version,
            "data": self.data,
            "judge": model_identity(self.judge),
            "thresholds": {name: one.model_dump(mode="json") for name, one in sorted(self.thresholds.items())},
            "limit": self.limit,
            "seed": self.seed,
            "prompts": dict(self.prompts),
            "fresh": self.fresh,
        }
        return digest("run", identity)[:RUN_ID_LENGTH]

    def items(self, sample_id: str) -> Iterator[GraphItem]:
        """The one work item of a sample."""
        yield ImageItem(sample_id, "")


def filter_summary(home: Home, run: Run) -> dict[str, Any]:
    """Return the figures of a run of the filter, ready for JSON; the same stored rows give the same bytes."""
    plan = FilterPlan.model_validate(run.options["plan"])
    rows = results(home, run.id)
    used = SqliteLedger(home).calls_for(dict.fromkeys(key for row in rows for key in row.calls))
    costs = [one.cost for one in used.values()]
    return {
        "run": run.id,
        "status": run.status,
        "judge": plan.judge.ref.name,
        "seed": run.seed,
        "skipped": run.options.get("skipped", []),
        "simulated": simulated((plan.judge,)),
        "thresholds": {name: one.model_dump(mode="json") for name, one in sorted(plan.thresholds.items())},
        **filter_figures(home, run.id),
        "calls": len(used),
        "cost": None if any(cost is None for cost in costs) else round(sum(cost or 0.0 for cost in costs), 6),
    }


def filter_items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield each sample with its rating or its failure, ready for JSON; with `sample`, only that one."""
    ratings = {made.sample_id: rating for made, rating in made_values(home, run.id, DensityRating)}
    for row in results(home, run.id):
        if sample is None or row.sample_id == sample:
            rating = ratings.get(row.sample_id)
            yield {
                "sample": row.sample_id,
                "failure": row.failure,
                "reason": row.reason,
                "rating": None if rating is None else rating.model_dump(mode="json", exclude={"sample"}),
                "calls": list(row.calls),
            }


def write_kept(home: Home, run: Run, output: Path) -> int:
    """Write the samples that were kept as a data file, each with its domain and ratings; return how many.

    Images are copied into the folder `images` beside the file, by their content's name, so that both can be moved.

    Raises:
        InputError: the file is the data file of the run, or cannot be written.
    """
    accepted = Path(str(cast("dict[str, Any]", run.options["request"])["data"]))
    if output.absolute() == accepted:
        raise InputError(f"{output} is the data file that was filtered; name another file")
    samples = samples_by_name(home, run)
    lines: list[bytes] = []
    for made, rating in made_values(home, run.id, DensityRating):
        if not rating.kept:
            continue
        sample = samples[made.sample_id]
        images = [_copy(home, output, image.sha256, image.media_type) for image in sample.images]
        meta = {**sample.meta, "domain": rating.domain, "density": rating.density.model_dump(mode="json")}
        fields: dict[str, Any] = {"id": sample.id, "images": images, "category": sample.category, "meta": meta}
        fields |= {"prompt": sample.prompt or None, "reference_answer": sample.reference_answer}
        fields["choices"] = list(sample.choices) or None
        lines.append(orjson.dumps({name: value for name, value in fields.items() if value is not None}))
    write_whole(output, b"".join(line + b"\n" for line in lines))
    return len(lines)


def read_thresholds(named: Sequence[str]) -> Thresholds:
    """Return thresholds from `domain=x,y` (x: visual complexity, y: informativeness) or JSON files of the same.

    `all=5,5` is every domain's that is not named; a file holds `{"natural": [6, 5], ...}`. What comes later wins.

    Raises:
        InputError: one cannot be read; the message names it and the form.
    """
    found: Thresholds = {}
    general: Threshold | None = None
    for text in named:
        for name, value in _pairs(text):
            threshold = _threshold(name, value, text)
            if name == "all":
                general = threshold
            elif name in DOMAINS:
                found[name] = threshold
            else:
                raise InputError(f"--thresholds {text}: no domain {name!r}; there are: {', '.join(DOMAINS)}, all")
    if general is not None:
        found = {domain: found.get(domain, general) for domain in get_args(Domain)}
    return found


def _pairs(text: str) -> list[tuple[str, Any]]:
    name, equals, value = text.partition("=")
    if equals:
        return [(name.strip(), value.split(","))]
    path = Path(text)
    try:
        read = orjson.loads(path.read_bytes())
    except OSError as error:
        raise InputError(
            f"--thresholds {text}: no such file ({error.strerror}); write domain=x,y or name a JSON file"
        ) from None
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path}: no JSON: {error}") from None
    if not isinstance(read, dict):
        raise InputError(f'{path}: not an object of the form {{"natural": [6, 5], "all": [5, 5]}}')
    return list(cast("dict[str, Any]", read).items())


def _threshold(name: str, value: Any, text: str) -> Threshold:
    try:
        complexity, informativeness = value
        return Threshold(visual_complexity=float(complexity), informativeness=float(informativeness))
    except (TypeError, ValueError, ValidationError):
        raise InputError(
            f"--thresholds {text}: the threshold of {name!r} is not two numbers from 1 to 10: write {name}=6,5"
        ) from None


def _copy(home: Home, output: Path, sha256: str, media_type: str) -> str:
    name = f"images/{sha256}.{media_type.removeprefix('image/').replace('jpeg', 'jpg')}"
    target = output.parent / name
    if not target.exists():
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{target.parent} cannot be made: {error.strerror}") from error
        write_whole(target, home.blobs.get(sha256))
    return name


def _plan(request: FilterRequest, settings: Settings, shared: dict[str, Any]) -> FilterPlan:
    (judge,) = resolve_models(settings, (request.judge,), "--judge")
    return FilterPlan(judge=judge, thresholds=request.thresholds, **shared)


def _command(request: FilterRequest) -> str:
    thresholds = "".join(
        f" --thresholds {name}={one.visual_complexity:g},{one.informativeness:g}"
        for name, one in sorted(request.thresholds.items())
    )
    return f"filter {request.data.name} --judge {request.judge}{thresholds}"


def _expected(plan: FilterPlan, sizes: list[SampleSize]) -> Estimate:
    asked = [Asking(plan.judge, 2, INSTRUCTION_TOKENS + size.images, RATING_TOKENS) for size in sizes]
    return added_up(asked, len(sizes))


FILTER: ImageRun[FilterRequest, FilterPlan] = ImageRun(
    kind=KIND,
    graph=cast("GraphFile", density_filter),
    request=FilterRequest,
    plan=FilterPlan,
    prompts=("density", "domain"),
    plan_of=_plan,
    command=_command,
    summary=filter_summary,
    expected=_expected,
)
"""The kind of run that `filter` makes."""
