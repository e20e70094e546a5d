"""How a perturbing is accepted: dimensions chosen, samples read with their gold answers, and who is asked for what drawn."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dokimasia.agents.perturbation import error_dimensions
from dokimasia.datasets.edited_images import Brought, read_edited
from dokimasia.datasets.sources import ImageSource
from dokimasia.domain.blindspots import NEUTRAL, ErrorDimension, Task
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import digest, unit_interval, value_id
from dokimasia.domain.perturbation import GoldAnswer
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError, DataError
from dokimasia.methods.perturb.request import PerturbPlan, PerturbRequest
from dokimasia.prompts.dimensions import error_dimensions_id
from dokimasia.report.figures import several
from dokimasia.runs.estimate import CHARACTERS_PER_TOKEN, INSTRUCTION_TOKENS, Asking, Estimate, added_up, size_of
from dokimasia.runs.plans import prompts_used
from dokimasia.runs.requests import NOBODY
from dokimasia.runs.session import Accepted, Session, hash_of
from dokimasia.storage.content.blobs import MemoryBlobs

TEXT_PROMPTS = ("change_check", "error_in_passages", "error_throughout", "harmless_rewrite", "repair")
GOLD_PROMPTS = ("gold_answer", "gold_check")
IMAGE_PROMPTS = ("edit_check", "edit_instruction", "repair")
GOLD_TOKENS, CHECK_TOKENS, LIST_TOKENS, INSTRUCTION_REPLY = 400, 120, 1_200, 120


class Who(NamedTuple):
    """The models of a perturbing; None where nobody is asked."""

    perturber: ModelSpec | None
    gold_writer: ModelSpec | None
    checker: ModelSpec | None
    editor: ModelSpec | None


class PerturbMaterial(NamedTuple):
    """The samples, their gold answers that the data gave, by name, and items that a file brings."""

    samples: list[Sample]
    golds: dict[str, GoldAnswer]
    brought: list[Brought]
    skipped: list[str]


async def accept(request: PerturbRequest, session: Session) -> Accepted[PerturbPlan]:
    """Read the data, find gold answers and models, and draw which sample is perturbed in which dimensions.

    Raises:
        InputError: data, dimensions, configuration or options cannot be used.
    """
    who = _who(request, session)
    dimensions = chosen(request.task, request.dimensions)
    found = await asyncio.to_thread(_material, request, session, dimensions)
    short = {
        name: {id for id, gold in found.golds.items() if gold.word_count < one.least_words}
        for name, one in dimensions.items()
    }
    if found.brought:
        asked = _brought_by_sample(found.brought)
    else:
        asked = drawn([one.id for one in found.samples], short, per=request.per, seed=request.seed)
    if not any(asked.values()):
        raise DataError(
            f"{request.data}: every gold answer has too few words for {', '.join(dimensions)}; give longer ones in the "
            f"field {request.gold_field!r}, or have them written with --gold-writer"
        )
    written = GOLD_PROMPTS if who.gold_writer else ()
    used = () if found.brought else (*TEXT_PROMPTS, *written) if request.task == "image-to-text" else IMAGE_PROMPTS
    plan = PerturbPlan(
        data=hash_of([(one.id, value_id(one)) for one in found.samples]),
        limit=request.limit,
        seed=request.seed,
        prompts=prompts_used(session.library, used),
        task=request.task,
        dimensions=tuple(dimensions),
        definitions=error_dimensions_id(request.task),
        per=request.per,
        **who._asdict(),
        gold=digest("golds", {id: gold.text for id, gold in sorted(found.golds.items())})[:16],
        edited=digest("edited", [value_id(one.item) for one in found.brought])[:16] if found.brought else None,
        asked=asked,
        golds={id: value_id(gold) for id, gold in found.golds.items()},
        too_short={name: len(ids) for name, ids in short.items() if ids},
    )
    return Accepted(
        plan=plan,
        estimate=_expected(plan, found),
        samples=found.samples,
        values=[*found.golds.values(), *(one.item for one in found.brought)],
        skipped=found.skipped,
        notes={"brought": [value_id(one.item) for one in found.brought]},
    )


def chosen(task: Task, names: Sequence[str]) -> Mapping[str, ErrorDimension]:
    """Return the dimensions that names of dimensions and of groups mean, in the order of the file; all where none is given.

    Raises:
        ConfigError: a name is neither; the message lists those there are.
    """
    known = error_dimensions(task)
    groups = list(dict.fromkeys(one.group for one in known.values() if one.group))
    unknown = [name for name in names if name not in known and name not in groups]
    if unknown:
        raise ConfigError(
            f"--dimensions: {', '.join(unknown)}: no dimension or group of {task}; the groups are {', '.join(groups)}, the "
            f"dimensions {', '.join(known)}"
        )
    return {name: one for name, one in known.items() if not names or name in names or one.group in names}


def drawn(
    samples: Sequence[str], without: Mapping[str, set[str]], *, per: int | None, seed: int
) -> dict[str, tuple[str, ...]]:
    """Return the dimensions that each sample is perturbed in: every one that it is long enough for, or `per` of each.

    Samples that have fewest dimensions so far are drawn first, and among these by seed, so that all serve evenly.
    """
    found: dict[str, list[str]] = {id: [] for id in samples}
    for name, short in without.items():
        able = [id for id in samples if id not in short]
        if per is not None:
            able.sort(key=lambda id: (len(found[id]), unit_interval("perturb", seed, name, id)))
        for id in able[:per]:
            found[id].append(name)
    return {id: tuple(names) for id, names in found.items()}


def _who(request: PerturbRequest, session: Session) -> Who:
    if request.task == "image-to-text" and (request.editor or request.edited):
        raise ConfigError("--editor and --edited are for images: give --task text-to-image with them")
    if request.task == "text-to-image" and request.gold_writer:
        raise ConfigError("--gold-writer writes texts: with --task text-to-image the gold answer is the sample's image")
    if request.edited:
        if request.perturber or request.editor:
            raise ConfigError("--edited brings images that were edited already: leave --perturber and --editor out")
        return Who(None, None, None, None)
    if not request.perturber:
        raise ConfigError("name who perturbs with --perturber")
    if request.task == "text-to-image" and not request.editor:
        raise ConfigError("name an image model with --editor, or bring edited images with --edited FILE")
    checker = request.checker or request.perturber
    if checker == NOBODY and request.gold_writer:
        raise ConfigError(f"gold answers that a model writes are checked: name another --checker than {NOBODY}")
    return Who(
        session.judge(request.perturber),
        session.judge(request.gold_writer) if request.gold_writer else None,
        None if checker == NOBODY else session.judge(checker),
        session.model(request.editor) if request.editor else None,
    )


def _material(request: PerturbRequest, session: Session, dimensions: Mapping[str, ErrorDimension]) -> PerturbMaterial:
    samples, skipped = session.samples(request)
    most = 1 if request.task == "text-to-image" else None
    bad = [one.id for one in samples if not one.images or (most and len(one.images) > most)]
    if bad:
        wanted = "exactly one image, the gold one" if most else "an image"
        said = f"{request.data}: a sample has {wanted}; not so: "
        if request.on_bad_sample == "fail" or len(bad) == len(samples):
            listed = ", ".join(bad[:5]) + (", …" if len(bad) > 5 else "")
            raise DataError(f"{said}{listed}\n(--on-bad-sample skip leaves such samples out)")
        skipped = [*skipped, *(f"{said}{id}" for id in bad)]
        samples = [one for one in samples if one.id not in bad]
    if request.edited is None:
        golds = {} if most else _golds(request, samples)
        return PerturbMaterial(samples, golds, [], skipped)
    blobs = MemoryBlobs() if session.dry or session.home is None else session.home.blobs
    source = ImageSource(request.edited.parent, blobs=blobs, allow_outside=request.allow_outside)
    brought = read_edited(request.edited, {one.id: one for one in samples}, list(dimensions), source)
    return PerturbMaterial(samples, {}, brought, skipped)


def _golds(request: PerturbRequest, samples: Sequence[Sample]) -> dict[str, GoldAnswer]:
    """Return the gold answers that the data give: a field of the line, else, where none is written, the reference answer."""
    found: dict[str, GoldAnswer] = {}
    missing: list[str] = []
    for sample in samples:
        given = sample.meta.get(request.gold_field)
        if given is not None and (not isinstance(given, str) or not given.strip()):
            raise DataError(
                f"{request.data}, sample {sample.id!r}: the field {request.gold_field!r} is no text; a gold answer is one"
            )
        text = given.strip() if isinstance(given, str) else ""
        if not text and not request.gold_writer:
            text = (sample.accepted_texts or ("",))[0]
            missing += [] if text else [sample.id]
        if text:
            found[sample.id] = GoldAnswer(sample=sample.digest, text=text)
    if missing:
        listed = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
        raise DataError(
            f"{request.data}: {several(len(missing), 'sample')} without a gold answer: {listed}. Give it in the field "
            f"{request.gold_field!r} or as the reference answer, or have it written with --gold-writer"
        )
    return found


def _brought_by_sample(brought: Sequence[Brought]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for one in brought:
        found[one.item.sample_id] = (*found.get(one.item.sample_id, ()), one.item.dimension)
    return found


def _expected(plan: PerturbPlan, found: PerturbMaterial) -> Estimate:
    asked: list[Asking] = []
    for sample in found.samples:
        size, count = size_of(sample), len(plan.asked.get(sample.id, ()))
        gold = found.golds.get(sample.id)
        tokens = GOLD_TOKENS if gold is None else 1 + len(gold.text) // CHARACTERS_PER_TOKEN
        if plan.gold_writer is not None and plan.checker is not None and gold is None:
            sent = INSTRUCTION_TOKENS + size.text
            asked.append(Asking(plan.gold_writer, 1, sent + size.images_for(plan.gold_writer), tokens))
            asked.append(Asking(plan.checker, 1, sent + tokens + size.images_for(plan.checker), CHECK_TOKENS))
        if plan.perturber is not None:
            sent = INSTRUCTION_TOKENS + size.text + size.images_for(plan.perturber)
            received = tokens if plan.editor is None else INSTRUCTION_REPLY
            asked.append(Asking(plan.perturber, count, sent + (tokens if plan.editor is None else 0), received))
        if plan.editor is not None:
            asked.append(Asking(plan.editor, count, size.images + INSTRUCTION_REPLY, size.images))
        if plan.checker is not None:
            sent = INSTRUCTION_TOKENS + size.text + (2 * tokens + LIST_TOKENS if plan.editor is None else size.images)
            asked.append(Asking(plan.checker, count, sent + size.images_for(plan.checker), CHECK_TOKENS))
    notes: list[str] = []
    if plan.too_short:
        told = ", ".join(f"{name} {count}" for name, count in plan.too_short.items())
        notes.append(f"gold answers with too few words are not asked about: {told}")
    if NEUTRAL not in plan.dimensions:
        notes.append(NO_NEUTRAL)
    if plan.checker is not None and plan.perturber is not None and plan.checker.ref.model == plan.perturber.ref.model:
        notes.append(OWN_WORK.format(checker=plan.checker.ref.name))
    written = sum(id not in plan.golds for id, names in plan.asked.items() if names) if plan.gold_writer else 0
    items = written + sum(map(len, plan.asked.values()))
    return added_up(asked, len(found.samples), items=items).model_copy(update={"notes": tuple(notes)})


NO_NEUTRAL = (
    "harmless changes are not made, so a probe cannot tell false alarms: `dokimasia perturb` makes them with score_neutral "
    "among its --dimensions"
)
OWN_WORK = (
    "{checker} checks changes that it made itself, and a model is no judge of its own work: name another --checker"
)
