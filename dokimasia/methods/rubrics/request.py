"""The request of a run that makes rubrics, its plan, its captions, and the estimate of its calls."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from dokimasia.domain.call import ModelSpec, model_names
from dokimasia.domain.density import DOMAINS, domain_of
from dokimasia.domain.identity import value_id
from dokimasia.domain.options import GraphOptions, Protocol, prompt_of_protocol
from dokimasia.domain.review import DESCRIBE_REQUEST
from dokimasia.domain.rubric import FEWEST_TRIED, MEASURED_ERRORS, TRIAL_CAPTIONS, RubricOptions, RubricSource
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, DataError, InputError, NotFound
from dokimasia.methods.review import METHOD as REVIEW
from dokimasia.people.checks import checked_texts
from dokimasia.prompts.dimensions import dimensions_id
from dokimasia.runs.estimate import Estimate, ExpectedCalls, size_of, total_estimate
from dokimasia.runs.plans import JudgedPlan, prompts_used
from dokimasia.runs.requests import DataRequest, Judge, Models, Option, ProtocolChoice, run_or_file
from dokimasia.runs.samples import part_of
from dokimasia.runs.session import Accepted, Session, hash_of
from dokimasia.storage.lookup import find_values
from dokimasia.storage.naming import of_method, resolve_run
from dokimasia.storage.reviews import golden_captions
from dokimasia.storage.runs import get_run, samples_by_id

INSTRUCTIONS, CAPTION_TOKENS, RUBRIC_TOKENS, CHECK_TOKENS, PLANTED_TOKENS = 1_200, 900, 900, 300, 1_200

_PROMPTS = (
    *(f"must_right_{domain}" for domain in DOMAINS),
    "candidate_plain",
    "domain",
    "perturbation",
    "repair",
    "rubric_cross_check",
    "rubric_repair",
)
_BY_PROTOCOL = ("easy_wrong", "rubric_assessment")


class RubricRequest(DataRequest):
    """Make rubrics from the golden captions of SOURCE: a review's run, or a data file with captions.

    A data file's lines have `id`, `image`, and the caption as `caption` or `reference_answer`. With --export alone (no
    --judge), SOURCE is a run that made rubrics, and they are written with people's checks applied. The same command
    continues an interrupted run, or prints its results.
    """

    VERB: ClassVar[str] = "rubrics"

    data: Annotated[Path, Option(argument=True, metavar="SOURCE", read=run_or_file, continues="review")]
    judge: Judge = Field(
        description="The model that writes the rubrics: a name from dokimasia.toml or any LiteLLM name."
    )
    pool: Models = Field(description="Models, separated by commas, whose errors easy-wrong rubrics are mined from.")
    panel: Annotated[tuple[str, ...] | None, Option(models=True)] = Field(
        default=None, description="Who cross-checks every rubric (default: the review's panel); none: nobody."
    )
    prompt: Annotated[str | None, Option()] = Field(
        default=None, description="What the pool is asked, in place of what the review asked."
    )
    protocol: ProtocolChoice = "default"
    export: Annotated[Path | None, Option(metavar="FILE", file=True, written=True)] = Field(
        default=None, description="Also write the rubrics to this file, as JSON lines."
    )

    @property
    def makes_home(self) -> bool:
        """Whether the run creates a missing home; it does for a file of captions."""
        return self.data.exists()


class RubricPlan(JudgedPlan):
    """The plan of a run that makes rubrics; `sources` are the captions' ids by sample.

    `dimensions` is the content id of the dimensions of inserted errors.
    """

    pool: tuple[ModelSpec, ...]
    panel: tuple[ModelSpec, ...] = ()
    sources: dict[str, str]
    request: str = DESCRIBE_REQUEST
    protocol: Protocol = "default"
    dimensions: str = ""

    @property
    def options(self) -> GraphOptions:
        """The options of the graph."""
        return RubricOptions(
            judge=self.judge.ref.name,
            models=self.models,
            pool=model_names(self.pool),
            panel=model_names(self.panel),
            sources=dict(self.sources),
            published=self.protocol == "published",
        )


def prompts_of(protocol: Protocol) -> tuple[str, ...]:
    """Return the names of the prompts that make rubrics."""
    published = protocol == "published"
    return (*_PROMPTS, *(prompt_of_protocol(name, published=published) for name in _BY_PROTOCOL))


class Captions(NamedTuple):
    """Samples and captions to make rubrics from.

    `request` is the pool's prompt, `panel` the models that agreed on the captions, and `source` the file or the
    review's id.
    """

    samples: list[Sample]
    sources: list[RubricSource]
    request: str
    panel: tuple[ModelSpec, ...]
    source: Path
    skipped: list[str]


async def accept(request: RubricRequest, session: Session) -> Accepted[RubricPlan]:
    """Validate a request, read its captions, and return plan, estimate and samples.

    Rejected captions are left out, and edited ones have the edited text; unchecked captions are used and marked.

    Raises:
        ConfigError: the pool is empty, or names a model twice.
    """
    if not request.pool:
        raise ConfigError("--pool names no model: easy-wrong rubrics are mined from the responses of at least one")
    captions = await asyncio.to_thread(read_captions, request, session)
    panel = captions.panel if request.panel is None else session.models(request.panel, "--panel")
    plan = RubricPlan(
        data=hash_of([(sample.id, value_id(sample)) for sample in captions.samples]),
        limit=request.limit,
        seed=request.seed,
        judge=session.model(request.judge),
        pool=session.models(request.pool, "--pool"),
        panel=panel,
        sources={source.sample_id: value_id(source) for source in captions.sources},
        request=captions.request,
        protocol=request.protocol,
        dimensions=dimensions_id(),
        prompts=prompts_used(session.library, prompts_of(request.protocol)),
    )
    data_name = ""  # Captions of a file have the file's name.
    if not captions.source.exists():
        with suppress(NotFound):
            data_name = get_run(session.opened, captions.source.name).data_name
    return Accepted(
        plan=plan,
        estimate=expected_calls(plan, captions),
        samples=captions.samples,
        values=captions.sources,
        skipped=captions.skipped,
        request=request.model_copy(update={"data": captions.source, "panel": model_names(panel)}),
        data_name=data_name,
    )


def expected_calls(plan: RubricPlan, captions: Captions) -> Estimate:
    """Return the maximum number of calls; the domain is requested if the data lack it."""
    calls: list[ExpectedCalls] = []
    input_tokens = INSTRUCTIONS + CAPTION_TOKENS
    pool = len(plan.pool)
    tried_on = 0
    if plan.protocol != "published":
        half = (pool + 1) // 2
        tried_on = TRIAL_CAPTIONS + (half if half >= FEWEST_TRIED else 0)
    measured_on = 1 + MEASURED_ERRORS + pool // 2
    for sample, source in zip(captions.samples, captions.sources, strict=True):
        size = size_of(sample)
        for spec in plan.pool:
            calls.append(ExpectedCalls(spec, 1, size.text + size.images_for(spec), CAPTION_TOKENS))
        calls += [
            ExpectedCalls(
                plan.judge, 1 + (source.domain is None), input_tokens + size.images_for(plan.judge), RUBRIC_TOKENS
            ),
            ExpectedCalls(plan.judge, 2, input_tokens + pool * CAPTION_TOKENS, RUBRIC_TOKENS),
            ExpectedCalls(plan.judge, 1 + bool(tried_on), input_tokens + RUBRIC_TOKENS, PLANTED_TOKENS),
            ExpectedCalls(plan.judge, tried_on + measured_on, input_tokens + RUBRIC_TOKENS, CHECK_TOKENS),
        ]
        for spec in plan.panel:
            calls.append(ExpectedCalls(spec, 1, input_tokens + RUBRIC_TOKENS, CHECK_TOKENS))
    return total_estimate(calls, len(captions.samples), items=len(captions.samples))


def read_captions(request: RubricRequest, session: Session) -> Captions:
    """Return the captions that a request names; a fork uses those of its parent.

    Raises:
        InputError: the review is not finished, or there is no caption.
        NotFound: the run is not a review.
    """
    if session.source_run is not None:
        return _captions_of_fork(request, session, session.source_run.plan_as(RubricPlan))
    if request.data.exists():
        return _captions_of_file(request, session)
    return _captions_of_review(request, session)


def _captions_of_fork(request: RubricRequest, session: Session, plan: RubricPlan) -> Captions:
    samples, skipped = session.samples(request)
    values = find_values(session.opened, RubricSource, plan.sources.values())
    sources = [values[plan.sources[sample.id]] for sample in samples]
    return Captions(samples, sources, plan.request, plan.panel, request.data, skipped)


def _captions_of_review(request: RubricRequest, session: Session) -> Captions:
    home = session.opened
    run = resolve_run(home, str(request.data), of_method(REVIEW.name, done=True))
    plan, _ = REVIEW.read(run)
    if run.status != "done":
        raise InputError(f"review {run.id} is {run.status}: finish it first (dokimasia resume {run.id})")
    pool_request = request.prompt or plan.request
    captions = Captions([], [], pool_request, plan.panel, Path(run.id), [])
    samples = samples_by_id(home, run.id)
    standings = checked_texts(home, run.id)
    for row in golden_captions(home, run.id):
        text, state = row.caption.text, "waiting"
        if row.id in standings:
            text, state = standings[row.id].text, standings[row.id].state
        if state == "rejected":
            captions.skipped.append(f"{row.sample_id}: its caption was rejected by a person")
            continue
        sample = samples[row.sample_id]
        captions.samples.append(sample.asked(pool_request))
        captions.sources.append(_source(sample, text, caption_id=row.id, verified=state != "waiting"))
    if not captions.samples:
        raise InputError(f"review {run.id} has no golden caption to make rubrics from")
    selection = part_of(captions.samples, limit=request.limit, subsample=request.subsample, seed=request.seed)
    pairs = [pair for pair in zip(captions.samples, captions.sources, strict=True) if pair[0].id in selection]
    return captions._replace(samples=[sample for sample, _ in pairs], sources=[source for _, source in pairs])


def _captions_of_file(request: RubricRequest, session: Session) -> Captions:
    samples, skipped = session.samples(request.model_copy(update={"prompt": None}), need_prompt=False)
    pool_request = request.prompt or DESCRIBE_REQUEST
    captions = Captions([], [], pool_request, (), request.data, skipped)
    for sample in samples:
        caption = sample.meta.get("caption") or sample.reference_answer
        words = caption.split() if isinstance(caption, str) else []
        if isinstance(caption, str) and len(words) > 1:
            captions.samples.append(sample.asked(pool_request))
            captions.sources.append(_source(sample, caption, caption_id="", verified=False))
            continue
        problem = "has no caption, in neither `caption` nor `reference_answer`"
        if words:
            problem = f"has a caption of one word, {words[0][:40]!r}, which says too little to make rubrics from"
        message = f"{request.data}: sample {sample.id!r} {problem}"
        if request.on_bad_sample == "fail":
            raise DataError(f"{message}\n(--on-bad-sample skip leaves such samples out)")
        skipped.append(message)
    if not captions.samples:
        raise DataError(f"{request.data}: no sample with a caption in it")
    return captions


def _source(sample: Sample, text: str, *, caption_id: str, verified: bool) -> RubricSource:
    return RubricSource(
        sample_id=sample.id,
        sample=sample.digest,
        images=tuple(image.sha256 for image in sample.images),
        caption=text,
        caption_id=caption_id,
        verified=verified,
        domain=domain_of(sample),
    )
