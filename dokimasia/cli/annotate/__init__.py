"""`dokimasia annotate`: hand items out to people, blinded, read their ratings, and measure their agreement with judges."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from dokimasia.cli.annotate.judgements import epsilon_option, judgements, split_names
from dokimasia.cli.backend import Backend, with_backend
from dokimasia.cli.shared import (
    EXISTING_FILE,
    FILE,
    common,
    configured,
    console,
    json_option,
    print_json,
    read_ratings,
    say,
    say_read,
)
from dokimasia.report.figures import several

if TYPE_CHECKING:
    from dokimasia.methods.tree import Grouping
    from dokimasia.people.annotation import Subject
    from dokimasia.settings import Settings
    from dokimasia.storage.home import Home
    from dokimasia.storage.memory import MemoryBlobs


def _scores(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[int, int]:
    scores: dict[int, int] = {}
    for value in values:
        number, _, score = value.partition("=")
        if not (number.strip().isdecimal() and score.strip().isdecimal()):
            raise click.BadParameter(f"{value!r}: write it as NUMBER=SCORE, such as 2=4")
        scores[int(number)] = int(score)
    return scores


@click.command("overrule", short_help="Overrule a judge on an answer or a sample.")
@click.argument("run")
@click.argument("sample")
@click.option("--model", default="", help="Whose answer is corrected; NAME#blind for the arm without images.")
@click.option("--repeat", type=click.IntRange(0), default=0, show_default=True, help="Which of its answers, from 0.")
@click.option("--answer", type=click.Choice(["right", "wrong"]), help="What the final answer is.")
@click.option(
    "--criterion",
    "criteria",
    multiple=True,
    callback=_scores,
    metavar="NUMBER=SCORE",
    help="The score of a criterion, 1 to 5, or 0 for not stated (repeatable).",
)
@click.option("--leave-out", is_flag=True, help="Leave the sample out: its question or its reference is wrong.")
@click.option("--undo", is_flag=True, help="What the judge said counts again; with --leave-out, the sample does.")
@click.option("--reason", default="", help="Why; it stands beside the correction.")
@click.option("--who", help="Who corrects (default: the name of the user of this machine).")
@json_option
@with_backend
def overrule(
    backend: Backend, run: str, sample: str, model: str, who: str | None, as_json: bool, **correction: object
) -> None:
    """Overrule what the judge of RUN, an evaluation, said of an answer to SAMPLE; or leave SAMPLE out.

    The figures count what people said, and say how much that is. The judge's reply and its own verdict stay as they are.
    """
    from dokimasia import operations
    from dokimasia.cli.outcomes import person_named

    body = {"sample": sample, "model": model, **correction}
    correction_kept = backend.call(operations.finished.overrule, who=person_named(who), run=run, body=body)
    if as_json:
        print_json(correction_kept)
        return
    changes = ", ".join(f"{change.what}: {change.from_} → {change.to}" for change in correction_kept.changes)
    done = "what was corrected is taken back" if correction_kept.undo else changes or "left out of all figures"
    answer = f"{sample} · {model}" if model else sample
    console().print(f"{answer}: {done}", markup=False)


@click.command("comment", short_help="Write a comment on a sample.")
@click.argument("run")
@click.argument("sample")
@click.argument("text")
@click.option("--who", help="Who comments (default: the name of the user of this machine).")
@json_option
@with_backend
def comment(backend: Backend, run: str, sample: str, text: str, who: str | None, as_json: bool) -> None:
    """Write a comment on SAMPLE of RUN, for everybody who reads the run."""
    from dokimasia import operations
    from dokimasia.cli.outcomes import person_named

    body = {"sample": sample, "text": text}
    kept = backend.call(operations.comments.comment, who=person_named(who), run=run, body=body)
    if as_json:
        print_json(kept)
    else:
        console().print(f"comment {kept.id} on {kept.sample}", markup=False)


@click.command("comments", short_help="Print the comments on samples of a run.")
@click.argument("run", default="last")
@click.option("--sample", help="Only the comments on this sample.")
@json_option
@with_backend
def comments(backend: Backend, run: str, sample: str | None, as_json: bool) -> None:
    """Print the comments on samples of RUN, in the order in which they were written."""
    from dokimasia import operations

    function = operations.comments.comments
    entries = backend.entries(function, lambda page: page.comments, run=run, sample=sample)
    if as_json:
        print_json({"comments": [entry.model_dump(mode="json") for entry in entries]})
        return
    for entry in entries:
        console().print(f"{entry.id}  {entry.sample}  {entry.who}, {entry.at}: {entry.text}", markup=False)
    if not entries:
        console().print("no comments")


@click.command("delete-comment", short_help="Delete a comment by its number.")
@click.argument("run")
@click.argument("number", type=click.IntRange(1))
@click.option("--who", help="Whose comment it is (default: the name of the user of this machine).")
@json_option
@with_backend
def delete_comment(backend: Backend, run: str, number: int, who: str | None, as_json: bool) -> None:
    """Delete comment NUMBER, as `annotate comments` prints it, on a sample of RUN."""
    from dokimasia import operations
    from dokimasia.cli.outcomes import person_named

    deleted = backend.call(operations.comments.delete_comment, who=person_named(who), run=run, id=number)
    if as_json:
        print_json(deleted)
    else:
        console().print(f"comment {deleted.id} on {deleted.sample} is deleted", markup=False)


FOLDER = click.Path(file_okay=False, path_type=Path)


def _scale(context: click.Context, option: click.Parameter, value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    from dokimasia.domain.annotation import scale_ends

    try:
        return scale_ends(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is no scale of 2 to 11 whole numbers: write it as 1-5") from None


class AnnotateGroup(click.Group):
    """The subcommands of `annotate`; a former name of one gives an error with its present name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the subcommand.

        Raises:
            click.UsageError: there is no such subcommand.
        """
        if args and args[0] == "correct":
            raise click.UsageError("`annotate correct` is called `annotate overrule` now", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=AnnotateGroup)
def command() -> None:
    """Collect blind ratings of responses, pairs or criteria as files, compare them with judges, or overrule a judge."""


for verb in (overrule, comment, comments, delete_comment, judgements):
    command.add_command(verb)


class DrawOptions(NamedTuple):
    """The options of `annotate draw`: what is handed out to whom, and how it is drawn."""

    annotators: tuple[str, ...]
    output: Path
    key: Path | None
    data: Path | None
    models: tuple[str, ...]
    baseline: str | None
    criteria: bool
    ranking: bool
    by: "Grouping"
    tree: str | None
    per: int | None
    cases: int | None
    scale: tuple[int, int] | None
    only: Path | None
    seed: int


@command.command(short_help="Draw cases and write a form for each annotator.")
@click.argument("source", type=click.Path(path_type=Path), metavar="RUN|FILE")
@click.option("--annotators", required=True, callback=split_names, help="The annotators, separated by commas.")
@click.option("-o", "--output", required=True, type=FOLDER, help="The folder that is handed out.")
@click.option("--key", type=FILE, help="Where the key goes, which says who is whom (default: FOLDER.key.jsonl).")
@click.option("--data", type=click.Path(exists=True, path_type=Path), help="The data set of a file of responses.")
@click.option("--models", callback=split_names, help="Only these models' responses, separated by commas.")
@click.option("--baseline", help="Show each response beside this model's, in drawn sides.")
@click.option("--criteria", is_flag=True, help="Have the criteria of an evaluation rated: accuracy and necessity.")
@click.option("--ranking", is_flag=True, help="Have all responses of a case ranked together; equal places are ties.")
@click.option(
    "--by", type=click.Choice(["category", "capability", "leaf"]), default="category", show_default=True,
    help="--criteria: draw evenly over the data's categories, or a tree's categories or leaves.",
)  # fmt: skip
@click.option("--tree", help="--by: which tree (default: the newest that fits).")
@click.option("--per", type=click.IntRange(1), help="Number of cases to draw from each category (default: all).")
@click.option(
    "--cases",
    type=click.IntRange(1),
    help="Number of cases to draw from all, whatever their category; with --scale 0-1 the number of answers of each model.",
)
@click.option(
    "--scale",
    callback=_scale,
    metavar="LOW-HIGH",
    help="The scale of single responses (default: 1-5); 0-1 asks whether each is right, of those that no rule decided, for "
    "`correct --human`.",
)
@click.option("--only", type=EXISTING_FILE, help="Only what this file of disagreements names.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of cases, order and sides.")
@common
def draw(settings: "Settings", source: Path, **values: Any) -> None:
    """Draw cases of RUN, or of a FILE of responses, and write a form for each annotator: a page, a table, JSON lines.

    Nothing in the folder says whose response is which; order and sides are drawn for each annotator alone. What does say it
    is the key, which stays with you.
    """
    from dokimasia.domain.annotation import SCALES, SCORE
    from dokimasia.people.annotation import hand_out
    from dokimasia.storage.home import Home
    from dokimasia.storage.memory import MemoryBlobs

    options = DrawOptions(**values)
    if options.criteria and (options.baseline or options.models):
        raise click.UsageError("--criteria are rated by themselves: leave --models and --baseline out")
    if options.ranking and (options.criteria or options.baseline or options.scale):
        raise click.UsageError("--ranking ranks whole responses: leave --criteria, --baseline and --scale out")
    if options.by != "category" and not options.criteria:
        raise click.UsageError("--by goes with --criteria; responses are drawn by the data's categories")
    if options.cases is not None and options.per is not None:
        raise click.UsageError("--per draws cases of each category, --cases of all: name one of them")
    hand_out_options = {
        "annotators": options.annotators,
        "folder": options.output.absolute(),
        "key": options.key,
        "per": options.per,
        "cases": options.cases,
        "seed": options.seed,
        "scale": options.scale or SCALES[SCORE],
    }
    if source.is_file():
        blobs = MemoryBlobs()
        summary = hand_out(_of_file(source, options, blobs), source=source.name, blobs=blobs, **hand_out_options)
    else:
        with Home.open(settings.home, write=False) as home:
            run, subjects = _of_run(home, str(source), options)
            summary = hand_out(subjects, source=run, blobs=home.blobs, **hand_out_options)
    click.echo(
        f"drew {several(summary.cases, 'case')}, {several(summary.items, 'item')} for "
        f"{'each of ' if len(options.annotators) > 1 else ''}{several(len(options.annotators), 'annotator')}: "
        f"{options.output}/NAME/annotate.html, or fill in NAME/form.csv",
        err=True,
    )
    if summary.by_model:
        counts = ", ".join(f"{name} {drawn} of {total}" for name, (drawn, total) in summary.by_model.items())
        click.echo(f"answers that no rule decided, spread over the judge's verdicts: {counts}", err=True)
    click.echo(f"the key is {summary.key}: keep it from those who annotate", err=True)
    for name, count in summary.naming.items():
        click.echo(f"{count} responses contain {name.rpartition('/')[2]!r}, the name of a model", err=True)


def _of_file(path: Path, options: DrawOptions, blobs: "MemoryBlobs") -> "list[Subject]":
    from dokimasia.people.annotation import answers_of_file, rankings_of, responses_of, samples_of_file

    if options.criteria:
        raise click.UsageError("--criteria are those of a run: name the run")
    if options.data is None:
        raise click.UsageError("a file of responses needs its questions and images: --data DATA")
    samples = samples_of_file(options.data, blobs)
    answers = answers_of_file(path, {sample.id for sample in samples})
    models = {model for _, model in answers}
    say_read(options.data, several(len(samples), "sample"))
    say_read(path, several(len(answers), "answer"), several(len(models), "model"))
    if options.ranking:
        return _only(rankings_of(samples, answers, models=options.models), options)
    return _only(responses_of(samples, answers, models=options.models, baseline=options.baseline or ""), options)


def _of_run(home: "Home", text: str, options: DrawOptions) -> "tuple[str, list[Subject]]":
    from dokimasia.methods.tree import criteria_groups
    from dokimasia.people.annotation import (
        answers_of_run,
        criteria_of,
        open_answers,
        pairs_of_run,
        rankings_of,
        responses_of,
    )
    from dokimasia.people.annotation.agreement import RIGHT_OR_WRONG
    from dokimasia.storage.naming import resolve_run
    from dokimasia.storage.runs import load_samples

    run = resolve_run(home, text)
    if options.criteria:
        return run.id, _only(criteria_of(home, run, criteria_groups(home, run, options.by, options.tree)), options)
    if options.ranking:
        answers, samples = answers_of_run(home, run), load_samples(home, run.id)
        return run.id, _only(rankings_of(samples, answers, models=options.models), options)
    pairs = None if options.baseline else pairs_of_run(home, run, models=options.models)
    if pairs is not None:
        return run.id, _only(pairs, options)
    answers, samples = answers_of_run(home, run), load_samples(home, run.id)
    subjects = responses_of(samples, answers, models=options.models, baseline=options.baseline or "")
    if options.scale == RIGHT_OR_WRONG and not options.baseline:
        subjects = open_answers(home, run, subjects)
    return run.id, _only(subjects, options)


def _only(subjects: "list[Subject]", options: DrawOptions) -> "list[Subject]":
    from dokimasia.errors import DataError
    from dokimasia.people.annotation import things_of

    if options.only is None:
        return subjects
    things = things_of(options.only)
    samples = {thing.id for thing in things}
    selected = [
        subject for subject in subjects if subject.unit in things or (subject.models and subject.unit.id in samples)
    ]
    if not selected:
        raise DataError(f"{options.only}: nothing that it names is among what can be shown")
    return selected


@command.command(short_help="Read filled forms back into a file of annotations.")
@click.argument("key", type=EXISTING_FILE)
@click.argument("forms", type=EXISTING_FILE, nargs=-1, required=True)
@click.option("-o", "--output", required=True, type=FILE, help="Write the annotations here (.jsonl or .csv).")
@configured
def read(settings: "Settings", key: Path, forms: tuple[Path, ...], output: Path) -> None:
    """Read filled FORMS back by their KEY: what was said, of which model and by whom."""
    from dokimasia.people.annotation import read_forms, read_key, written
    from dokimasia.runs.reading.exporting import write_whole

    annotations = read_forms(*read_key(key), forms)
    write_whole(output, written(annotations.annotations, output))
    waiting = f"; {several(annotations.waiting, 'line')} not filled in" if annotations.waiting else ""
    say(f"wrote {several(len(annotations.annotations), 'annotation')} to {output}{waiting}")


@command.command(short_help="List what people differ on, to be decided.")
@click.argument("annotations", type=EXISTING_FILE)
@click.option(
    "--more-than",
    type=click.FloatRange(0),
    help="What people have to differ by, and more, to be listed (default: 1; on a scale of 0 and 1: 0).",
)
@click.option("-o", "--output", required=True, type=FILE, help="Write them here (.csv or .jsonl).")
@configured
def disagreements(settings: "Settings", annotations: Path, more_than: float | None, output: Path) -> None:
    """Write down what people differ on, with fields for who decides and what; `draw --only` hands it out blind."""
    from dokimasia.people.annotation import disagreements as differing
    from dokimasia.people.annotation import usual_disagreement, write_disagreements

    ratings = read_ratings(annotations)
    if more_than is None:
        more_than = usual_disagreement(ratings)
    rows = differing(ratings, more_than=more_than)
    write_disagreements(rows, output)
    by_more = f" by more than {more_than:g}" if more_than else ""
    click.echo(f"{several(len(rows), 'item')} on which people differ{by_more}, written to {output}", err=True)


@command.command(short_help="Apply decisions on what people differ on.")
@click.argument("annotations", type=EXISTING_FILE)
@click.argument("decisions", type=EXISTING_FILE)
@click.option("-o", "--output", required=True, type=FILE, help="Write annotations and decisions here.")
@configured
def adjudicate(settings: "Settings", annotations: Path, decisions: Path, output: Path) -> None:
    """Take in DECISIONS: a decided value holds in place of what was said, which stays in the file."""
    from dokimasia.people.annotation import adjudicate as decided
    from dokimasia.people.annotation import written
    from dokimasia.runs.reading.exporting import write_whole

    ratings = read_ratings(annotations)
    adjudicated = decided(ratings, decisions)
    write_whole(output, written(adjudicated, output))
    click.echo(f"{several(len(adjudicated) - len(ratings), 'decision')} taken in: {output}", err=True)


@command.command(short_help="Measure how far people and judges agree.")
@click.argument("annotations", type=EXISTING_FILE)
@click.option("--run", "runs", multiple=True, metavar="RUN", help="Hold this run's judge against people.")
@click.option("--judged", type=EXISTING_FILE, multiple=True, help="A file of a judge's ratings, as of annotations.")
@click.option(
    "--scale",
    callback=_scale,
    metavar="LOW-HIGH",
    help="People's scale of scores (default: that of the draw, else 1-5).",
)
@epsilon_option
@json_option
@common
def agreement(
    settings: "Settings",
    annotations: Path,
    runs: tuple[str, ...],
    judged: tuple[Path, ...],
    scale: tuple[int, int] | None,
    epsilon: float,
    as_json: bool,
) -> None:
    """Print how far people agree with each other and judges with them: MAE, consistency, kappa, alpha.

    A judge is held against the mean of people, or what was adjudicated; a person against the mean of the others. Consistent
    is a rating at most 1 away. With --scale 0-1 labels of right and wrong are held against the judge's verdicts, with
    sensitivity and specificity, and what rules decided stands apart. Where two people or more rated the same things, the
    judge stands beside people against the same others. Intervals are clustered by image.
    """
    from dokimasia.people.annotation import compare
    from dokimasia.storage.home import Home
    from dokimasia.storage.naming import resolve_run

    if runs:
        with Home.open(settings.home, write=False) as home:
            run_rows = [resolve_run(home, text) for text in runs]
            figures = compare(home, annotations, runs=run_rows, judged=judged, scale=scale, epsilon=epsilon)
    else:
        figures = compare(None, annotations, judged=judged, scale=scale, epsilon=epsilon)
    for file in (annotations, *judged):
        read_ratings(file, unrated=[])
    if as_json:
        print_json(figures)
        return
    from dokimasia.cli.annotate.tables import tables

    out = console()
    for table in tables(figures):
        out.print(table)
