"""`dokimasia sim`: make data of the planted world, serve its simulated models over HTTP, have simulated people label."""

from collections.abc import Callable
from pathlib import Path

import click

from dokimasia.cli.shared import EXISTING_FILE, FILE
from dokimasia.report.figures import several


@click.group()
def command() -> None:
    """The planted world: scenes, questions and models whose truth is known."""


@command.command(short_help="Make data of the simulated world, with pictures.")
@click.argument("file", type=FILE)
@click.option(
    "--samples", type=click.IntRange(1), default=60, show_default=True, help="Number of questions, or of scenes."
)
@click.option(
    "--described", is_flag=True, help="Scenes to be described, without questions: data for review and filter."
)
@click.option(
    "--gold",
    type=click.Choice(["texts", "images"]),
    help="Data for perturb: scenes with a gold answer each, or with the prompt that they pass for having been made by.",
)
@click.option("--creative", is_flag=True, help="Creative cases of one to nine pictures, with criteria: data for duels.")
@click.option(
    "--disputed",
    type=click.FloatRange(0, 1),
    default=0.2,
    show_default=True,
    help="With --described: the share of scenes with a fact that can be read several ways.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed gives the same bytes."
)
@click.option(
    "--rankings", is_flag=True, help="Also responses, auxiliary responses and human rankings, in files beside FILE."
)
@click.option("--force", is_flag=True, help="Replace files with other content that are already there.")
def make(
    file: Path,
    samples: int,
    described: bool,
    gold: str | None,
    creative: bool,
    disputed: float,
    seed: int,
    rankings: bool,
    force: bool,
) -> None:
    """Write FILE (JSON lines) and its pictures in images/ beside it: seven domains, six kinds of question."""
    if described + creative + bool(gold) > 1:
        raise click.UsageError("--described, --creative and --gold make different data; leave all but one of them out")
    if rankings and (described or creative or gold):
        raise click.UsageError("--rankings are of answers to questions; leave out --described, --creative and --gold")

    def write(to: Path) -> list[str]:
        if gold:
            return [_write_gold_file(to, samples, seed, of_texts=gold == "texts")]
        return _write_files(
            to, samples, described=described, creative=creative, disputed=disputed, seed=seed, rankings=rankings
        )

    if not force:
        _check_free(file, write, rankings=rankings)
    for line in write(file):
        click.echo(f"wrote {line}")


def _write_gold_file(file: Path, samples: int, seed: int, *, of_texts: bool) -> str:
    from dokimasia.simulation.world import write_gold

    write_gold(file, samples, seed, of_texts=of_texts)
    return f"{several(samples, 'scene')} with {'gold answers' if of_texts else 'the prompts of gold images'}: {file}"


def _write_files(
    file: Path, samples: int, *, described: bool, creative: bool, disputed: float, seed: int, rankings: bool
) -> list[str]:
    """Write the files of a world, and return a description of each."""
    from dokimasia.simulation.ranked_world import write_ranked
    from dokimasia.simulation.world import write_creative, write_described, write_world

    if creative:
        return [f"{samples} creative cases on {write_creative(file, samples, seed)} pictures: {file}"]
    if described:
        open_facts = write_described(file, samples, seed, disputed=disputed)
        return [f"{several(samples, 'scene')} to be described, {open_facts} of them with a disputed fact: {file}"]
    pictures = write_world(file, samples, seed)
    lines = [f"{several(samples, 'question')} on {several(pictures, 'picture')}: {file}"]
    if rankings:
        lines += [f"{name}: {path}" for name, path in write_ranked(file, samples, seed).items()]
    return lines


def _check_free(file: Path, write: Callable[[Path], object], *, rankings: bool) -> None:
    """Refuse to replace a file with other content.

    Raises:
        InputError: a file exists with different content.
    """
    from tempfile import TemporaryDirectory

    from dokimasia.errors import InputError

    siblings = file.parent.glob(f"{file.stem}.*{file.suffix}") if rankings else ()
    if not file.exists() and not any(siblings):
        return
    with TemporaryDirectory() as folder:
        write(Path(folder) / file.name)
        for new_file in sorted(path for path in Path(folder).iterdir() if path.is_file()):
            target = file.with_name(new_file.name)
            if target.exists() and target.read_bytes() != new_file.read_bytes():
                raise InputError(
                    f"{target} is already there with another content; name another file, or replace it with --force"
                )


@command.command(short_help="Have a simulated person label perturbations.")
@click.argument("form", type=EXISTING_FILE)
@click.option("-o", "--output", type=FILE, required=True, help="Write the filled form here.")
@click.option(
    "--person",
    default="anna",
    show_default=True,
    help="Who fills it in: anna, ben, carla, dan, or eva, who hardly errs.",
)
def label(form: Path, output: Path, person: str) -> None:
    """Have a simulated person label the perturbations of FORM, which `dokimasia decide --export` wrote.

    The person sees planted pictures as they are and errs at a planted rate. The filled form goes to `dokimasia decide
    --import`.
    """
    from dokimasia.errors import DataError, InputError
    from dokimasia.simulation.people import CAREFUL_PERSON, PEOPLE, fill_label_form

    people = {person.name: person for person in (*PEOPLE, CAREFUL_PERSON)}
    if person not in people:
        raise click.UsageError(f"there is no {person!r}: simulated people are {', '.join(people)}")
    try:
        lines = list(fill_label_form(form, people[person]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{form} is no form that `dokimasia decide RUN --export` wrote, or its images are not beside it: {error}"
        ) from error
    if not lines:
        raise InputError(f"{form} holds no perturbation to label")
    output.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    click.echo(f"{person} labelled {several(len(lines), 'perturbation')}: {output}")


@command.command(short_help="Serve the simulated models over HTTP.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="0 takes a free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--latency", type=click.FloatRange(0), default=0.0, help="Seconds before each reply.")
@click.option(
    "--faults", default="", metavar="KIND=RATE,...", help="Plant faults, such as rate_limit=0.1,refusal=0.02."
)
@click.option("--log", "log_path", type=FILE, help="Write a JSON line per request here.")
@click.option(
    "--prompts",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Know the prompts of this folder, too, as `evaluate --prompts` asks by them.",
)
def serve(port: int, host: str, latency: float, faults: str, log_path: Path | None, prompts: tuple[Path, ...]) -> None:
    """Serve the simulated models on OpenAI's chat-completions format until Ctrl-C."""
    import asyncio

    from dokimasia.prompts import default_library
    from dokimasia.simulation.serving.faults import parse_faults
    from dokimasia.simulation.serving.server import serve as serve_models

    planted = parse_faults(faults)
    library = default_library().overridden(*prompts) if prompts else None

    def ready(url: str) -> None:
        click.echo(f"serving simulated models at {url} (Ctrl-C stops)")

    try:
        asyncio.run(
            serve_models(host, port, latency=latency, faults=planted, log_path=log_path, ready=ready, library=library)
        )
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
