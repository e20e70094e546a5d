"""A peer review on a terminal: its figures, and one review whole with drafts, comparisons, votes and origins."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from dokimasia.cli.figures import difference_text, heading, rate_text, share_interval_text, share_text
from dokimasia.cli.shared import redact
from dokimasia.cli.tables import cost_text

PREVIEW = 160


def print_review(out: Any, summary: Mapping[str, Any], items: Sequence[Mapping[str, Any]], *, most: int) -> None:
    """Print a review's figures, and the first few samples with how they ended."""
    heading(out, summary, f"run {summary['run']} · review · panel {', '.join(summary['panel'])}")
    rule = "" if summary["accept"] == "unanimous" else f" (majority accepts: {_counts(summary['agreement'])})"
    out.print(f"accepted   {share_text(summary['accepted'])}{rule}")
    out.print(f"discarded  {share_text(summary['discarded'])}")
    incomplete = summary["verdicts"]["incomplete"]
    out.print(f"incomplete {incomplete} of {summary['n']}{_failed(summary)}", style="red" if incomplete else "")
    out.print(_member_table(summary))
    out.print(
        "[dim]self-preference: how much more often a member votes for its own text than the others vote for that text; "
        "vain votes: the share of its votes that go to its own text whatever it says, the others' vanity allowed for; "
        "first place: how often it chooses what it is shown first, of what chance gives. 95 % intervals, by image.[/dim]"
    )
    _print_golden(out, summary)
    for item in items[:most]:
        _print_item(out, item)
    if len(items) > most:
        out.print(f"[dim]and {len(items) - most} more; show RUN --sample ID shows one whole, --json all[/dim]")
    out.print(f"[dim]{summary['n']} samples, {summary['calls']} calls, cost {cost_text(summary['cost'])}[/dim]")


def print_sample(out: Any, item: Mapping[str, Any]) -> None:
    """Print one review whole: drafts, and cycle by cycle comparisons, rewrites and votes."""
    values: Sequence[Mapping[str, Any]] = item["values"]
    texts = {one["id"]: one["value"] for one in values if one["type"] == "Candidate"}
    _print_item(out, item, whole=True)
    for one in values:
        value = one["value"]
        if one["type"] == "Candidate":
            title = f"draft of {value['author']}" if not value["cycle"] else f"rewrite of {value['author']}"
            _say(out, f"\n{title}, cycle {value['cycle']}", "bold")
            _say(out, value["text"])
        elif one["type"] == "PeerReview":
            ranked = " > ".join(texts[id]["author"] for id in value["ranking"])
            _say(out, f"\n{value['reviewer']} compares, cycle {value['cycle']}: {ranked}", "bold cyan")
            _print_critiques(out, value, texts)
        elif one["type"] == "PeerVote":
            chosen = texts[value["choice"]]["author"]
            title = f"{value['voter']} votes, cycle {value['cycle']}: for {chosen} (shown as {value['place']})"
            _say(out, f"\n{title}", "bold cyan")
            _print_critiques(out, value, texts)
            _say(out, value["rationale"], "dim")
    if item["golden"]:
        _say(out, "\nwhere the sentences came from", "bold")
        for origin in item["golden"]["origins"]:
            where = f"draft of {origin['author']}" if not origin["cycle"] else f"added by {origin['author']}"
            also = f", also {', '.join(origin['also'])}" if origin["also"] else ""
            _say(out, f"{origin['sentence']}  [{where}{also}]")


def _member_table(summary: Mapping[str, Any]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column("member", overflow="fold", min_width=12)
    for name in ("own text", "others give it", "self-preference", "vain votes", "first place", "golden"):
        table.add_column(name, justify="right")
    preferences = summary["self_preference"]["votes"]
    rows = [(name, one, summary["places"]["members"][name]) for name, one in preferences["members"].items()]
    rows.append(("panel", preferences["panel"], summary["places"]["panel"]))
    for name, one, places in rows:
        first = f"{rate_text(places[0]['chosen'])} of {rate_text(places[0]['expected'])}" if places else "–"
        golden = str(summary["golden"]["last_author"].get(name, summary["golden"]["n"]))
        vain = share_interval_text(one["own_votes"]) if "own_votes" in one else ""
        cells = (rate_text(one["own"]), rate_text(one["others"]), difference_text(one), vain, first, golden)
        table.add_row(name, *cells, style="bold" if name == "panel" else "")
    return table


def _print_golden(out: Any, summary: Mapping[str, Any]) -> None:
    golden = summary["golden"]
    if not golden["n"]:
        out.print("[yellow]no caption was accepted[/yellow]")
        return
    words, cycles = golden["words"], _counts(summary["accepted_by_cycle"], "after cycle ")
    out.print(
        f"{golden['n']} golden captions ({cycles}), {words['mean']:.0f} words in the mean, {words['max']} at most; "
        f"of {golden['sentences']} sentences {golden['added_in_rewrites']} were added in rewrites"
    )
    waiting = golden["checked"].get("unverified", 0)
    if waiting:
        out.print(
            f"[yellow]{waiting} are unverified until a person has checked them: dokimasia check {summary['run']}[/yellow]"
        )


def _print_item(out: Any, item: Mapping[str, Any], *, whole: bool = False) -> None:
    record, golden = item["record"], item["golden"]
    if record is None:
        return
    style = {"accepted": "green", "discarded": "yellow", "incomplete": "red"}[record["verdict"]]
    marked = " · by majority" if golden and golden["agreement"] == "majority" else ""
    _say(out, f"{item['sample']} · {record['verdict']}{marked} · {record['reason']}", f"bold {style}")
    if golden:
        text = golden["text"] if whole else " ".join(golden["text"].split())
        _say(out, text if whole or len(text) <= PREVIEW else text[: PREVIEW - 1] + "…")


def _print_critiques(out: Any, value: Mapping[str, Any], texts: Mapping[str, Any]) -> None:
    for number, (id, critique) in enumerate(zip(value["shown"], value["critiques"], strict=True), start=1):
        if critique:
            _say(out, f"  {number} ({texts[id]['author']}): {critique}")


def _failed(summary: Mapping[str, Any]) -> str:
    if not summary["failures"]:
        return ""
    return f": {_counts(summary['failures'])} ({_counts(summary['failed_members'])})"


def _counts(counted: Mapping[str, int], before: str = "") -> str:
    return ", ".join(f"{n} {before}{name}" for name, n in counted.items()) or "none"


def _say(out: Any, text: str, style: str = "") -> None:
    out.print(escape(redact(text)), style=style)
