"""One sample of a refinement on the terminal: what each model was told, what it answered, and what that is worth."""

from collections.abc import Mapping
from typing import Any

from rich.markup import escape

from dokimasia.cli.shared import console, redact


def print_refined_sample(view: Mapping[str, Any]) -> None:
    """Print one sample of a refinement: what each model was told in each arm, what it answered, and what that is worth."""
    out = console()

    def say(text: str, style: str = "") -> None:
        out.print(escape(redact(text)), style=style)

    say(f"sample {view['sample']['id']}", "bold")
    say(view["sample"]["prompt"])
    if view["sample"]["reference_answer"] is not None:
        say(f"reference: {view['sample']['reference_answer']}", "green")
    for number, one in enumerate(view["criteria"]["criteria"], start=1):
        say(f"{number}. {one['question']}")
        say(f"   {one['ground_truth']}", "green")
    for one in view["rounds"]:
        repeat = f" · repeat {one['repeat']}" if one["repeat"] else ""
        round = f" · round {one['round']}" if one["round"] else ""
        verdict = one["failure"] or f"{one['answered']} ({one['rule']})"
        say(f"\n{one['model']}{repeat} · {one['arm']}{round} · {verdict}", "bold")
        for point in one["points"]:
            missing = point["fallback"] or ("left out: it gives something away" if point["dropped"] else "")
            say(f"told: {point['atom']}. {point['question']}" + (f" [{missing}]" if missing else ""), "cyan")
            if point["hint"]:
                say(f"   hint of {point['peer']}: {point['hint']}", "cyan")
            for leak in point["leaks"]:
                say(f"   found to leak ({leak['form']}): {leak['excerpt']}", "yellow")
        if one["text"]:
            say(one["text"])
        if one["after"]:
            marks = {**dict.fromkeys(one["shown"], "shown"), **dict.fromkeys(one["withheld"], "withheld")}
            scores = [
                f"{n}:{before:g}→{after:g}" + (f" ({marks[n]})" if n in marks else "")
                for n, (before, after) in enumerate(zip(one["before"], one["after"], strict=True), start=1)
            ]
            say("scores by criterion: " + "  ".join(scores), "magenta")
        elif one["reason"]:
            say(one["reason"], "red")
