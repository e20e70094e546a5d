"""What a tree says of a run's models: their scores at its nodes, where they are weak, and whether the tree is worth it."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from dokimasia.algorithms.taxonomy import leaves
from dokimasia.algorithms.trees.node_link import from_version
from dokimasia.algorithms.trees.places import leaf_mapping, members_below
from dokimasia.errors import InputError, NotFound, StorageError
from dokimasia.methods.tree.reading.baselines import baseline_groupings, picture_features
from dokimasia.methods.tree.reading.files import read_mapping
from dokimasia.methods.tree.reading.trees import LoadedTree, evaluation_of, load_tree, source_run, tree_of_run
from dokimasia.methods.tree.reading.validity import PERMUTATIONS, RESAMPLES, CriteriaGrouping, validity_table
from dokimasia.methods.tree.reading.view import MeasuredRun, measured_of, tree_view
from dokimasia.methods.tree.reading.weaknesses import EXAMPLES, LIMIT, MIN_SUPPORT, evident_findings, model_findings
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.figures import simulated
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, load_samples
from dokimasia.storage.trees.versions import get_version

BLIND = "#"
"""What a model's arm begins with, as it is shown."""


def tree_figures(
    home: Home, text: str, *, version: str | None = None, run: str | None = None, models: Sequence[str] = ()
) -> dict[str, Any]:
    """Return a tree with its models' scores, ready for JSON.

    Args:
        home: where it is.
        text: as `load_tree` takes it.
        version: another version of the same tree.
        run: the run whose scores are shown; by default the one that the tree was grown from, if it is there.
        models: whose scores; by default those of all models of the run.

    Returns:
        tree, position, version, phase, source, run (None without scores), simulated, unplaced {kind: n}, and what
        `tree_view` returns.

    Raises:
        NotFound: there is no such tree, version, run or model.
    """
    loaded = load_tree(home, text, version=version)
    found = evaluation_of(home, run)[0] if run is not None else source_run(home, loaded.stored.tree)
    if found is None:
        if models:
            raise NotFound(f"the tree {loaded.stored.tree!r} was grown from no run of this home: name one with --run")
        return {**_facts(loaded), "run": None, "simulated": [], **tree_view(loaded.tree)}
    measured = measured_of(home, found)
    chosen = [_known_model(measured, name, found) for name in models] or sorted(measured.scores)
    return {
        **_facts(loaded),
        "run": found.id,
        "simulated": _simulated(found),
        **tree_view(loaded.tree, measured, models=chosen, seed=found.seed),
    }


def weaknesses_of(
    home: Home,
    run: Run,
    model: str,
    *,
    tree: str | None = None,
    method: str = "fdr",
    threshold: float | None = None,
    min_support: int = MIN_SUPPORT,
    limit: float = LIMIT,
    examples: int = EXAMPLES,
    seed: int | None = None,
) -> dict[str, Any]:
    """Return where one model of a run is weak and strong, ready for JSON; equal rows give equal bytes.

    Args:
        home: where run and tree are.
        run: an evaluation.
        model: whose scores, as it is shown.
        tree: which tree or version; by default the run's.
        method: "fdr", or "evaltree" for the published descent.
        threshold: of "evaltree": a share of solved criteria.
        min_support: of "fdr": the fewest scored criteria of a node that is looked at.
        limit: of "fdr": the expected share of false findings.
        examples: how many criteria are given for each node.
        seed: of permutations and intervals; by default the run's.

    Returns:
        tree, position, version, run, status, model, simulated, seed, unplaced, and what `model_findings` or
        `evident_findings` returns; each example has the criterion's text, too.

    Raises:
        NotFound: there is no such tree or model.
        InputError: an option belongs to the other method.
    """
    if threshold is not None and method != "evaltree":
        raise InputError(
            "--threshold belongs to --method evaltree; --method fdr compares with the model's other criteria"
        )
    loaded, measured = tree_of_run(home, run, tree), measured_of(home, run)
    name, chosen = _known_model(measured, model, run), run.seed if seed is None else seed
    if method == "evaltree":
        found = evident_findings(loaded.tree, measured, name, threshold=threshold, examples=examples)
    else:
        found = model_findings(
            loaded.tree, measured, name, seed=chosen, min_support=min_support, limit=limit, examples=examples
        )
    for kind in ("weak", "strong", "unclear", "untested"):
        for row in found.get(kind, ()):
            for one in row["examples"]:
                known = loaded.criteria.get(one["criterion"])
                one["text"] = known.text if known else ""
    return {
        **_facts(loaded),
        "run": run.id,
        "status": run.status,
        "model": name,
        "simulated": _simulated(run),
        "seed": chosen,
        **found,
    }


def validity_of(
    home: Home,
    run: Run,
    *,
    tree: str | None = None,
    models: Sequence[str] = (),
    against: Mapping[str, Path] | None = None,
    baselines: bool = True,
    permutations: int = PERMUTATIONS,
    resamples: int = RESAMPLES,
    seed: int | None = None,
) -> dict[str, Any]:
    """Return Table 3 of ATOM for a run and its tree, ready for JSON; equal rows give equal bytes.

    Args:
        home: where run and tree are.
        run: an evaluation.
        tree: which tree or version; by default the run's.
        models: whose scores are pooled; by default all but the arms without the image.
        against: further groupings, by name: CSV files of criterion and group.
        baselines: whether to compare with the tree before its pruning and with groupings that need no model.
        permutations: of the null.
        resamples: halves of the samples, for the stability.
        seed: by default the run's.

    Returns:
        tree, position, version, run, status, simulated, seed, unplaced, and what `validity_table`
        returns.

    Raises:
        NotFound: there is no such tree or model.
        DataError: a file cannot be read.
        InputError: no criterion of the tree has a score.
    """
    loaded, measured = tree_of_run(home, run, tree), measured_of(home, run)
    chosen = [_known_model(measured, name, run) for name in models] or [
        name for name in sorted(measured.scores) if BLIND not in name
    ]
    mapping = leaf_mapping(loaded.tree)
    if not any(mapping.keys() & measured.scores.get(name, {}).keys() for name in chosen):
        raise InputError(
            f"run {run.id} has no score of any criterion that {loaded.name} holds: name another tree with --tree"
        )
    used = run.seed if seed is None else seed
    groupings = [CriteriaGrouping("tree", f"the capability tree {loaded.name}", mapping)]
    if baselines:
        groupings += _unpruned(home, loaded)
        groupings += _baselines(home, run, loaded, measured, seed=used)
    for name, path in (against or {}).items():
        placed = {one: group for one, group in read_mapping(path).items() if group is not None}
        groupings.append(CriteriaGrouping(name, f"read from {path.name}", placed))
    return {
        **_facts(loaded),
        "run": run.id,
        "status": run.status,
        "simulated": _simulated(run),
        "seed": used,
        **validity_table(groupings, measured, models=chosen, seed=used, permutations=permutations, resamples=resamples),
    }


def report_tree(home: Home, run: Run, loaded: LoadedTree) -> dict[str, Any]:
    """Return what a report says of a run's tree: its figures, each model's findings, and examples at each node."""
    measured = measured_of(home, run)
    models = sorted(measured.scores)
    below = members_below(loaded.tree)
    return {
        "tree": loaded.stored.tree,
        "version": loaded.stored.position,
        "unplaced": loaded.unplaced,
        **tree_view(loaded.tree, measured, models=models, seed=run.seed),
        "findings": {name: model_findings(loaded.tree, measured, name, seed=run.seed) for name in models},
        "examples": {
            node: [loaded.criteria[one].text for one in criteria[:EXAMPLES] if one in loaded.criteria]
            for node, criteria in below.items()
        },
    }


def _simulated(run: Run) -> list[str]:
    return simulated(method_of(run).read(run)[0].models.values())


def _facts(loaded: LoadedTree) -> dict[str, Any]:
    return {
        "tree": loaded.stored.tree,
        "position": loaded.stored.position,
        "version": loaded.stored.id,
        "phase": loaded.stored.phase,
        "unplaced": loaded.unplaced,
    }


def _known_model(measured: MeasuredRun, model: str, run: Run) -> str:
    if model in measured.scores or model in measured.failures:
        return model
    known = sorted({*measured.scores, *measured.failures})
    near = [name for name in known if name.rpartition("/")[2] == model]
    if len(near) == 1:
        return near[0]
    raise NotFound(f"run {run.id} has no scores of {model!r}; it has those of {', '.join(known) or 'no model'}")


def _unpruned(home: Home, loaded: LoadedTree) -> list[CriteriaGrouping]:
    """Return the version before the last pruning, if the tree was pruned and that version holds criteria."""
    version, pruned = loaded.version, False
    while True:
        prunes = any(edit.kind == "prune" for edit in version.edits)
        if pruned and not prunes and any(node.members for node in version.nodes):
            return [
                CriteriaGrouping("unpruned", "the tree before it was last pruned", leaf_mapping(from_version(version)))
            ]
        if version.before is None:
            return []
        pruned = pruned or prunes
        version = get_version(home, version.before)


def _baselines(home: Home, run: Run, loaded: LoadedTree, measured: MeasuredRun, *, seed: int) -> list[CriteriaGrouping]:
    texts = {key: f"{one.text} {one.ground_truth}" for key, one in loaded.criteria.items() if key in measured.sample_of}
    labels: dict[str, str] = {}
    pictures: dict[str, tuple[float, ...]] = {}
    features = cache(partial(_features, home))
    for sample in load_samples(home, run.id):
        if sample.category:
            labels[sample.id] = sample.category
        if sample.images and (found := features(sample.images[0].sha256)) is not None:
            pictures[sample.id] = found
    return baseline_groupings(
        texts, measured.sample_of, leaves=len(leaves(loaded.tree)), seed=seed, labels=labels, pictures=pictures
    )


def _features(home: Home, sha256: str) -> tuple[float, ...] | None:
    try:
        return picture_features(home.blobs.get(sha256))
    except StorageError:
        return None
