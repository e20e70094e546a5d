"""Figures of a correction: each model's rate as judged and corrected, and comparisons of all pairs of models."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from dokimasia.algorithms.correction import (
    Corrected,
    DecidedLabel,
    LabelledAnswers,
    Powered,
    RatedAnswers,
    ShareEstimate,
    as_shares,
    corrected_difference,
    corrected_rate,
    labels_needed,
    powered_difference,
    powered_rate,
    rates_over_mixes,
    stratified_difference,
    stratified_mean,
)
from dokimasia.algorithms.statistics import difference_interval
from dokimasia.domain.call import model_name
from dokimasia.domain.differences import DIRECTION
from dokimasia.domain.passport import Passport
from dokimasia.errors import ConfigError, InputError, NotFound
from dokimasia.people.correction.conclusion import conclusion
from dokimasia.people.correction.given import (
    Labels,
    Mix,
    check_named,
    check_responses,
    read_labels,
    read_mix,
    read_scores,
)
from dokimasia.people.correction.rates import JudgeRates, no_rates, observed_mix, rates_for
from dokimasia.people.correction.robustness import order_robustness, rate_robustness
from dokimasia.people.correction.scores import corrected_scores, score_conclusion
from dokimasia.people.correction.shape import (
    ByLabels,
    Compared,
    CorrectedMeasure,
    CorrectedModel,
    CorrectedRate,
    CorrectionFigures,
    LabelsUsed,
    MeasuredRate,
    MixUsed,
    OverMixes,
    PassportRates,
    RateDifference,
    Robustness,
)
from dokimasia.people.passports import passport_for
from dokimasia.report.fields import Bounds
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.decisions import DecidedAnswer, DecidedRun, Measure
from dokimasia.runs.measures import limits, rounded, strict_accuracy
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run

ROUNDING = 1e-9


def is_correctable(run: Run) -> bool:
    """Return whether the method of a run makes yes-or-no decisions on answers."""
    try:
        return method_of(run).people.decisions is not None
    except NotFound:
        return False


def decided_run(home: Home, run: Run, *, scored: bool = False) -> DecidedRun:
    """Return the yes-or-no decisions of a run; with `scored`, a run that only has scores is accepted, too.

    Raises:
        InputError: the run's method makes no such decisions, or the run has none yet.
    """
    decisions = method_of(run).people.decisions
    if decisions is None:
        raise InputError(
            f"run {run.id} is of kind {run.method!r}: rates are corrected of runs of evaluate, whose answers are right or "
            "wrong, and of audit, whose rubrics hold or do not"
        )
    judged = decisions(home, run)
    if not (scored and judged.scores):
        _check_decided(judged, run)
    return judged


def _check_decided(judged: DecidedRun, run: Run) -> None:
    for measure in judged.measures:
        for answers in measure.models.values():
            if any(answer.decision for answer in answers):
                return
    raise InputError(f"run {run.id} has decided of no answer whether it is right: its samples need reference answers")


def correct(
    home: Home,
    run: Run,
    *,
    passport: Path | None = None,
    human: Path | None = None,
    mix: Path | None = None,
    by_category: bool = False,
    width: float | None = None,
) -> CorrectionFigures:
    """Return a run's rates as judged and as corrected.

    Args:
        home: the home of the run, open for reading at least.
        run: an evaluation or an audit.
        passport: a file with the judge's passport.
        human: a file of labels, as annotations.
        mix: a file with the mix of kinds of error.
        by_category: whether the labels were drawn at random within each category, rather than from all answers.
        width: count the labels required for an interval of this width, as a share of the scale, above 0 and below 1.

    Raises:
        InputError: the run has no decisions, neither passport nor labels are given, or a file is unusable.
    """
    _check_options(passport, human, mix, by_category=by_category, width=width)
    judged = decided_run(home, run, scored=human is not None)
    if human is not None and (people_scores := read_scores(human, judged)) is not None:
        if passport is not None:
            raise ConfigError(
                f"{human}: these are scores, and a passport corrects what is right or wrong: correct by each in a call of its "
                "own"
            )
        scores = corrected_scores(judged, people_scores, by_category=by_category, width=width, seed=run.seed)
        warning = check_responses(human.name, people_scores, home, run)
        figures = _figures(judged, run, score_conclusion(scores), [warning], by_category=by_category, width=width)
        return figures.model_copy(update={"scores": scores})
    _check_decided(judged, run)
    labels: Labels | None = None
    if human is not None:
        labels = read_labels(human, judged, seed=run.seed)
        if by_category:
            labels = labels.by_category(judged.categories)
    if passport is not None and judged.judge is None:
        raise ConfigError(f"{passport}: rules alone decided run {run.id}, and there is no judge to be corrected")
    known = None if mix is None else read_mix(mix)
    rates: dict[str, JudgeRates] = {}
    warnings: list[str] = []
    used: PassportRates | None = None
    if passport is not None and judged.judge is not None:
        read, lines = passport_for(passport, judged.judge, judged.prompts, home=home, tools=judged.tools)
        if known is None and labels is not None and human is not None:
            known = observed_mix(labels, human.name, read)
        rates = {measure.name: _judge_rates(measure, read, judged, known, labels, run) for measure in judged.measures}
        warnings += [*lines, *(warning for measured in rates.values() for warning in measured.warnings)]
        used = _passport_rates(passport.name, read.sha256, rates)
    if labels is not None and human is not None:
        if not any(rate.by_kind for rate in rates.values()):
            check_named(human.name, labels.named)
        warnings += [*_label_warnings(labels), check_responses(human.name, labels, home, run)]
    measures = {
        measure.name: _measure(measure, rates.get(measure.name), labels, width, seed=run.seed)
        for measure in judged.measures
    }
    figures = _figures(
        judged, run, conclusion(tuple(measures.values())), warnings, by_category=by_category, width=width
    )
    return figures.model_copy(
        update={
            "passport": used,
            "mix": None if known is None else _mix(known),
            "human": None if labels is None or human is None else _labels(labels, human),
            "measures": measures,
        }
    )


def _check_options(
    passport: Path | None, human: Path | None, mix: Path | None, *, by_category: bool, width: float | None
) -> None:
    """Check that the options of a correction go together."""
    if mix is not None and passport is None:
        raise ConfigError("--mix weights the sensitivity of a passport: name it with --passport")
    if passport is None and human is None:
        raise ConfigError(
            "a rate is corrected by the judge's passport (--passport FILE, with --mix FILE) or by labels of people (--human FILE)"
        )
    if human is None and (by_category or width is not None):
        raise ConfigError("--by-category and --width are about labels: name them with --human")
    if width is not None and not 0 < width < 1:
        raise ConfigError(f"--width {width:g} is no share of the scale between 0 and 1, such as 5%")


def _judge_rates(
    measure: Measure, passport: Passport, judged: DecidedRun, mix: Mix | None, labels: Labels | None, run: Run
) -> JudgeRates:
    """Return the judge's rates in a measure, refused if its passport has none for it."""
    if measure.evaluator is None:
        return no_rates(measure.without)
    return rates_for(measure, passport, judged, mix, labels, seed=run.seed)


def _label_warnings(labels: Labels) -> Iterator[str]:
    """Yield what a reader should know of people's labels."""
    yield labels.drawn
    if labels.contradicting:
        yield (
            f"people say otherwise than the rule on {labels.contradicting} of {labels.ruled} labelled answers that rules "
            "decided, which are taken as the rules decided them: dokimasia show --sample says by which rule"
        )


def _figures(
    judged: DecidedRun,
    run: Run,
    sentences: tuple[str, ...],
    warnings: Iterable[str],
    *,
    by_category: bool,
    width: float | None,
) -> CorrectionFigures:
    """Return the figures of a correction without its rates and scores."""
    return CorrectionFigures(
        run=run.id,
        status=run.status,
        simulated=tuple(judged.simulated),
        method=run.method,
        judge=model_name(judged.judge) or "",
        conclusion=sentences,
        passport=None,
        mix=None,
        human=None,
        warnings=tuple(dict.fromkeys(filter(None, warnings))),
        direction=DIRECTION,
        by_category=by_category,
        width=width,
        measures={},
        scores=None,
    )


def _passport_rates(file: str, sha256: str, rates: Mapping[str, JudgeRates]) -> PassportRates:
    sensitivity: dict[str, MeasuredRate] = {}
    specificity: dict[str, MeasuredRate] = {}
    by_kind: dict[str, dict[str, MeasuredRate]] = {}
    for name, measured in rates.items():
        if measured.sensitivity:
            sensitivity[name] = _rate(measured.sensitivity)
        if measured.specificity:
            specificity[name] = _rate(measured.specificity)
        if measured.by_kind:
            by_kind[name] = {kind: _rate(share) for kind, share in sorted(measured.by_kind.items())}
    return PassportRates(file=file, sha256=sha256, sensitivity=sensitivity, specificity=specificity, by_kind=by_kind)


def _mix(mix: Mix) -> MixUsed:
    shares = {name: rounded(share) for name, share in sorted(as_shares(mix.kinds).items())}
    return MixUsed(source=mix.source, counted=mix.counted, shares=shares, errors=mix.seen)


def _measure(
    measure: Measure, rates: JudgeRates | None, labels: Labels | None, width: float | None, *, seed: int
) -> CorrectedMeasure:
    models = {name: _model(answers, rates, labels, width, seed=seed) for name, answers in measure.models.items()}
    pairs: list[Compared] = []
    for first, second in combinations(measure.models, 2):
        pairs.append(_without_rates(_pair(first, second, measure, rates, labels, seed), models))
    return CorrectedMeasure(what=measure.what, models=models, pairs=tuple(pairs))


def _model(
    answers: Sequence[DecidedAnswer],
    rates: JudgeRates | None,
    labels: Labels | None,
    width: float | None,
    *,
    seed: int,
) -> CorrectedModel:
    decided = [answer for answer in answers if answer.decision is not None]
    decisions, clusters = decisions_on(answers), [answer.cluster for answer in decided]
    by_passport: CorrectedRate | None = None
    over_mixes: OverMixes | None = None
    robustness: tuple[Robustness, ...] = ()
    if rates is not None:
        estimate = Corrected(None, None, rates.refused)
        if rates.both is not None:
            estimate = corrected_rate(decisions, **rates.both, clusters=clusters, seed=seed)
        by_passport = _corrected(estimate)
        robustness = rate_robustness(estimate, decisions, rates, clusters=clusters, seed=seed)
        over_mixes = _over_mixes(estimate, decisions, rates)
    return CorrectedModel(
        answers=len(answers),
        by_rule=sum(answer.known for answer in decided),
        by_judge=sum(decision.by_judge for decision in decisions),
        raw=strict_accuracy([answer.correctness for answer in answers], [answer.cluster for answer in answers]),
        by_passport=by_passport,
        over_mixes=over_mixes,
        by_labels=None if labels is None else _by_labels(decided, labels, width, seed=seed),
        robustness=robustness,
    )


def decisions_on(answers: Iterable[DecidedAnswer]) -> list[DecidedLabel]:
    """Return the decisions on answers that have a decision."""
    return [answer.decision for answer in answers if answer.decision is not None]


def _over_mixes(estimate: Corrected, decisions: Sequence[DecidedLabel], rates: JudgeRates) -> OverMixes | None:
    if not (rates.by_kind and rates.specificity is not None and decisions):
        return None
    n = len(decisions)
    ruled = [decision.right for decision in decisions if not decision.by_judge]
    right = sum(decision.right and decision.by_judge for decision in decisions) / n
    by_rule = (sum(ruled) / n, (len(ruled) - sum(ruled)) / n)
    mixes = rates_over_mixes(right, rates.by_kind, rates.specificity, by_rule=by_rule)
    if not rates.refused and _is_cut(estimate.rate, (mixes.low, mixes.high), by_rule):
        return None
    return OverMixes(low=rounded(mixes.low), high=rounded(mixes.high), lowest=mixes.lowest, highest=mixes.highest)


def _is_cut(rate: float | None, over_mixes: tuple[float, float], by_rule: tuple[float, float]) -> bool:
    """Return whether a rate is refused or clipped, or all mixes (then uninformative) are clipped at one end."""
    if rate is None:
        return True
    for end in (by_rule[0], 1 - by_rule[1]):
        clipped, *mixes_clipped = (abs(value - end) < ROUNDING for value in (rate, *over_mixes))
        if clipped or all(mixes_clipped):
            return True
    return False


def _labelled_answers(decided: Sequence[DecidedAnswer], labels: Labels) -> LabelledAnswers:
    """Return the decisions on answers, their labels (of the first repeat only), and whether rules settled them."""
    return LabelledAnswers(
        [decision.right for decision in decisions_on(decided)],
        [None if answer.repeat else labels.right.get(answer.unit) for answer in decided],
        [answer.known for answer in decided],
    )


def _by_strata(decided: Sequence[DecidedAnswer], labels: Labels) -> RatedAnswers:
    """Return the result of `_labelled_answers`, and the category of each answer if labels were drawn by category."""
    right, truth, known = _labelled_answers(decided, labels)
    strata: list[str] | None = None
    if labels.strata is not None:
        strata = [labels.strata[answer.unit.id] for answer in decided]
    return RatedAnswers(right, truth, strata, known)


def _by_labels(decided: Sequence[DecidedAnswer], labels: Labels, width: float | None, *, seed: int) -> ByLabels:
    labelled, rated = _labelled_answers(decided, labels), _by_strata(decided, labels)
    clusters = [answer.cluster for answer in decided]
    if labels.strata is None:
        powered = powered_rate(labelled.decided, labelled.labels, known=labelled.known, clusters=clusters, seed=seed)
    else:
        powered = stratified_mean(rated, clusters=clusters, together=labels.together, seed=seed)
    needed: int | None = None
    if width is not None and powered.rate is not None and not labels.drawn:
        needed = labels_needed(rated, width, clusters=clusters, seed=seed)
    if labels.drawn:
        powered = powered._replace(rate=None, interval=None, reason=labels.drawn, alone=None)
    alone = Corrected(None, None, powered.reason)
    if powered.alone is not None:
        alone = Corrected(powered.alone.share, powered.alone.interval)
    return ByLabels(
        **dict(_corrected(powered)),
        weight=None if powered.rate is None else rounded(powered.weight),
        labels=powered.labels,
        clusters=powered.clusters,
        missing=powered.missing,
        needed=needed,
        alone=_corrected(alone),
        certain=_certain(labelled),
    )


def _certain(labelled: LabelledAnswers) -> Bounds | None:
    """Return the lowest and highest rate that rules and labels leave possible."""
    truths = [
        decided if known else label
        for decided, label, known in zip(labelled.decided, labelled.labels, labelled.known or (), strict=True)
    ]
    if not truths:
        return None
    n = len(truths)
    return Bounds(low=rounded(truths.count(True) / n), high=rounded(1 - truths.count(False) / n))


def _pair(
    first: str, second: str, measure: Measure, rates: JudgeRates | None, labels: Labels | None, seed: int
) -> Compared:
    others = {answer.place: answer for answer in measure.models[second] if answer.decision is not None}
    before: list[DecidedAnswer] = []
    after: list[DecidedAnswer] = []
    for answer in measure.models[first]:
        if answer.decision is not None and answer.place in others:
            before.append(answer)
            after.append(others[answer.place])
    sides = decisions_on(before), decisions_on(after)
    clusters = [answer.cluster for answer in before]
    nothing = Corrected(None, None, "nothing was decided of both")
    raw = nothing
    if before:
        right = [[float(decision.right) for decision in side] for side in sides]
        interval = difference_interval(right[0], right[1], clusters=clusters, seed=seed, bounds=(0.0, 1.0))
        raw = Corrected((sum(right[1]) - sum(right[0])) / len(before), interval)
    by_passport: RateDifference | None = None
    robustness: tuple[Robustness, ...] = ()
    if rates is not None:
        estimate = Corrected(None, None, rates.refused)
        if rates.both is not None:
            estimate = corrected_difference(*sides, **rates.both, clusters=clusters, seed=seed)
            robustness = order_robustness((first, second), sides, estimate, rates, clusters=clusters, seed=seed)
        by_passport = _difference(estimate)
    by_labels: RateDifference | None = None
    if labels is not None:
        powered: Corrected | Powered = nothing
        if labels.drawn:
            powered = Corrected(None, None, labels.drawn)
        elif before and labels.strata is None:
            powered = powered_difference(
                _labelled_answers(before, labels), _labelled_answers(after, labels), clusters=clusters
            )
        elif before:
            rated = _by_strata(before, labels), _by_strata(after, labels)
            powered = stratified_difference(*rated, clusters=clusters, together=labels.together, seed=seed)
        by_labels = _difference(powered)
    return Compared(
        first=first,
        second=second,
        n=len(before),
        raw=_difference(raw),
        by_passport=by_passport,
        by_labels=by_labels,
        robustness=robustness,
    )


def _without_rates(pair: Compared, models: Mapping[str, CorrectedModel]) -> Compared:
    """Return a pair without its difference by passport, with the reason, if either model's rate is refused."""
    if pair.by_passport is None:
        return pair
    for name in (pair.first, pair.second):
        rate = models[name].by_passport
        if rate is not None and rate.refused and not pair.by_passport.refused.endswith(rate.refused):
            refused = Corrected(None, None, f"the rate of {name} is refused: {rate.refused}")
            return pair.model_copy(update={"by_passport": _difference(refused), "robustness": ()})
    return pair


def _corrected(estimate: Corrected | Powered) -> CorrectedRate:
    return CorrectedRate(rate=rounded(estimate.rate), **limits(estimate.interval), refused=estimate.reason)


def _difference(estimate: Corrected | Powered) -> RateDifference:
    return RateDifference(difference=rounded(estimate.rate), **limits(estimate.interval), refused=estimate.reason)


def _rate(estimate: ShareEstimate) -> MeasuredRate:
    share = None if estimate.interval.reason else rounded(estimate.share)
    return MeasuredRate(share=share, **limits(estimate.interval))


def _labels(labels: Labels, file: Path) -> LabelsUsed:
    assumption = (
        "taken for a random draw of the answers that no rule decided, such as annotate draw --cases makes by its seed"
    )
    if labels.strata is not None:
        assumption = (
            "taken for a random draw of each category's answers that no rule decided, such as annotate draw --per makes"
        )
    return LabelsUsed(
        file=file.name,
        labels=len(labels.right),
        samples=len({unit.id for unit in labels.right}),
        people=labels.people,
        by_majority=labels.by_majority,
        ruled=labels.ruled,
        contradicting=labels.contradicting,
        drawn=labels.drawn or assumption,
        p_value=rounded(labels.p_value),
    )
