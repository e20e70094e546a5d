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
    VerdictsCompared,
)
from dokimasia.people.annotation.blocks import coefficients
from dokimasia.people.judgements import HumanCeiling, ReplacementTest, ValuesCompared
from dokimasia.report.data import SIMULATED_NOTE
from dokimasia.report.fields import AgreementCoefficient, CountedRate, Interval, Limited
from dokimasia.report.figures import MINUS, bracketed, measured_share, percent_bracketed, several
from dokimasia.report.footnotes import Footnotes

NOTHING = "–"


def tables(figures: AnnotationFigures) -> Iterator[Table | str]:
    """Yield the verdict, the lines and the tables of agreement figures, measure by measure."""
    if figures.simulated:
        yield f"[yellow]{SIMULATED_NOTE} ({escape(', '.join(figures.simulated))})[/yellow]"
    for measure, measured in figures.measures.items():
        yield escape(" ".join(agreement_verdict(measure, measured)))
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
        notes = Footnotes()
        yield _held_against(measured, notes)
        yield from _verdicts(measured, notes)
        yield from _measures(measured, notes)
        if measured.chance_corrected is None:
            yield f"[dim]People with each other: none, {measured.absent}[/dim]"
        else:
            yield _between(measured, measured.chance_corrected, notes)
        yield from beside_people_tables(
            {name: (judge.ceiling, judge.replacement) for name, judge in measured.judges.items()}, notes
        )
        yield _means(measured, notes)
        yield from note_lines(notes)


def agreement_verdict(measure: str, measured: MeasureAgreement) -> Iterator[str]:
    """Yield sentences on the agreement of judges with people on a measure; without judges, of people
    with each other.
    """
    for name, judge in measured.judges.items():
        if not judge.n:
            yield f"Nothing that {name} judged was rated by people: there is no {measure} to compare."
        elif judge.verdicts is not None and judge.verdicts.n:
            yield from _verdict_on_verdicts(name, judge.verdicts)
        elif (same := judge.measures.same) is not None:
            yield f"{name} gives the same {measure} as people on {_share(same)} of {several(same.n, 'answer')}."
        if judge.replacement is not None and judge.replacement.winning_rate is not None:
            can = "can take a person's place" if judge.replacement.passed else "was not shown to be as good as a person"
            yield f"By the alternative-annotator test it {can}."
    if measured.judges:
        return
    if measured.chance_corrected is None:
        yield f"There is no agreement of people on {measure} ({measured.absent})."
        return
    alpha = measured.chance_corrected.alpha_ordinal
    if alpha.value is None:
        yield f"People's agreement on {measure} has no value: {alpha.no_value}."
    else:
        ends = bracketed(alpha, lambda end: f"{end:.2f}")
        text = f"People agree on {measure} with an ordinal Krippendorff's alpha of {alpha.value:.2f}{ends}"
        yield f"{text}, on {several(measured.chance_corrected.n, 'thing')}.".replace("-", MINUS)


def _verdict_on_verdicts(name: str, verdicts: VerdictsCompared) -> Iterator[str]:
    yield f"{name} agrees with people on {_share(verdicts.agreement)} of {verdicts.agreement.n:,} answers."
    parts: list[str] = []
    if verdicts.sensitivity.n:
        parts.append(f"finds {_share(verdicts.sensitivity)} of the {verdicts.sensitivity.n:,} that people call wrong")
    if verdicts.specificity.n:
        parts.append(f"accepts {_share(verdicts.specificity)} of the {verdicts.specificity.n:,} that they call right")
    yield f"It {' and '.join(parts)}."


def _share(rate: CountedRate) -> str:
    """Return a share in percent, with its interval if it has one."""
    ends = "" if rate.low is None else percent_bracketed(rate)
    return f"{measured_share(rate.share).text}{ends}"


def beside_people_tables(
    judges: Mapping[str, tuple[HumanCeiling | None, ReplacementTest | None]], notes: Footnotes
) -> Iterator[Table]:
    """Yield the human ceiling of judges, and the test whether they can replace a person, if there are any."""
    ceilings = {name: ceiling for name, (ceiling, _) in judges.items() if ceiling is not None}
    table = grid("human ceiling", "n", "people among themselves", "judge", "judge minus people")
    for name, ceiling in ceilings.items():
        same = ceiling.alignment == "same"
        values = (_mean(value, notes, in_percent=same) for value in (ceiling.people, ceiling.judge, ceiling.difference))
        table.add_row(escape(name), str(ceiling.n), *values)
        what = "the share who said the same." if same else "the root mean square distance."
        table.caption = f"A person, and the judge, against all the other people: {what}"
    if table.row_count:
        yield table
    table = grid("in a person's place", "epsilon", "omega", "rho", "verdict", "items needed")
    for name, (_, test) in judges.items():
        if test is not None:
            table.add_row(escape(name), *_place(test, notes))
    if table.row_count:
        table.caption = (
            "The alternative-annotator test at a false discovery rate of 5 %. omega: people won, of whom half are needed; rho: "
            "the mean advantage over them."
        )
        yield table


def _place(test: ReplacementTest, notes: Footnotes) -> list[str]:
    """Return the cells of a replacement test."""
    won = sum(person.passed for person in test.people.values())
    tested = sum(person.p_value is not None for person in test.people.values())
    omega = rho = NOTHING
    if test.winning_rate is not None and test.advantage is not None:
        omega, rho = f"{test.winning_rate:.2f} ({won} of {tested})", f"{test.advantage:.2f}"
    verdict = "can take it" if test.passed else "not shown"
    if not tested:
        verdict = f"not tested {notes.number('not tested: fewer than 30 things in common')}"
    if test.warning:
        verdict = f"{verdict} {notes.number(test.warning)}"
    return [f"{test.epsilon:g}", omega, rho, verdict, NOTHING if test.items_needed is None else str(test.items_needed)]


def _mean(value: Interval, notes: Footnotes, *, in_percent: bool) -> str:
    text = percentage(value.mean, 1) if in_percent else f"{value.mean:.2f}"
    return f"{text}{ends_text(value, notes, in_percent=in_percent)}".replace("-", MINUS)


def _held_against(measured: MeasureAgreement, notes: Footnotes) -> Table:
    if measured.scale == RIGHT_OR_WRONG:
        table = grid("who", "held against", "n", "MAE", "kappa")
    else:
        table = grid("who", "held against", "n", "MAE", "within one point", "quadratic kappa")
    for label, judges in (("people", measured.judges), ("people, by rules", _ruled(measured))):
        for name, judge in judges.items():
            _add_row(table, notes, escape(name), label, judge)
            _add_models(table, notes, judge.by_model)
    if measured.together is not None:
        _add_row(table, notes, "people", "mean of the others", measured.together)
        _add_models(table, notes, measured.together.by_model)
        for name, person in measured.people.items():
            _add_row(table, notes, escape(name), "mean of the others", person)
    return table


def _add_models(table: Table, notes: Footnotes, by_model: Mapping[str, RatingsCompared]) -> None:
    for model, row in by_model.items():
        _add_row(table, notes, "", f"[dim]on {escape(model)}[/dim]", row)


def _add_row(
    table: Table, notes: Footnotes, name: str, label: str, row: RatingsCompared | PersonCompared | JudgeCompared
) -> None:
    near = [] if row.consistency is None else [rate_text(row.consistency, notes)]
    off = NOTHING if row.mae is None else f"{row.mae.mean:.2f}{ends_text(row.mae, notes)}"
    table.add_row(name, label, str(row.n), off, *near, coefficient(row.kappa, notes))


def _ruled(measured: MeasureAgreement) -> dict[str, JudgeCompared]:
    """Return what rules decided about things that people rated."""
    return {name: rules for name, rules in measured.rules.items() if rules.n}


def _verdicts(measured: MeasureAgreement, notes: Footnotes) -> Iterator[Table]:
    """Yield the confusion matrices of compared verdicts against people's labels, and their rates."""
    counted = grid("verdicts of", "n", "both right", "people right", "verdict right", "both wrong")
    rated = grid("verdicts of", "agreement", "sensitivity", "specificity")
    for what, judges in (("", measured.judges), (", decided by rules", _ruled(measured))):
        for name, judge in judges.items():
            if (verdicts := judge.verdicts) is None:
                continue
            counts = (verdicts.right_right, verdicts.right_wrong, verdicts.wrong_right, verdicts.wrong_wrong)
            counted.add_row(f"{escape(name)}{what}", str(verdicts.n), *map(str, counts))
            rates = (verdicts.agreement, verdicts.sensitivity, verdicts.specificity)
            rated.add_row(f"{escape(name)}{what}", *(f"{rate_text(rate, notes)} of {rate.n:,}" for rate in rates))
    counted.caption = "People right: they say right, the verdict is wrong; verdict right: the other way round."
    rated.caption = (
        "Sensitivity: of what people call wrong, the share with the verdict wrong; specificity: of what they call right, the "
        "share with the verdict right."
    )
    if counted.row_count:
        yield from (counted, rated)


def rate_text(rate: CountedRate, notes: Footnotes) -> str:
    """Return a share in percent, with its interval."""
    if rate.share is None:
        return NOTHING
    return f"{percentage(rate.share, 1)}{ends_text(rate, notes, in_percent=True)}"


def agreement_cells(against: ValuesCompared, notes: Footnotes, *extra: str) -> list[str]:
    """Return the cells for n, excluded items, equal values, kappa and alpha, with extra cells before kappa."""
    left_out = ", ".join(f"{count} {reason}" for reason, count in against.left_out.items()) or NOTHING
    same = NOTHING if against.same is None else rate_text(against.same, notes)
    return [
        str(against.n),
        left_out,
        same,
        *extra,
        coefficient(against.kappa, notes),
        coefficient(against.alpha, notes),
    ]


def weighted_kappas(compared: Mapping[str, ValuesCompared], notes: Footnotes) -> Iterator[Table]:
    """Yield the table of quadratically weighted kappas, if anything is compared."""
    table = grid("quadratic kappa", "n", "against people")
    for name, against in compared.items():
        table.add_row(escape(name), str(against.n), coefficient(against.kappa_weighted, notes))
    if table.row_count:
        yield table


def add_correlations(
    table: Table, notes: Footnotes, name: str, comparisons: Mapping[str, ValuesCompared | None]
) -> None:
    """Add the rows of a judge's or a person's correlations to a table."""
    for what, against in comparisons.items():
        if against is not None and against.n:
            values = (against.pearson, against.spearman, against.kendall)
            table.add_row(escape(name), what, str(against.n), *(coefficient(value, notes) for value in values))


def _measures(measured: MeasureAgreement, notes: Footnotes) -> Iterator[Table]:
    """Yield accuracy, kappa, alpha and correlations of judges and people against people."""
    compared = {name: judge.measures for name, judge in measured.judges.items()}
    if measured.together is not None:
        compared |= {name: person.measures for name, person in measured.people.items()}
    table = grid("against people", "n", "left out", "the same", "kappa", "alpha")
    correlations = grid("correlation", "against", "n", "Pearson", "Spearman", "Kendall")
    for name, measures in compared.items():
        table.add_row(escape(name), *agreement_cells(measures, notes))
        add_correlations(correlations, notes, name, {"people": measures})
    table.caption = (
        "The same: the nearest step of the scale. A judge against people's mean, a person against that of the others."
    )
    if table.row_count:
        yield table
    if measured.scale != RIGHT_OR_WRONG:  # with two values, all weights are equal
        yield from weighted_kappas(compared, notes)
    if correlations.row_count:
        yield correlations


def _between(measured: MeasureAgreement, chance: ChanceCorrected, notes: Footnotes) -> Table:
    table = grid("people with each other", "n", "agreement")
    kappa = "kappa" if measured.scale == RIGHT_OR_WRONG else "quadratic kappa"
    for pair in measured.pairs:
        same = f", same on {pair.same} of {pair.n}" if pair.n else ""
        table.add_row(escape(" and ".join(pair.people)), str(pair.n), f"{kappa} {coefficient(pair.kappa, notes)}{same}")
    for title, estimate in coefficients(chance):
        table.add_row(title, str(chance.n), coefficient(estimate, notes))
    return table


def _means(measured: MeasureAgreement, notes: Footnotes) -> Table:
    table = grid("category", "n", "mean of people")
    for name, rating in {**measured.by_category, "all": measured.ratings}.items():
        mean = rating.mean
        text = NOTHING if mean is None else f"{mean.mean:.2f}{ends_text(mean, notes)}".replace("-", MINUS)
        table.add_row(escape(name), str(rating.n), text)
    return table


def coefficient(estimate: AgreementCoefficient, notes: Footnotes, digits: int = 2) -> str:
    """Return a coefficient with its interval; a footnote gives the reason for a missing value or interval."""
    if estimate.value is None:
        return f"{NOTHING} {notes.number(f'no value: {estimate.no_value}')}"
    return f"{estimate.value:.{digits}f}{ends_text(estimate, notes)}".replace("-", MINUS)


def percent(value: float | None) -> str:
    """Return a share, 0 to 1, in percent."""
    return percentage(value)


def ends_text(estimate: Limited, notes: Footnotes, *, in_percent: bool = False) -> str:
    """Return the ends of an interval in brackets on one line, or the footnote on its absence; empty without either."""
    ends = percent_bracketed(estimate) if in_percent else bracketed(estimate, "{:.2f}".format)
    text = notes.mark(ends)
    return escape(text if estimate.low is None else text.replace(", ", ",\u00a0"))


def note_lines(notes: Footnotes) -> Iterator[str]:
    """Yield the footnotes of the preceding tables, one line each."""
    yield from (f"[dim]{escape(line)}[/dim]" for line in notes.lines())
