"""How a rating of criteria is accepted: the evaluation found, its criteria drawn, the rater settled."""

from collections import Counter

from dokimasia.domain.identity import value_id
from dokimasia.domain.quality import DrawnCriteria, DrawnCriterion
from dokimasia.methods.people import criteria_of, draw_subjects, groups_of
from dokimasia.methods.quality.request import QualityPlan, QualityRequest
from dokimasia.methods.quality.results import OWN_CRITERIA, drawn_by
from dokimasia.methods.tree import evaluation_of
from dokimasia.report.figures import several
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, Asking, added_up, size_of
from dokimasia.runs.plans import prompts_used
from dokimasia.runs.session import Accepted, Session
from dokimasia.storage.runs import run_samples
from dokimasia.storage.trees.lookup import criteria_of_samples

RATING_TOKENS = 150


async def accept(request: QualityRequest, session: Session) -> Accepted[QualityPlan]:
    """Draw criteria of the evaluation, the same ones as for people, and find the rater.

    Raises:
        InputError: the run is no finished evaluation with criteria, no tree holds them, or the rater is not known.
    """
    home = session.opened
    run, _ = evaluation_of(home, request.run, done=True)
    every = criteria_of(home, run, groups_of(home, run, request.by, request.tree))
    chosen = draw_subjects(every, "criterion", per=request.per, seed=request.seed)
    sets = {one.sample_id: one.criteria_id for one in criteria_of_samples(home, run.id)}
    drawn = DrawnCriteria(
        criteria=tuple(
            DrawnCriterion(
                sample=one.unit.id, criteria=sets[one.unit.id], number=one.unit.criterion, group=one.place.category
            )
            for one in chosen
        ),
        of=dict(sorted(Counter(one.place.category for one in every).items())),
    )
    judge = session.judge(request.judge)
    plan = QualityPlan(
        seed=request.seed,
        prompts=prompts_used(session.library, ("criterion_quality", "repair")),
        source=run.id,
        drawn=value_id(drawn),
        judge=judge,
    )
    sizes = {one.sample.id: size_of(one.sample) for one in chosen}
    asked = (
        Asking(judge, 1, INSTRUCTION_TOKENS + size.text + size.images_for(judge), RATING_TOKENS)
        for size in (sizes[one.unit.id] for one in chosen)
    )
    notes = [
        f"{several(len(chosen), 'criterion', 'criteria')} of {several(len(sizes), 'sample')} are rated, a call each"
    ]
    if judge.ref.model == drawn_by(run):
        notes.append(OWN_CRITERIA.format(judge=judge.ref.name))
    places = [one for one in run_samples(home, run.id) if one.sample_id in sizes]
    return Accepted(
        plan=plan,
        estimate=added_up(asked, len(places), items=len(chosen)).model_copy(update={"notes": tuple(notes)}),
        data_name=run.data_name,
        data_hash=run.data_hash,
        places=[place._replace(position=position) for position, place in enumerate(places)],
        values=(drawn,),
        needs=(run.id,),
        request=request.model_copy(update={"run": run.id}),
    )
