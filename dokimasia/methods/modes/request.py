"""The request of an error analysis, its plan, its acceptance, and the drawing of criteria from an evaluation."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dokimasia.algorithms.halving import halves
from dokimasia.algorithms.modes import BATCH, drawn, second_sample, with_met
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.failure_modes import AnswerAtoms, ModeList, ModeSplit
from dokimasia.domain.identity import Value, digest, value_id
from dokimasia.domain.options import GraphOptions
from dokimasia.domain.refinement import SOLVED
from dokimasia.errors import ConfigError, InputError
from dokimasia.methods.evaluation import METHOD as EVALUATION
from dokimasia.methods.modes.files import read_modes
from dokimasia.methods.tree import evaluation_of
from dokimasia.report.figures import several
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, ExpectedCalls, SampleSize, size_of, total_estimate
from dokimasia.runs.plans import RunPlan, prompts_used
from dokimasia.runs.requests import MOST_SAMPLES, SUBSAMPLE_HELP, Judge, Option, RunRequest, Subsample
from dokimasia.runs.samples import part_of
from dokimasia.runs.session import Accepted, Session
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, judged_criteria, load_samples, run_samples

ANSWER_TOKENS, LINE_TOKENS, MODE_TOKENS = 350, 50, 70
TYPICAL_MODES = 10

NAME = "modes"
"""The method's name, and the kind of the rows with codings of criteria."""

MAKING = ("modes_note", "modes_sort", "modes_merge")
ASSIGNING = ("modes_assign",)


class ModesRequest(RunRequest):
    """Find the failure modes of RUN (the beginning of its id, or `last`): what goes wrong in its failed criteria, and how often.

    A judge notes what went wrong in the failed criteria of one half of the samples and sorts the notes into modes. A
    judge that sees neither score nor model then assigns failed criteria of the other half, and as many met ones, to one
    mode or none; a second coder repeats a part of them. The same command continues an interrupted analysis, or prints
    its results.
    """

    VERB: ClassVar[str] = "modes"

    run: Annotated[str, Option(argument=True, continues="evaluate")]
    judge: Judge
    coder: Annotated[str | None, Option(models=True)] = Field(
        default=None, description="Who codes a part of the criteria again (default: the judge, under another draw)."
    )
    models: tuple[str, ...] = Field(default=(), description="Only these models' answers, separated by commas.")
    modes: Annotated[Path | None, Option(metavar="FILE", exists=True, file=True)] = Field(
        default=None, description="Take the modes of this file (YAML or JSON, see --export) and make none."
    )
    export: Annotated[Path | None, Option(metavar="FILE", written=True)] = Field(
        default=None, description="Also write the modes as YAML (or JSON), to be edited and given to --modes."
    )
    limit: int = Field(
        default=300,
        ge=1,
        le=MOST_SAMPLES,
        description="Maximum number of failed criteria that are read from each half.",
    )
    subsample: Subsample = Field(default=None, description=f"{SUBSAMPLE_HELP} (by default all of RUN).")


class ModesPlan(RunPlan):
    """The plan of an error analysis.

    `source` is the evaluation, `drawn` the id of the drawn criteria, and `given` the id of an imported list of modes
    (empty if modes are made).
    """

    source: str
    drawn: str
    judge: ModelSpec
    coder: ModelSpec
    given: str = ""

    @property
    def judge_name(self) -> str:
        """The judge's displayed name."""
        return self.judge.ref.name

    @property
    def options(self) -> GraphOptions:
        """The options of the graphs."""
        return GraphOptions(judge=self.judge_name, models=self.models)


async def accept(request: ModesRequest, session: Session) -> Accepted[ModesPlan]:
    """Validate a request, draw the criteria to read, and return plan, estimate and samples.

    Raises:
        InputError: the run is not a finished evaluation or has too few failed criteria, a model is unknown, or the file
            of modes is unusable.
    """
    home = session.opened
    run, _ = evaluation_of(home, request.run, done=True)
    modes = _modes_to_count(request, session, home)
    split = draw(
        home,
        run,
        models=request.models,
        limit=request.limit,
        subsample=request.subsample,
        seed=request.seed,
        modes=modes,
    )
    judge = session.model(request.judge)
    prompts = [*ASSIGNING, "repair"]
    values: list[Value] = [split, *split.making, *split.counting]
    if modes is None:
        prompts += MAKING
    else:
        values.append(modes)
    plan = ModesPlan(
        seed=request.seed,
        prompts=prompts_used(session.library, prompts),
        source=run.id,
        drawn=value_id(split),
        judge=judge,
        coder=judge if request.coder is None else session.model(request.coder),
        given="" if modes is None else value_id(modes),
    )
    sizes = {sample.id: size_of(sample) for sample in load_samples(home, run.id)}
    sample_ids = {answer.sample_id for answer in (*split.making, *split.counting)}
    return Accepted(
        plan=plan,
        estimate=total_estimate(expected_calls(plan, split, sizes), len(sample_ids), items=row_count(plan, split)),
        data_name=run.data_name,
        data_hash=run.data_hash,
        places=run_samples(home, run.id),
        values=values,
        needs=(run.id,),
        request=request.model_copy(update={"run": run.id}),
    )


def _modes_to_count(request: ModesRequest, session: Session, home: Home) -> ModeList | None:
    """Return the modes of the request's file, or for a fork those of its parent; None if modes are to be made."""
    if session.source_run is not None:
        id = session.source_run.plan_as(ModesPlan).given
        if id:
            return find_values(home, ModeList, [id])[id]
        return None
    if request.modes is None:
        return None
    return read_modes(request.modes)


def row_count(plan: ModesPlan, split: ModeSplit) -> int:
    """Return the number of rows: one for the making of modes, and one for each coding of a criterion."""
    answers = (*split.counting, *second_sample(split.counting, seed=plan.seed))
    return (not plan.given) + sum(len(answer.numbers) for answer in answers)


def expected_calls(plan: ModesPlan, split: ModeSplit, sizes: Mapping[str, SampleSize]) -> Iterator[ExpectedCalls]:
    """Yield the maximum number of calls: notes on one half, batches to sort the notes, and coding of the other half."""
    atoms = 0
    for answer in split.making:
        atoms += len(answer.failed)
        lines = len(answer.failed) * LINE_TOKENS
        size = sizes[answer.sample_id]
        yield ExpectedCalls(plan.judge, 1, INSTRUCTION_TOKENS + size.text + size.images + ANSWER_TOKENS + lines, lines)
    list_tokens = INSTRUCTION_TOKENS + TYPICAL_MODES * MODE_TOKENS
    if split.making:
        batches = -(-atoms // BATCH)
        yield ExpectedCalls(plan.judge, batches + 1, list_tokens + BATCH * LINE_TOKENS, 3 * MODE_TOKENS)
    second = second_sample(split.counting, seed=plan.seed)
    for spec, answers in ((plan.judge, split.counting), (plan.coder, second)):
        for answer in answers:
            lines = len(answer.numbers) * LINE_TOKENS
            size = sizes[answer.sample_id]
            yield ExpectedCalls(spec, 1, list_tokens + size.text + size.images + ANSWER_TOKENS + lines, lines // 2)


def image_mark(cluster: str) -> str:
    """Return the mark in a file of modes for an image used to make the modes."""
    return digest("cluster", cluster)[:16]


def draw(
    home: Home,
    run: Run,
    *,
    models: Sequence[str] = (),
    limit: int,
    subsample: int | None = None,
    seed: int,
    modes: ModeList | None = None,
) -> ModeSplit:
    """Return the drawn answers of an evaluation, for making and for counting modes.

    Modes are made on one half of the samples and counted on the other; samples that share an image stay together.
    Existing modes are counted on all samples except those they were made from.

    Args:
        home: the home.
        run: the evaluation.
        models: the models whose answers are read; empty for all.
        limit: maximum number of failed criteria of each half.
        subsample: number of samples to read, drawn balanced over categories; None for all.
        seed: seed of the halves and of all draws.
        modes: existing modes.

    Raises:
        ConfigError: a model did not answer in the run.
        InputError: the run is not finished, or a half has no failed criterion.
    """
    samples = list(load_samples(home, run.id))
    selection = part_of(samples, subsample=subsample, seed=seed)
    answers = [answer for answer in answers_of(home, run, models) if answer.sample_id in selection]
    failures = sum(len(answer.failed) for answer in answers)
    source = (
        f"run {run.id}" if subsample is None else f"the {several(len(selection), 'sample')} drawn from run {run.id}"
    )
    if not failures:
        raise InputError(f"no criterion of {source} has failed (score below {SOLVED}): there is nothing to analyse")
    making: Collection[str] = ()
    if modes is not None:
        marks = set(modes.made_on)
        counting = {answer.sample_id for answer in answers if image_mark(answer.cluster) not in marks}
        if not counting:
            raise InputError(f"the modes were made on all images of {source}: count them on other data")
    else:
        places = [place for place in run_samples(home, run.id) if place.sample_id in selection]
        clusters = {place.sample_id: place.cluster or place.sample_id for place in places}
        categories = {sample.id: sample.category or "" for sample in samples}
        making, counting = halves(clusters, categories, seed=seed)
    first = [answer for answer in answers if answer.sample_id in making]
    second = [answer for answer in answers if answer.sample_id in counting]
    to_note = drawn(first, limit, seed=seed, half="making")
    to_code = drawn(second, limit, seed=seed, half="counting")
    if not to_code or (modes is None and not to_note):
        raise InputError(
            f"{source} has {several(failures, 'failed criterion', 'failed criteria')}, all on one half of its images: modes "
            "are made on one half and counted on the other. Evaluate more samples, name another --seed, or take modes from "
            "a file with --modes"
        )
    return ModeSplit(
        making=tuple(answer.model_copy(update={"met": ()}) for answer in to_note),
        counting=tuple(with_met(to_code, second, seed=seed)),
        failed=_by_model(second, "failed"),
        met=_by_model(second, "met"),
    )


def answers_of(home: Home, run: Run, models: Sequence[str] = ()) -> list[AnswerAtoms]:
    """Return the scored answers of an evaluation, in its order, with their failed and met criteria.

    Answers without the image and answers without a score are left out.

    Raises:
        ConfigError: a model did not answer in the run.
        InputError: the run is not finished, or has no criteria because it has no judge.
        NotFound: the run is not an evaluation.
    """
    plan, _ = EVALUATION.read(run)
    plan.judge_of("score")
    if run.status != "done":
        raise InputError(
            f"run {run.id} is not finished ({run.status}), so its failures are not all known: dokimasia resume {run.id}"
        )
    names = [spec.ref.name for spec in plan.candidates]
    unknown = sorted(set(models) - set(names))
    if unknown:
        raise ConfigError(
            f"--models: {', '.join(unknown)} did not answer in run {run.id}; its models are: {', '.join(names)}"
        )
    judgements = judged_criteria(home, run.id)
    samples = {sample.sample_id: sample for sample in run_samples(home, run.id)}
    answers: list[AnswerAtoms] = []
    for row in results(home, run.id, as_judged=True):
        if row.kind != "score" or row.arm or (models and row.model not in models):
            continue
        if row.score is None or not (row.criteria_id and row.response_id and row.judgement_id):
            continue
        failed_numbers: list[int] = []
        met_numbers: list[int] = []
        for number, score in enumerate(judgements[row.judgement_id].scores, start=1):
            (failed_numbers if score < SOLVED else met_numbers).append(number)
        spoken_to = enumerate(judgements[row.judgement_id].stated, start=1)
        sample = samples[row.sample_id]
        answers.append(
            AnswerAtoms(
                sample_id=row.sample_id,
                sample_digest=row.sample_digest,
                sample=sample.value_id,
                cluster=sample.cluster or row.sample_id,
                model=row.model,
                repeat=row.repeat,
                criteria=row.criteria_id,
                response=row.response_id,
                failed=tuple(failed_numbers),
                met=tuple(met_numbers),
                silent=tuple(number for number, spoken in spoken_to if not spoken),
                verdict=row.verdict or "unknown",
            )
        )
    return answers


def _by_model(answers: Sequence[AnswerAtoms], group: Literal["failed", "met"]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for answer in answers:
        counts[answer.model] += len(answer.failed if group == "failed" else answer.met)
    return dict(counts)
