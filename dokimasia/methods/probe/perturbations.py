"""The perturbations that judges are probed with: of a run or a file, those that people found fit, each with its sample."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Unpack

from dokimasia.datasets.perturbations import TASKS, read_perturbations
from dokimasia.datasets.samples import ReadingOptions
from dokimasia.domain.blindspots import ENTERING, LABELS, Label, Perturbed, Probe, Task
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError
from dokimasia.people.checks import checked_texts
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.storage.home import Home
from dokimasia.storage.naming import of_method, resolve_run
from dokimasia.storage.reviews import made_values
from dokimasia.storage.runs import load_samples

UNDECIDED = "undecided"
HARMFUL = "valid_of_neutral"


class Probes(NamedTuple):
    """What judges are probed with, and what of its source does not enter.

    Attributes:
        probes: in the order of the source.
        samples: the samples of these, by digest (`Probe.item.sample`), in the order of their first probe.
        left_out: how many do not enter, by label: `incorrect`, `not_relevant`, `not_sure`; `undecided`, on which nobody has
            decided; `valid_of_neutral`, harmless changes by their dimension that people found to do harm, which are errors
            of no dimension. What is zero is not in it.
        run: the id of the run that they are from; empty where they are from a file.
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
    """Return the perturbations of a task that enter a probe.

    Those enter that people labelled valid, as errors, or score-invariant, as harmless, whatever they were meant as. Where
    several people have labelled one, the label of who decided first counts, as in all that is checked; the others' are
    second opinions, of which the agreement is computed and which change nothing.

    Args:
        source: a file of perturbations, or a finished run of `perturb`: its name, the beginning of its id, or `last`.
        home: where runs are; None where there is none, and then the source is a file.
        task: what the judged answers are; those of another task are passed over. None takes all.
        unchecked: also take those that nobody has decided on, as what the change was meant as (`Probe.checked` is false).
        how: how a file is read (see `ReadingOptions`); its images go to `blobs`.

    Raises:
        NotFound: there is neither such a file nor such a run.
        DataError: the file cannot be used, or there is no perturbation of the task, or none of these enters; the message
            says how many were left out and why.
    """
    path = Path(source)
    run = ""
    if path.is_file() or home is None:
        names: dict[Task, tuple[str, ...]] = {one: tuple(error_dimensions(one)) for one in TASKS}
        made = [
            _LabelledProbe(one.id, one.item, one.sample, one.label)
            for one in read_perturbations(path, dimensions=names, **how)
        ]
    else:
        run = resolve_run(home, str(source), of_method("perturb", done=True)).id
        made = list(_of_run(home, run))
    return _entering([one for one in made if task in (None, one.item.task)], f"{source}", task, unchecked)._replace(
        run=run
    )


def _of_run(home: Home, run: str) -> Iterable[_LabelledProbe]:
    samples = {sample.id: sample for sample in load_samples(home, run)}
    stands = checked_texts(home, run)
    for made, item in made_values(home, run, Perturbed):
        one = stands.get(made.id)
        label: Label | None = next((label for label in LABELS if one is not None and label == one.state), None)
        yield _LabelledProbe(made.id, item, samples[made.sample_id], label)


def _entering(made: list[_LabelledProbe], source: str, task: Task | None, unchecked: bool) -> Probes:
    probes: list[Probe] = []
    samples: dict[str, Sample] = {}
    left_out: Counter[str] = Counter()
    for one in made:
        reason = _left_out(one, unchecked)
        if reason:
            left_out[reason] += 1
            continue
        samples.setdefault(one.item.sample, one.sample)
        neutral = one.item.neutral if one.label is None else one.label == "score_invariant"
        probes.append(Probe(one.id, one.item, neutral, one.label is not None, one.sample.cluster))
    if not probes:
        raise DataError(f"{source}: {_none(left_out, task)}")
    return Probes(probes, samples, dict(sorted(left_out.items())))


def _left_out(one: _LabelledProbe, unchecked: bool) -> str:
    """Why a perturbation does not enter; empty where it does."""
    if one.label is None:
        return "" if unchecked else UNDECIDED
    if one.label not in ENTERING:
        return one.label
    return HARMFUL if one.label == "valid" and one.item.neutral else ""


def _none(left_out: Mapping[str, int], task: Task | None) -> str:
    of = "" if task is None else f" of {task}"
    if not left_out:
        return f"there is no perturbation{of} in it"
    counted = ", ".join(f"{count} {reason}" for reason, count in sorted(left_out.items()))
    said = f"no perturbation{of} enters ({counted}): only those do that people labelled {' or '.join(ENTERING)}"
    way = "; label them with `dokimasia check`, or take those that nobody has decided on as they were meant, with --unchecked"
    return said + (way if UNDECIDED in left_out else "")
