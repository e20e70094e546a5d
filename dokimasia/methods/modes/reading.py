"""What an error analysis takes from an evaluation: its answers with their atoms, one half to make modes, one to count them."""

from collections import Counter
from collections.abc import Collection, Sequence

from dokimasia.algorithms.halving import halves
from dokimasia.algorithms.modes import drawn, with_met
from dokimasia.domain.failure_modes import AnswerAtoms, ModeList, ModeSplit
from dokimasia.domain.identity import digest, value_id
from dokimasia.domain.refinement import SOLVED
from dokimasia.errors import ConfigError, InputError
from dokimasia.methods.evaluation import METHOD as EVALUATION
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, judgement_scores, judgement_stated, load_samples, run_samples


def image_mark(cluster: str) -> str:
    """Return the mark by which a file of modes knows an image that modes were made on."""
    return digest("cluster", cluster)[:16]


def draw(
    home: Home, run: Run, *, models: Sequence[str] = (), limit: int, seed: int, given: ModeList | None = None
) -> ModeSplit:
    """Return what of an evaluation is read.

    Modes are made on one half of the samples and counted on the other; samples that share an image stay together. Where
    modes are given, they are counted on all samples but those that they were made on.

    Args:
        home: where the run is.
        run: the evaluation.
        models: whose answers are read; empty: all.
        limit: failed atoms of each half, at most.
        seed: of the halves and of all draws.
        given: modes that are not made here.

    Raises:
        ConfigError: a model did not answer in the run.
        InputError: the run is not finished, or a half has no failed atom.
    """
    answers = answers_of(home, run, models)
    if not any(one.failed for one in answers):
        raise InputError(f"no atom of run {run.id} has failed (score below {SOLVED}): there is nothing to analyse")
    making: Collection[str]
    if given is not None:
        making, known = (), set(given.made_on)
        counting = {one.sample_id for one in answers if image_mark(one.cluster) not in known}
        if not counting:
            raise InputError(f"the modes were made on all images of run {run.id}: count them on other data")
    else:
        clusters = {place.sample_id: place.cluster or place.sample_id for place in run_samples(home, run.id)}
        categories = {sample.id: sample.category or "" for sample in load_samples(home, run.id)}
        making, counting = halves(clusters, categories, seed=seed)
    first, second = ([one for one in answers if one.sample_id in half] for half in (making, counting))
    made_from, failed = (
        drawn(each, limit, seed=seed, half=name) for each, name in ((first, "making"), (second, "counting"))
    )
    if not failed or (given is None and not made_from):
        raise InputError(
            f"run {run.id} has {sum(len(one.failed) for one in answers)} failed atoms, all on one half of its images: modes "
            "are made on one half and counted on the other. Evaluate more samples, name another --seed, or take modes from "
            "a file with --modes"
        )
    return ModeSplit(
        making=tuple(one.model_copy(update={"met": ()}) for one in made_from),
        counting=tuple(with_met(failed, second, seed=seed)),
        failed=_by_model(second, "failed"),
        met=_by_model(second, "met"),
    )


def answers_of(home: Home, run: Run, models: Sequence[str] = ()) -> list[AnswerAtoms]:
    """Return the scored answers of an evaluation, in its order, each with its failed and its met atoms.

    Answers without the image are left out, and so are answers without a score: their atoms are not known.

    Raises:
        ConfigError: a model did not answer in the run.
        InputError: the run is not finished, or has no criteria since rules alone decided.
        NotFound: it is no evaluation.
    """
    plan, _ = EVALUATION.read(run)
    plan.judge_of("score")
    if run.status != "done":
        raise InputError(
            f"run {run.id} is not finished ({run.status}), so its failures are not all known: dokimasia resume {run.id}"
        )
    known = [spec.ref.name for spec in plan.candidates]
    strangers = sorted(set(models) - set(known))
    if strangers:
        raise ConfigError(
            f"--models: {', '.join(strangers)} did not answer in run {run.id}; its models are: {', '.join(known)}"
        )
    scores, stated = judgement_scores(home, run.id), judgement_stated(home, run.id)
    places = {one.sample_id: one for one in run_samples(home, run.id)}
    found: list[AnswerAtoms] = []
    for row in results(home, run.id, as_judged=True):
        if row.kind != "score" or row.arm or (models and row.model not in models):
            continue
        if row.score is None or not (row.criteria_id and row.response_id and row.judgement_id):
            continue
        numbered = list(enumerate(scores[row.judgement_id], start=1))
        told = enumerate(stated.get(row.judgement_id, ()), start=1)
        place = places[row.sample_id]
        found.append(
            AnswerAtoms(
                sample_id=row.sample_id,
                sample_digest=row.sample_digest,
                sample=place.sample,
                cluster=place.cluster or row.sample_id,
                model=row.model,
                repeat=row.repeat,
                criteria=row.criteria_id,
                response=row.response_id,
                failed=tuple(number for number, score in numbered if score < SOLVED),
                met=tuple(number for number, score in numbered if score >= SOLVED),
                silent=tuple(number for number, spoken_to in told if not spoken_to),
                verdict=row.verdict or "unknown",
            )
        )
    return found


def marks_of(making: Sequence[AnswerAtoms]) -> tuple[str, ...]:
    """Return the marks of the images that modes are made on."""
    return tuple(sorted({image_mark(one.cluster) for one in making}))


def ids_of(answers: Sequence[AnswerAtoms]) -> list[str]:
    """Return the ids of answers, in order."""
    return [value_id(one) for one in answers]


def _by_model(answers: Sequence[AnswerAtoms], which: str) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for one in answers:
        counts[one.model] += len(getattr(one, which))
    return dict(counts)
