"""The figures of a refinement: gains of every arm on the same failures, overall and by part, and ATOM's Table 4."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

from pydantic import Field

from dokimasia.algorithms.statistics import adjusted
from dokimasia.domain.call import model_names
from dokimasia.domain.capability import CATEGORIES, ROOT, CapabilityPath
from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import Answered, AnswerRule
from dokimasia.domain.options import Protocol
from dokimasia.domain.refinement import Arm, RefinementRow, Unused
from dokimasia.methods.refinement.measures import (
    MEASURES,
    Adjusted,
    ArmFigures,
    ArmOfPart,
    Gain,
    HintFigures,
    LeakFigures,
    Measure,
    Part,
    PValue,
    SetFields,
    Steadiness,
    arm_figures,
    arm_of_part,
    every_atom,
    gain_figures,
    hint_figures,
    leak_figures,
    steadiness,
)
from dokimasia.methods.refinement.request import RefinementPlan
from dokimasia.methods.refinement.rows import refinement_rows
from dokimasia.report.fields import Count, Fraction, Interval, IntervalMethod, NoInterval
from dokimasia.runs.figure_models import Heading, Judge, Seed
from dokimasia.runs.figures import count_by_kind, run_heading
from dokimasia.runs.measures import DIGITS
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, get_run
from dokimasia.storage.trees.lookup import criterion_key
from dokimasia.storage.trees.versions import list_trees
from dokimasia.storage.usage import LedgerUsage, usage_of

Comparison = tuple[Arm, Arm]
"""An arm and its control."""

COMPARISONS: tuple[Comparison, ...] = (
    ("retry", "again"),
    ("self", "retry"),
    ("self", "again"),
    ("peer", "retry"),
    ("peer", "again"),
    ("peer", "self"),
)
"""Each arm with its controls, and hints compared with questions alone."""

COMPARISONS_OF_PARTS: tuple[Comparison, ...] = COMPARISONS[:5]
"""Comparisons by category and by number of possible answers: every correction against both controls."""

COMPARISONS_OF_LEAVES: tuple[Comparison, ...] = (("self", "retry"), ("peer", "retry"))
"""Comparisons by capability: fewer, since there are many capabilities, and all p-values are adjusted together."""

MEASURES_OF_PARTS: tuple[Measure, ...] = ("accuracy", "spoken", "atoms")
TWO_WAY = 2
"""Number of possible answers at which the verdict on one answer gives the other one away."""

MIN_ANSWERS = 5
"""Categories and capabilities with fewer answers are counted, but not compared."""

TableMeasure = Literal["accuracy", "atom score"]
Control = Literal["retry", "again", "original"]
CONTROLS: tuple[Control, ...] = ("retry", "again")
"""Controls of the table's gains: the first as in the paper, the second accounts for the effect of answering again."""


class GainsOfPart(Value):
    """An arm's gains over a control by three measures."""

    accuracy: Gain = Field(description="in shares of right answers")
    spoken: Gain = Field(
        description="in points of 1 to 5, over the criteria that the answer addressed before and in both arms"
    )
    atoms: Gain = Field(description="in points of 1 to 5, over all criteria")


class Gains(GainsOfPart):
    """An arm's gains over a control by all measures."""

    shown: Gain = Field(description="in points, over the failed criteria that a feedback may name")
    withheld: Gain = Field(description="in points, over the failed criteria that are kept from it by chance")


class PartFigures(Value):
    """The answers of one category, or with a failed atom at one capability."""

    n: Count = Field(description="answers")
    arms: dict[Arm, ArmOfPart]
    gains: dict[str, GainsOfPart] = Field(description="by `ARM over CONTROL`; empty with fewer than five answers")


class FewOptions(PartFigures):
    """Questions with two to five possible answers, or all others."""

    guessing: Fraction | None = Field(
        default=None,
        description="how often one would be right who knows that an answer is wrong and picks one of the others; absent "
        "where there are more than five",
    )


class LeftOut(Value):
    """Failed answers and criteria that cannot be fed back."""

    answers: Count = Field(description="answers without a failed criterion that can be; they are in no arm")
    atoms: dict[Unused, Count] = Field(description="failed criteria by why they cannot be, of all answers that failed")


class TakenUp(Value):
    """Answers that were taken up, and the results of every arm on them."""

    failed: Count = Field(
        description="answers that were taken up, without those that were right before unless it says so"
    )
    arms: dict[Arm, ArmFigures]
    gains: dict[str, Gains] = Field(description="by `ARM over CONTROL`")


class PlacedCriteria(Value):
    """Counts of failed atoms, and of those with a place in the tree; the others are at no node."""

    failed_atoms: Count
    on_the_tree: Count


class RefinedModel(TakenUp, SetFields):
    """One model's answers, and those that were taken up."""

    answers: Count = Field(description="answers that were looked at")
    answered: dict[Answered, Count] = Field(description="answers by whether they were right before")
    rules: dict[AnswerRule, Count] = Field(description="answers by what settled whether they were right")
    left_out: LeftOut
    withheld_from: Count = Field(
        description="answers with two failed criteria or more that can be fed back, of which some are withheld"
    )
    two_way: Count = Field(
        description="answers to questions with two possible answers, which `wrong` gives away; they are in no gain, except with "
        "the published protocol"
    )
    by_options: dict[Literal["two to five", "more"], FewOptions] = Field(description="by how many answers are possible")
    by_category: dict[str, PartFigures]
    by_capability: dict[str, PartFigures] = Field(default_factory=dict, description="by node; only with a tree")
    placed: PlacedCriteria | None = Field(default=None, description="only with a tree")
    apart: dict[Answered, TakenUp] = Field(
        default_factory=dict,
        description="by whether the answer was right before; what was right is here alone; only with a threshold",
    )


class RefinementCell(Value):
    """A figure of the table."""

    n: Count = Field(description="answers")
    n_known: Count = Field(description="answers with a figure")
    value: float | None
    low: float | None = Field(description="lower end of the 95 % interval")
    high: float | None = Field(description="upper end of the 95 % interval")
    no_interval: NoInterval = None
    interval_method: IntervalMethod = None


class TableGain(Interval):
    """The gain of an arm over another; over `original` there is no test, since answers were chosen by their scores there."""

    p_value: PValue
    adjusted: Adjusted


class TableGains(Value):
    """The gains of an arm over another, by column and on average."""

    cells: dict[str, TableGain | None] = Field(description="by column; null with fewer than five answers there")
    average: TableGain | None


class RefinementTableRow(Value):
    """One line of the table: a strategy of a model by one measure."""

    model: str
    strategy: Arm
    measure: TableMeasure = Field(
        description="accuracy 0 to 1, criterion score 1 to 5; the original answer's is by the judgement that it was chosen by"
    )
    cells: dict[str, RefinementCell | None] = Field(description="by column; null where nothing failed there")
    average: RefinementCell | None
    gain: TableGain | None = Field(
        description="over `retry`, as in the paper; null for arms that are no correction, and without a pair"
    )
    gains: dict[Control, TableGains] = Field(
        description="by control; over `original` of criterion scores alone, since there every accuracy is one over 0"
    )


class RefinementTable(Value):
    """The table of the refinement in the form of ATOM's Table 4."""

    by: Literal["capability", "category"] = Field(description="what the columns are")
    columns: tuple[str, ...]
    rows: tuple[RefinementTableRow, ...]


class RefinementFigures(Heading):
    """The figures of a refinement."""

    source: str = Field(description="the id of the run whose failures were taken up")
    arms: tuple[Arm, ...] = Field(description="in order")
    rounds: int = Field(ge=1, description="rounds at most")
    selected_by: Literal["wrong answer", "score"] = Field(description="why answers were taken up")
    protocol: Protocol = Field(description="whose form the feedback has")
    hide_answer: bool = Field(description="whether models were kept from seeing their earlier answers")
    threshold: float | None = Field(description="the score below which answers were taken up; null: wrong answers were")
    withhold: Fraction = Field(description="the share of failed criteria that no feedback names")
    judge: Judge
    seed: Seed
    failed: Count = Field(
        description="answers that were taken up, of all models, those that were right before included"
    )
    models: dict[str, RefinedModel]
    table: RefinementTable
    tree: str | None = Field(description="the tree that capabilities are of, NAME@POSITION; null without one")
    hints: dict[Arm, HintFigures] = Field(description="of the arms that name points")
    leaks: LeakFigures
    judge_steadiness: Steadiness
    calls: Count = Field(description="calls that all rounds rest on, each counted once")


P = TypeVar("P", PartFigures, FewOptions, TakenUp, RefinedModel)
G = TypeVar("G", GainsOfPart, Gains)


class RefinedModels(NamedTuple):
    """The figures of each model, and the table of all models."""

    models: dict[str, RefinedModel]
    table: RefinementTable


def refinement_figures(
    rows: Sequence[RefinementRow],
    *,
    models: Sequence[str],
    arms: Sequence[Arm],
    seed: int,
    threshold: float | None = None,
    usage: Mapping[tuple[str, str], LedgerUsage] | None = None,
    node_of: Mapping[str, str] | None = None,
    two_way: bool = False,
) -> RefinedModels:
    """Return a refinement's figures; equal rows in any order give equal figures.

    Answers that were right before and were selected for their low score count only in `apart`.

    Args:
        rows: the result of `refinement_rows`.
        models: the models whose failures were refined.
        arms: the arms in order, `original` first.
        seed: seed of bootstrap and permutations.
        threshold: the score below which answers were selected; None if wrong final answers were.
        usage: usage by model and arm.
        node_of: tree node of each criterion (by `criterion_key`): a leaf, or the parent of a dropped leaf; None without
            a tree.
        two_way: whether answers to questions with two possible answers count in gains, too, as in the paper.
    """
    last = sorted((row for row in rows if row.last and row.selected), key=lambda row: (row.sample_id, row.repeat))
    parts = _Parts(arms, seed, two_way=two_way)
    measured: dict[str, RefinedModel] = {}
    by_branch: dict[str, dict[str, PartFigures]] = {}
    for name in models:
        taken_up = [row for row in last if row.model == name]
        wrong = [row for row in taken_up if row.answered_before != "right"]
        originals = [row for row in rows if row.model == name and row.arm == "original"]
        arm_usage = {arm: model_usage for (model, arm), model_usage in (usage or {}).items() if model == name}
        model = RefinedModel(
            **dict(parts.taken_up(wrong, arm_usage)),
            answers=len(originals),
            answered=count_by_kind(row.answered for row in originals),
            rules=count_by_kind(row.rule for row in originals),
            left_out=_left_out(originals),
            withheld_from=len({(row.sample_id, row.repeat) for row in wrong if row.withheld}),
            two_way=len({(row.sample_id, row.repeat) for row in wrong if _is_two_way(row)}),
            by_options=_by_options(parts, wrong),
            by_category=_by_category(parts, wrong),
        )
        optional_parts: dict[str, object] = {}
        if node_of is not None:
            nodes = {key: node for key, node in node_of.items() if node != ROOT}
            branches = {key: CapabilityPath.parse(node).names[0] for key, node in nodes.items()}
            by_capability = parts.by_node(wrong, nodes, COMPARISONS_OF_LEAVES)
            optional_parts |= {"placed": _place_counts(wrong, nodes), "by_capability": by_capability}
            by_branch[name] = parts.by_node(wrong, branches, COMPARISONS_OF_PARTS)
        if threshold is not None:
            optional_parts |= {"apart": _by_verdict(parts, taken_up)}
        measured[name] = model.model_copy(update=optional_parts)
    (measured,) = _adjust([measured])
    for kind in ("by_options", "by_category", "by_capability", "apart"):
        parts_by_model = _adjust([getattr(model, kind) for model in measured.values()])
        for (name, model), adjusted_parts in zip(measured.items(), parts_by_model, strict=True):
            if adjusted_parts:
                measured[name] = model.model_copy(update={kind: adjusted_parts})
    if node_of is None:
        table = refinement_table(measured, {name: model.by_category for name, model in measured.items()}, arms)
    else:
        by_branch = dict(zip(by_branch, _adjust(list(by_branch.values())), strict=True))
        table = refinement_table(measured, by_branch, arms, branches=CATEGORIES)
    return RefinedModels(measured, table)


class _Parts:
    """Computes figures of a model's answers; `two_way` says whether gains count questions with two possible answers."""

    def __init__(self, arms: Sequence[Arm], seed: int, *, two_way: bool) -> None:
        self._arms, self._seed, self._two_way = arms, seed, two_way

    def taken_up(
        self, rows: Sequence[RefinementRow], used: Mapping[str, LedgerUsage], *, two_way: bool = False
    ) -> TakenUp:
        """Return each arm's results on some answers; `used` is the usage of their calls by arm."""
        by_arm = _by_arm(rows, self._arms)
        rows_by_arm = self._comparable(rows, two_way=two_way)
        gains: dict[str, Gains] = {}
        for arm, control in _possible_comparisons(rows_by_arm, COMPARISONS):
            measured = _gains(rows_by_arm[control], rows_by_arm[arm], MEASURES, self._seed, every_atom)
            gains[f"{arm} over {control}"] = Gains(**measured)
        arms: dict[Arm, ArmFigures] = {}
        for arm in self._arms:
            arms[arm] = arm_figures(by_arm[arm], seed=self._seed, used=used.get(arm))
        return TakenUp(failed=len(by_arm["original"]), arms=arms, gains=gains)

    def _comparable(self, rows: Sequence[RefinementRow], *, two_way: bool = False) -> dict[Arm, list[RefinementRow]]:
        """Return the rows on which gains are measured, by arm."""
        comparable_rows = [row for row in rows if two_way or self._two_way or not _is_two_way(row)]
        return _by_arm(comparable_rows, self._arms)

    def figures(
        self,
        rows: Sequence[RefinementRow],
        part: Part = every_atom,
        comparisons: Sequence[Comparison] = COMPARISONS_OF_PARTS,
    ) -> PartFigures:
        """Return the figures of some answers over the atoms of a part; without gains below `MIN_ANSWERS` answers."""
        by_arm = _by_arm(rows, self._arms)
        n = len(by_arm["original"])
        rows_by_arm = self._comparable(rows)
        gains: dict[str, GainsOfPart] = {}
        if len(rows_by_arm["original"]) >= MIN_ANSWERS:
            for arm, control in _possible_comparisons(rows_by_arm, comparisons):
                measured = _gains(rows_by_arm[control], rows_by_arm[arm], MEASURES_OF_PARTS, self._seed, part)
                gains[f"{arm} over {control}"] = GainsOfPart(**measured)
        arms: dict[Arm, ArmOfPart] = {}
        for arm in self._arms:
            arms[arm] = arm_of_part(by_arm[arm], seed=self._seed, part=part)
        return PartFigures(n=n, arms=arms, gains=gains)

    def by_node(
        self, rows: Sequence[RefinementRow], node_of: Mapping[str, str], comparisons: Sequence[Comparison]
    ) -> dict[str, PartFigures]:
        """Return the figures by tree node, over answers with a failed atom at the node and their atoms there."""
        atoms: dict[str, dict[str, list[int]]] = {}
        for criteria, row in {row.criteria_id: row for row in rows}.items():
            for atom in every_atom(row):
                node = node_of.get(criterion_key(criteria, atom))
                if node is not None:
                    atoms.setdefault(node, {}).setdefault(criteria, []).append(atom)
        by_node: dict[str, PartFigures] = {}
        for node, node_atoms in sorted(atoms.items()):
            part = _atoms_in(node_atoms)
            failed_there = [row for row in rows if set(part(row)) & set(row.failed_atoms)]
            if failed_there:
                by_node[node] = self.figures(failed_there, part, comparisons)
        return by_node


def _atoms_in(atoms: Mapping[str, list[int]]) -> Callable[[RefinementRow], Sequence[int]]:
    def part(row: RefinementRow) -> Sequence[int]:
        return atoms.get(row.criteria_id, ())

    return part


def _is_two_way(row: RefinementRow) -> bool:
    """Return whether the question has two possible answers, so that a wrong verdict on one reveals the other."""
    return row.options == TWO_WAY


def _by_arm(rows: Sequence[RefinementRow], arms: Sequence[Arm]) -> dict[Arm, list[RefinementRow]]:
    by_arm: dict[Arm, list[RefinementRow]] = {arm: [] for arm in arms}
    for row in rows:
        by_arm[row.arm].append(row)
    return by_arm


def _possible_comparisons(arms: Mapping[Arm, object], comparisons: Sequence[Comparison]) -> list[Comparison]:
    return [(arm, control) for arm, control in comparisons if arm in arms and control in arms]


def _gains(
    control: Sequence[RefinementRow],
    treated: Sequence[RefinementRow],
    measures: Sequence[Measure],
    seed: int,
    part: Part,
) -> dict[str, Gain]:
    return {measure: gain_figures(control, treated, measure, seed=seed, part=part) for measure in measures}


def _left_out(originals: Sequence[RefinementRow]) -> LeftOut:
    """Return the number of failed answers without a point to feed back, and the reasons why failed atoms are unused."""
    failed_rows = [row for row in originals if row.failed]
    why: dict[Unused, int] = count_by_kind(unused.why for row in failed_rows for unused in row.unused)
    return LeftOut(answers=sum(not row.selected for row in failed_rows), atoms=why)


def _by_options(parts: _Parts, rows: Sequence[RefinementRow]) -> dict[Literal["two to five", "more"], FewOptions]:
    """Return separate figures for questions with two to five possible answers and for all others.

    `guessing` is the accuracy of a random choice among the other possible answers.
    """
    few_options = [row for row in rows if row.options is not None]
    many_options = [row for row in rows if row.options is None]
    by_options: dict[Literal["two to five", "more"], FewOptions] = {}
    if few_options:
        rates = [1 / (row.options - 1) for row in few_options if row.arm == "original" and row.options is not None]
        guessing = round(sum(rates) / len(rates), DIGITS)
        by_options |= {"two to five": FewOptions(**dict(parts.figures(few_options)), guessing=guessing)}
    if many_options:
        by_options |= {"more": FewOptions(**dict(parts.figures(many_options)))}
    return by_options


def _by_category(parts: _Parts, rows: Sequence[RefinementRow]) -> dict[str, PartFigures]:
    by_category: dict[str, list[RefinementRow]] = {}
    for row in rows:
        if row.category:
            by_category.setdefault(row.category, []).append(row)
    return {name: parts.figures(answers) for name, answers in sorted(by_category.items())}


def _place_counts(rows: Sequence[RefinementRow], node_of: Mapping[str, str]) -> PlacedCriteria:
    originals = [row for row in rows if row.arm == "original"]
    failed_keys = [criterion_key(row.criteria_id, atom) for row in originals for atom in row.failed_atoms]
    return PlacedCriteria(failed_atoms=len(failed_keys), on_the_tree=sum(key in node_of for key in failed_keys))


def _by_verdict(parts: _Parts, rows: Sequence[RefinementRow]) -> dict[Answered, TakenUp]:
    by_verdict: dict[Answered, TakenUp] = {}
    verdicts: set[Answered] = {row.answered_before for row in rows}
    for verdict in sorted(verdicts):
        answers = [row for row in rows if row.answered_before == verdict]
        # The verdict that an answer is right reveals nothing.
        by_verdict[verdict] = parts.taken_up(answers, {}, two_way=verdict == "right")
    return by_verdict


def _adjust(models: Sequence[Mapping[str, P]]) -> list[dict[str, P]]:
    """Return the parts of several models, with p-values adjusted over all gains of the same measure."""
    gains = _adjusted([part.gains for parts in models for part in parts.values()])
    return [{name: part.model_copy(update={"gains": next(gains)}) for name, part in parts.items()} for parts in models]


def _adjusted(families: Sequence[Mapping[str, GainsOfPart]]) -> Iterator[dict[str, GainsOfPart]]:
    p_values: dict[str, list[float | None]] = {}
    for family in families:
        for gains in family.values():
            for measure, gain in gains:
                p_values.setdefault(measure, []).append(gain.p_value)
    values = {measure: iter(adjusted(measure_p_values)) for measure, measure_p_values in p_values.items()}
    for family in families:
        adjusted_gains: dict[str, GainsOfPart] = {}
        for name, gains in family.items():
            update: dict[str, Gain] = {}
            for measure, gain in gains:
                value = next(values[measure])
                update[measure] = gain.model_copy(update={"adjusted": None if value is None else round(value, DIGITS)})
            adjusted_gains[name] = gains.model_copy(update=update)
        yield adjusted_gains


def refinement_table(
    models: Mapping[str, RefinedModel],
    parts: Mapping[str, Mapping[str, PartFigures]],
    arms: Sequence[Arm],
    branches: Sequence[str] | None = None,
) -> RefinementTable:
    """Return ATOM's Table 4: strategies by category, each with accuracy and atom score.

    Args:
        models: figures by model.
        parts: figures of the columns by model.
        arms: the arms in order.
        branches: the tree's categories in order; None for the data's own categories.
    """
    columns = list(branches or ())
    columns += sorted({name for model_parts in parts.values() for name in model_parts} - set(columns))
    rows: list[RefinementTableRow] = []
    for name, model in models.items():
        by_column = {column: parts[name].get(column) for column in columns}
        for arm in arms:
            rows.append(_table_row(name, model, by_column, arm, "accuracy"))
            rows.append(_table_row(name, model, by_column, arm, "atom score"))
    return RefinementTable(
        by="category" if branches is None else "capability", columns=tuple(columns), rows=tuple(rows)
    )


Parts = Mapping[str, PartFigures | None]
"""A model's figures by column; None if nothing failed."""


def _table_row(name: str, model: RefinedModel, parts: Parts, arm: Arm, measure: TableMeasure) -> RefinementTableRow:
    gains = _gains_over_controls(model, parts, arm, measure)
    first = gains["retry"].average if "retry" in gains else None
    if measure == "atom score" and arm != "original":
        over_original = {column: part and _over_original(part.arms[arm]) for column, part in parts.items()}
        gains |= {"original": TableGains(cells=over_original, average=_over_original(model.arms[arm]))}
    return RefinementTableRow(
        model=name,
        strategy=arm,
        measure=measure,
        cells={column: part and _cell(part.arms[arm], arm, measure) for column, part in parts.items()},
        average=_cell(model.arms[arm], arm, measure),
        gain=first,
        gains=gains,
    )


def _gains_over_controls(
    model: RefinedModel, parts: Parts, arm: Arm, measure: TableMeasure
) -> dict[Control, TableGains]:
    """Return an arm's gain over each control by one measure, by column and on average."""
    over: dict[Control, TableGains] = {}
    for control in CONTROLS:
        name = f"{arm} over {control}"
        if name not in model.gains:
            continue
        cells: dict[str, TableGain | None] = {}
        for column, part in parts.items():
            cells[column] = part and _table_gain(part.gains.get(name), measure)
        over[control] = TableGains(cells=cells, average=_table_gain(model.gains[name], measure))
    return over


def _table_gain(gains: GainsOfPart | None, measure: TableMeasure) -> TableGain | None:
    if gains is None:
        return None
    gain = gains.accuracy if measure == "accuracy" else gains.atoms
    if gain.difference is None:
        return None
    return TableGain(**dict(gain.difference), p_value=gain.p_value, adjusted=gain.adjusted)


def _over_original(arm: ArmOfPart) -> TableGain | None:
    """Return the atom score after an arm minus the score that selected the answers (ATOM, G.2)."""
    gained = arm.atoms.gained
    if gained is None:
        return None
    return TableGain(**dict(gained), p_value=None, adjusted=None)


def _cell(figures: ArmOfPart, arm: Arm, measure: TableMeasure) -> RefinementCell | None:
    if not figures.n:
        return None
    atoms = figures.atoms
    if measure == "accuracy":
        n_known, ends = figures.n_known, figures.accuracy
        value = ends and ends.share
    else:
        n_known, ends = (atoms.n, atoms.before) if arm == "original" else (atoms.n_scored, atoms.after)
        value = ends and ends.mean
    return RefinementCell(
        n=figures.n,
        n_known=n_known,
        value=value,
        low=ends and ends.low,
        high=ends and ends.high,
        no_interval=ends and ends.no_interval,
    )


def figures_of_run(home: Home, run: Run) -> RefinementFigures:
    """Return the figures of a refinement; the same stored rows give the same bytes."""
    plan = run.plan_as(RefinementPlan)
    rows = refinement_rows(home, run)
    tree, node_of = _tree_of(home, plan.source)
    refined = refinement_figures(
        rows,
        models=model_names(plan.candidates),
        arms=plan.arms,
        seed=run.seed,
        threshold=plan.threshold,
        usage={(model, arm): amount for (_, model, arm), amount in usage_of(home, run.id).by_work.items()},
        node_of=node_of,
        two_way=plan.protocol == "published",
    )
    return RefinementFigures(
        **run_heading(run, plan),
        source=plan.source,
        arms=plan.arms,
        rounds=plan.rounds,
        selected_by="wrong answer" if plan.threshold is None else "score",
        protocol=plan.protocol,
        hide_answer=plan.hide_answer or plan.protocol == "published",
        threshold=plan.threshold,
        withhold=plan.withhold,
        judge=plan.judge.ref.name,
        failed=sum(row.selected for row in rows if row.arm == "original"),
        models=refined.models,
        table=refined.table,
        tree=tree,
        hints=hint_figures(rows),
        leaks=leak_figures(rows, judged=plan.leak_judge),
        judge_steadiness=steadiness(rows),
        calls=len({key for row in rows for key in row.calls}),
    )


def _tree_of(home: Home, source: str) -> tuple[str | None, dict[str, str] | None]:
    """Return the tree of the source run (`NAME@POSITION`) and the node of each criterion; None without a tree."""
    if not list_trees(home):
        return None, None
    from dokimasia.methods.tree import find_tree_of_run, load_stored, mapping_of

    tree = find_tree_of_run(home, get_run(home, source))
    if tree is None:
        return None, None
    loaded = load_stored(home, tree)
    return loaded.name, mapping_of(loaded.tree)
