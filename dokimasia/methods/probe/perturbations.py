"""The perturbations to probe judges with: those of a run or a file that people labelled valid, each with its sample."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Unpack

from dokimasia.datasets.perturbations import TASKS, read_perturbations
from dokimasia.datasets.samples import ReadingOptions
from dokimasia.domain.blindspots import ENTERING, LABELS, Label, Perturbed, Probe, Task
from dokimasia.domain.perturbation import NotApplicable
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError
from dokimasia.people.checks import checked_texts, labels_of
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.storage.home import Home
from dokimasia.storage.naming import of_method, resolve_run
from dokimasia.storage.results import results
from dokimasia.storage.reviews import made_values
from dokimasia.storage.runs import list_runs, samples_by_id

UNDECIDED = "undecided"
HARMFUL = "valid_of_neutral"


class Probes(NamedTuple):
    """Probes and their samples, with the number of perturbations that are left out.

    Attributes:
        probes: the probes, in the order of the source.
        samples: their samples, by digest (`Probe.item.sample`), in the order of their first probe.
        left_out: number of perturbations left out, by label: `incorrect`, `not_relevant`, `gold_wrong`, `not_sure`;
            `undecided`, which are unlabelled; `valid_of_neutral`, changes of a harmless dimension that people found
            harmful, and thus errors without a dimension. Labels that do not occur are absent.
        run: the id of the perturbation run; empty for a file.
    """

    probes: list[Probe]
    samples: dict[str, Sample]
    left_out: dict[str, int]
    run: str = ""


class _LabelledProbe(NamedTuple):
    id: str
    item: Perturbed
    sample: Sample
    label: Label | None


def probes_of(
    source: str | Path,
    home: Home | None,
    *,
    task: Task | None = None,
    unchecked: bool = False,
    **how: Unpack[ReadingOptions],
) -> Probes:
    """Return the perturbations of a task to use in a probe.

    Perturbations that people labelled valid are errors, and those labelled score-invariant are harmless changes,
    whatever their intended kind. If several people labelled one, the first label counts; later labels are second
    opinions, used for agreement only.

    Args:
        source: a file of perturbations, or a finished run of `perturb`: its name, the beginning of its id, or `last`.
        home: the home with the runs; None if the source is a file.
        task: what the judged answers are; perturbations of other tasks are ignored. By default, all are used.
        unchecked: also use perturbations without a label, by their intended kind (`Probe.checked` is false).
        how: options for reading a file (see `ReadingOptions`); its images go to `blobs`.

    Raises:
        NotFound: there is neither such a file nor such a run.
        DataError: the file is unusable, or has no usable perturbation of the task; the message says how many were left
            out and why.
    """
    path = Path(source)
    run = ""
    if path.is_file() or home is None:
        names: dict[Task, tuple[str, ...]] = {name: tuple(error_dimensions(name)) for name in TASKS}
        labelled = [
            _LabelledProbe(row.id, row.item, row.sample, row.label)
            for row in read_perturbations(path, dimensions=names, **how)
        ]
    else:
        run = resolve_run(home, str(source), of_method("perturb", done=True)).id
        labelled = list(_of_run(home, run))
        if not labelled:
            raise DataError(_nothing_planted(home, run))
    return _usable(
        [probe for probe in labelled if task in (None, probe.item.task)], f"{source}", task, unchecked
    )._replace(run=run)


def _of_run(home: Home, run: str) -> Iterable[_LabelledProbe]:
    samples = samples_by_id(home, run)
    standings = checked_texts(home, run)
    for source, item in made_values(home, run, Perturbed):
        standing = standings.get(source.id)
        label: Label | None = next(
            (label for label in LABELS if standing is not None and label == standing.state), None
        )
        yield _LabelledProbe(source.id, item, samples[source.sample_id], label)


def labels_by_item(home: Home, items: Collection[str]) -> dict[str, dict[str, float]]:
    """Return people's labels of perturbations of the home: 1.0 if worse than the gold answer, 0.0 if not.

    Args:
        home: the home, open for reading.
        items: the ids of the perturbations.

    Returns:
        the labels by item and person, including second opinions; labels that exclude an item from probes are left out.
    """
    labels: dict[str, dict[str, float]] = {}
    for run in list_runs(home):
        if run.method != "perturb" or run.status != "done":
            continue
        for item, standing in checked_texts(home, run.id).items():
            by_person = {
                who: float(label == "valid") for who, label in labels_of(standing).items() if label in ENTERING
            }
            if by_person and item in items:
                labels.setdefault(item, by_person)
    return labels


def _usable(labelled: list[_LabelledProbe], source: str, task: Task | None, unchecked: bool) -> Probes:
    """Return the usable probes, and the number of the others by label.

    Raises:
        DataError: none is usable.
    """
    probes: list[Probe] = []
    samples: dict[str, Sample] = {}
    left_out: Counter[str] = Counter()
    for probe in labelled:
        reason = _left_out(probe, unchecked)
        if reason:
            left_out[reason] += 1
            continue
        samples.setdefault(probe.item.sample, probe.sample)
        neutral = probe.item.neutral if probe.label is None else probe.label == "score_invariant"
        probes.append(Probe(probe.id, probe.item, neutral, probe.label is not None, probe.sample.cluster))
    if not probes:
        raise DataError(f"{source}: {_nothing_usable(left_out, task)}")
    return Probes(probes, samples, dict(sorted(left_out.items())))


def _left_out(probe: _LabelledProbe, unchecked: bool) -> str:
    """Return the label under which a perturbation is left out; empty if it is usable."""
    if probe.label is None:
        return "" if unchecked else UNDECIDED
    if probe.label not in ENTERING:
        return probe.label
    if probe.label == "valid" and probe.item.neutral:
        return HARMFUL
    return ""


def _nothing_planted(home: Home, run: str) -> str:
    """Return the message that a run of `perturb` made no perturbation, with the outcomes of its requests."""
    failures = Counter(row.failure for row in results(home, run) if row.failure is not None)
    why = [f"{count} failed ({kind})" for kind, count in sorted(failures.items())]
    if not_applicable := len(list(made_values(home, run, NotApplicable))):
        why.append(f"{not_applicable} do not apply, as the perturber says")
    counts = f" ({'; '.join(why)})" if why else ""
    return (
        f"run {run} planted nothing{counts}, so there is nothing to put to a judge. `dokimasia show {run}` lists the reasons; "
        "plant again with right answers of more words (the field 'gold', or --gold-writer of perturb), with other "
        "--dimensions, or with another --perturber"
    )


def _nothing_usable(left_out: Mapping[str, int], task: Task | None) -> str:
    """Return the message that no perturbation is usable, with the reasons."""
    of_task = "" if task is None else f" of {task}"
    if not left_out:
        return f"there is no perturbation{of_task} in it"
    counts = ", ".join(f"{count} {reason}" for reason, count in sorted(left_out.items()))
    message = f"no perturbation{of_task} enters ({counts}): only those do that people labelled {' or '.join(ENTERING)}"
    advice = "; label them with `dokimasia decide`, or take those that nobody has decided on as they were meant, with --unchecked"
    return message + (advice if UNDECIDED in left_out else "")
