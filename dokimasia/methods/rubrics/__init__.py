"""Gated rubrics made from golden captions (PerceptionRubrics, 3.3.2)."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from dokimasia.domain.identity import value_id
from dokimasia.domain.rubric import FEWEST_TRIED, MEASURED_ERRORS, TRIAL_CAPTIONS, RubricSet
from dokimasia.errors import ConfigError, NotFound
from dokimasia.graphs.versions import versions_of
from dokimasia.methods.checks import open_checks
from dokimasia.methods.rubrics.figures import set_figures
from dokimasia.methods.rubrics.files import encode_sets, read_sets, schema, sets_id, sets_of_run, write_sets
from dokimasia.methods.rubrics.power import power_figures, set_power
from dokimasia.methods.rubrics.request import PROMPTS, RubricPlan, RubricRequest
from dokimasia.methods.rubrics.sources import Captions, read_captions
from dokimasia.prompts.dimensions import dimensions_id
from dokimasia.runs.estimate import Asking, Estimate, added_up, size_of
from dokimasia.runs.figures import failures, heading, paid, rows_shown
from dokimasia.runs.lifecycle import run as run_method
from dokimasia.runs.method import ColumnType, Method, later, one_walk
from dokimasia.runs.plans import prompts_used
from dokimasia.runs.session import Accepted, Session, hash_of
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_value
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, get_run, run_samples

INSTRUCTIONS, CAPTION_TOKENS, RUBRIC_TOKENS, CHECK_TOKENS, PLANTED_TOKENS = 1_000, 900, 500, 200, 400

COLUMNS: dict[str, ColumnType] = {
    "domain": "text",
    "caption": "text",
    "verified": "truth",
    "checked": "truth",
    "must_right": "texts",
    "easy_wrong": "texts",
    "planted": "integer",
    "caught": "integer",
    "caught_low": "number",
    "caught_high": "number",
    "rubrics_tried": "integer",
    "rubrics_failed": "integer",
}
"""What an export says of a sample's set: of `planted` errors so many were `caught`, with the interval of that share, and
of its rubrics, so many of those that were tried were failed by a text that had no part in choosing them."""


async def accept(request: RubricRequest, session: Session) -> Accepted[RubricPlan]:
    """Read the captions, and find judge, pool and panel.

    Captions that a person rejected are left out, those that one edited are taken as edited; a caption on which nobody has
    decided yet is taken and marked.

    Raises:
        ConfigError: the pool is empty, or names one twice.
    """
    if not request.pool:
        raise ConfigError("--pool names no model: easy-wrong rubrics are mined from the responses of at least one")
    found = await asyncio.to_thread(read_captions, request, session)
    panel = found.panel if request.panel is None else session.models(request.panel, "--panel")
    plan = RubricPlan(
        data=hash_of([(sample.id, value_id(sample)) for sample in found.samples]),
        limit=request.limit,
        seed=request.seed,
        judge=session.model(request.judge),
        pool=session.models(request.pool, "--pool"),
        panel=panel,
        sources={one.sample_id: value_id(one) for one in found.sources},
        request=found.request,
        protocol=request.protocol,
        dimensions=dimensions_id(),
        prompts=prompts_used(session.library, PROMPTS),
    )
    names = tuple(spec.ref.name for spec in panel)
    return Accepted(
        plan=plan,
        estimate=expected(plan, found),
        samples=found.samples,
        values=found.sources,
        skipped=found.skipped,
        request=request.model_copy(update={"data": found.source, "panel": names}),
        data_name=_data_name(session, found.source),
    )


def _data_name(session: Session, source: Path) -> str:
    """Return what the data of a review are called; empty where captions are from a file, which is called as it is."""
    if not source.exists():
        with suppress(NotFound):
            return get_run(session.opened, source.name).data_name
    return ""


def expected(plan: RubricPlan, found: Captions) -> Estimate:
    """Return what the making of rubrics will ask at most; a domain is asked for where the data name none."""
    asked: list[Asking] = []
    shown = INSTRUCTIONS + CAPTION_TOKENS
    pool = len(plan.pool)
    half = (pool + 1) // 2 if (pool + 1) // 2 >= FEWEST_TRIED else 0
    tried_on = 0 if plan.protocol == "published" else half + TRIAL_CAPTIONS
    measured_on = 1 + MEASURED_ERRORS + pool // 2
    for sample, source in zip(found.samples, found.sources, strict=True):
        size = size_of(sample)
        asked += [Asking(spec, 1, size.text + size.images_for(spec), CAPTION_TOKENS) for spec in plan.pool]
        asked += [
            Asking(plan.judge, 1 + (source.domain is None), shown + size.images_for(plan.judge), RUBRIC_TOKENS),
            Asking(plan.judge, 2, shown + pool * CAPTION_TOKENS, RUBRIC_TOKENS),
            Asking(plan.judge, 1 + bool(tried_on), shown + RUBRIC_TOKENS, PLANTED_TOKENS),
            Asking(plan.judge, tried_on + measured_on, shown + RUBRIC_TOKENS, CHECK_TOKENS),
        ]
        asked += [Asking(spec, 1, shown + RUBRIC_TOKENS, CHECK_TOKENS) for spec in plan.panel]
    return added_up(asked, len(found.samples), items=len(found.samples))


def figures(home: Home, run: Run) -> dict[str, Any]:
    """Return the figures of a run that makes rubrics, ready for JSON; the same stored rows give the same bytes."""
    plan, _ = METHOD.read(run)
    rows = results(home, run.id)
    places = run_samples(home, run.id)
    sets = sets_of_run(home, run) if _made(rows) else []
    return {
        **heading(run, plan),
        "samples": len(places),
        "open_items": len(places) - len(rows),
        "protocol": plan.protocol,
        "pool": [spec.ref.name for spec in plan.pool],
        "panel": [spec.ref.name for spec in plan.panel],
        "request": plan.request,
        "failures": failures(rows),
        **set_figures(sets),
        "power": power_figures(sets, {place.sample_id: place.cluster for place in places}),
        **paid(home, rows),
    }


def items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield each sample's set with what was dropped, or its failure, ready for JSON; with `sample`, that one alone."""
    for row in rows_shown(home, run, sample):
        made = find_value(home, row.value_ids[0])["value"] if row.value_ids else None
        power = None if made is None else set_power(RubricSet.model_validate(made))
        yield {"sample": row.sample_id, "failure": row.failure, "reason": row.reason, "set": made, "power": power}


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, Any]]:
    """Return what an export says of each sample's set, as it stands after people's decisions."""
    sets = {one.sample_id: one for one in sets_of_run(home, run)} if _made(rows) else {}
    found: list[dict[str, Any]] = []
    for row in rows:
        one = sets.get(row.sample_id)
        said = {} if one is None else one.model_dump(include={"domain", "caption", "verified", "checked"})
        streams = {} if one is None else {"must_right": one.must_right, "easy_wrong": one.easy_wrong}
        texts = {name: [rubric.statement for rubric in rubrics] for name, rubrics in streams.items()}
        found.append(dict.fromkeys(COLUMNS) | said | texts | ({} if one is None else _power_cells(one)))
    return found


def _power_cells(one: RubricSet) -> dict[str, Any]:
    power = set_power(one)
    caught, failed = power["caught"], power["rubrics"]
    return {
        "planted": caught["n"],
        "caught": caught["k"],
        "caught_low": caught["low"],
        "caught_high": caught["high"],
        "rubrics_tried": failed["n"],
        "rubrics_failed": failed["k"],
    }


def after(home: Home, run: Run, request: RubricRequest) -> Iterable[str]:
    """Write the rubric sets, where a file was named for them and there are any."""
    if request.export is not None:
        if _made(results(home, run.id)):
            yield write_sets(home, run, request.export)
        else:
            yield f"no rubrics were made yet: nothing was written to {request.export}"


def _made(rows: Sequence[ResultRow]) -> bool:
    return any(row.outcome == "made" for row in rows)


METHOD: Method[RubricRequest, RubricPlan] = Method(
    name="rubrics",
    title="a run that makes rubrics",
    request=RubricRequest,
    plan=RubricPlan,
    accept=accept,
    stages=one_walk("rubrics.rubric_making"),
    ended=open_checks,
    drawing=later("dokimasia.methods.rubrics.blocks", "DRAWING"),
    figures=figures,
    shape=later("dokimasia.methods.rubrics.shape", "RubricsFigures"),
    graphs=versions_of("rubric_making"),
    items=items,
    after=after,
    row_name="rubric sets",
    columns=COLUMNS,
    cells=cells,
)

make_rubrics = partial(run_method, METHOD)
"""Make rubrics: `await make_rubrics(RubricRequest(...), settings=..., observer=..., stop=...)`."""

__all__ = [
    "METHOD",
    "RubricPlan",
    "RubricRequest",
    "encode_sets",
    "make_rubrics",
    "read_sets",
    "schema",
    "sets_id",
    "sets_of_run",
    "write_sets",
]
