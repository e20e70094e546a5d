"""The request of a rating of criteria, its plan, its acceptance, and the drawn criteria."""

from collections import Counter
from typing import Annotated, ClassVar

from pydantic import Field

from dokimasia.agents.quality import DrawnCriteria, DrawnCriterion
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.identity import value_id
from dokimasia.domain.options import GraphOptions
from dokimasia.methods.evaluation import EvaluationPlan
from dokimasia.methods.tree import Grouping, criteria_groups, evaluation_of
from dokimasia.people.annotation import criteria_of, draw_subjects
from dokimasia.report.figures import several
from dokimasia.runs.estimate import INSTRUCTION_TOKENS, ExpectedCalls, size_of, total_estimate
from dokimasia.runs.plans import RunPlan, prompts_used
from dokimasia.runs.requests import MOST_SAMPLES, Option, RunRequest
from dokimasia.runs.session import Accepted, Session
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.runs import Run, run_samples
from dokimasia.storage.trees.lookup import criteria_of_samples

RATING_TOKENS = 150

OWN_CRITERIA = (
    "{judge} rates criteria that it drew itself, and a model is no judge of its own work: name another --rater"
)


class QualityRequest(RunRequest):
    """Have a second judge rate criteria of RUN (the beginning of its id, or `last`) by accuracy and necessity, 1 to 3 each.

    A number of criteria is drawn from each category; `dokimasia annotate draw RUN --criteria` hands the same ones out
    to people. The same command continues an interrupted run, or prints its results.
    """

    VERB: ClassVar[str] = "criteria quality"

    run: Annotated[str, Option(argument=True, continues="evaluate")]
    judge: Annotated[str, Option(flags=("--rater",), models=True)] = Field(
        description="Who rates: another model than the one that drew the criteria."
    )
    per: int = Field(default=20, ge=1, le=MOST_SAMPLES, description="Draw so many criteria of each category.")
    by: Grouping = Field(default="category", description="Draw evenly over the data's categories, or a tree's.")
    tree: str | None = Field(default=None, description="--by: which tree (default: the newest that fits).")


class QualityPlan(RunPlan):
    """The plan of a rating of criteria: `source` is the evaluation, `drawn` the id of the drawn criteria."""

    source: str
    drawn: str
    judge: ModelSpec

    @property
    def judge_name(self) -> str:
        """The rater's displayed name."""
        return self.judge.ref.name

    @property
    def options(self) -> GraphOptions:
        """The options of the graph."""
        return GraphOptions(judge=self.judge_name, models=self.models)


def drawn_of(home: Home, plan: QualityPlan) -> DrawnCriteria:
    """Return the criteria that a run rates."""
    return find_values(home, DrawnCriteria, [plan.drawn])[plan.drawn]


def drawn_by(source: Run) -> str | None:
    """Return the model that made the criteria of an evaluation; None if they were imported."""
    plan = source.plan_as(EvaluationPlan)
    if plan.criteria is not None:
        return None
    return plan.judge_of("extract_criteria").ref.model


def item_of(criterion: DrawnCriterion) -> str:
    """Return the name of a criterion's item."""
    return f"quality/{criterion.sample}/{criterion.number}"


async def accept(request: QualityRequest, session: Session) -> Accepted[QualityPlan]:
    """Validate a request, draw the criteria (the same as for people), and return plan and estimate.

    Raises:
        InputError: the run is not a finished evaluation with criteria, no tree has them, or the rater is unknown.
    """
    home = session.opened
    run, _ = evaluation_of(home, request.run, done=True)
    subjects = criteria_of(home, run, criteria_groups(home, run, request.by, request.tree))
    subjects_to_rate = draw_subjects(subjects, "criterion", per=request.per, seed=request.seed)
    sets = {row.sample_id: row.criteria_id for row in criteria_of_samples(home, run.id)}
    judge = session.judge(request.judge)
    criteria: list[DrawnCriterion] = []
    calls: list[ExpectedCalls] = []
    for subject in subjects_to_rate:
        sample, category = subject.unit.id, subject.place.category
        criteria.append(
            DrawnCriterion(sample=sample, criteria=sets[sample], number=subject.unit.criterion, group=category)
        )
        size = size_of(subject.sample)
        calls.append(ExpectedCalls(judge, 1, INSTRUCTION_TOKENS + size.text + size.images_for(judge), RATING_TOKENS))
    counts = Counter(subject.place.category for subject in subjects)
    criteria_draw = DrawnCriteria(criteria=tuple(criteria), of=dict(sorted(counts.items())))
    plan = QualityPlan(
        seed=request.seed,
        prompts=prompts_used(session.library, ("criterion_quality", "repair")),
        source=run.id,
        drawn=value_id(criteria_draw),
        judge=judge,
    )
    names = {criterion.sample for criterion in criteria}
    notes = [
        f"{several(len(subjects_to_rate), 'criterion', 'criteria')} of {several(len(names), 'sample')} are rated, a call each"
    ]
    if judge.ref.model == drawn_by(run):
        notes.append(OWN_CRITERIA.format(judge=judge.ref.name))
    samples = [sample for sample in run_samples(home, run.id) if sample.sample_id in names]
    return Accepted(
        plan=plan,
        estimate=total_estimate(calls, len(samples), items=len(subjects_to_rate), notes=notes),
        data_name=run.data_name,
        data_hash=run.data_hash,
        places=[sample._replace(position=position) for position, sample in enumerate(samples)],
        values=(criteria_draw,),
        needs=(run.id,),
        request=request.model_copy(update={"run": run.id}),
    )
