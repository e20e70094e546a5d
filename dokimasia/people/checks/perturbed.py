"""The view of a perturbation for labelling, and the meanings of the labels."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from dokimasia.algorithms.text.word_difference import DifferencePiece, word_difference
from dokimasia.domain.blindspots import Label, Perturbed
from dokimasia.domain.perturbation import ChangeCheck, EditRecord
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.errors import NotFound
from dokimasia.prompts.dimensions import error_dimensions
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.reviews import made_values
from dokimasia.storage.runs import samples_by_id

MEANINGS: Mapping[Label, str] = MappingProxyType(
    {
        "valid": "the change makes the answer worse: a reliable judge would give it fewer points",
        "score_invariant": "the change does no harm: a reliable judge would give both the same points",
        "incorrect": "the change is not there, is not the one described, or leaves nonsense that anybody sees at once",
        "not_relevant": "the change has nothing to do with what was asked",
        "gold_wrong": "the gold answer itself is wrong, so that nothing can be said of the change",
        "not_sure": "it cannot be told",
    }
)
"""The meaning of each label of a perturbation (paraphrased from FOCUS, appendix B, except `gold_wrong`)."""

LABEL_KEYS: Mapping[str, Label] = MappingProxyType(dict(zip("vixngu", MEANINGS, strict=True)))
"""The key for each label, in the terminal and in the browser."""


class PerturbationView(NamedTuple):
    """A perturbation as people see it.

    Attributes:
        item: the perturbation.
        prompt: the sample's request.
        images: pairs of name and image: the images of the question, or the gold and the changed image.
        pieces: the word difference of gold and changed text; empty for images.
        title: the published name of the dimension.
        definition: the definition of the dimension's error.
        doubt: the checking model's objection to the change; empty if there is none.
    """

    item: Perturbed
    prompt: str
    images: tuple[tuple[str, ImageRef], ...]
    pieces: tuple[DifferencePiece, ...]
    title: str
    definition: str
    doubt: str


def shown_perturbations(home: Home, run: str) -> dict[str, PerturbationView]:
    """Return the perturbations of a run as people see them, by content id (`CheckItem.subject`), in the run's order."""
    samples = samples_by_id(home, run)
    doubts = _doubts(home, run)
    return {
        made.id: _view(item, samples[made.sample_id], doubts.get(made.id))
        for made, item in made_values(home, run, Perturbed)
    }


def shown_perturbation(home: Home, run: str, id: str) -> PerturbationView:
    """Return one perturbation of a run as people see it, by content id.

    Raises:
        NotFound: the run has none of that id.
    """
    for made, item in made_values(home, run, Perturbed, id=id):
        sample = find_values(home, Sample, [made.sample])[made.sample]
        return _view(item, sample, _doubts(home, run).get(id))
    raise NotFound(f"run {run} has no perturbation {id}")


def _view(item: Perturbed, sample: Sample, doubt: Callable[[Perturbed], str] | None) -> PerturbationView:
    dimension = error_dimensions(item.task).get(item.dimension)
    images = [("image", ref) for ref in sample.images]
    if item.gold_image is not None and item.perturbed_image is not None:
        images = [("gold image", item.gold_image), ("changed image", item.perturbed_image)]
    return PerturbationView(
        item,
        sample.prompt,
        tuple(images),
        word_difference(item.gold, item.perturbed) if item.gold else (),
        dimension.title if dimension is not None else item.dimension,
        dimension.definition if dimension is not None else "",
        doubt(item) if doubt is not None else "",
    )


def _doubts(home: Home, run: str) -> dict[str, Callable[[Perturbed], str]]:
    """Return the objections of checking models by content id, each as a function of the perturbation."""
    doubts: dict[str, Callable[[Perturbed], str]] = {}
    for _, check in made_values(home, run, ChangeCheck):
        doubts[check.of] = lambda item, check=check: (
            check.why if check.doubts(item.dimension, neutral=item.neutral) else ""
        )
    for _, record in made_values(home, run, EditRecord):
        if record.check is not None and not (record.check.done and record.check.alone):
            doubts[record.perturbed] = lambda item, seen=record.check.seen: seen
    return doubts
