"""`dokimasia diagnose RUN --write`: reports in words, written by a judge, with every figure printed by the program."""

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dokimasia.settings import Settings
    from dokimasia.storage.runs import Run


def write_reports(
    settings: "Settings", run: str, *, tree: str | None, judge: str | None, seed: int | None, as_json: bool, **more: Any
) -> None:
    """Have a judge write reports on a run, or show those that it wrote, and print them."""
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.diagnosis.plan import WordsRequest
    from dokimasia.methods.diagnosis.words import write_diagnosis

    if judge is None:
        raise click.UsageError("--write needs --judge M: who writes")
    request = WordsRequest(run=run, judge=judge, tree=tree, seed=seed, **more)
    result = run_to_end(
        lambda observer, stop: write_diagnosis(request, settings=settings, observer=observer, stop=stop), settings
    )
    print_run(settings, result.run, as_json=as_json, figures=result.summary)


def resume_run(settings: "Settings", run: "Run", changes: dict[str, Any], *, as_json: bool) -> None:
    """Go on with a diagnosis in words under other limits, and print what it came to."""
    from dokimasia.cli.drawing import print_run
    from dokimasia.cli.running import run_to_end
    from dokimasia.methods.diagnosis.words import read_words_plan, resume_words

    asked = read_words_plan(run)[1].model_copy(update=changes)
    result = run_to_end(
        lambda observer, stop: resume_words(run, settings=settings, request=asked, observer=observer, stop=stop),
        settings,
    )
    print_run(settings, result.run, as_json=as_json, figures=result.summary)
