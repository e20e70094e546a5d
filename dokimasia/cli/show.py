"""`dokimasia show`: a run's results, or one sample of it with chain, criteria, answers and scores."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from dokimasia.cli.shared import common, console, json_option, print_json

if TYPE_CHECKING:
    from dokimasia.settings import Settings


@click.command()
@click.argument("run")
@click.option("--sample", help="Show this sample whole.")
@click.option("--raw", is_flag=True, help="With --sample: also every request and reply as it was sent.")
@json_option
@common
def command(settings: "Settings", run: str, sample: str | None, raw: bool, as_json: bool) -> None:
    """Show the results of RUN (the beginning of its id, or `last`, will do)."""
    import asyncio

    from dokimasia.cli.kinds import verb_of
    from dokimasia.cli.run import print_graph_run
    from dokimasia.cli.running import print_result
    from dokimasia.methods.evaluation.evaluation import read_plan
    from dokimasia.methods.evaluation.results import summary_of
    from dokimasia.methods.evaluation.sample_view import sample_view
    from dokimasia.methods.graph.plan import KIND
    from dokimasia.storage.home import Home
    from dokimasia.storage.runs import resolve_run

    if raw and sample is None:
        raise click.UsageError("--raw goes with --sample ID")
    with Home.open(settings.home, write=False) as home:
        found = resolve_run(home, run)
        verb = verb_of(found)
        if verb is not None:
            if raw:
                raise click.UsageError("--raw shows the calls of an evaluation")
            verb.show_run(settings, found, as_json=as_json, sample=sample)
            return
        if found.options.get("kind") == KIND:
            if raw:
                raise click.UsageError("--raw shows the calls of an evaluation")
            print_graph_run(settings, found.id, as_json=as_json, sample=sample)
            return
        read_plan(found)
        if sample is None:
            print_result(summary_of(home, found), as_json=as_json)
            return
        view = asyncio.run(sample_view(home, found, sample, raw=raw))
    if as_json:
        print_json(view)
    else:
        _print_view(view)


def _print_view(view: dict[str, Any]) -> None:
    from rich.markup import escape

    from dokimasia.cli.shared import redact
    from dokimasia.methods.evaluation.sample_view import call_texts, look_line

    out = console()

    def say(text: str, style: str = "") -> None:
        out.print(escape(redact(text)), style=style)

    def say_looks(looks: Sequence[dict[str, Any]]) -> None:
        for look in looks:
            say(f"looked closer: {look_line(look)}", "yellow" if look["failed"] else "dim")

    sample = view["sample"]
    say(f"sample {sample['id']}", "bold")
    for image in sample["images"]:
        say(f"image {image['sha256'][:12]}  {image['width']}×{image['height']} {image['media_type']}", "dim")
    say(sample["prompt"])
    for number, choice in enumerate(sample["choices"]):
        say(f"  {chr(ord('A') + number)}. {choice}")
    if sample["reference_answer"] is not None:
        say(f"reference: {sample['reference_answer']}", "green")
    replay = view["replay"]
    if replay is None:
        say("\nno criteria yet", "yellow")
    elif replay["failure"]:
        say(f"\nno criteria: {replay['failure']}: {replay['reason']}", "red")
    criteria = (replay or {}).get("criteria") or {"criteria": [], "repaired": False}
    if replay and replay["chain"]:
        say("\nreference chain", "bold")
        say(replay["chain"]["reasoning"])
        say(f"answer: {replay['chain']['answer']}", "green")
    say_looks((replay or {}).get("looks", ()))
    if criteria["criteria"]:
        say("\ncriteria" + (" (weights rescaled)" if criteria["repaired"] else ""), "bold")
    for number, one in enumerate(criteria["criteria"], start=1):
        box = one["anchor"]["box"]
        where = "whole image" if box is None else "[{x0:.2f} {y0:.2f} {x1:.2f} {y1:.2f}]".format(**box)
        say(f"{number}. (weight {one['weight']}, {where}) {one['question']}")
        say(f"   {one['ground_truth']}", "green")
    coverage = view["coverage"]
    if coverage and coverage["uncovered"]:
        missed, sentences = len(coverage["uncovered"]), coverage["sentences"]
        say(f"\nno criterion touches (by its words) {missed} of the reference's {sentences} sentences", "bold yellow")
        for sentence in coverage["uncovered"]:
            say(f"- {sentence}")
    elif coverage:
        say("\nthe criteria touch every sentence of the reference (by its words)", "dim")
    for answer in view["answers"]:
        repeat = f" · repeat {answer['repeat']}" if answer["repeat"] else ""
        result = f"{answer['score']:.2f}" if answer["score"] is not None else f"{answer['failure']}: {answer['reason']}"
        say(f"\n{answer['model']}{repeat} · {result}", "bold" if answer["score"] is not None else "bold red")
        if answer["response"]:
            if answer["response"]["flags"]:
                say(f"flags: {', '.join(answer['response']['flags'])}", "yellow")
            say(answer["response"]["text"])
        if answer["judgement"]:
            scores = " ".join(f"{n}:{score}" for n, score in enumerate(answer["judgement"]["scores"], start=1))
            say(f"scores by criterion: {scores}", "cyan")
        say_looks(answer["looks"])
    if view.get("earlier"):
        say("\nasked anew", "bold")
    for one in view.get("earlier", ()):
        say(f"{one['item']}: before attempt {one['next_attempt']}: {one['failure']}: {one['reason']}", "dim")
    for call in view.get("calls", ()):
        out.rule(f"{call['label']} · {call['key']}")
        for who, text in call_texts(call):
            say(f"[{who}]", "bold")
            say(text)
