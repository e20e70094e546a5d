"""How an error analysis is accepted: the evaluation's atoms drawn, judge and coder found, modes read where some are given."""

from collections.abc import Iterator, Mapping

from dokimasia.algorithms.modes import BATCH, second_sample
from dokimasia.domain.failure_modes import ModeList, ModeSplit
from dokimasia.domain.identity import value_id
from dokimasia.methods.modes.files import read_modes
from dokimasia.methods.modes.reading import draw
from dokimasia.methods.modes.request import ASSIGNING, MAKING, ModesPlan, ModesRequest
from dokimasia.methods.tree import evaluation_of
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Asking, SampleSize, added_up, size_of
from dokimasia.runs.plans import prompts_used
from dokimasia.runs.session import Accepted, Session
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.runs import load_samples, run_samples

ANSWER_TOKENS, LINE_TOKENS, MODE_TOKENS = 350, 50, 70
TYPICAL_MODES = 10


async def accept(request: ModesRequest, session: Session) -> Accepted[ModesPlan]:
    """Draw what is read of the evaluation, find judge and coder, and read the modes that are given.

    Raises:
        InputError: the run is no finished evaluation, has too few failed atoms, a model is not known, or the file of modes
            cannot be used.
    """
    home = session.opened
    run, _ = evaluation_of(home, request.run, done=True)
    given = _given(request, session, home)
    drawn = draw(home, run, models=request.models, limit=request.limit, seed=request.seed, given=given)
    judge = session.model(request.judge)
    plan = ModesPlan(
        seed=request.seed,
        prompts=prompts_used(session.library, (*((), MAKING)[given is None], *ASSIGNING, "repair")),
        source=run.id,
        drawn=value_id(drawn),
        judge=judge,
        coder=judge if request.coder is None else session.model(request.coder),
        given="" if given is None else value_id(given),
    )
    sizes = {sample.id: size_of(sample) for sample in load_samples(home, run.id)}
    read = {one.sample_id for one in (*drawn.making, *drawn.counting)}
    return Accepted(
        plan=plan,
        estimate=added_up(expected(plan, drawn, sizes), len(read), items=rows_of(plan, drawn)),
        data_name=run.data_name,
        data_hash=run.data_hash,
        places=run_samples(home, run.id),
        values=(drawn, *drawn.making, *drawn.counting, *(() if given is None else (given,))),
        needs=(run.id,),
        request=request.model_copy(update={"run": run.id}),
    )


def rows_of(plan: ModesPlan, drawn: ModeSplit) -> int:
    """Return how many rows an analysis comes to: that of the making, and one for each atom each time that it is coded."""
    coded = (*drawn.counting, *second_sample(drawn.counting, seed=plan.seed))
    return (not plan.given) + sum(len(one.numbers) for one in coded)


def expected(plan: ModesPlan, drawn: ModeSplit, sizes: Mapping[str, SampleSize]) -> Iterator[Asking]:
    """Yield the calls of an analysis, at most: all of one half noted, batch by batch sorted, the other half coded."""
    for one in drawn.making:
        size = sizes[one.sample_id]
        sent = INSTRUCTION_TOKENS + size.text + size.images + ANSWER_TOKENS + len(one.failed) * LINE_TOKENS
        yield Asking(plan.judge, 1, sent, len(one.failed) * LINE_TOKENS)
    if drawn.making:
        batches = -(-sum(len(one.failed) for one in drawn.making) // BATCH)
        shown = INSTRUCTION_TOKENS + TYPICAL_MODES * MODE_TOKENS + BATCH * LINE_TOKENS
        yield Asking(plan.judge, batches + 1, shown, 3 * MODE_TOKENS)
    second = second_sample(drawn.counting, seed=plan.seed)
    for spec, answers in ((plan.judge, drawn.counting), (plan.coder, second)):
        for one in answers:
            size = sizes[one.sample_id]
            sent = INSTRUCTION_TOKENS + TYPICAL_MODES * MODE_TOKENS + size.text + size.images + ANSWER_TOKENS
            yield Asking(spec, 1, sent + len(one.numbers) * LINE_TOKENS, len(one.numbers) * LINE_TOKENS // 2)


def _given(request: ModesRequest, session: Session, home: Home) -> ModeList | None:
    """Return the modes that are given, of a fork those of its parent; None where modes are made."""
    if session.forked is not None:
        id = ModesPlan.model_validate(session.forked.options["plan"]).given
        return find_values(home, ModeList, [id])[id] if id else None
    return None if request.modes is None else read_modes(request.modes)
