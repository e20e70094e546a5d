"""Grow a capability tree: accept the growth, walk it through its phases, and return what it came to."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dokimasia.domain.growth import TreeCriterion
from dokimasia.domain.identity import Value, digest
from dokimasia.domain.ports import Transport
from dokimasia.errors import ConfigError, InputError, NotFound
from dokimasia.methods.tree.criteria import Pair, file_criteria, given_criteria, run_criteria
from dokimasia.methods.tree.plan import KIND, GrowthPlan, GrowthRequest, estimate_growth, growth_plan, tree_name
from dokimasia.methods.tree.results import growth_summary
from dokimasia.methods.tree.work import placed_before, walk
from dokimasia.prompts import PromptLibrary, default_library
from dokimasia.runs.lifecycle import at_work, finish, next_fresh, run_row, unless_spent, without_limits
from dokimasia.runs.observer import Observer, Silent
from dokimasia.runs.samples import check_prompts, library_of
from dokimasia.runs.services import Stop, check_prices
from dokimasia.settings import Settings, load_settings
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, create_run, get_run, list_runs, resolve_run
from dokimasia.storage.trees.versions import (
    StoredVersion,
    create_tree,
    get_version,
    keep_criteria,
    list_trees,
    resolve_tree,
    tree_criteria,
    versions,
)


class GrowthResult(Value):
    """A finished, or unfinished, growth: its run, the tree's name, whether it is complete, its figures ready for JSON."""

    run: str
    tree: str
    complete: bool
    summary: dict[str, Any]


async def grow_tree(
    criteria: Sequence[Pair] | None = None,
    *,
    judge: str,
    run: str | None = None,
    file: str | Path | None = None,
    settings: Settings | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
    **options: Any,
) -> GrowthResult:
    """Grow a capability tree from criteria of any origin, or go on with it, or, where it is grown, return its figures.

    Args:
        criteria: pairs of (text, sample id), with a category as a third where there is one; or `run`, or `file`.
        judge: the judge's name.
        run: the run whose criteria are taken, by the beginning of its id.
        file: a file of criteria.
        settings: home, configuration and keys; read from the environment by default.
        observer: told what happens.
        stop: lets someone else ask the growth to stop.
        transports: ways to a model that replace the package's own.
        **options: further fields of `GrowthRequest`, such as `onto`, `categories`, `min_support` or `seed`.

    Raises:
        InputError: there are no criteria, or an option cannot be used; nothing was sent.
        Interrupted: the growth was asked to stop; what is finished is kept.
    """
    if sum(one is not None for one in (criteria, run, file)) != 1:
        raise ConfigError("a tree grows from one of three: criteria, a run, or a file of criteria")
    request = GrowthRequest(judge=judge, run=run, file=None if file is None else Path(file), **options)
    return await grow(
        request, criteria=criteria, settings=settings, observer=observer, stop=stop, transports=transports
    )


def grow_tree_sync(criteria: Sequence[Pair] | None = None, **options: Any) -> GrowthResult:
    """Do what `grow_tree` does, for scripts and notebooks without an event loop.

    Raises:
        RuntimeError: called from inside a running event loop, where `await grow_tree(...)` belongs.
    """
    return asyncio.run(grow_tree(criteria, **options))


async def grow(
    request: GrowthRequest,
    *,
    criteria: Sequence[Pair] | None = None,
    settings: Settings | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
) -> GrowthResult:
    """Do what a request asks; see `grow_tree`."""
    settings = settings or load_settings()
    library = library_of(request.prompts) or default_library()
    with Home.open(settings.home, write=True) as home:
        found, source, data_name = _criteria(home, request, criteria)
        base = _base(home, request.onto) if request.onto else None
        if base is not None and (known := _same_growth(home, base, request, source)) is not None:
            return _result(home, known)
        onto = "" if base is None else base.id
        anchors = None if base is None else get_version(home, base.id).categories
        plan = growth_plan(request, settings, found, source=source, onto=onto, categories=anchors, library=library)
        if request.fresh:
            plan = next_fresh(home, plan)
        check_prices(plan.specs, max_cost=request.max_cost)
        tree = tree_name(request, data_name, plan.run_id)
        whole = found
        if base is not None:
            whole = sorted(
                {**{one.key: one for one in found}, **{one.key: one for one in tree_criteria(home, tree)}}.values()
            )
        elif any(one.name == tree and one.run_id != plan.run_id for one in list_trees(home)):
            raise ConfigError(
                f"there is a tree {tree!r} already, of other criteria or options: take another --name, or grow it on with "
                f"--onto {tree}"
            )
        run, _ = await create_run(home, _run_row(plan, request, tree, data_name, whole))
        if base is None:
            await create_tree(home, tree, run_id=run.id, source=source)
        await keep_criteria(home, tree, whole)
        return await _carry_out(home, run, plan, request, whole, settings, observer, stop, transports, library)


async def resume_growth(
    run: Run,
    *,
    settings: Settings,
    request: GrowthRequest | None = None,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
) -> GrowthResult:
    """Go on with an accepted growth, from the store alone.

    Raises:
        ConfigError: the prompts are not those of the growth any more.
        InputError: the tree has got further criteria since, or its own were not all kept.
        Interrupted: the growth was asked to stop again.
    """
    plan, accepted = read_growth_plan(run)
    request = request or without_limits(accepted)
    library = library_of(request.prompts) or default_library()
    if run.status != "done":
        check_prompts(plan.prompts, library.identity(), request.prompts, run.id)
    with Home.open(settings.home, write=True, create=False) as home:
        whole = tree_criteria(home, str(run.options["tree"]))
        if run.status != "done" and digest("criteria", [list(one) for one in whole]) != run.data_hash:
            raise InputError(
                f"the tree {run.options['tree']!r} does not have the criteria any more that run {run.id} was accepted with: "
                "give the command that began it once more"
            )
        return await _carry_out(home, run, plan, request, whole, settings, observer, stop, transports, library)


def read_growth_plan(run: Run) -> tuple[GrowthPlan, GrowthRequest]:
    """Return the plan and the request that a growth was accepted with.

    Raises:
        NotFound: the run is of another kind.
    """
    if run.options.get("kind") != KIND:
        raise NotFound(f"run {run.id} is of kind {run.graph!r}, not the growth of a tree")
    return GrowthPlan.model_validate(run.options["plan"]), GrowthRequest.model_validate(run.options["request"])


async def _carry_out(
    home: Home,
    run: Run,
    plan: GrowthPlan,
    request: GrowthRequest,
    criteria: Sequence[TreeCriterion],
    settings: Settings,
    observer: Observer | None,
    stop: Stop | None,
    transports: Mapping[str, Transport] | None,
    library: PromptLibrary,
) -> GrowthResult:
    if run.status == "done":
        return _result(home, run)
    watching = observer or Silent()
    check_prices(plan.specs, max_cost=request.max_cost)
    placed = placed_before(home, plan, str(run.options["tree"]))
    open_ = Counter(one.sample_id for one in criteria if one.key not in placed)
    watching.planned(run.id, estimate_growth(plan, open_))
    async with at_work(
        home,
        run,
        plan.specs,
        settings=settings,
        budget=request.budget,
        seed=plan.growth.seed,
        observer=watching,
        stop=stop,
        transports=transports,
        prompts=library,
    ) as workshop:
        complete = await unless_spent(walk(home, run, plan, criteria, placed, workshop, library, watching, len(open_)))
    return _result(home, await finish(home, run, complete=complete))


def _criteria(home: Home, request: GrowthRequest, given: Sequence[Pair] | None) -> tuple[list[TreeCriterion], str, str]:
    """Return the criteria that are asked for, where they come from, and a name for them."""
    if given is not None:
        return given_criteria(given), "given", "criteria"
    if request.file is not None:
        return file_criteria(request.file, by=request.by), request.file.name, request.file.name
    if request.run is None:
        raise ConfigError("name a run, or a file with --criteria FILE, that the tree grows from")
    if request.run == "last":
        run = next((one for one in list_runs(home) if one.graph == "evaluate"), None)
        if run is None:
            raise NotFound(f"{home.path} has no evaluation yet whose criteria a tree could grow from")
    else:
        run = resolve_run(home, request.run)
    return run_criteria(home, run, by=request.by), run.id, run.data_name


def _base(home: Home, name: str) -> StoredVersion:
    """Return the version that a growth on a tree begins with: the newest that no unfinished growth made.

    Raises:
        NotFound: there is no such tree.
        InputError: it has no such version.
    """
    tree = resolve_tree(home, name).tree
    if tree != name:
        raise NotFound(f"--onto takes a tree's name, such as {tree}; {name!r} is none")
    unfinished = {run.id for run in list_runs(home) if run.status != "done"}
    for version in reversed(versions(home, tree)):
        if version.run_id not in unfinished:
            return version
    raise InputError(
        f"the tree {tree!r} is not grown yet: finish it with dokimasia resume {versions(home, tree)[-1].run_id}"
    )


def _same_growth(home: Home, base: StoredVersion, request: GrowthRequest, source: str) -> Run | None:
    """Return the finished growth that made a version, if the very same is asked for again."""
    if not base.run_id or request.fresh:
        return None
    try:
        run = get_run(home, base.run_id)
    except NotFound:
        return None
    plan, accepted = read_growth_plan(run)
    same = without_limits(accepted) == without_limits(request)
    return run if same and plan.source == source and plan.source != "given" else None


def _result(home: Home, run: Run) -> GrowthResult:
    return GrowthResult(
        run=run.id, tree=str(run.options["tree"]), complete=run.status == "done", summary=growth_summary(home, run)
    )


def _run_row(
    plan: GrowthPlan, request: GrowthRequest, tree: str, data_name: str, whole: Sequence[TreeCriterion]
) -> Run:
    return run_row(
        plan,
        request,
        graph=KIND,
        command=request.command,
        data_name=data_name,
        data_hash=digest("criteria", [list(one) for one in whole]),
        seed=plan.growth.seed,
        kind=KIND,
        tree=tree,
    )
