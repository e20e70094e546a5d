"""The report's beginning: what was measured, on what, and what came of it in a few sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

from dokimasia.methods.evaluation.blocks.differences import apart
from dokimasia.report import figures
from dokimasia.report.blocks import Bullets, Cell, Facts, Section, Span, plain
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
    right = strict_accuracy(data)
    if not ranked:
        return right or ["Nothing was scored: there is no figure to report."]
    found += right
    best = _most({name: models[name]["score"]["mean"] for name in ranked})
    means: list[Cell] = [_mean(models[name]["score"], figures.pointer("models", name, "score")) for name in best]
    alone = " scores " if len(ranked) == 1 else " scores highest: "
    found.append((*_named(best), alone if len(best) == 1 else " score highest, and alike: ", *_joined(means), "."))
    if len(best) == 1:
        found += _lead(data, best[0])
    found.append(_coverage(data))
    blind: Mapping[str, Any] = data.summary.get("blind", {})
    shares = {name: one["share"] for name, one in blind.items() if one["share"] is not None}
    if shares:
        most = _most(shares)
        found.append(
            (
                "Without the image ",
                figures.share(shares[most[0]], figures.pointer("blind", most[0], "share")),
                " of the score above the floor survives for ",
                *_named(most),
                ", more than for any other model." if len(shares) > len(most) else ".",
            )
        )
    return found


def _mean(score: Mapping[str, Any], place: str) -> Cell:
    return (
        figures.score(score["mean"], f"{place}/mean"),
        " of 5 (" if score["low"] is None else " of 5 (95 % ",
        *_as_pieces(figures.interval(score, place)),
        ")",
    )


def strict_accuracy(data: ReportData) -> list[Cell]:
    """Return which model has the highest strict accuracy, and which ones undecided answers could put ahead of it."""
    models: Mapping[str, Any] = data.summary["models"]
    found = {
        name: one["strict_accuracy"]
        for name, one in models.items()
        if name not in data.blind_arms and one["strict_accuracy"] and one["strict_accuracy"]["n"]
    }
    if not found:
        return []
    best = _most({name: one["share"] for name, one in found.items()})
    measured: list[Cell] = [_strict(found[name], figures.pointer("models", name, "strict_accuracy")) for name in best]
    if len(found) == 1:
        return [(*_named(best), ": strict accuracy ", *_as_pieces(measured[0]), ".")]
    only = len(best) == len(found)
    highest = (
        " has the highest strict accuracy: "
        if len(best) == 1
        else (" have the same strict accuracy: " if only else " have the highest strict accuracy, and the same: ")
    )
    verdict: list[Cell] = [(*_named(best), highest, *_joined(measured), ".")]
    if ahead := sorted(name for name in found if name not in best and found[name]["upper"] > found[best[0]]["share"]):
        verdict.append(("Undecided answers could put ", *_named(ahead), " ahead, if they are right."))
    return verdict


def _strict(accuracy: Mapping[str, Any], place: str) -> Cell:
    """Return a strict accuracy with its interval, and apart from that what undecided and failed answers leave open."""
    n, undecided, answers = accuracy["n"], accuracy["n_undecided"], accuracy["answers"]
    cell = (*_as_pieces(figures.right_of(accuracy, place)), f" of {figures.several(n, 'answer')}")
    if undecided:
        open_ones = "the undecided answer is" if undecided == 1 else f"the {undecided:,} undecided answers are"
        cell = (*cell, ", up to ", figures.upper_of(accuracy, place), f" if {open_ones} right")
    if n < answers:
        between = figures.percent_bounds(accuracy)
        cell = (
            *cell,
            f"; {answers - n:,} of {answers:,} answers have no verdict, over all it is ",
            *_as_pieces(between),
        )
    return cell


def _most(values: Mapping[str, float]) -> list[str]:
    """The names of the highest value: several where they tie."""
    highest = max(values.values())
    return sorted(name for name, value in values.items() if value == highest)


def _named(names: Sequence[str]) -> tuple[str | Span, ...]:
    """Names in a sentence: one, two with *and*, or more with commas."""
    pieces: list[str | Span] = []
    for at, name in enumerate(names):
        between = "" if not at else " and " if at == len(names) - 1 else ", "
        pieces += [between, Span(name, "strong")]
    return tuple(pieces[1:])


def _joined(cells: Sequence[Cell]) -> tuple[str | Span, ...]:
    """What is said of each of several; once where it is the same."""
    if len(set(map(plain, cells))) == 1:
        return _as_pieces(cells[0])
    pieces: list[str | Span] = []
    for cell in cells:
        pieces += ["; ", *_as_pieces(cell)]
    return tuple(pieces[1:])


def _lead(data: ReportData, best: str) -> list[Cell]:
    """How the best model stands to the next that was compared with it."""
    pair = next((pair for pair in data.differences if pair["better"] == best and pair["difference"] is not None), None)
    if pair is None:
        return []
    gap = pair["difference"]
    silence: list[Cell] = []
    if "stated" in pair and apart(pair["stated"]):
        shares = [figures.spoken(pair["stated"][side]) for side in ("second", "first")]
        both = ("On the ", figures.count(pair["stated"]["n"]), " samples scored for both ")
        whose = (*both, Span(best, "strong"), " speaks to ", shares[0], " of the criteria's weight and ")
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
        if data.summary.get("open_items"):
            return "Every answer that has a result so far was scored."
        return "Every answer was scored, for every model."
    worst = _most({name: -one["coverage"] for name, one in failing.items()})
    place = figures.pointer("models", worst[0])
    return (
        "Some answers have no score; the least covered ",
        "model is " if len(worst) == 1 else "models are ",
        *_named(worst),
        ": ",
        *_joined([figures.scored_of(models[name], figures.pointer("models", name)) for name in worst]),
        " scored (",
        figures.share(models[worst[0]]["coverage"], f"{place}/coverage"),
        "). Failures are never numbers: they leave the mean and open bounds.",
    )


def _as_pieces(cell: Cell) -> tuple[str | Span, ...]:
    return cell if isinstance(cell, tuple) else (cell,)
