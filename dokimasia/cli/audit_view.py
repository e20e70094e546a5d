"""An audit on a terminal: the table of gated scores, the table of domains, and single responses with their rubrics."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from dokimasia.cli.figures import heading
from dokimasia.cli.shared import redact
from dokimasia.cli.tables import cost_text

COLUMNS = (
    ("overall", "overall"),
    ("must_right_item", "must-right\nitem"),
    ("easy_wrong_item", "easy-wrong\nitem"),
    ("gate_pass", "gate\npass"),
    ("easy_wrong_mean", "easy-wrong\nmean"),
)


def print_audit(out: Any, summary: Mapping[str, Any]) -> None:
    """Print the figures of an audit, best model first."""
    heading(out, summary, f"run {summary['run']} · audit · {summary['samples']} images · judge {summary['judge']}")
    missing: Sequence[str] = summary["without_rubrics"]
    if missing:
        listed = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
        out.print(
            f"[yellow]no rubrics for {len(missing)} samples of the data, which are no part of this: {listed}[/yellow]"
        )
    models: Mapping[str, Any] = summary["models"]
    ranked = ranked_models(models)
    out.print(_scores(models, ranked))
    if models:
        out.print(_domains(models, ranked, list(summary["domains"])))
    for name, one in summary.get("blind", {}).items():
        share = "nothing to compare" if one["share"] is None else f"{one['share']:.0%} of its score survives"
        out.print(f"{name}: {share} without the image ({one['n']} images)")
    if summary["in_pool"]:
        out.print(
            f"[yellow]{', '.join(summary['in_pool'])}: easy-wrong rubrics were mined from other answers of this very "
            "model, which tells against it[/yellow]"
        )
    rubrics = summary["rubrics"]
    out.print(
        f"[dim]{rubrics['must_right']} must-right and {rubrics['easy_wrong']} easy-wrong rubrics, {rubrics['checked']} sets "
        f"checked by a person. All in percent, higher is better but for the gap; 95 % intervals, clustered by samples that "
        f"share an image. {summary['calls']} calls, cost {cost_text(summary['cost'])}[/dim]"
    )


def print_responses(out: Any, items: Sequence[Mapping[str, Any]]) -> None:
    """Print the responses to one sample, each with its rubrics."""
    for item in items:
        repeat = f" · repeat {item['repeat']}" if item["repeat"] else ""
        end = f"{item['failure']}: {item['reason']}" if item["failure"] else f"{item['score']:.2f}"
        out.print(escape(redact(f"\n{item['model']}{repeat} · {end}")), style="red" if item["failure"] else "bold")
        if item["response"]:
            out.print(escape(redact(item["response"])))
        for stream, mark in (("must_right", "gate"), ("easy_wrong", "fine")):
            for one in item[stream]:
                holds = one["holds"]
                sign, style = ("·", "dim") if holds is None else ("✓", "green") if holds else ("✗", "red")
                out.print(escape(redact(f"  {sign} {mark}  {one['statement']}")), style=style)


def ranked_models(models: Mapping[str, Any]) -> list[str]:
    """Return the models' names, the best gated score first, those without one last."""
    return sorted(models, key=lambda name: (-(models[name]["overall"] or {"mean": -1})["mean"], name))


def _scores(models: Mapping[str, Any], ranked: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column("model", overflow="fold", min_width=12)
    for _, title in COLUMNS:
        table.add_column(title, justify="right")
    table.add_column("gap", justify="right")
    table.add_column("judged", justify="right", no_wrap=True)
    failing = any(one["n_scored"] < one["n"] for one in models.values())
    if failing:
        table.add_column("bounds", justify="right")
        table.add_column("failed", overflow="fold")
    for name in ranked:
        one = models[name]
        cells = [figure(one[column]) for column, _ in COLUMNS]
        row = [escape(name), *cells, figure(one["reliability_gap"]), f"{one['n_scored']}/{one['n']}"]
        if failing:
            bounds = one["bounds"]["overall"]
            row.append("–" if bounds is None else f"{bounds['low']:.1f} – {bounds['high']:.1f}")
            row.append(", ".join(f"{count} {kind}" for kind, count in one["failures"].items()) or "–")
        table.add_row(*row)
    return table


def _domains(models: Mapping[str, Any], ranked: Sequence[str], domains: Sequence[str]) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1),
        caption="gated score by domain: mean and 95 % interval (judged of all)",
        caption_justify="left",
    )
    table.add_column("by domain", overflow="fold", min_width=12)
    for domain in domains:
        table.add_column(domain, justify="right")
    for name in ranked:
        cells: list[str] = []
        for domain in domains:
            one = models[name]["by_domain"].get(domain)
            cells.append("–" if one is None else f"{figure(one['overall'])}\n({one['n_scored']}/{one['n']})")
        table.add_row(escape(name), *cells)
    return table


def figure(one: Mapping[str, float] | None) -> str:
    """Return a figure over its interval, in two lines."""
    return "–" if one is None else f"{one['mean']:.2f}\n[{one['low']:.0f}, {one['high']:.0f}]"
