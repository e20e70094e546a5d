"""The request of a perturbation run, its plan, and its acceptance: dimensions, gold answers, models, and the draw."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from dokimasia.agents.perturbation import error_dimensions
from dokimasia.datasets.images import ImageSource
from dokimasia.datasets.perturbations import EditedImage, read_edited
from dokimasia.domain.blindspots import NEUTRAL, ErrorDimension, Task
from dokimasia.domain.call import ModelSpec, model_name
from dokimasia.domain.identity import digest, unit_interval, value_id
from dokimasia.domain.perturbation import GoldAnswer, PerturbOptions
from dokimasia.domain.sample import Sample
from dokimasia.domain.wording import shortened
from dokimasia.errors import ConfigError, DataError
from dokimasia.gateway.pricing import NEW_IMAGE_TOKENS
from dokimasia.people.passports import material_note
from dokimasia.prompts.dimensions import error_dimensions_id
from dokimasia.report.figures import several
from dokimasia.runs.estimate import (
    CHARACTERS_PER_TOKEN,
    INSTRUCTION_TOKENS,
    Estimate,
    ExpectedCalls,
    size_of,
    total_estimate,
)
from dokimasia.runs.plans import DataPlan, OutsideIdentity, prompts_used
from dokimasia.runs.requests import MOST_SAMPLES, NOBODY, DataRequest, Option
from dokimasia.runs.session import Accepted, Session, hash_of
from dokimasia.storage.content.blobs import MemoryBlobs

TEXT_PROMPTS = ("change_check", "error_in_passages", "error_throughout", "harmless_rewrite", "repair")
IMAGE_PROMPTS = ("edit_check", "edit_instruction", "repair")
GOLD_TOKENS, CHECK_TOKENS, LIST_TOKENS, INSTRUCTION_REPLY = 400, 120, 1_700, 160

NO_NEUTRAL = (
    "harmless changes are not made, so a probe cannot tell false alarms: `dokimasia perturb` makes them with score_neutral "
    "among its --dimensions"
)
OWN_WORK = "{checker} is checking its own changes; choose another model with --checker"


class PerturbRequest(DataRequest):
    """Make the right answers to DATA worse in named dimensions of error, to probe judges with them.

    A line of DATA has an image and a prompt. Image-to-text: the right (gold) answer is the line's field `gold`; without
    one, --gold-writer writes it or, without a writer, it is the reference answer. Text-to-image: the prompt is that of
    the image, and the image is the gold one; without an image, --gold-writer, an image model, makes it. The checker
    checks every gold answer and image before an error is planted in it; one that it finds wrong or cannot check is left
    out and counted.

    The perturber may say that a dimension does not apply to a sample, which is counted but is not a failure. The same
    command continues an interrupted run, or prints its results.
    """

    VERB: ClassVar[str] = "perturb"

    perturber: Annotated[str | None, Option(models=True)] = Field(
        default=None, description="The model that inserts errors: a name from dokimasia.toml or any LiteLLM name."
    )
    task: Task = Field(default="image-to-text", description="What the answers are: a text on an image, or an image.")
    dimensions: Annotated[tuple[str, ...], Option(metavar="NAME,...")] = Field(
        default=(), description="Dimensions by name, or groups such as VG; by default all, and score_neutral."
    )
    per: int | None = Field(
        default=None,
        ge=1,
        le=MOST_SAMPLES,
        description="Number of samples per dimension (default: all), drawn evenly.",
    )
    gold_field: str = Field(default="gold", min_length=1, description="The field of a line that holds the gold answer.")
    gold_writer: Annotated[str | None, Option(models=True)] = Field(
        default=None,
        description="Who writes the gold answers that the data do not have; text-to-image: the image model that makes them.",
    )
    checker: Annotated[str | None, Option(models=True)] = Field(
        default=None,
        description=f"Who checks gold answers, and says of each change which dimension it is of (default: the perturber; "
        f"{NOBODY}: nobody).",
    )
    editor: Annotated[str | None, Option(models=True)] = Field(
        default=None, description="text-to-image: the image model that edits the gold image as the perturber says."
    )
    edited: Annotated[Path | None, Option(metavar="FILE", exists=True, file=True)] = Field(
        default=None,
        description="text-to-image: existing edited images, in place of models: JSON lines of id, dimension, image.",
    )
    judges: Annotated[tuple[str, ...], Option(hidden=True, models=True)] = Field(
        default=(),
        description="Judges of what is planted: unknown models, and data on which no verdict on a judge is possible, are refused "
        "before anything is planted.",
    )


class PerturbPlan(DataPlan):
    """The plan of a perturbation run.

    `definitions` is the content id of the task's dimensions. `asked` are the dimensions of each sample, and `golds` the
    ids of the data's gold answers, or the hashes of its gold images, by sample; `gold` is a hash of the answers.
    `too_short` counts gold answers with too few words, by dimension. `edited` is a hash of the file of edited images,
    and `gold_checked` says whether the data's gold answers or images are checked.
    """

    task: Task
    dimensions: tuple[str, ...]
    definitions: str
    per: int | None = None
    perturber: ModelSpec | None = None
    gold_writer: ModelSpec | None = None
    checker: ModelSpec | None = None
    editor: ModelSpec | None = None
    gold: str = ""
    edited: str | None = None
    gold_checked: bool = False
    asked: Annotated[dict[str, tuple[str, ...]], OutsideIdentity]
    golds: Annotated[dict[str, str], OutsideIdentity]
    too_short: Annotated[dict[str, int], OutsideIdentity]

    @property
    def judge_name(self) -> str:
        """The perturber's displayed name; empty for a file of edited images."""
        return model_name(self.perturber) or ""

    @property
    def checks_own_work(self) -> bool:
        """Whether checker and perturber are the same model."""
        if self.checker is None or self.perturber is None:
            return False
        return self.checker.ref.model == self.perturber.ref.model

    @property
    def to_write(self) -> list[str]:
        """The samples whose gold answers a model writes."""
        if self.gold_writer is None:
            return []
        return [id for id, dimensions in self.asked.items() if dimensions and id not in self.golds]

    @property
    def to_check(self) -> list[str]:
        """The samples whose gold answers are in the data and are checked before an error is inserted."""
        if not self.gold_checked:
            return []
        return [id for id, dimensions in self.asked.items() if dimensions and id in self.golds]

    @property
    def options(self) -> PerturbOptions:
        """The options of the graphs."""
        return PerturbOptions(
            judge=self.judge_name,
            models=self.models,
            writer=model_name(self.gold_writer) or "",
            checker=model_name(self.checker) or "",
            editor=model_name(self.editor) or "",
        )


class PerturbModels(NamedTuple):
    """The models of a perturbation run; None for a role that is not used."""

    perturber: ModelSpec | None
    gold_writer: ModelSpec | None
    checker: ModelSpec | None
    editor: ModelSpec | None


class PerturbMaterial(NamedTuple):
    """The samples, the data's gold answers by sample, and the items of a file of edited images."""

    samples: list[Sample]
    golds: dict[str, GoldAnswer]
    edited: list[EditedImage]
    skipped: list[str]


async def accept(request: PerturbRequest, session: Session) -> Accepted[PerturbPlan]:
    """Validate a request, draw the dimensions of each sample, and return plan, estimate and samples.

    Raises:
        InputError: data, dimensions, configuration or options are unusable.
    """
    session.models(request.judges, "judges")
    models = _models(request, session)
    dimensions = choose_dimensions(request.task, request.dimensions)
    material = await asyncio.to_thread(_material, request, session, dimensions)
    too_short: dict[str, set[str]] = {}
    for name, dimension in dimensions.items():
        too_short[name] = {id for id, gold in material.golds.items() if gold.word_count < dimension.least_words}
    if material.edited:
        by_sample = _dimensions_by_sample(material.edited)
    else:
        ids = [sample.id for sample in material.samples]
        by_sample = draw_dimensions(ids, too_short, per=request.per, seed=request.seed)
    if not any(by_sample.values()):
        raise DataError(
            f"{request.data}: every gold answer has too few words for {', '.join(dimensions)}; give longer ones in the "
            f"field {request.gold_field!r}, or have them written with --gold-writer"
        )
    note = ""
    if request.judges:
        note = material_note(_images_with_errors(material.samples, by_sample), str(request.data))
    edited_ids = [value_id(edited.item) for edited in material.edited]
    golds = {id: value_id(gold) for id, gold in material.golds.items()}
    if models.editor is not None:
        golds = {sample.id: sample.images[0].sha256 for sample in material.samples if sample.images}
    plan = PerturbPlan(
        data=hash_of([(sample.id, value_id(sample)) for sample in material.samples]),
        limit=request.limit,
        seed=request.seed,
        prompts=prompts_used(session.library, _prompts(request, models, material)),
        task=request.task,
        dimensions=tuple(dimensions),
        definitions=error_dimensions_id(request.task),
        per=request.per,
        **models._asdict(),
        gold=digest("golds", {id: gold.text for id, gold in sorted(material.golds.items())})[:16],
        edited=digest("edited", edited_ids)[:16] if material.edited else None,
        asked=by_sample,
        golds=golds,
        too_short={name: len(ids) for name, ids in too_short.items() if ids},
        gold_checked=models.checker is not None and bool(golds),
    )
    return Accepted(
        plan=plan,
        estimate=_estimate(plan, material, note),
        samples=material.samples,
        values=[*material.golds.values(), *(edited.item for edited in material.edited)],
        skipped=material.skipped,
        notes={"brought": edited_ids},
    )


def choose_dimensions(task: Task, names: Sequence[str]) -> Mapping[str, ErrorDimension]:
    """Return the named dimensions, and those of named groups, in the file's order; all if none is named.

    Raises:
        ConfigError: a name is neither a dimension nor a group; the message lists all.
    """
    dimensions = error_dimensions(task)
    groups = list(dict.fromkeys(dimension.group for dimension in dimensions.values() if dimension.group))
    unknown = [name for name in names if name not in dimensions and name not in groups]
    if unknown:
        raise ConfigError(
            f"--dimensions: {', '.join(unknown)}: no dimension or group of {task}; the groups are {', '.join(groups)}, the "
            f"dimensions {', '.join(dimensions)}"
        )
    if not names:
        return dimensions
    return {name: dimension for name, dimension in dimensions.items() if name in names or dimension.group in names}


def draw_dimensions(
    samples: Sequence[str], too_short: Mapping[str, set[str]], *, per: int | None, seed: int
) -> dict[str, tuple[str, ...]]:
    """Return the dimensions of each sample: all that its length permits, or enough for `per` samples per dimension.

    Samples with the fewest dimensions so far are drawn first, and among these by seed, for an even distribution.

    Args:
        samples: names of the samples.
        too_short: by dimension, the samples that are too short for it.
        per: number of samples of each dimension; None for all.
        seed: seed of the draws.
    """
    by_sample: dict[str, list[str]] = {id: [] for id in samples}
    for dimension, short in too_short.items():
        candidates = [id for id in samples if id not in short]
        if per is not None:
            candidates.sort(key=lambda id: (len(by_sample[id]), unit_interval("perturb", seed, dimension, id)))
        for id in candidates[:per]:
            by_sample[id].append(dimension)
    return {id: tuple(dimensions) for id, dimensions in by_sample.items()}


def _models(request: PerturbRequest, session: Session) -> PerturbModels:
    if request.task == "image-to-text" and (request.editor or request.edited):
        raise ConfigError("--editor and --edited are for images: give --task text-to-image with them")
    if request.edited:
        if request.perturber or request.editor or request.gold_writer:
            raise ConfigError(
                "--edited brings images that were edited already: leave --perturber, --editor and --gold-writer out"
            )
        return PerturbModels(None, None, None, None)
    if not request.perturber:
        raise ConfigError("name who perturbs with --perturber")
    if request.task == "text-to-image" and not request.editor:
        raise ConfigError("name an image model with --editor, or bring edited images with --edited FILE")
    checker = request.checker or request.perturber
    if checker == NOBODY and request.gold_writer:
        raise ConfigError(f"gold answers that a model writes are checked: name another --checker than {NOBODY}")
    return PerturbModels(
        session.judge(request.perturber),
        _gold_writer(request, session),
        None if checker == NOBODY else session.judge(checker),
        session.model(request.editor) if request.editor else None,
    )


def _gold_writer(request: PerturbRequest, session: Session) -> ModelSpec | None:
    """Return the model that writes gold answers: a chat model or, for images, an image model."""
    if not request.gold_writer:
        return None
    if request.task == "text-to-image":
        return session.model(request.gold_writer)
    return session.judge(request.gold_writer)


def _prompts(request: PerturbRequest, models: PerturbModels, material: PerturbMaterial) -> tuple[str, ...]:
    if material.edited:
        return ()
    if request.task == "text-to-image":
        if models.checker:
            return (*IMAGE_PROMPTS, "gold_image_check")
        return IMAGE_PROMPTS
    writing = ("gold_answer",) if models.gold_writer else ()
    checking = ("gold_check",) if models.checker else ()
    return (*TEXT_PROMPTS, *writing, *checking)


def _material(request: PerturbRequest, session: Session, dimensions: Mapping[str, ErrorDimension]) -> PerturbMaterial:
    samples, skipped = session.samples(request)
    of_images = request.task == "text-to-image"
    unfit: list[str] = []
    for sample in samples:
        generates = of_images and bool(request.gold_writer)  # A missing image is generated.
        if (not sample.images and not generates) or (of_images and len(sample.images) > 1):
            unfit.append(sample.id)
    if unfit:
        images = "exactly one image, the gold one" if of_images else "an image"
        problem = f"{request.data}: a sample has {images}; not so: "
        if request.on_bad_sample == "fail" or len(unfit) == len(samples):
            raise DataError(f"{problem}{shortened(unfit, 5)}\n(--on-bad-sample skip leaves such samples out)")
        skipped = [*skipped, *(f"{problem}{id}" for id in unfit)]
        samples = [sample for sample in samples if sample.id not in unfit]
    if request.edited is None:
        golds = {} if of_images else _golds(request, samples)
        return PerturbMaterial(samples, golds, [], skipped)
    blobs = MemoryBlobs() if session.dry or session.home is None else session.home.blobs
    source = ImageSource(request.edited.parent, blobs=blobs, allow_outside=request.allow_outside)
    edited = read_edited(request.edited, {sample.id: sample for sample in samples}, list(dimensions), source)
    return PerturbMaterial(samples, {}, edited, skipped)


def _golds(request: PerturbRequest, samples: Sequence[Sample]) -> dict[str, GoldAnswer]:
    """Return the gold answers in the data: the field `gold` or, if no model writes them, the reference answer."""
    golds: dict[str, GoldAnswer] = {}
    gaps: list[str] = []
    for sample in samples:
        field = sample.meta.get(request.gold_field)
        text = field.strip() if isinstance(field, str) else ""
        if field is not None and not text:
            raise DataError(
                f"{request.data}, sample {sample.id!r}: the field {request.gold_field!r} is no text; a gold answer is one"
            )
        if not text and not request.gold_writer:
            if not sample.accepted_texts or not sample.accepted_texts[0]:
                gaps.append(sample.id)
                continue
            text = sample.accepted_texts[0]
        if text:
            golds[sample.id] = GoldAnswer(sample=sample.digest, text=text)
    if gaps:
        raise DataError(
            f"{request.data}: {several(len(gaps), 'sample')} without a gold answer: {shortened(gaps, 5)}. Give it in "
            f"the field {request.gold_field!r} or as the reference answer, or have it written with --gold-writer"
        )
    return golds


def _dimensions_by_sample(edited: Sequence[EditedImage]) -> dict[str, tuple[str, ...]]:
    by_sample: dict[str, tuple[str, ...]] = {}
    for image in edited:
        sample = image.item.sample_id
        by_sample[sample] = (*by_sample.get(sample, ()), image.item.dimension)
    return by_sample


def _images_with_errors(samples: Sequence[Sample], dimensions: Mapping[str, Sequence[str]]) -> int:
    """Return the number of images of samples for which an error, and not only a harmless change, is drawn."""
    with_errors = [sample for sample in samples if any(name != NEUTRAL for name in dimensions.get(sample.id, ()))]
    return len({sample.cluster for sample in with_errors})


def _estimate(plan: PerturbPlan, material: PerturbMaterial, note: str) -> Estimate:
    calls: list[ExpectedCalls] = []
    for sample in material.samples:
        calls += _calls_of_sample(plan, sample, material.golds.get(sample.id))
    notes: list[str] = []
    if note:
        notes.append(note)
    if plan.too_short:
        counts = ", ".join(f"{name} {count}" for name, count in plan.too_short.items())
        notes.append(f"gold answers with too few words are not asked about: {counts}")
    if NEUTRAL not in plan.dimensions:
        notes.append(NO_NEUTRAL)
    if plan.checks_own_work:
        notes.append(OWN_WORK.format(checker=model_name(plan.checker)))
    items = len(plan.to_write) + len(plan.to_check) + sum(map(len, plan.asked.values()))
    return total_estimate(calls, len(material.samples), items=items, notes=notes)


def _calls_of_sample(plan: PerturbPlan, sample: Sample, gold: GoldAnswer | None) -> Iterator[ExpectedCalls]:
    size, count = size_of(sample), len(plan.asked.get(sample.id, ()))
    texts = plan.editor is None
    request_tokens = INSTRUCTION_TOKENS + size.text
    gold_tokens = GOLD_TOKENS if gold is None else 1 + len(gold.text) // CHARACTERS_PER_TOKEN
    if sample.id in plan.to_write and plan.gold_writer is not None:
        output_tokens = gold_tokens if texts else NEW_IMAGE_TOKENS
        yield ExpectedCalls(plan.gold_writer, 1, request_tokens + size.images_for(plan.gold_writer), output_tokens)
    if sample.id in (*plan.to_write, *plan.to_check) and plan.checker is not None:
        input_tokens = request_tokens + (gold_tokens if texts else 0) + size.images_for(plan.checker)
        yield ExpectedCalls(plan.checker, 1, input_tokens, CHECK_TOKENS)
    if plan.perturber is not None:
        input_tokens = request_tokens + size.images_for(plan.perturber)
        if texts:
            yield ExpectedCalls(plan.perturber, count, input_tokens + gold_tokens, gold_tokens)
        else:
            yield ExpectedCalls(plan.perturber, count, input_tokens, INSTRUCTION_REPLY)
    if plan.editor is not None:
        yield ExpectedCalls(plan.editor, count, size.images + INSTRUCTION_REPLY, size.images)
    if plan.checker is not None:
        input_tokens = request_tokens + (2 * gold_tokens + LIST_TOKENS if texts else size.images)
        yield ExpectedCalls(plan.checker, count, input_tokens + size.images_for(plan.checker), CHECK_TOKENS)
