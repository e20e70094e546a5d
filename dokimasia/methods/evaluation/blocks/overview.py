"""The report's beginning: what was measured, on what, and what came of it in a few sentences."""

from collections.abc import Mapping
from typing import Any

from dokimasia.methods.evaluation.blocks.differences import apart
from dokimasia.report import figures
from dokimasia.report.blocks import Bullets, Cell, Facts, Section, Span
from dokimasia.report.data import ReportData

FEW = 6


def section(data: ReportData) -> Section:
    """Return the overview."""
    return Section("overview", "Overview", (Bullets(_findings(data)), Facts(_facts(data))))


def _facts(data: ReportData) -> list[tuple[str, Cell]]:
    facts, summary = data.facts, data.summary
    names = [name for name in summary["models"] if name not in data.blind_arms]
    shown = ", ".join(names[:FEW]) + (f" and {len(names) - FEW} more" if len(names) > FEW else "")
    rows: list[tuple[str, Cell]] = [
        ("Data", (facts.data_name, " · ", figures.count(summary["samples"], "/samples"), " samples")),
        ("Models", (shown or "none yet") + (" · each also without the image" if data.blind_arms else "")),
        ("Judge", ", ".join(_judges(data)) or "none: rules alone say whether an answer is right"),
        ("Run", (Span(facts.run, "code"), f" · seed {facts.seed} · Dokimasia {facts.accepted_by or facts.written_by}")),
    ]
    origin: Mapping[str, str] | None = summary["forked_from"]
    if origin:
        rows.append(
            ("Forked from", (Span(origin["run"], "code"), f" at {origin['node']}: what comes before was taken over"))
        )
    return rows


def _judges(data: ReportData) -> list[str]:
    return [
        f"{model.name} ({', '.join(model.steps)})" if model.steps else model.name
        for model in data.facts.models
        if model.role == "judge"
    ]


def _findings(data: ReportData) -> list[Cell]:
    found: list[Cell] = []
    models: Mapping[str, Any] = data.summary["models"]
    ranked = [name for name in data.ranked() if models[name]["score"] is not None and name not in data.blind_arms]
    right = _right(data)
    if not ranked:
        return right or ["Nothing was scored: there is no figure to report."]
    found += right
    best = ranked[0]
    place = figures.pointer("models", best, "score")
    score = models[best]["score"]
    found.append(
        (
            Span(best, "strong"),
            " scores " if len(ranked) == 1 else " scores highest: ",
            figures.score(score["mean"], f"{place}/mean"),
            " of 5 (" if score["low"] is None else " of 5 (95 % ",
            *_as_pieces(figures.interval(score, place)),
            ").",
        )
    )
    found += _lead(data, best)
    found.append(_coverage(data))
    blind: Mapping[str, Any] = data.summary.get("blind", {})
    shares = {name: one["share"] for name, one in blind.items() if one["share"] is not None}
    if shares:
        most = max(shares, key=lambda name: (shares[name], name))
        found.append(
            (
                "Without the image ",
                figures.share(shares[most], figures.pointer("blind", most, "share")),
                f" of the score above the floor survives for {most}"
                + (", more than for any other model." if len(shares) > 1 else "."),
            )
        )
    return found


def _right(data: ReportData) -> list[Cell]:
    """Which model answers right most often."""
    models: Mapping[str, Any] = data.summary["models"]
    shares = {
        name: one["accuracy"]
        for name, one in models.items()
        if name not in data.blind_arms and one["accuracy"] and one["accuracy"]["n"]
    }
    if not shares:
        return []
    best = max(sorted(shares), key=lambda name: shares[name]["share"])
    place = figures.pointer("models", best, "accuracy")
    cell = _as_pieces(figures.share_of(shares[best], place))
    often = " answers right in " if len(shares) == 1 else " answers right most often: "
    bounds = shares[best]["bounds"]
    left = ""
    if shares[best]["n"] < shares[best]["answers"]:
        left = (
            f" of the decided ones; of all {shares[best]['answers']} it is {bounds['low']:.0%} to {bounds['high']:.0%}"
        )
    return [(Span(best, "strong"), often, *cell, f"{left}.")]


def _lead(data: ReportData, best: str) -> list[Cell]:
    """How the best model stands to the next that was compared with it."""
    pair = next((pair for pair in data.differences if pair["better"] == best and pair["difference"] is not None), None)
    if pair is None:
        return []
    gap = pair["difference"]
    silence: list[Cell] = []
    if "stated" in pair and apart(pair["stated"]):
        shares = [figures.share(pair["stated"][side]) for side in ("second", "first")]
        whose = (Span(best, "strong"), " speaks to ", shares[0], " of the criteria's weight and ")
        said = " to ", shares[1], ", so that the difference that comes next also says how much each says."
        silence.append((*whose, Span(pair["worse"], "strong"), *said))
    sure = pair["adjusted"] is not None and pair["adjusted"] <= figures.SURE
    opening = "It is ahead of " if sure else "It cannot be told apart from "
    return [
        *silence,
        (
            opening,
            Span(pair["worse"], "strong"),
            ": on the ",
            figures.count(pair["n_paired"]),
            " samples scored for both the difference is ",
            Span(figures.signed_text(gap["mean"]), "strong"),
            " (" if gap["low"] is None else " (95 % ",
            *_as_pieces(figures.interval(gap, signed=True)),
            "; adjusted p ",
            _p_text(pair["adjusted"]),
            ").",
        ),
    ]


def _p_text(value: float | None) -> str:
    text = figures.p_value(value).text
    return text if text.startswith("<") else f"= {text}"


def _coverage(data: ReportData) -> Cell:
    models: Mapping[str, Any] = data.summary["models"]
    failing = {name: model for name, model in models.items() if model["answers_scored"] < model["answers"]}
    if not failing:
        return "Every answer was scored, for every model."
    worst = min(failing, key=lambda name: (failing[name]["coverage"], name))
    place = figures.pointer("models", worst)
    return (
        "Some answers have no score; the least covered model is ",
        Span(worst, "strong"),
        ": ",
        *_as_pieces(figures.scored_of(models[worst], place)),
        " scored (",
        figures.share(models[worst]["coverage"], f"{place}/coverage"),
        "). Failures are never numbers: they leave the mean and open bounds.",
    )


def _as_pieces(cell: Cell) -> tuple[str | Span, ...]:
    return cell if isinstance(cell, tuple) else (cell,)
