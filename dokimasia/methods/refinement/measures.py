"""Measures of a refinement's arms, hints, leaks and judge: models, and their computation from rows."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from dokimasia.algorithms.statistics import difference_interval
from dokimasia.algorithms.statistics.paired import PERMUTATIONS, sign_flip_test
from dokimasia.algorithms.statistics.shares import clopper_pearson
from dokimasia.domain.identity import Value
from dokimasia.domain.refinement import (
    SOLVED,
    Arm,
    Fallback,
    FeedbackPoint,
    HintWording,
    RefinementRow,
    Stopped,
)
from dokimasia.report.fields import (
    Bounds,
    Cost,
    Count,
    CountedRate,
    Counts,
    Coverage,
    Failures,
    Fraction,
    Interval,
    LeftOpen,
    Rate,
    Share,
)
from dokimasia.runs.figures import count_by_kind
from dokimasia.runs.measures import (
    DIGITS,
    bounds_with_unknown,
    failure_fields,
    interval_of,
    limits,
    mean_bounds,
    mean_with_interval,
    ratio,
    rounded,
    share_of_hits,
)
from dokimasia.storage.usage import LedgerUsage

SCALE = (1.0, 5.0)

FEEDBACK: tuple[Arm, ...] = ("self", "peer")
"""The arms whose feedback names points."""

BEYOND_RULES = (
    "paraphrases",
    "descriptions and comparisons",
    "riddles and words spelled out",
    "sums",
    "what is left over once all else is ruled out",
)
"""Kinds of leaks that the judge detects but the reliable rules do not."""

Measure = Literal["accuracy", "spoken", "atoms", "shown", "withheld"]
"""`accuracy`: 1 where the final answer is right, else 0 · the others: an answer's mean atom score, 1 to 5, over the
atoms that it addresses before and after, over all atoms, over the failed atoms that feedback may name, and over those
that are withheld at random."""

MEASURES: tuple[Measure, ...] = get_args(Measure)

Part = Callable[[RefinementRow], Sequence[int]]
"""Selects the atoms of an answer (numbers from 1) that a figure covers."""

PValue = Annotated[Fraction | None, Field(description="two-sided, by sign flips of whole images; null without a pair")]
Adjusted = Annotated[
    Fraction | None,
    Field(
        description="the p-value after Benjamini and Hochberg, over all gains of one measure, in parts over all parts"
    ),
]


class SetFields(Value):
    """Figures that omit a field with its default only if the field was not set."""

    @model_serializer(mode="wrap")
    def _with_set_fields(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = handler(self)
        for name in self.model_fields_set - fields.keys():
            fields[name] = type(self).model_fields[name].get_default(call_default_factory=True)
        return fields


class AtomScores(Value):
    """Scores of an answer's atoms, 1 to 5: each answer counts by the mean over its atoms."""

    n: Count = Field(description="answers that have such criteria")
    n_scored: Count = Field(description="answers whose criteria were scored after the arm")
    before: Interval | None = Field(description="mean by the judgement that the answers were chosen by, 1 to 5")
    after: Interval | None = Field(
        description="mean after the arm, 1 to 5; of the arm `original` the judge's second look at the same answer"
    )
    gained: Interval | None = Field(
        description="`after` less `before` on the scored answers, in points; since they were chosen by `before`, it holds luck, "
        "too: that of the arm `original` is luck and the judge's unsteadiness alone"
    )
    bounds: Bounds | None = Field(description="of `after` over all n, 1 to 5")
    solved: Share = Field(description="of the criteria that had failed those that are solved now")


class ArmOfPart(Value):
    """The results of an arm, over the last rounds of the answers that it took up."""

    n: Count = Field(description="answers")
    n_known: Count = Field(description="answers with a verdict")
    coverage: Coverage
    accuracy: Rate | None = Field(description="of the known answers those that are right; null without a verdict")
    bounds: Bounds | None = Field(description="of the accuracy over all n, 0 to 1")
    spoken: AtomScores = Field(description="over the criteria that the answer addressed before and after")
    atoms: AtomScores = Field(description="over all criteria")
    shown: AtomScores = Field(description="over the failed criteria that a feedback may name")
    withheld: AtomScores = Field(description="over the failed criteria that are kept from it by chance")


class PerRepaired(Value):
    """The usage per repaired answer; the limits are those of the accuracy."""

    mean: float = Field(ge=0)
    low: float | None = Field(ge=0)
    high: float | None = Field(ge=0, description="null: no limit, since the accuracy may be 0")


class Repaired(Value):
    """Calls and US dollars per repaired answer; null if none was repaired or the usage is unknown."""

    calls: PerRepaired | None
    cost: PerRepaired | None


class ArmFigures(ArmOfPart, SetFields):
    """The overall results of an arm, and its usage."""

    right: Count = Field(description="right answers")
    spoilt: Share = Field(description="of the criteria that were solved before those that fail now")
    failures: Failures
    left_open: LeftOpen
    stopped: dict[Stopped, Count] = Field(
        description="answers by why the arm stopped; `all solved`: all criteria that feedback may name, even if the final "
        "answer is still wrong"
    )
    calls: Count = Field(default=0, description="calls of the arm; absent where there are none, and in `apart`")
    cost: Cost = Field(default=None, description="in US dollars, null where any price is unknown; absent as calls are")
    per_repaired: Repaired | None = Field(default=None, description="absent as calls are")


class Gain(Value):
    """The gain of an arm over a control on the same answers; above 0: the arm is better."""

    n: Count = Field(description="answers that the measure is about")
    n_paired: Count = Field(description="answers that are known in both arms")
    coverage: Coverage = Field(description="n_paired of n, 0 to 1; null where n is 0")
    difference: Interval | None = Field(description="in shares, or in points of 1 to 5; clustered by image")
    bounds: Bounds | None = Field(description="of the difference over all n")
    p_value: PValue
    adjusted: Adjusted


class PeerHints(Value):
    """The hints of one peer."""

    points: Count = Field(description="points that it was asked about")
    hinted: Count = Field(description="points with a hint that was passed on")


class HintFigures(Value):
    """The outcomes of the points that an arm had to make, over all rounds."""

    points: Count
    hinted: Count = Field(description="points with a hint that was passed on")
    leaking: Count = Field(description="points in which a leak was found")
    rewritten: Count = Field(description="points whose hint was written a second time")
    asked: Count = Field(description="hints that were asked of peers")
    fallbacks: dict[Fallback, Count] = Field(description="points by why they carry no hint")
    peers: dict[str, PeerHints]


class LeakFigures(Value):
    """The shares of texts in which a leak was found, every text counted once; 95 % intervals by Clopper and Pearson.

    Only leaks that were found are counted; those that the check misses are unknown.
    """

    questions: CountedRate = Field(description="questions of failed criteria that would be fed back")
    hints: CountedRate = Field(description="first wordings of hints")
    rewritings: CountedRate = Field(description="second wordings of those that leaked")
    dropped: Count = Field(description="hints that were dropped in the end")
    passed_on: Count = Field(description="hints that were passed on")
    forms: Counts = Field(description="what was found, by form")
    found_by: dict[Literal["rules", "judge"], Count] = Field(description="what was found, by who found it")
    judge: bool = Field(description="whether a judge looked at what the rules let pass")
    not_looked_for: tuple[str, ...] = Field(description="forms that were not looked for, where no judge did")
    unjudged: Count = Field(
        description="texts that passed on the word of the rules alone, since the judge gave no verdict that could be read"
    )


class Steadiness(Value):
    """How often the judge, asked again about the same answer, solves an atom that it failed, or the reverse."""

    n: Count = Field(description="criteria of answers with two judgements or more")
    turned: Count = Field(description="criteria on which it changed its mind")
    share: Rate | None = Field(description="turned of n; clustered by image; null where n is 0")
    answers: Count = Field(description="answers with two judgements or more")
    spread: float | None = Field(
        ge=0, description="mean difference between a criterion's highest and lowest score, in points; null where n is 0"
    )


def every_atom(row: RefinementRow) -> Sequence[int]:
    """Return the numbers of all atoms of an answer."""
    return range(1, len(row.before) + 1)


def atoms_of(row: RefinementRow, measure: Measure, part: Part = every_atom) -> list[int]:
    """Return the numbers of the atoms that a measure covers; without a judgement of the arm, those it may cover."""
    atoms = part(row)
    if measure == "shown":
        return [atom for atom in atoms if atom in row.shown]
    if measure == "withheld":
        return [atom for atom in atoms if atom in row.withheld]
    if measure == "spoken":
        for addressed in (row.stated_before, stated_after(row)):
            if addressed:
                atoms = [atom for atom in atoms if addressed[atom - 1]]
    return list(atoms)


def value_of(row: RefinementRow, measure: Measure, part: Part = every_atom) -> float | None:
    """Return a measure of an arm's last round; None if it is unknown or covers no atom.

    Atom scores of the original answer come from its later judgements, since its first judgement selected it.
    """
    if measure == "accuracy":
        if row.answered == "unknown":
            return None
        return float(row.answered == "right")
    return _mean_at(scores_after(row), atoms_of(row, measure, part))


def stated_after(row: RefinementRow) -> tuple[bool, ...]:
    """Return, for each atom, whether the answer addresses it after an arm; empty if unknown."""
    if row.arm == "original":
        return row.stated_before
    return row.stated


def scores_after(row: RefinementRow) -> tuple[float, ...]:
    """Return the atom scores after an arm (for the original answer, of its later judgements); empty if unknown."""
    if row.arm != "original":
        return row.after
    later = row.draws[1:]
    if later:
        return tuple(sum(column) / len(later) for column in zip(*later, strict=True))
    return ()


def arm_figures(
    rows: Sequence[RefinementRow], *, seed: int = 0, part: Part = every_atom, used: LedgerUsage | None = None
) -> ArmFigures:
    """Return the figures of an arm over its last rounds.

    Args:
        rows: the last round of each failed answer in the arm.
        seed: seed of the bootstrap.
        part: the atoms to score.
        used: usage of the arm's calls; without it, calls and cost are left out.
    """
    of_part = arm_of_part(rows, seed=seed, part=part)
    usage: dict[str, Any] = {}
    if used is not None:
        usage = {
            "calls": used.calls,
            "cost": rounded(used.cost),
            "per_repaired": Repaired(calls=_per_repaired(used.calls, of_part), cost=_per_repaired(used.cost, of_part)),
        }
    return ArmFigures(
        **dict(of_part),
        right=sum(row.answered == "right" for row in rows),
        spoilt=_change_share(rows, part, solved=False),
        **failure_fields(row.failure for row in rows),
        stopped=count_by_kind(row.stopped for row in rows if row.stopped),
        **usage,
    )


def arm_of_part(rows: Sequence[RefinementRow], *, seed: int, part: Part = every_atom) -> ArmOfPart:
    """Return accuracy and, over a part of the atoms, atom scores of an arm's last rounds."""
    decided = [row for row in rows if row.answered != "unknown"]
    hits = [row.answered == "right" for row in decided]
    right = share_of_hits(hits, [row.cluster for row in decided], unknown=len(rows) - len(hits))
    return ArmOfPart(
        n=len(rows),
        n_known=len(hits),
        coverage=ratio(len(hits), len(rows)),
        accuracy=Rate(share=right.share, low=right.low, high=right.high) if hits else None,
        bounds=right.bounds,
        spoken=_atom_scores(rows, "spoken", part, seed),
        atoms=_atom_scores(rows, "atoms", part, seed),
        shown=_atom_scores(rows, "shown", part, seed),
        withheld=_atom_scores(rows, "withheld", part, seed),
    )


def _per_repaired(usage: float | None, arm: ArmOfPart) -> PerRepaired | None:
    """Return usage per repaired answer; None if it is unknown or nothing was repaired."""
    accuracy = arm.accuracy
    if usage is None or accuracy is None or not accuracy.share:
        return None

    def per_answer(rate: float | None) -> float | None:
        if rate:
            return rounded(usage / (arm.n_known * rate))
        return None

    return PerRepaired(
        mean=rounded(usage / (arm.n_known * accuracy.share)),
        low=per_answer(accuracy.high),
        high=per_answer(accuracy.low),
    )


def _atom_scores(rows: Sequence[RefinementRow], measure: Measure, part: Part, seed: int) -> AtomScores:
    concerned: list[RefinementRow] = []
    before: list[float] = []
    clusters: list[str] = []
    scored_before: list[float] = []
    after: list[float] = []
    scored_clusters: list[str] = []
    for row in rows:
        atoms = atoms_of(row, measure, part)
        if not atoms:
            continue
        concerned.append(row)
        before.append(_mean([row.before[atom - 1] for atom in atoms]))
        clusters.append(row.cluster)
        value = value_of(row, measure, part)
        if value is not None:
            scored_before.append(before[-1])
            after.append(value)
            scored_clusters.append(row.cluster)
    gained: Interval | None = None
    if after:
        ends = difference_interval(scored_before, after, clusters=scored_clusters, seed=seed, bounds=SCALE)
        gained = interval_of(_mean(after) - _mean(scored_before), ends)
    return AtomScores(
        n=len(concerned),
        n_scored=len(after),
        before=mean_with_interval(before, clusters, seed=seed, bounds=SCALE),
        after=mean_with_interval(after, scored_clusters, seed=seed, bounds=SCALE),
        gained=gained,
        bounds=bounds_with_unknown(after, len(concerned) - len(after), SCALE),
        solved=_change_share(concerned, lambda row: atoms_of(row, measure, part), solved=True),
    )


def _change_share(rows: Sequence[RefinementRow], part: Part, *, solved: bool) -> Share:
    """Return the share of failed atoms that are solved afterwards or, without `solved`, of solved atoms that fail."""
    hits: list[bool] = []
    clusters: list[str] = []
    unknown = 0
    for row in rows:
        atoms = [atom for atom in part(row) if (row.before[atom - 1] < SOLVED) is solved]
        scores = scores_after(row)
        if not scores:
            unknown += len(atoms)
            continue
        hits += [(scores[atom - 1] >= SOLVED) is solved for atom in atoms]
        clusters += [row.cluster] * len(atoms)
    return share_of_hits(hits, clusters, unknown=unknown)


def gain_figures(
    control: Sequence[RefinementRow],
    treated: Sequence[RefinementRow],
    measure: Measure,
    *,
    seed: int,
    part: Part = every_atom,
    permutations: int = PERMUTATIONS,
) -> Gain:
    """Return the gain of an arm over a control on the same answers; the p-value is not yet adjusted.

    Args:
        control: last rounds of the control.
        treated: last rounds of the arm, for the same answers in any order.
        measure: the measure to compare.
        seed: seed of the bootstrap and of the permutations.
        part: the atoms to score.
        permutations: number of random sign patterns of the test.
    """
    low, high = (0.0, 1.0) if measure == "accuracy" else SCALE
    n = 0
    lowest = highest = 0.0
    before: list[float] = []
    after: list[float] = []
    clusters: list[str] = []
    control_rows = {_key(row): row for row in control}
    for row in treated:
        control_row = control_rows.get(_key(row))
        if control_row is None:
            continue
        if measure == "accuracy":
            first, second = value_of(control_row, measure), value_of(row, measure)
        else:
            # Only atoms that both arms cover: an atom that one answer does not address cannot be compared.
            control_atoms = atoms_of(control_row, measure, part)
            shared = [atom for atom in atoms_of(row, measure, part) if atom in control_atoms]
            if not shared:
                continue
            first, second = _mean_at(scores_after(control_row), shared), _mean_at(scores_after(row), shared)
        n += 1
        lowest += (low if second is None else second) - (high if first is None else first)
        highest += (high if second is None else second) - (low if first is None else first)
        if first is not None and second is not None:
            before.append(first)
            after.append(second)
            clusters.append(control_row.cluster)
    difference = p_value = None
    if before:
        gaps = [second - first for first, second in zip(before, after, strict=True)]
        interval = difference_interval(before, after, clusters=clusters, seed=seed, bounds=(low, high))
        difference = interval_of(_mean(gaps), interval)
        test = sign_flip_test(gaps, clusters=clusters, seed=seed, permutations=permutations)
        p_value = rounded(test.p_value)
    return Gain(
        n=n,
        n_paired=len(before),
        coverage=ratio(len(before), n),
        difference=difference,
        bounds=mean_bounds(lowest, highest, n),
        p_value=p_value,
        adjusted=None,
    )


def _key(row: RefinementRow) -> tuple[str, str, int]:
    return row.sample_id, row.model, row.repeat


def _mean_at(scores: Sequence[float], atoms: Sequence[int]) -> float | None:
    """Return the mean score of some atoms; None without atoms or scores."""
    if scores and atoms:
        return _mean([scores[atom - 1] for atom in atoms])
    return None


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def hint_figures(rows: Sequence[RefinementRow]) -> dict[Arm, HintFigures]:
    """Return the figures of the points in the feedback of the arms `self` and `peer`, over all rounds."""
    by_arm: dict[Arm, HintFigures] = {}
    for arm in FEEDBACK:
        points = [point for row in rows if row.arm == arm for point in row.points]
        if not points:
            continue
        peers: dict[str, PeerHints] = {}
        for name in sorted({point.peer for point in points if point.peer}):
            peer_points = [point for point in points if point.peer == name]
            peers[name] = PeerHints(points=len(peer_points), hinted=sum(bool(point.hint) for point in peer_points))
        by_arm[arm] = HintFigures(
            points=len(points),
            hinted=sum(bool(point.hint) for point in points),
            leaking=sum(bool(point.leaks) for point in points),
            rewritten=sum(point.rewritten for point in points),
            asked=sum(point.asked for point in points),
            fallbacks=count_by_kind(point.fallback for point in points if point.fallback),
            peers=peers,
        )
    return by_arm


def leak_figures(rows: Sequence[RefinementRow], *, judged: bool) -> LeakFigures:
    """Return the share of feedback texts found to leak, each text counted once; `judged`: a judge checked them, too."""
    questions: dict[tuple[str, int], bool] = {}
    hints: dict[tuple[HintWording, ...], FeedbackPoint] = {}
    unjudged: dict[tuple[object, ...], int] = {}
    for row in rows:
        if row.arm == "original" and row.failed:
            why = {unused.atom: unused.why for unused in row.unused}
            for atom in row.failed_atoms:
                if why.get(atom, "leak") == "leak":
                    questions[row.criteria_id, atom] = atom in why
        for point in row.points:
            unjudged[row.criteria_id, point.atom, point.wordings] = point.unjudged
            if point.wordings:
                hints[point.wordings] = point
    leaking = [point for point in hints.values() if point.leaks]
    rewritten = [point for point in hints.values() if point.rewritten]
    leaks = [leak for point in hints.values() for leak in point.leaks]
    return LeakFigures(
        questions=_exact_rate(sum(questions.values()), len(questions)),
        hints=_exact_rate(len(leaking), len(hints)),
        rewritings=_exact_rate(sum(point.fallback == "leak" for point in rewritten), len(rewritten)),
        dropped=sum(point.fallback == "leak" for point in leaking),
        passed_on=sum(bool(point.hint) for point in hints.values()),
        forms=count_by_kind(leak.form for leak in leaks),
        found_by=count_by_kind(leak.found_by for leak in leaks),
        judge=judged,
        not_looked_for=() if judged else BEYOND_RULES,
        unjudged=sum(unjudged.values()),
    )


def unchecked_texts(leaks: LeakFigures) -> list[str]:
    """Return sentences on texts that no judge checked; empty if a judge checked all."""
    lines: list[str] = []
    if leaks.not_looked_for:
        *most, last = leaks.not_looked_for
        lines.append(f"No judge looked for leaks (--no-leak-judge): {', '.join(most)} and {last} were not looked for.")
    if leaks.unjudged:
        lines.append(
            f"On {leaks.unjudged} texts the judge gave no verdict that could be read; they passed on the word of the "
            "certain rules alone."
        )
    return lines


def steadiness(rows: Sequence[RefinementRow]) -> Steadiness:
    """Return how often repeated judgements of an answer differ on whether an atom is solved."""
    turned: list[bool] = []
    spreads: list[int] = []
    clusters: list[str] = []
    answers = 0
    for row in rows:
        if len(row.draws) < 2:
            continue
        answers += 1
        for scores in zip(*row.draws, strict=True):
            turned.append(min(scores) < SOLVED <= max(scores))
            spreads.append(max(scores) - min(scores))
            clusters.append(row.cluster)
    if not turned:
        return Steadiness(n=0, turned=0, share=None, answers=0, spread=None)
    share = share_of_hits(turned, clusters)
    return Steadiness(
        n=len(turned),
        turned=share.k,
        share=Rate(share=share.share, low=share.low, high=share.high),
        answers=answers,
        spread=round(_mean(spreads), DIGITS),
    )


def _exact_rate(k: int, n: int) -> CountedRate:
    interval = clopper_pearson(k, n) if n else None
    return CountedRate(k=k, n=n, share=ratio(k, n), **limits(interval))
