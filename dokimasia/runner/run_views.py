"""What there is to see of a run of any kind: its figures, its items, one sample of it whole; each kind in one row."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dokimasia.domain.identity import Value
from dokimasia.errors import NotFound
from dokimasia.report.data import Role
from dokimasia.runner.run_facts import ROLES
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RunView:
    """Where what is seen of a kind of run comes from.

    Attributes:
        plan: the type of its plan.
        figures: makes its figures, ready for JSON.
        graphs: the versions of its graphs; None where this program's are not those of the run.
        items: yields its finished items, ready for JSON; with a sample's id only that sample's.
        listed: whether the items belong to the figures of the whole run.
        sample: makes one sample whole where that is more than its items; with True also the calls as they were sent.
        reported: makes the figures of a report where these are more than those of `show`.
        roles: by the plan's field, what its models are asked for.
    """

    plan: type[Value]
    figures: Callable[[Home, Run], Figures]
    graphs: Callable[[Run, Any], Mapping[str, int] | None]
    items: Callable[[Home, Run, str | None], Iterable[Figures]] | None = None
    listed: bool = True
    sample: Callable[[Home, Run, str, bool], Figures] | None = None
    reported: Callable[[Home, Run], Figures] | None = None
    roles: Mapping[str, Role] | None = None

    def roles_of(self) -> Mapping[str, Role]:
        """Return what the models of each field of the plan are asked for."""
        return ROLES if self.roles is None else self.roles


def kind_of(run: Run) -> str:
    """Return the word under `kind` in a run's options, "" for an evaluation."""
    return str(run.options.get("kind", ""))


def view_of_kind(run: Run) -> RunView:
    """Return where what is seen of a run comes from; only its own kind's modules are loaded.

    Raises:
        NotFound: the run is of a kind that this program does not know.
    """
    kind = kind_of(run)
    if kind not in VIEWS:
        raise NotFound(f"run {run.id} is of kind {kind!r}, which this program does not know")
    return VIEWS[kind]()


def shown(home: Home, run: Run, sample: str | None = None, *, raw: bool = False) -> Figures:
    """Return what `show --json` prints of a run, or of one sample of it.

    Raises:
        NotFound: there is no such sample, nothing of it is finished, or the kind of run has no samples to show.
    """
    view = view_of_kind(run)
    if sample is not None and view.sample is not None:
        return view.sample(home, run, sample, raw)
    if raw:
        raise NotFound("--raw shows the calls of a sample of an evaluation")
    if sample is not None and view.items is None:
        raise NotFound(f"run {run.id} has no samples to show; dokimasia show {run.id} shows all that it has")
    found = view.figures(home, run)
    if view.items is not None and (view.listed or sample is not None):
        found["items"] = list(view.items(home, run, sample))
        if sample is not None and not found["items"]:
            raise NotFound(f"run {run.id} has no finished item of a sample {sample!r}")
    return found


def _evaluation() -> RunView:
    from dokimasia.graphs.versions import VERSIONS
    from dokimasia.runner.inspection import sample_view
    from dokimasia.runner.plan import EvaluationPlan
    from dokimasia.runner.results import summary_of

    def graphs(run: Run, plan: EvaluationPlan) -> Mapping[str, int] | None:
        return dict(sorted(VERSIONS.items())) if plan.run_id == run.id else None

    def whole(home: Home, run: Run, sample: str, raw: bool) -> Figures:
        return asyncio.run(sample_view(home, run, sample, raw=raw))

    return RunView(EvaluationPlan, summary_of, graphs, sample=whole)


def _filter() -> RunView:
    from dokimasia.runner.filtering import FilterPlan, filter_items, filter_summary

    return RunView(FilterPlan, filter_summary, _own_graph, filter_items)


def _review() -> RunView:
    from dokimasia.runner.reviewing import ReviewPlan, review_items, review_summary

    return RunView(ReviewPlan, review_summary, _own_graph, review_items, roles={"panel": "member"})


def _rubrics() -> RunView:
    from dokimasia.runner.rubric_making import rubric_items, rubric_summary
    from dokimasia.runner.rubric_plan import RubricPlan

    return RunView(RubricPlan, rubric_summary, _own_graph, rubric_items)


def _audit() -> RunView:
    from dokimasia.runner.analysing import analyse
    from dokimasia.runner.audit_plan import AuditPlan
    from dokimasia.runner.audit_results import audit_items, audit_summary

    def graphs(_: Run, plan: AuditPlan) -> Mapping[str, int]:
        return {"rubric_audit": plan.version}

    return RunView(AuditPlan, audit_summary, graphs, audit_items, listed=False, reported=analyse)


def _refinement() -> RunView:
    from dokimasia.runner.refining_plan import RefinementPlan
    from dokimasia.runner.refining_results import refined_sample, refinement_summary

    def whole(home: Home, run: Run, sample: str, raw: bool) -> Figures:
        if raw:
            raise NotFound("--raw shows the calls of a sample of an evaluation")
        return refined_sample(home, run, sample)

    def graphs(_run: Run, _plan: RefinementPlan) -> Mapping[str, int]:
        from dokimasia.graphs.refinement import refinement

        return {refinement.NAME: refinement.VERSION}

    return RunView(RefinementPlan, refinement_summary, graphs, sample=whole)


def _tree() -> RunView:
    from dokimasia.runner.growing_plan import GrowthPlan
    from dokimasia.runner.growing_results import growth_summary

    def graphs(run: Run, plan: GrowthPlan) -> Mapping[str, int] | None:
        from dokimasia.graphs.tree import taxonomy_growth

        return {taxonomy_growth.NAME: taxonomy_growth.VERSION} if plan.run_id == run.id else None

    return RunView(GrowthPlan, growth_summary, graphs)


def _diagnosis() -> RunView:
    from dokimasia.runner.diagnosis_plan import WordsPlan
    from dokimasia.runner.diagnosis_words import words_summary

    def graphs(run: Run, plan: WordsPlan) -> Mapping[str, int] | None:
        from dokimasia.graphs.diagnosis import diagnosis

        return {diagnosis.NAME: diagnosis.VERSION} if plan.run_id == run.id else None

    return RunView(WordsPlan, words_summary, graphs)


def _fingerprint() -> RunView:
    from dokimasia.runner.diagnosis_plan import FingerprintPlan
    from dokimasia.runner.fingerprint_figures import fingerprint_summary

    def graphs(run: Run, plan: FingerprintPlan) -> Mapping[str, int] | None:
        from dokimasia.graphs.diagnosis import diagnosis, fingerprinting

        return {one.NAME: one.VERSION for one in (diagnosis, fingerprinting)} if plan.run_id == run.id else None

    return RunView(FingerprintPlan, fingerprint_summary, graphs)


def _graph() -> RunView:
    from dokimasia.runner.graph_plan import GraphPlan
    from dokimasia.runner.graph_results import graph_items, graph_summary

    return RunView(GraphPlan, graph_summary, _own_graph, graph_items)


def _own_graph(_: Run, plan: Any) -> Mapping[str, int]:
    return {plan.graph: plan.version}


VIEWS: dict[str, Callable[[], RunView]] = {
    "": _evaluation,
    "filter": _filter,
    "review": _review,
    "rubrics": _rubrics,
    "audit": _audit,
    "refine": _refinement,
    "tree": _tree,
    "diagnosis": _diagnosis,
    "fingerprint": _fingerprint,
    "graph": _graph,
}
"""By the word under `kind` in a run's options; a method of one's own adds its row."""
