"""`dokimasia demo`: the main workflow, offline, on a simulated world whose known truth is compared with the figures."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from dokimasia.cli.shared import configured, console, json_option, print_json, reading, redact, shown_path
from dokimasia.domain.capability import ROOT
from dokimasia.domain.identity import JsonObject, Value
from dokimasia.domain.wording import percentage
from dokimasia.report.figures import several

if TYPE_CHECKING:
    from dokimasia.domain.blindspots import Evaluator
    from dokimasia.domain.growth import TreeCriterion
    from dokimasia.methods.diagnosis.figures import DiagnosisFigures
    from dokimasia.methods.probe.figures import ProbedTask
    from dokimasia.methods.tree.node_scores import ModelWeaknesses
    from dokimasia.report.blocks import Block
    from dokimasia.settings import Settings
    from dokimasia.simulation.scene import Domain, Scene, SceneQuestion


class PlantedSkills(NamedTuple):
    """A model's mean planted skill at the criteria of a node, and at all others."""

    here: float
    elsewhere: float


class PlantedLeaf(Value):
    """A model's mean planted skill at a leaf, and the other models'."""

    here: float
    others: float


class MarkedLeaf(Value):
    """A leaf at which a model is significantly better or worse than the others, with the planted skills there."""

    model: str
    node: str
    leaf: str
    mark: str
    difference: float
    low: float | None
    high: float | None
    no_interval: str | None
    planted: PlantedLeaf


def tree_step(
    settings: "Settings",
    run: str,
    pairs: "Sequence[tuple[Scene, SceneQuestion]]",
    seed: int,
    *,
    judge: str,
    models: Sequence[str],
    as_json: bool,
) -> JsonObject:
    """Grow a tree from a run's criteria, print it and each model's significant weaknesses, and return the figures.

    Each weak node is shown with the mean planted skill at its criteria and at all others, from the models' profiles.
    """
    from dokimasia.cli.drawing import print_blocks
    from dokimasia.cli.running import run_to_end
    from dokimasia.cli.tree.show import print_tree
    from dokimasia.methods.tree import METHOD, GrowthRequest, load_tree, members_below, tree_figures, weaknesses_of
    from dokimasia.methods.tree.figures import TreeFigures
    from dokimasia.report.fields import as_json as plain
    from dokimasia.runs.lifecycle import run as run_method
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import get_run

    request = GrowthRequest(judge=judge, run=run, seed=seed, name=f"demo-tree-{len(pairs)}-{seed}")
    grown = run_to_end(partial(run_method, METHOD, request), settings, method=METHOD.name)
    tree = TreeFigures.model_validate(grown.summary).tree
    with Home.open(settings.home, write=False) as home:
        figures = tree_figures(home, tree)
        loaded = load_tree(home, tree)
        weaknesses = {name: weaknesses_of(home, get_run(home, run), name, tree=tree, examples=0) for name in models}
    members, steps = members_below(loaded.tree), planted_steps(pairs, loaded.criteria)

    def planted_at(model: str, node: str) -> PlantedSkills:
        keys = members[node]
        elsewhere = [key for key in members[ROOT] if key not in set(keys)]
        return PlantedSkills(planted_skill(model, keys, steps), planted_skill(model, elsewhere, steps))

    if not as_json:
        print_tree(figures, where=f" --home {shown_path(settings.home)}")
        print_blocks(_weak(weaknesses, planted_at))
    views: dict[str, JsonObject] = {}
    for name, weakness in weaknesses.items():
        view = views[name] = plain(weakness)
        for kind, rows in (("weak", weakness.weak), ("strong", weakness.strong)):
            view[kind] = [{**plain(row), "planted": planted_at(name, row.node)._asdict()} for row in rows]
    return {**plain(figures), "weaknesses": views}


def planted_steps(
    pairs: "Sequence[tuple[Scene, SceneQuestion]]", criteria: "Mapping[str, TreeCriterion]"
) -> "dict[str, tuple[str, Domain]]":
    """Return the capability and the domain of the planted step behind each criterion; other criteria have none."""
    planted: dict[tuple[str, str], tuple[str, Domain]] = {
        (question.id, step.question): (step.capability, scene.domain)
        for scene, question in pairs
        for step in question.steps
    }
    steps_by_key = {key: (criterion.sample_id, criterion.text) for key, criterion in criteria.items()}
    return {key: planted[step] for key, step in steps_by_key.items() if step in planted}


def planted_skill(name: str, keys: Iterable[str], steps: "Mapping[str, tuple[str, Domain]]") -> float:
    """Return a model's mean planted skill, 0 to 1, at criteria; 0 if none of them has a planted step."""
    from dokimasia.simulation.profiles import as_candidate, find_profile

    profile = as_candidate(find_profile(name))
    skills = [profile.skill(*steps[key]) for key in keys if key in steps]
    if skills:
        return round(sum(skills) / len(skills), 4)
    return 0.0


def _weak(
    weaknesses: "Mapping[str, ModelWeaknesses]", planted_at: Callable[[str, str], PlantedSkills]
) -> "Iterator[Block]":
    """Yield each model's weak nodes with the planted skill there and elsewhere."""
    from dokimasia.report import figures
    from dokimasia.report.blocks import Cell, Column, Paragraph, Span, Table
    from dokimasia.report.fields import Interval

    rows: list[list[Cell]] = []
    for name, weakness in weaknesses.items():
        for row in weakness.weak:
            measured = figures.measured(Interval.model_construct(**dict(row)), digits=0)
            planted = planted_at(name, row.node)
            difference = figures.signed_text(row.difference, 0)
            skills = f"{planted.here:.2f}, {planted.elsewhere:.2f}"
            rows.append([name, row.name, measured, str(row.n), difference, skills])
        if not weakness.weak:
            nowhere = f"nowhere surely weaker than elsewhere, of {weakness.looked_at} nodes"
            note = Span(weakness.reason or nowhere, "muted")
            rows.append([Span(name, "muted"), note, *[figures.NOTHING] * 4])
    titles = ("score", "criteria", "against the rest", "planted skill: here, elsewhere")
    columns = [Column(title, numeric=False) for title in ("model", "capability")] + [Column(title) for title in titles]
    yield Paragraph(Span("where each model is significantly weaker than it is elsewhere", "strong"))
    yield Table(columns, rows, "Where each model is significantly weaker than it is elsewhere")
    yield Paragraph(
        "Scores by criterion, 0 to 100, with 95 % intervals; weak: lower than at the model's other criteria by more than "
        "chance brings, corrected for all nodes looked at. Other models play no part here, only in the comparison below; what is "
        "not listed may be weak, too: the sample is small.\n",
        "note",
    )


WRITER = "sim/judge-fabulist"
SIGNS = 110


def diagnosis_step(
    settings: "Settings",
    run: str,
    pairs: "Sequence[tuple[Scene, SceneQuestion]]",
    *,
    models: Sequence[str],
    as_json: bool,
) -> JsonObject:
    """Diagnose the run, have a writer with planted errors describe it, print both, and return the figures.

    Each leaf at which a model is significantly worse than the others is shown with its mean planted skill there, and
    theirs.
    """
    from dokimasia.cli.drawing import print_blocks
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.diagnosis import METHOD as DIAGNOSIS
    from dokimasia.methods.diagnosis import WordsRequest
    from dokimasia.methods.diagnosis.figures import DiagnosisFigures
    from dokimasia.report.blocks import Paragraph, Span
    from dokimasia.runs.lifecycle import run as run_method
    from dokimasia.simulation.profiles import as_judge, find_profile

    request = WordsRequest(run=run, judge=WRITER)
    result = run_to_end(partial(run_method, DIAGNOSIS, request), settings, method="diagnosis")
    marked = _marked(settings, run, pairs, models)
    profile = as_judge(find_profile(WRITER))
    planted = profile.misreports + profile.untested + profile.invents
    if not as_json:
        closer = Paragraph(
            ("look closer: ", Span(f"dokimasia diagnose {run} --home {shown_path(settings.home)}\n", "code"))
        )
        words = DiagnosisFigures.model_validate(result.summary)
        print_blocks([*_marked_blocks(marked), *_word_blocks(words, planted), closer])
    return {"words": result.summary, "marked": marked, "planted_share_of_wrong_sentences": planted}


def _marked(
    settings: "Settings", run: str, pairs: "Sequence[tuple[Scene, SceneQuestion]]", models: Sequence[str]
) -> list[MarkedLeaf]:
    """Return every leaf where a model is significantly better or worse than the others, with the
    planted skills there.
    """
    from dokimasia.methods.diagnosis.tables import stored_diagnosis
    from dokimasia.methods.tree import load_tree, members_below
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import get_run

    with Home.open(settings.home, write=False) as home:
        diagnosis = stored_diagnosis(home, get_run(home, run))
        if diagnosis is None or not diagnosis.tree:
            return []
        loaded = load_tree(home, f"{diagnosis.tree}@{diagnosis.position}")
    members = members_below(loaded.tree)
    steps = planted_steps(pairs, loaded.criteria)
    marked: list[MarkedLeaf] = []
    contrasts = diagnosis.asset("contrasts")
    for row in contrasts.rows if contrasts else ():
        if row.mark not in ("better", "worse"):
            continue
        skills = {name: planted_skill(name, members[row.node], steps) for name in models}
        others = [skill for name, skill in skills.items() if name != row.model]
        _, leaf, gap = row.cells[:3]
        marked.append(
            MarkedLeaf.model_validate(
                {
                    "model": row.model,
                    "node": row.node,
                    "leaf": leaf.value,
                    "mark": row.mark,
                    "difference": gap.value,
                    "low": gap.low,
                    "high": gap.high,
                    "no_interval": gap.no_interval,
                    "planted": PlantedLeaf(here=skills[row.model], others=round(sum(others) / len(others), 4)),
                }
            )
        )
    return marked


def _marked_blocks(marked: Sequence[MarkedLeaf]) -> "Iterator[Block]":
    """Yield the leaves where a model is worse than the others, with the planted skills."""
    from dokimasia.report import figures
    from dokimasia.report.blocks import Cell, Column, Paragraph, Span, Table

    worse = [leaf for leaf in marked if leaf.mark == "worse"]
    rows: list[list[Cell]] = [
        [
            leaf.model,
            leaf.leaf,
            Span(figures.signed_text(leaf.difference, 0), "strong"),
            figures.interval(leaf, signed=True, digits=0),
            f"{leaf.planted.here:.2f}, {leaf.planted.others:.2f}",
        ]
        for leaf in worse
    ]
    titles = ("against the others", "95 %", "planted skill: its own, the others'")
    columns = [Column(title, numeric=False) for title in ("model", "leaf")] + [Column(title) for title in titles]
    if worse:
        yield Paragraph(Span("leaves where a model is significantly worse than the other models", "strong"))
        yield Table(columns, rows, "Leaves where a model is significantly worse than the other models")
    else:
        yield Paragraph("no model is significantly worse than the others at any leaf: the sample is small")
    agreeing = sum((leaf.planted.here < leaf.planted.others) == (leaf.mark == "worse") for leaf in marked)
    marks = f"of {len(marked)} leaves marked better or worse, {agreeing} go the way that is planted"
    yield Paragraph(f"points of 100; {marks}.", "note")


def _word_blocks(words: "DiagnosisFigures", planted: float) -> "Iterator[Block]":
    """Yield the sentences that a writer with planted errors got wrong, with a verified and an unverified sentence."""
    from dokimasia.report.blocks import Paragraph, Span

    totals = words.totals
    yield Paragraph(
        (
            Span("In words", "strong"),
            f", by {words.judge}, which is planted to get {percentage(planted)} of its sentences wrong: "
            f"{totals.unverified_at_first} were unverified at first; sent back once, {totals.unverified} of "
            f"{totals.sentences} still are. Figures and comparisons are printed by the program.",
        )
    )
    sentences = [sentence for report in words.reports for sentence in report.sentences]
    verified = next((sentence for sentence in sentences if sentence.verified), None)
    unverified = next((sentence for sentence in sentences if not sentence.verified), None)
    if verified is not None:
        yield Paragraph((Span("verified", "good"), f"  {verified.text}"))
    if unverified is not None:
        reason = unverified.faults[0].reason[:SIGNS]
        yield Paragraph((Span("unverified", "bad"), f"  {unverified.text} ", Span(f"({reason})", "muted")))


PROBED_JUDGE, PERTURBER = "sim/judge-blind", "sim/judge"
SCENES = 10
EVALUATORS: tuple["Evaluator", ...] = ("single-axes", "pairwise-axes")
DIMENSIONS = ("entity_substitution", "numerical_errors", "logical_inconsistency", "narrative_visual_conflict")


def probe_step(settings: "Settings", seed: int, *, as_json: bool) -> JsonObject:
    """Perturb answers to a few pictures, probe a judge with them, print its misses and planted rates; return figures."""
    from dokimasia.cli.drawing import print_blocks
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.perturb import METHOD as PERTURB
    from dokimasia.methods.perturb import PerturbRequest
    from dokimasia.methods.probe import METHOD as PROBE
    from dokimasia.methods.probe import ProbeRequest
    from dokimasia.methods.probe.figures import ProbeFigures
    from dokimasia.methods.probe.report import planted
    from dokimasia.report.blocks import Paragraph, Span
    from dokimasia.runs.lifecycle import run as run_method
    from dokimasia.runs.requests import NOBODY
    from dokimasia.simulation.world import write_gold

    data = settings.home / f"gold-{SCENES}-{seed}.jsonl"
    write_gold(data, SCENES, seed)
    perturb_request = PerturbRequest(
        data=data.absolute(),
        perturber=PERTURBER,
        dimensions=DIMENSIONS,
        checker=NOBODY,
        seed=seed,
        name=f"Demo perturbations {SCENES}-{seed}",
    )
    perturbed = run_to_end(partial(run_method, PERTURB, perturb_request), settings, method="perturb")
    request = ProbeRequest(
        data=Path(str(perturbed.run)),
        judges=(PROBED_JUDGE,),
        evaluators=EVALUATORS,
        unchecked=True,
        seed=seed,
        name=f"Demo probe {SCENES}-{seed}",
    )
    result = run_to_end(partial(run_method, PROBE, request), settings, method="probe")
    task = ProbeFigures.model_validate(result.summary).tasks["image-to-text"]
    expected: dict[Evaluator, dict[str, float]] = {evaluator: _expected(task, evaluator) for evaluator in EVALUATORS}
    truth = {PROBED_JUDGE: expected}
    if not as_json:
        print_blocks(
            [
                Paragraph(Span("What a judge does not see, measured by answers with an error in them", "strong")),
                planted("image-to-text", task, truth),
            ]
        )
    return {**result.summary, "planted": truth}


def _expected(task: "ProbedTask", evaluator: "Evaluator") -> dict[str, float]:
    """Return the planted rate of undetected errors by dimension and, under an empty name, over all judged errors."""
    from dokimasia.simulation.profiles import as_judge, find_profile
    from dokimasia.simulation.truths.judges import expected_probe

    judge = as_judge(find_profile(PROBED_JUDGE))
    shares = {name: expected_probe(judge, name, group, evaluator).undetected for name, group in task.dimensions.items()}
    kinds = task.judges[PROBED_JUDGE].evaluators[evaluator].dimensions
    counts = {name: kinds[name].undetected.n_scored for name in shares}
    expected = sum(counts[name] * share for name, share in shares.items()) / max(1, sum(counts.values()))
    return {"": expected, **shares}


JUDGE = "sim/judge-noisy"
CANDIDATES = ("sim/strong", "sim/steady", "sim/hasty", "sim/nearsighted", "sim/weak")
REFINED = ("sim/hasty", "sim/weak")
"""Models whose failures are refined; all others, and these among themselves, may give hints."""


@click.command()
@click.option("--samples", type=click.IntRange(7), default=84, show_default=True, help="Number of questions.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the world.")
@json_option
@configured
def command(settings: "Settings", samples: int, seed: int, as_json: bool) -> None:
    """Evaluate five simulated models on a simulated world, diagnose them, have two correct their failures, probe a judge.

    Every measured figure stands beside its true value. Repeating the command sends no call again. The last line is the path
    of the page that it writes.
    """
    from dokimasia.simulation.world import make_world, write_world
    from dokimasia.storage.home import Home

    data = settings.home / f"world-{samples}-{seed}.jsonl"
    Home.open(settings.home, write=True).close()
    pictures = write_world(data, samples, seed)
    click.echo(
        f"made {several(samples, 'question')} on {several(pictures, 'picture')} in seven domains: {data}", err=True
    )
    pairs = list(make_world(samples, seed))
    run, evaluation = evaluation_step(settings, data.absolute(), pairs, seed, as_json=as_json)
    figures = {
        **evaluation,
        "tree": tree_step(settings, run, pairs, seed, judge=JUDGE, models=CANDIDATES, as_json=as_json),
        "diagnosis": diagnosis_step(settings, run, pairs, models=CANDIDATES, as_json=as_json),
        "refinement": refinement_step(settings, run, pairs, seed, as_json=as_json),
        "probe": probe_step(settings, seed, as_json=as_json),
    }
    page = str(page_step(settings, run))
    if as_json:
        print_json({**figures, "report": page})
    else:
        click.echo(f"all of it as a page: {page}")


def page_step(settings: "Settings", run: str) -> Path:
    """Write the report of the evaluation, with tree and diagnosis; return its path from the working folder."""
    from dokimasia.runs.reading.reporting import write_report

    with reading(settings, run) as (home, row):
        path = asyncio.run(write_report(home, row, redact=redact))
    return Path(shown_path(path.path))


def evaluation_step(
    settings: "Settings", data: Path, pairs: "Sequence[tuple[Scene, SceneQuestion]]", seed: int, *, as_json: bool
) -> tuple[str, JsonObject]:
    """Evaluate the models, print their scores beside the planted ones; return the run's id, and the figures with `planted`."""
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.local_backend import LocalBackend
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.evaluation import METHOD as EVALUATION
    from dokimasia.methods.evaluation import EvaluationRequest
    from dokimasia.runs.lifecycle import run as run_method
    from dokimasia.simulation.truths.evaluation import expected_mean

    request = EvaluationRequest(
        data=data, judge=JUDGE, models=CANDIDATES, seed=seed, name=f"Demo evaluation {len(pairs)}-{seed}"
    )
    result = run_to_end(partial(run_method, EVALUATION, request), settings, method="evaluate")
    planted = {name: expected_mean(name, JUDGE, pairs) for name in CANDIDATES}
    if not as_json:
        print_run(LocalBackend(settings), result.run, as_json=False, figures=result.summary, planted=planted)
        out = console()
        out.print(
            "[dim]true score: expected from the planted parameters alone, computed by code that the measurement "
            "does not share; in interval: whether the measured interval contains it.[/dim]"
        )
        home = shown_path(settings.home)
        out.print(f"look closer: dokimasia show {result.run} --sample {pairs[0][1].id} --home {home}\n", soft_wrap=True)
    return result.run, {**result.summary, "planted": planted}


def refinement_step(
    settings: "Settings", run: str, pairs: "Sequence[tuple[Scene, SceneQuestion]]", seed: int, *, as_json: bool
) -> JsonObject:
    """Let models refine wrong answers, print the results next to the planted rates, and return the figures."""
    from dokimasia.cli.drawing import print_blocks
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.refinement import METHOD as REFINEMENT
    from dokimasia.methods.refinement import RefinementRequest
    from dokimasia.methods.refinement.figures import RefinementFigures
    from dokimasia.methods.refinement.report import mended
    from dokimasia.methods.refinement.report import planted as beside_planted
    from dokimasia.report.blocks import Paragraph, Span
    from dokimasia.runs.lifecycle import run as run_method
    from dokimasia.simulation.profiles import as_candidate, as_judge, find_profile
    from dokimasia.simulation.truths.refinement import expected_rates

    request = RefinementRequest(run=run, models=REFINED, seed=seed, name=f"Demo refinement {len(pairs)}-{seed}")
    result = run_to_end(partial(run_method, REFINEMENT, request), settings, method="refine")
    judge = as_judge(find_profile(JUDGE))
    profiles = {name: as_candidate(find_profile(name)) for name in CANDIDATES}
    planted: dict[str, dict[str, float]] = {}
    for name in REFINED:
        peers = [profile for other, profile in profiles.items() if other != name]
        planted[name] = {**expected_rates(profiles[name], judge, pairs, peers=peers).accuracy}
    if not as_json:
        refinement, home = RefinementFigures.model_validate(result.summary), shown_path(settings.home)
        print_blocks(
            [
                Paragraph(Span("What the models got wrong, answered again with and without feedback", "strong")),
                *((mended(refinement),) if refinement.failed else ()),
                Paragraph(
                    "Wrong answers, asked for once more in the same words. again: told nothing; retry: told that it was wrong; "
                    "self: also the questions of failed criteria; peer: also hints of models that solved them.",
                    "note",
                ),
                beside_planted(refinement, planted),
                Paragraph(
                    (
                        "look closer: ",
                        Span(f"dokimasia show {result.run} --home {home}", "code"),
                        "\nas a page: ",
                        Span(f"dokimasia report {result.run} --home {home}", "code"),
                    )
                ),
            ]
        )
    return {**result.summary, "planted": planted}
