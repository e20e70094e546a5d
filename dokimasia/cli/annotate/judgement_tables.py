"""Terminal tables that compare judgements with correct values and with people."""

from collections.abc import Iterator

from rich.markup import escape
from rich.table import Table

from dokimasia.cli.annotate.tables import (
    NOTHING,
    add_correlations,
    agreement_cells,
    beside_people_tables,
    coefficient,
    note_lines,
    rate_text,
    weighted_kappas,
)
from dokimasia.cli.shared import grid
from dokimasia.domain.wording import percentage
from dokimasia.people.judgements.shape import JudgementFigures
from dokimasia.report.fields import Interval
from dokimasia.report.figures import MINUS, bracketed, several
from dokimasia.report.footnotes import Footnotes


def tables(figures: JudgementFigures) -> Iterator[Table | str]:
    """Yield the tables of judgements and the lines between them."""
    judges = several(len(figures.judges), "judge")
    people = several(len(figures.people), "person", "people")
    kinds = {"pairs": "Verdicts on pairs", "scores": "Scores", "rankings": "Rankings, pair by pair"}
    yield (
        f"[bold]{kinds[figures.kind]}[/bold] of {several(figures.items, 'item')} in {several(figures.clusters, 'cluster')} by "
        f"{judges} and {people}; {figures.with_gold} with a correct value"
    )
    if figures.unreadable:
        unreadable = several(figures.unreadable, "judgement")
        yield f"[yellow]{unreadable} of people or correct values cannot be read, and are left out[/yellow]"
    for name, judge in figures.judges.items():
        if judge.failed:
            reasons = ", ".join(f"{escape(reason)} ({count})" for reason, count in judge.failures.items())
            yield f"[yellow]{escape(name)}: {judge.failed} of {judge.judged} judgements failed: {reasons}[/yellow]"
    notes = Footnotes()
    yield from _against_gold(figures, notes)
    yield from _against_people(figures, notes)
    yield from _correlations(figures, notes)
    yield from rating_tables(figures)
    yield from beside_people_tables(
        {name: (judge.ceiling, judge.replacement) for name, judge in figures.judges.items()}, notes
    )
    yield from note_lines(notes)


def rating_tables(figures: JudgementFigures) -> Iterator[Table | str]:
    """Yield the ratings of models, by each judge and by people."""
    for name, rated in figures.ratings.items():
        table = grid(f"ratings by {escape(name)}", "battles", "rating", "rank", "adjusted", "group")
        for model, figure in rated.models.items():
            rating, adjusted = (
                NOTHING if value is None else _points(value) for value in (figure.rating, figure.adjusted)
            )
            rank = NOTHING
            if figure.rank_interval is not None:
                rank = "–".join(dict.fromkeys(map(str, figure.rank_interval)))
            table.add_row(escape(model), str(figure.battles), rating, rank, adjusted, str(figure.group + 1))
        yield table
        notes = [f"{what} {_points(effect)} points" for what, effect in rated.effects.items()]
        notes += [f"not adjusted for {what}: {why}" for what, why in rated.not_adjusted.items()]
        notes += [f"{rated.failed} verdicts failed"] if rated.failed else []
        yield f"[dim]{escape('; '.join([*notes, *filter(None, [rated.reason])]))}[/dim]"


def _points(value: Interval) -> str:
    return f"{value.mean:.0f}{escape(bracketed(value, lambda end: f'{end:.0f}'))}".replace("-", MINUS)


def _against_gold(figures: JudgementFigures, notes: Footnotes) -> Iterator[Table]:
    comparisons = {name: judge.gold for name, judge in figures.judges.items()}
    comparisons |= {name: person.gold for name, person in figures.people.items()}
    table = grid("against correct values", "n", "left out", "accuracy", "of all", "kappa", "alpha")
    for name, against in comparisons.items():
        if against is not None:
            lowest = NOTHING if against.same is None or against.same.bounds is None else against.same.bounds.low
            every = lowest if isinstance(lowest, str) else percentage(lowest, 2)
            table.add_row(escape(name), *agreement_cells(against, notes, every))
    table.caption = "Of all: failures counted as wrong, as published accuracies often are."
    if table.row_count:
        yield table
    table = grid("in both orders", "n", "as it stands", "swapped", "consistent", "consistent and right")
    for name, judge in figures.judges.items():
        if (orders := judge.orders) is not None:
            rates = (orders.straight, orders.swapped, orders.consistent, orders.consistent_and_right)
            table.add_row(escape(name), str(orders.n), *(rate_text(rate, notes) for rate in rates))
    if table.row_count:
        yield table


def _against_people(figures: JudgementFigures, notes: Footnotes) -> Iterator[Table]:
    table = grid("against people", "n", "left out", "the same", "kappa", "alpha")
    people = {name: judge.people for name, judge in figures.judges.items()}
    people |= {name: person.others for name, person in figures.people.items()}
    compared = {name: against for name, against in people.items() if against is not None}
    for name, against in compared.items():
        table.add_row(escape(name), *agreement_cells(against, notes))
    table.caption = "A judge against what most people said, or their mean; a person against the others."
    if table.row_count:
        yield table
    yield from weighted_kappas(compared, notes)
    if figures.together is not None:
        together = figures.together
        table = grid("people with each other", "n", "agreement")
        for title, value in (
            ("Fleiss' kappa", together.fleiss),
            ("Krippendorff's alpha, nominal", together.alpha_nominal),
            ("Krippendorff's alpha, ordinal", together.alpha_ordinal),
            ("Krippendorff's alpha, interval", together.alpha_interval),
        ):
            table.add_row(title, str(together.n), coefficient(value, notes, 3))
        yield table


def _correlations(figures: JudgementFigures, notes: Footnotes) -> Iterator[Table]:
    table = grid("correlation", "against", "n", "Pearson", "Spearman", "Kendall")
    for name, judge in figures.judges.items():
        add_correlations(table, notes, name, {"correct values": judge.gold, "people": judge.people})
    for name, person in figures.people.items():
        add_correlations(table, notes, name, {"correct values": person.gold, "the others": person.others})
    if table.row_count:
        yield table
