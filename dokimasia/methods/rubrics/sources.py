"""Where rubrics come from: the golden captions of a review as people left them, or captions that came with a data file."""

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.density import domain_of
from dokimasia.domain.review import DESCRIBE_REQUEST
from dokimasia.domain.rubric import RubricSource
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError, InputError
from dokimasia.methods.checks.checking import checked_texts
from dokimasia.methods.graph.images import read_image_plan, samples_by_name
from dokimasia.methods.review.reviewing import REVIEW
from dokimasia.methods.rubrics.plan import RubricRequest
from dokimasia.runs.samples import read_samples
from dokimasia.storage.home import Home
from dokimasia.storage.reviews import golden_captions
from dokimasia.storage.runs import resolve_run

Captions = tuple[list[tuple[Sample, RubricSource]], list[str], str, tuple[ModelSpec, ...]]
"""Samples with their captions, what had to be left out, the request, and the panel that agreed on them."""


def read_captions(request: RubricRequest, home: Home) -> Captions:
    """Return the captions that a request names.

    Raises:
        InputError: the review is not finished, or there is no caption.
        NotFound: the run is no review.
    """
    return _of_review(request, home) if request.source else _of_file(request, home)


def _of_review(request: RubricRequest, home: Home) -> Captions:
    run = resolve_run(home, request.source)
    plan, _ = read_image_plan(REVIEW, run)
    if run.status != "done":
        raise InputError(f"review {run.id} is {run.status}: finish it first (dokimasia resume {run.id})")
    samples, standings = samples_by_name(home, run), checked_texts(home, run.id)
    found: list[tuple[Sample, RubricSource]] = []
    skipped: list[str] = []
    for row in golden_captions(home, run.id):
        standing = standings.get(row.id)
        state = "waiting" if standing is None else standing.state
        if state == "rejected":
            skipped.append(f"{row.sample_id}: its caption was rejected by a person")
            continue
        text = row.caption.text if standing is None else standing.text
        found.append(_source(samples[row.sample_id], text, caption_id=row.id, verified=state != "waiting"))
    if not found:
        raise InputError(f"review {run.id} has no golden caption to make rubrics from")
    return found, skipped, request.prompt or plan.request, plan.panel


def _of_file(request: RubricRequest, home: Home) -> Captions:
    samples, problems = read_samples(request.model_copy(update={"prompt": None}), home.blobs, need_prompt=False)
    skipped = [problem.message for problem in problems]
    found: list[tuple[Sample, RubricSource]] = []
    for sample in samples:
        caption = sample.meta.get("caption") or sample.reference_answer
        if not isinstance(caption, str) or not caption.strip():
            message = (
                f"{request.data}: sample {sample.id!r} has no caption, in neither `caption` nor `reference_answer`"
            )
            if request.on_bad_sample == "fail":
                raise DataError(f"{message}\n(--on-bad-sample skip leaves such samples out)")
            skipped.append(message)
            continue
        found.append(_source(sample, caption, caption_id="", verified=False))
    if not found:
        raise DataError(f"{request.data}: no sample with a caption in it")
    return found, skipped, request.prompt or DESCRIBE_REQUEST, ()


def _source(sample: Sample, text: str, *, caption_id: str, verified: bool) -> tuple[Sample, RubricSource]:
    return sample, RubricSource(
        sample_id=sample.id,
        sample=sample.digest,
        images=tuple(image.sha256 for image in sample.images),
        caption=text,
        caption_id=caption_id,
        verified=verified,
        domain=domain_of(sample),
    )


def as_asked(sample: Sample, request: str) -> Sample:
    """Return the sample as the pool is asked about it: by the request alone."""
    return sample.model_copy(update={"prompt": request, "choices": (), "reference_answer": None})
