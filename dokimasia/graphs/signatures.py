"""Inputs and outputs of each graph as a runnable: values in place of ids, its options, and where it is defined."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, NotRequired

from typing_extensions import TypedDict

from dokimasia.domain.blindspots import AxisChoices, AxisScores, Evaluator, Noticed, Perturbed
from dokimasia.domain.call import CallKeys
from dokimasia.domain.capability import TreeVersion
from dokimasia.domain.criterion import CriteriaSet, ReferenceChain
from dokimasia.domain.decision import Action
from dokimasia.domain.decision import State as Verified
from dokimasia.domain.density import DensityRating, FilterOptions
from dokimasia.domain.diagnosis.fingerprint import FingerprintMatch, FingerprintTask
from dokimasia.domain.diagnosis.report import Report
from dokimasia.domain.diagnosis.tables import Diagnosis
from dokimasia.domain.duel import DuelJudgement, DuelOptions
from dokimasia.domain.failure_modes import AnswerAtoms, Coding, ModeList, NoteBook
from dokimasia.domain.growth import GrowthOptions, Placement, TreeCriterion
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import CheckpointScores, Failed, FinalAnswer, Response
from dokimasia.domain.judging.judgements import BatchRanking, ComparedCriteria, ResponseRating
from dokimasia.domain.options import GraphOptions, Protocol
from dokimasia.domain.perturbation import ChangeCheck, EditRecord, GoldAnswer, GoldImage, NotApplicable, PerturbOptions
from dokimasia.domain.refinement import Arm, Refined
from dokimasia.domain.review import (
    Candidate,
    GoldenCaption,
    LostTurn,
    PeerReview,
    PeerVote,
    ReviewOptions,
    ReviewRecord,
    Verdict,
)
from dokimasia.domain.rubric import RubricJudgement, RubricOptions, RubricSet, RubricSource
from dokimasia.domain.sample import ImageRef, Sample

Id = str
"""The id of a value in the context's store, which may replace the value."""

Text = str
"""The text of a response, which may replace the response."""


class Outcome(TypedDict, total=False):
    """Outputs that every graph may have: the ledger keys of its calls, and kind and reason of a failure (absent: none)."""

    calls: list[str]
    failed: str
    reason: str


class SampleInput(TypedDict):
    """A sample."""

    sample: Sample | Id


class AnswerInput(TypedDict):
    """An answer of a model; without a response, the model is asked for it."""

    model: str
    arm: NotRequired[str]
    repeat: NotRequired[int]
    response: NotRequired[Response | Text | Id]


class JudgedAnswer(Outcome, total=False):
    """An answer with its judgement."""

    model: str
    arm: str
    repeat: int
    response: Response
    final: FinalAnswer
    score: float


class AnswersInput(SampleInput):
    """A sample and the answers to it."""

    items: list[AnswerInput]


class RankingInput(SampleInput):
    """A sample and its responses in displayed order."""

    responses: list[Response | Text | Id]


class Ranked(Outcome, total=False):
    """The ranking of the responses."""

    result: BatchRanking


class CriteriaInput(SampleInput):
    """A sample, and auxiliary responses to compare (none: criteria are drawn from question and reference answer)."""

    auxiliary: NotRequired[list[Response | Text | Id]]


class CriteriaMade(Outcome, total=False):
    """The criteria."""

    result: ComparedCriteria | CriteriaSet


class JudgingInput(AnswersInput):
    """A sample, its answers, the way of judging, and its basis (a chain, or compared criteria)."""

    how: Literal["pointwise", "scan", "aspects"]
    basis: NotRequired[ReferenceChain | ComparedCriteria | Id]


class RatedAnswer(JudgedAnswer, total=False):
    """An answer with its rating."""

    judgement: ResponseRating


class AnswersRated(TypedDict, total=False):
    """The answers with their ratings."""

    items: list[RatedAnswer]


class ScoringInput(AnswersInput):
    """A sample, its answers, and its criteria (absent: only rules decide)."""

    criteria: NotRequired[CriteriaSet | Id]
    paths: NotRequired[list[str]]


class AnswerScored(JudgedAnswer, total=False):
    """An answer with the scores of its criteria."""

    judgement: CheckpointScores


class AnswersScored(TypedDict, total=False):
    """The answers with their scores."""

    items: list[AnswerScored]


class ReplayInput(SampleInput):
    """A sample; with `chain_only` the graph ends once the chain's answer agrees."""

    chain_only: NotRequired[bool]


class Replayed(TypedDict, total=False):
    """The reference chain and the criteria, or the reason for missing ones; `drawing` has the calls that made the criteria."""

    chain: ReferenceChain
    criteria: CriteriaSet
    agreed: str
    calls: list[str]
    drawing: CallKeys
    failed: str
    why: Failed


class AnswerDecided(JudgedAnswer, total=False):
    """An answer and whether it is right."""

    judgement: FinalAnswer


class AnswersDecided(TypedDict, total=False):
    """The answers and whether each is right."""

    items: list[AnswerDecided]


class RubricsInput(SampleInput):
    """A sample and the source of its rubrics."""

    source: RubricSource | Id


class RubricsMade(Outcome, total=False):
    """The rubric set, and in `result` the set with its measurements."""

    made: RubricSet
    result: list[Value]


class ProbeCall(TypedDict):
    """One judgement to make; see `dokimasia.graphs.probe.probing.Call`."""

    item: Perturbed | Id
    evaluator: Evaluator
    first: Literal["gold", "perturbed"]
    second: NotRequired[Literal["gold", "perturbed"]]
    repeat: NotRequired[int]
    reference: NotRequired[Response | ImageRef | Text | Id]
    reader: NotRequired[str]
    any_error: NotRequired[bool]


class ProbeInput(SampleInput):
    """A sample, a judge by its displayed name, and the judgements to make."""

    judge: str
    calls: list[ProbeCall]
    writer: NotRequired[str]
    draw: NotRequired[int]


class ProbedCall(Outcome, total=False):
    """A finished judgement."""

    item: Perturbed
    judgement: AxisScores | AxisChoices
    noticed: Noticed


class Probed(TypedDict, total=False):
    """The judgements."""

    calls: list[ProbedCall]
    reference: Response


class GoldWritten(Outcome, total=False):
    """The gold answer as written, and as checked."""

    written: GoldAnswer
    result: GoldAnswer


class GoldImaged(Outcome, total=False):
    """The gold image as made, or as the sample has it, and as checked."""

    made: GoldImage
    result: GoldImage


class TextInput(SampleInput):
    """A sample, its gold answer, and the name of a dimension of errors."""

    gold: GoldAnswer | Id
    dimension: str


class ImageInput(SampleInput):
    """A sample, the gold image (absent: the sample's only image), and the name of a dimension of errors."""

    gold: NotRequired[GoldImage | Id]
    dimension: str


class TextPerturbed(Outcome, total=False):
    """The perturbed answer and its check, or the reason for a missing one."""

    result: list[Perturbed | ChangeCheck | NotApplicable]


class ImagePerturbed(Outcome, total=False):
    """The edited image and its record, or the reason for a missing one."""

    result: list[Perturbed | EditRecord | NotApplicable]


class RefinementInput(TypedDict):
    """An answer to correct, as `dokimasia.graphs.refinement.one_refinement.refine_answer` takes it."""

    sample: Sample
    response: Response | Text | Id
    criteria: CriteriaSet
    model: str
    judgement: NotRequired[CheckpointScores | None]
    chain: NotRequired[ReferenceChain | None]
    arm: NotRequired[Arm]
    peers: NotRequired[Mapping[str, str]]
    rounds: NotRequired[int]
    withhold: NotRequired[float]
    judgements: NotRequired[int]
    leak_judge: NotRequired[bool]
    hide_answer: NotRequired[bool]
    protocol: NotRequired[Protocol]


RefinementMade = TypedDict(
    "RefinementMade",
    {name: field.annotation for name, field in Refined.model_fields.items()},  # pyright: ignore
    total=False,
)
RefinementMade.__doc__ = "The corrected answer: the fields of `dokimasia.domain.refinement.Refined`."


class Filtered(Outcome, total=False):
    """The rating of the image's density."""

    domain: str
    result: list[DensityRating]


class VerificationInput(TypedDict):
    """The id of an item that waits for a person."""

    item: str


class Verification(TypedDict, total=False):
    """A person's decision."""

    item: str
    decision: str
    action: Action
    verdict: Verified


class Reviewed(Outcome, total=False):
    """The record of the review first, then the golden caption if the panel agreed, then all texts, reviews and votes."""

    verdict: Verdict
    chosen: Candidate
    result: list[ReviewRecord | GoldenCaption | Candidate | PeerReview | PeerVote | LostTurn]


class GrowthInput(TypedDict):
    """Criteria, each with its sample, and the options of the growth; `base` is a tree to extend."""

    criteria: list[TreeCriterion | tuple[str, str]]
    growth: NotRequired[GrowthOptions]
    base: NotRequired[TreeVersion | Id]
    placed: NotRequired[list[Placement]]


class TreeGrown(TypedDict, total=False):
    """The tree, and the place of each criterion in it."""

    version: TreeVersion
    placements: list[Placement]


class AuditInput(AnswersInput):
    """A sample, its rubrics, and the answers to it."""

    rubrics: RubricSet | Id


class AuditedAnswer(JudgedAnswer, total=False):
    """An answer with the judgement of its rubrics."""

    judgement: RubricJudgement


class Audited(TypedDict, total=False):
    """The answers with their judgements."""

    items: list[AuditedAnswer]


class DiagnosisInput(TypedDict):
    """The tables to put into words."""

    diagnosis: Diagnosis


class Diagnosed(TypedDict, total=False):
    """By subject (a model's name, or empty for all): the report; kind and reason of a failure; the calls."""

    reports: dict[str, Report]
    failed: dict[str, list[str]]
    calls: dict[str, list[str]]


class ModesInput(TypedDict):
    """Answers in reading order, and the samples, criteria and responses that they name by id."""

    answers: list[AnswerAtoms]
    values: NotRequired[list[Value]]
    made_on: NotRequired[tuple[str, ...]]


class ModesMade(Outcome, total=False):
    """The list of modes, and the book of notes."""

    result: list[ModeList | NoteBook]


class CodingInput(TypedDict):
    """An answer, the modes, the numbers of the atoms, and the coder; `values` has the values named by id in the answer."""

    answer: AnswerAtoms | Id
    modes: ModeList | Id
    numbers: list[int]
    coder: str
    second: NotRequired[bool]
    values: NotRequired[list[Value]]


class AnswerCoded(Outcome, total=False):
    """The codings by atom, and the reasons for missing ones."""

    codings: dict[str, Coding]
    unread: dict[str, str]


class QualityInput(SampleInput):
    """A sample, its criteria, and the number of one of them, from 1."""

    criteria: CriteriaSet | Id
    number: int


class QualityRated(Outcome, total=False):
    """The rating of the criterion."""

    result: Value


class DuelInput(AnswerInput):
    """An answer of a model, and the baseline's; absent: the baseline is asked, or `reference` is the sample's own answer."""

    baseline: NotRequired[Response | Text | Id]


class DuelsInput(SampleInput):
    """A sample and the answers to it."""

    items: list[DuelInput]


class DuelDecided(JudgedAnswer, total=False):
    """A duel with its judgements; `score` is from -100 (the baseline is much better) to 100."""

    baseline: Response
    judgements: list[DuelJudgement]


class DuelsDecided(TypedDict, total=False):
    """The duels."""

    items: list[DuelDecided]


class MatchInput(TypedDict):
    """A trial and the two models' reports, in the trial's order."""

    task: FingerprintTask | Id
    first: Report | Id
    second: Report | Id


class Matched(Outcome, total=False):
    """The match; `score` is 1 if it is right."""

    result: FingerprintMatch
    score: float


class Signature(NamedTuple):
    """How a graph is called as a runnable.

    Attributes:
        module: its module below `dokimasia.graphs`.
        takes: the type of its input.
        gives: the type of its output.
        graph: the name of the graph in its module; empty: the module is the graph.
        options: the type of its options.
        names: the options that name models.
        judge: whether it asks a judge: `with criteria` only if its input has criteria, `without checker` only if its
            options name no checker, `no` if options or input name every model that it asks.
    """

    module: str
    takes: type
    gives: type
    graph: str = ""
    options: type[GraphOptions] = GraphOptions
    names: tuple[str, ...] = ()
    judge: Literal["yes", "with criteria", "without checker", "no"] = "yes"


SIGNATURES: dict[str, Signature] = {
    "cognitive_replay": Signature("evaluation.cognitive_replay", ReplayInput, Replayed),
    "checkpoint_scoring": Signature(
        "evaluation.checkpoint_scoring", ScoringInput, AnswersScored, judge="with criteria"
    ),
    "refinement": Signature("refinement.refinement", RefinementInput, RefinementMade),
    "taxonomy_growth": Signature("tree", GrowthInput, TreeGrown),
    "density_filter": Signature("density", SampleInput, Filtered, options=FilterOptions),
    "peer_review": Signature(
        "review.peer_review", SampleInput, Reviewed, options=ReviewOptions, names=("panel",), judge="no"
    ),
    "verification": Signature("review.verification", VerificationInput, Verification, judge="no"),
    "rubric_making": Signature(
        "rubrics.rubric_making", RubricsInput, RubricsMade, options=RubricOptions, names=("pool", "panel")
    ),
    "rubric_audit": Signature("rubrics.rubric_audit", AuditInput, Audited),
    "duel": Signature("duel", DuelsInput, DuelsDecided, options=DuelOptions, names=("baseline", "describer")),
    "batch_ranking": Signature("judging.batch_ranking", RankingInput, Ranked),
    "criteria_making": Signature("judging.criteria_making", CriteriaInput, CriteriaMade),
    "response_judging": Signature("judging.response_judging", JudgingInput, AnswersRated),
    "criterion_quality": Signature("quality", QualityInput, QualityRated),
    "mode_making": Signature("modes.mode_making", ModesInput, ModesMade),
    "mode_coding": Signature("modes.mode_coding", CodingInput, AnswerCoded, judge="no"),
    "diagnosis": Signature("diagnosis", DiagnosisInput, Diagnosed),
    "fingerprinting": Signature("fingerprinting", MatchInput, Matched),
    "gold_writing": Signature(
        "perturb", SampleInput, GoldWritten, "GOLD_WRITING", PerturbOptions, ("writer", "checker"), "without checker"
    ),
    "gold_imaging": Signature(
        "perturb", SampleInput, GoldImaged, "GOLD_IMAGING", PerturbOptions, ("writer", "checker"), "without checker"
    ),
    "text_perturbing": Signature("perturb", TextInput, TextPerturbed, "TEXT_PERTURBING", PerturbOptions, ("checker",)),
    "image_perturbing": Signature(
        "perturb", ImageInput, ImagePerturbed, "IMAGE_PERTURBING", PerturbOptions, ("editor", "checker")
    ),
    "probing": Signature("probe.probing", ProbeInput, Probed, judge="no"),
    "gold_rubrics": Signature("probe.gold_rubrics", RubricsInput, RubricsMade, options=RubricOptions),
    "deciding": Signature("probe.deciding", AnswersInput, AnswersDecided),
}
"""Signatures by name, in the order of the methods."""
