"""`review`: a panel describes each image, compares, ranks, rewrites and votes, until it agrees or the image is discarded."""

from collections.abc import Iterator
from typing import Any, cast

from pydantic import Field

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import digest
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.review import DESCRIBE_REQUEST, MAX_CYCLES, ReviewOptions, Rule
from dokimasia.errors import ConfigError
from dokimasia.graphs.drive import GraphFile
from dokimasia.graphs.review import peer_review
from dokimasia.methods.evaluation.plan import RUN_ID_LENGTH, model_identity
from dokimasia.methods.graph.images import ImageItem, ImageRun, resolve_models, simulated
from dokimasia.methods.graph.plan import GraphItem, GraphPlan
from dokimasia.methods.review.figures import caption_states, review_figures
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Asking, Estimate, SampleSize, added_up
from dokimasia.runs.samples import DataRequest
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.lookup import find_value
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run

KIND = "review"

DESCRIPTION_TOKENS, CRITIQUE_TOKENS = 800, 300
"""By rule of thumb: captions of the paper have 569 words in the median."""


class ReviewRequest(DataRequest):
    """What the user asks of a review: data, a panel by names, how many cycles at most, and what accepts a caption.

    `prompt` asks for another description than the full one.
    """

    panel: tuple[str, ...]
    cycles: int = Field(default=MAX_CYCLES, ge=1)
    accept: Rule = "unanimous"


class ReviewPlan(GraphPlan):
    """A run of the review by its content; `judge` is the panel's first member and has no part of its own."""

    panel: tuple[ModelSpec, ...]
    cycles: int = Field(default=MAX_CYCLES, ge=1)
    accept: Rule = "unanimous"
    request: str = DESCRIBE_REQUEST

    @property
    def options(self) -> GraphOptions:
        """The plan as the graph needs it."""
        return ReviewOptions(
            judge=self.judge.ref.name,
            models={spec.ref.name: spec for spec in self.panel},
            panel=tuple(spec.ref.name for spec in self.panel),
            cycles=self.cycles,
            accept=self.accept,
            request=self.request,
        )

    @property
    def run_id(self) -> str:
        """The run's id: 16 hexadecimal digits over everything that decides its results."""
        identity = {
            "command": KIND,
            "version": self.version,
            "data": self.data,
            "panel": [model_identity(spec) for spec in self.panel],
            "cycles": self.cycles,
            "accept": self.accept,
            "request": self.request,
            "limit": self.limit,
            "seed": self.seed,
            "prompts": dict(self.prompts),
            "fresh": self.fresh,
        }
        return digest("run", identity)[:RUN_ID_LENGTH]

    def items(self, sample_id: str) -> Iterator[GraphItem]:
        """The one work item of a sample."""
        yield ImageItem(sample_id, "")


def review_summary(home: Home, run: Run) -> dict[str, Any]:
    """Return the figures of a review, ready for JSON; the same stored rows give the same bytes."""
    plan = ReviewPlan.model_validate(run.options["plan"])
    used = SqliteLedger(home).calls_for(dict.fromkeys(key for row in results(home, run.id) for key in row.calls))
    costs = [one.cost for one in used.values()]
    panel = [spec.ref.name for spec in plan.panel]
    return {
        "run": run.id,
        "status": run.status,
        "panel": panel,
        "cycles": plan.cycles,
        "accept": plan.accept,
        "request": plan.request,
        "seed": run.seed,
        "skipped": run.options.get("skipped", []),
        "simulated": simulated(plan.panel),
        **review_figures(home, run.id, panel=panel, seed=run.seed),
        "calls": len(used),
        "cost": None if any(cost is None for cost in costs) else round(sum(cost or 0.0 for cost in costs), 6),
    }


def review_items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield each reviewed sample with its record and golden caption, ready for JSON; with `sample`, that one whole.

    Whole means with every candidate, comparison and vote, in the order in which they were made.
    """
    states = caption_states(home, run.id)
    for row in results(home, run.id):
        if sample is not None and row.sample_id != sample:
            continue
        values = [{"id": id, **find_value(home, id)} for id in row.value_ids]
        golden = next((one for one in values if one["type"] == "GoldenCaption"), None)
        item = {
            "sample": row.sample_id,
            "record": next((one["value"] for one in values if one["type"] == "ReviewRecord"), None),
            "golden": None
            if golden is None
            else {"id": golden["id"], "state": states[golden["id"]], **golden["value"]},
        }
        yield item if sample is None else {**item, "values": values, "calls": list(row.calls)}


def _plan(request: ReviewRequest, settings: Settings, shared: dict[str, Any]) -> ReviewPlan:
    if len(request.panel) < 2:
        raise ConfigError(
            f"--panel names {len(request.panel)} model: a review needs two or more, since nobody can agree with itself"
        )
    panel = resolve_models(settings, request.panel, "--panel")
    if len({spec.ref.name for spec in panel}) < len(panel):
        raise ConfigError("--panel names one model twice: give it two names in dokimasia.toml to have it sit twice")
    wanted = request.prompt if request.prompt is not None and request.prompt.strip() else DESCRIBE_REQUEST
    return ReviewPlan(
        judge=panel[0], panel=panel, cycles=request.cycles, accept=request.accept, request=wanted, **shared
    )


def _command(request: ReviewRequest) -> str:
    words = ["review", request.data.name, "--panel", ",".join(request.panel)]
    if request.cycles != MAX_CYCLES:
        words += ["--cycles", str(request.cycles)]
    if request.accept != "unanimous":
        words += ["--accept", request.accept]
    if request.prompt is not None:
        words += ["--prompt", request.prompt]
    return " ".join(words)


def _expected(plan: ReviewPlan, sizes: list[SampleSize]) -> Estimate:
    pool = len(plan.panel) * DESCRIPTION_TOKENS
    asked: list[Asking] = []
    for spec in plan.panel:
        for size in sizes:
            shown = INSTRUCTION_TOKENS + size.images
            asked += [
                Asking(spec, 1, shown, DESCRIPTION_TOKENS),
                Asking(spec, plan.cycles, shown + pool, CRITIQUE_TOKENS + DESCRIPTION_TOKENS),
                Asking(spec, plan.cycles, shown + pool, CRITIQUE_TOKENS),
            ]
    return added_up(asked, len(sizes))


REVIEW: ImageRun[ReviewRequest, ReviewPlan] = ImageRun(
    kind=KIND,
    graph=cast("GraphFile", peer_review),
    request=ReviewRequest,
    plan=ReviewPlan,
    prompts=("describe", "peer_review", "peer_vote"),
    plan_of=_plan,
    command=_command,
    summary=review_summary,
    expected=_expected,
)
"""The kind of run that `review` makes."""
