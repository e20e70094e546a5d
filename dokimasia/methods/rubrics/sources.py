"""Where rubrics come from: the golden captions of a review as people left them, or captions that came with a data file."""

from pathlib import Path
from typing import NamedTuple

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.density import domain_of
from dokimasia.domain.review import DESCRIBE_REQUEST
from dokimasia.domain.rubric import RubricSource
from dokimasia.domain.sample import Sample
from dokimasia.errors import DataError, InputError
from dokimasia.methods.checks import checked_texts
from dokimasia.methods.review import METHOD as REVIEW
from dokimasia.methods.rubrics.request import RubricPlan, RubricRequest
from dokimasia.runs.session import Session
from dokimasia.storage.lookup import find_values
from dokimasia.storage.naming import of_method, resolve_run
from dokimasia.storage.reviews import golden_captions
from dokimasia.storage.runs import load_samples


class Captions(NamedTuple):
    """Samples as the pool is asked about them, each with its caption, and what goes with these.

    `request` is what the pool is asked, `panel` who agreed on the captions, `source` the file or the review's id.
    """

    samples: list[Sample]
    sources: list[RubricSource]
    request: str
    panel: tuple[ModelSpec, ...]
    source: Path
    skipped: list[str]


def read_captions(request: RubricRequest, session: Session) -> Captions:
    """Return the captions that a request names; a fork has those of the run that is forked.

    Raises:
        InputError: the review is not finished, or there is no caption.
        NotFound: the run is no review.
    """
    if session.forked is not None:
        return _of_fork(request, session, RubricPlan.model_validate(session.forked.options["plan"]))
    return _of_file(request, session) if request.data.exists() else _of_review(request, session)


def _of_fork(request: RubricRequest, session: Session, plan: RubricPlan) -> Captions:
    samples, skipped = session.samples(request)
    kept = find_values(session.opened, RubricSource, plan.sources.values())
    sources = [kept[plan.sources[sample.id]] for sample in samples]
    return Captions(samples, sources, plan.request, plan.panel, request.data, skipped)


def _of_review(request: RubricRequest, session: Session) -> Captions:
    home = session.opened
    run = resolve_run(home, str(request.data), of_method(REVIEW.name, done=True))
    plan, _ = REVIEW.read(run)
    if run.status != "done":
        raise InputError(f"review {run.id} is {run.status}: finish it first (dokimasia resume {run.id})")
    samples = {sample.id: sample for sample in load_samples(home, run.id)}
    standings = checked_texts(home, run.id)
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
    wanted = request.prompt or plan.request
    return _captions(found[: request.limit], wanted, plan.panel, Path(run.id), skipped)


def _of_file(request: RubricRequest, session: Session) -> Captions:
    samples, skipped = session.samples(request.model_copy(update={"prompt": None}), need_prompt=False)
    found: list[tuple[Sample, RubricSource]] = []
    for sample in samples:
        caption = sample.meta.get("caption") or sample.reference_answer
        words = caption.split() if isinstance(caption, str) else []
        if not isinstance(caption, str) or len(words) < 2:
            lack = "has no caption, in neither `caption` nor `reference_answer`"
            if words:
                lack = f"has a caption of one word, {words[0][:40]!r}, which says too little to make rubrics from"
            message = f"{request.data}: sample {sample.id!r} {lack}"
            if request.on_bad_sample == "fail":
                raise DataError(f"{message}\n(--on-bad-sample skip leaves such samples out)")
            skipped.append(message)
            continue
        found.append(_source(sample, caption, caption_id="", verified=False))
    if not found:
        raise DataError(f"{request.data}: no sample with a caption in it")
    return _captions(found, request.prompt or DESCRIBE_REQUEST, (), request.data, skipped)


def _captions(
    found: list[tuple[Sample, RubricSource]],
    wanted: str,
    panel: tuple[ModelSpec, ...],
    source: Path,
    skipped: list[str],
) -> Captions:
    asked = [sample.asked(wanted) for sample, _ in found]
    return Captions(asked, [caption for _, caption in found], wanted, panel, source, skipped)


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
