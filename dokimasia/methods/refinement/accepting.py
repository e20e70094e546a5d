"""How a refinement is accepted: the run that it refines found and read, its plan made; nothing is sent."""

from collections.abc import Iterable

from dokimasia.errors import InputError
from dokimasia.methods.evaluation import METHOD as EVALUATION
from dokimasia.methods.refinement.expected import estimate
from dokimasia.methods.refinement.plan import RefinementPlan, plan_of
from dokimasia.methods.refinement.request import RefinementRequest
from dokimasia.methods.refinement.source import read_source
from dokimasia.runs.estimate import SampleSize, size_of
from dokimasia.runs.plans import reached_now
from dokimasia.runs.session import Accepted, Session
from dokimasia.storage.home import Home
from dokimasia.storage.naming import of_method, resolve_run
from dokimasia.storage.runs import Run, get_run, load_samples, run_samples

NAME = "refine"


async def accept(request: RefinementRequest, session: Session) -> Accepted[RefinementPlan]:
    """Read the run whose failures are taken up; a refinement stands for the run that it refines.

    Raises:
        NotFound: there is no such run, or it is no evaluation.
        InputError: it is not finished, nobody can say which of its answers failed, or the options do not fit it.
    """
    home = session.opened
    run = _evaluation(home, request.run)
    source = read_source(home, run)
    sizes = {sample.id: size_of(sample) for sample in load_samples(home, run.id)}
    _check_references(run, request, sizes.values())
    plan = plan_of(request, reached_now(source.plan, session.settings), session, run=run.id, taken=source.taken)
    return Accepted(
        plan=plan,
        estimate=estimate(plan, source, sizes),
        data_name=run.data_name,
        data_hash=run.data_hash,
        places=run_samples(home, run.id),
        needs=(run.id,),
        request=request.model_copy(update={"run": run.id}),
    )


def resumable(session: Session, run: Run, plan: RefinementPlan, request: RefinementRequest) -> None:
    """Check that the answers that are refined are as they were.

    Raises:
        InputError: they are not.
    """
    home = session.opened
    if read_source(home, get_run(home, plan.source)).taken != plan.taken:
        raise InputError(
            f"run {run.id} refines run {plan.source}, whose answers have changed since (such as by a retry of what "
            "had failed); refine it anew"
        )


def _evaluation(home: Home, named: str) -> Run:
    """Return the run that is named, or, where that is a refinement, the run that it refines."""
    run = resolve_run(home, named, of_method(EVALUATION.name, done=True))
    if run.method != NAME:
        return run
    return get_run(home, RefinementPlan.model_validate(run.options["plan"]).source)


def _check_references(run: Run, request: RefinementRequest, sizes: Iterable[SampleSize]) -> None:
    if request.threshold is not None or any(size.reference for size in sizes):
        return
    raise InputError(
        f"no sample of run {run.id} has a reference answer, and without one nobody can say which final answers are "
        "wrong: add `reference_answer` to the data and evaluate it again (the ledger answers what did not change), or "
        "take up what scores low by the criteria: --threshold 3"
    )
