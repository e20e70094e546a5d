"""What the criteria leave out: the sentences of the reference answers that no criterion touches, found without a model."""

from collections.abc import Sequence

from dokimasia.algorithms.text.similarity import uncovered_sentences
from dokimasia.domain.criterion import CriteriaSet
from dokimasia.domain.identity import Value
from dokimasia.domain.sample import Sample
from dokimasia.errors import NotFound
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, SqliteRunStore, load_samples


class SampleCoverage(Value):
    """How far a sample's criteria touch its reference answer.

    `sentences` counts those of the reference that have content words, `uncovered` are those that no criterion touches,
    in order. By shared words: a hint to look, no verdict.
    """

    sample: str
    criteria: int
    sentences: int
    uncovered: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share of the sentences that some criterion touches, 0 to 1."""
        return 1 - len(self.uncovered) / self.sentences


def sample_coverage(sample: Sample, criteria: CriteriaSet) -> SampleCoverage | None:
    """Return how far a sample's criteria touch its reference; None without a reference that has content words."""
    everything = uncovered_sentences(sample.reference_text or "", ())
    if not everything:
        return None
    texts = [f"{one.question} {one.ground_truth}" for one in criteria.criteria]
    return SampleCoverage(
        sample=sample.id,
        criteria=len(texts),
        sentences=len(everything),
        uncovered=tuple(uncovered_sentences(sample.reference_text or "", texts)),
    )


async def coverage_of(home: Home, run: Run) -> list[SampleCoverage]:
    """Return the coverage of every sample of a run that has criteria and a reference, in the order of the samples.

    Raises:
        NotFound: the run has no criteria yet.
    """
    store = SqliteRunStore(home, run.id)
    every = results(home, run.id, as_judged=True)
    made = {row.sample_id: row.criteria_id for row in every if row.kind == "replay" and row.criteria_id}
    if not made:
        raise NotFound(f"run {run.id} has no criteria: resume it if it is not finished; without a judge none are made")
    found: list[SampleCoverage] = []
    for sample in load_samples(home, run.id):
        if criteria_id := made.get(sample.id):
            one = sample_coverage(sample, await store.get(CriteriaSet, criteria_id))
            if one is not None:
                found.append(one)
    return found


def covered_share(coverage: Sequence[SampleCoverage]) -> float | None:
    """Return the share of all sentences of all references that some criterion touches; None where there are none."""
    sentences = sum(one.sentences for one in coverage)
    return 1 - sum(len(one.uncovered) for one in coverage) / sentences if sentences else None
