"""Agreement of people with each other and with judges, as tables for the terminal."""

from collections.abc import Iterator, Mapping

from rich.markup import escape
from rich.table import Table

from dokimasia.cli.shared import grid
from dokimasia.domain.wording import percentage
from dokimasia.people.annotation.agreement import (
    RIGHT_OR_WRONG,
    AnnotationFigures,
    ChanceCorrected,
    JudgeCompared,
    MeasureAgreement,
    PersonCompared,
    RatingsCompared,
)
from dokimasia.people.annotation.blocks import coefficients
from dokimasia.people.judgements import HumanCeiling, ReplacementTest, ValuesCompared
from dokimasia.report.data import SIMULATED_NOTE
from dokimasia.report.fields import AgreementCoefficient, CountedRate, Interval, Limited
from dokimasia.report.figures import MINUS, bracketed, several

NOTHING = "–"


def tables(figures: AnnotationFigures) -> Iterator[Table | str]:
    """Yield the lines and tables of agreement figures, measure by measure."""
    if figures.simulated:
        yield f"[yellow]{SIMULATED_NOTE} ({escape(', '.join(figures.simulated))})[/yellow]"
    if figures.left_out:
        reasons = ", ".join(f"{count} {reason}" for reason, count in figures.left_out.items())
        yield f"[yellow]annotations left out: {reasons}[/yellow]"
    for measure, measured in figures.measures.items():
        low, high = measured.scale
        adjudicated = f", {measured.adjudicated} adjudicated" if measured.adjudicated else ""
        yield (
            f"[bold]{measure}[/bold], {low} to {high}: {measured.annotations} annotations of {measured.n} by "
            f"{several(len(figures.annotators), 'person', 'people')} (coverage {percent(measured.coverage)}){adjudicated}"
        )
        yield _held_against(measured)
        yield from _verdicts(measured)
        yield from _measures(measured)
        if measured.chance_corrected is None:
            yield f"[dim]People with each other: none, {measured.absent}[/dim]"
        else:
            yield _between(measured, measured.chance_corrected)
        yield from beside_people_tables(
            {name: (judge.ceiling, judge.replacement) for name, judge in measured.judges.items()}
        )
        yield _means(measured)


def beside_people_tables(
    judges: Mapping[str, tuple[HumanCeiling | None, ReplacementTest | None]],
) -> Iterator[Table]:
    """Yield the human ceiling of judges, and the test whether they can take a person's place, where there are any."""
    ceilings = {name: ceiling for name, (ceiling, _) in judges.items() if ceiling is not None}
    table = grid("human ceiling", "n", "people among themselves", "the judge", "judge less people")
    for name, ceiling in ceilings.items():
        same = ceiling.alignment == "same"
        values = (_mean(value, in_percent=same) for value in (ceiling.people, ceiling.judge, ceiling.difference))
        table.add_row(escape(name), str(ceiling.n), *values)
        what = "the share who said the same." if same else "the root mean square distance."
        table.caption = f"A person, and the judge, against all the other people: {what}"
    if table.row_count:
        yield table
    table = grid("in a person's place", "epsilon", "people won (omega)", "advantage (rho)", "verdict", "items needed")
    for name, (_, test) in judges.items():
        if test is not None:
            table.add_row(escape(name), *_place(test))
    if table.row_count:
        table.caption = (
            "The alternative-annotator test at a false discovery rate of 5 %: half of the people are to be won."
        )
        yield table


def _place(test: ReplacementTest) -> list[str]:
    """Return the cells of a test of replacement."""
    won = sum(person.passed for person in test.people.values())
    tested = sum(person.p_value is not None for person in test.people.values())
    omega = rho = NOTHING
    if test.winning_rate is not None and test.advantage is not None:
        omega, rho = f"{test.winning_rate:.2f} ({won} of {tested})", f"{test.advantage:.2f}"
    verdict = "can take it" if test.passed else "not shown"
    if not tested:
        verdict = "not tested: fewer than 30 things in common"
    verdict = f"{verdict}; {test.warning}" if test.warning else verdict
    return [f"{test.epsilon:g}", omega, rho, verdict, NOTHING if test.items_needed is None else str(test.items_needed)]


def _mean(value: Interval, *, in_percent: bool) -> str:
    text = percentage(value.mean, 1) if in_percent else f"{value.mean:.2f}"
    return f"{text}{ends_text(value, in_percent=in_percent)}".replace("-", MINUS)


def _held_against(measured: MeasureAgreement) -> Table:
    if measured.scale == RIGHT_OR_WRONG:
        table = grid("who", "what", "n", "MAE", "Cohen's kappa")
    else:
        table = grid("who", "what", "n", "MAE", "within one point", "Cohen's kappa, quadratic")
    for what, judges in (("judge", measured.judges), ("decided by rules", _ruled(measured))):
        for name, judge in judges.items():
            _add_row(table, escape(name), f"{what}, with people", judge)
            _add_models(table, judge.by_model)
    if measured.together is not None:
        _add_row(table, "people", "each with the mean of the others", measured.together)
        _add_models(table, measured.together.by_model)
        for name, person in measured.people.items():
            _add_row(table, escape(name), "with the mean of the others", person)
    return table


def _add_models(table: Table, by_model: Mapping[str, RatingsCompared]) -> None:
    for model, row in by_model.items():
        _add_row(table, "", f"[dim]{escape(model)}[/dim]", row)


def _add_row(table: Table, name: str, label: str, row: RatingsCompared | PersonCompared | JudgeCompared) -> None:
    near = [] if row.consistency is None else [rate_text(row.consistency)]
    off = NOTHING if row.mae is None else f"{row.mae.mean:.2f}{ends_text(row.mae)}"
    table.add_row(name, label, str(row.n), off, *near, coefficient(row.kappa))


def _ruled(measured: MeasureAgreement) -> dict[str, JudgeCompared]:
    """Return what rules decided of things that people rated."""
    return {name: rules for name, rules in measured.rules.items() if rules.n}


def _verdicts(measured: MeasureAgreement) -> Iterator[Table]:
    """Yield how verdicts agree with people's labels, as rates and as confusion matrices; nothing if none is compared so."""
    table = grid("verdicts of", "n", "agreement", "sensitivity", "specificity")
    matrices = grid("people, verdict", "right, right", "right, wrong", "wrong, right", "wrong, wrong")
    for what, judges in (("", measured.judges), (", decided by rules", _ruled(measured))):
        for name, judge in judges.items():
            if (verdicts := judge.verdicts) is None:
                continue
            counts = (verdicts.right_right, verdicts.right_wrong, verdicts.wrong_right, verdicts.wrong_wrong)
            rates = map(rate_text, (verdicts.agreement, verdicts.sensitivity, verdicts.specificity))
            table.add_row(f"{escape(name)}{what}", str(verdicts.n), *rates)
            matrices.add_row(f"{escape(name)}{what}", *map(str, counts))
    table.caption = (
        "Sensitivity: of what people call wrong, the share with the verdict wrong; specificity: of what they call right, the "
        "share with the verdict right."
    )
    matrices.caption = "right, wrong: people say right, and the verdict is wrong."
    if table.row_count:
        yield from (table, matrices)


def rate_text(rate: CountedRate) -> str:
    """Return a share in percent, with its interval."""
    return NOTHING if rate.share is None else f"{percentage(rate.share, 1)}{ends_text(rate, in_percent=True)}"


def agreement_cells(against: ValuesCompared, extra: str, *, last: bool = False) -> list[str]:
    """Return the cells for n, left out items, same values, kappa and alpha, with an extra cell beside kappa."""
    left_out = ", ".join(f"{count} {reason}" for reason, count in against.left_out.items()) or NOTHING
    same = NOTHING if against.same is None else rate_text(against.same)
    middle = [coefficient(against.kappa), extra] if last else [extra, coefficient(against.kappa)]
    return [str(against.n), left_out, same, *middle, coefficient(against.alpha)]


def add_correlations(table: Table, name: str, comparisons: Mapping[str, ValuesCompared | None]) -> None:
    """Add the rows of a judge's or a person's correlations to a table."""
    for what, against in comparisons.items():
        if against is not None and against.n:
            values = (against.pearson, against.spearman, against.kendall)
            table.add_row(escape(name), what, str(against.n), *map(coefficient, values))


def _measures(measured: MeasureAgreement) -> Iterator[Table]:
    """Yield accuracy, kappa, alpha and correlations of judges and people against people."""
    compared = {name: judge.measures for name, judge in measured.judges.items()}
    if measured.together is not None:
        compared |= {name: person.measures for name, person in measured.people.items()}
    table = grid("against people", "n", "left out", "the same", "kappa", "kappa, quadratic", "alpha")
    correlations = grid("correlation", "against", "n", "Pearson", "Spearman", "Kendall")
    for name, measures in compared.items():
        table.add_row(escape(name), *agreement_cells(measures, coefficient(measures.kappa_weighted), last=True))
        add_correlations(correlations, name, {"people": measures})
    table.caption = (
        "The same: the nearest step of the scale. A judge against people's mean; a person against the others'."
    )
    for drawn in (table, correlations):
        if drawn.row_count:
            yield drawn


def _between(measured: MeasureAgreement, chance: ChanceCorrected) -> Table:
    table = grid("people with each other", "n", "agreement")
    for pair in measured.pairs:
        same = f", same on {pair.same} of {pair.n}" if pair.n else ""
        table.add_row(escape(" and ".join(pair.people)), str(pair.n), f"kappa {coefficient(pair.kappa)}{same}")
    for title, estimate in coefficients(chance):
        table.add_row(title, str(chance.n), coefficient(estimate))
    return table


def _means(measured: MeasureAgreement) -> Table:
    table = grid("category", "n", "mean of people")
    for name, rating in {**measured.by_category, "all": measured.ratings}.items():
        mean = rating.mean
        table.add_row(escape(name), str(rating.n), NOTHING if mean is None else f"{mean.mean:.2f}{ends_text(mean)}")
    return table


def coefficient(estimate: AgreementCoefficient, digits: int = 2) -> str:
    """Return a coefficient with its interval, or why it has no value."""
    if estimate.value is None:
        return f"[dim]none: {escape(estimate.no_value or '')}[/dim]"
    return f"{estimate.value:.{digits}f}{ends_text(estimate)}".replace("-", MINUS)


def percent(value: float | None) -> str:
    """Return a share, 0 to 1, in percent."""
    return percentage(value)


def ends_text(estimate: Limited, *, in_percent: bool = False) -> str:
    """Return the ends of an interval in brackets, on one line, or why there are none; empty without either."""
    text = bracketed(estimate, lambda end: f"{100 * end:.0f}" if in_percent else f"{end:.2f}")
    return escape(text if estimate.low is None else text.replace(", ", ",\u00a0"))
