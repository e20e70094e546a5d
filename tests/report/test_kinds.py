"""Every kind of run: `show` and both formats of `report` work, and the terminal and Markdown show the same figures."""

import asyncio
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.planted_perturbations import write_perturbations
from dokimasia.cli.main import run
from dokimasia.methods.graph import GraphRequest, run_graph
from dokimasia.report.blocks import Block, Place, Table, drawn_at, plain
from dokimasia.report.conclusions import MOST_SENTENCES
from dokimasia.report.data import SIMULATED_NOTE, ReportData
from dokimasia.report.document import inline, render_document
from dokimasia.report.footnotes import noted
from dokimasia.report.sections import sections_of
from dokimasia.report.terminal import MOST_COLUMNS, draw_run, in_brief
from dokimasia.runs.catalogue import OWN, own_method
from dokimasia.runs.reading.reporting import report_data
from dokimasia.settings import load_settings
from dokimasia.simulation.world import write_described, write_gold, write_world
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import get_run, list_runs
from tests.looks import made_once
from tests.methods.test_graph_run import graph_file

Said = Callable[..., str]
KINDS = {name: own_method(name).report.drawing() for name in OWN}
WITH_SAMPLES = [kind for kind, one in KINDS.items() if one.sample is not None]
ALL = 100_000
PLACES: tuple[Place, ...] = ("terminal", "page")


def test_the_catalogue_says_which_methods_add_to_the_page_of_another() -> None:
    adding = [name for name in OWN if own_method(name).report.adds is not None]
    assert adding == [name for name, entry in OWN.items() if entry.adds]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a finished run of every kind, a small one each."""
    folder = tmp_path_factory.mktemp("kinds")
    write_world(folder / "world.jsonl", 14, 1)
    write_described(folder / "described.jsonl", 7, 3)
    world, described = str(folder / "world.jsonl"), str(folder / "described.jsonl")
    write_gold(folder / "gold.jsonl", 3, 1)
    gold = str(folder / "gold.jsonl")
    models = "sim/strong,sim/weak"
    ranked = str(folder / "ranked.jsonl")
    write_perturbations(
        folder / "perturbed.jsonl", 3, dimensions=("numerical_errors", "misread_key_elements", "score_neutral")
    )
    assert run(["sim", "make", ranked, "--samples", "5", "--rankings"]) == 0
    given = [text for name in ("responses", "rankings") for text in (f"--{name}", str(folder / f"ranked.{name}.jsonl"))]
    for verb in (
        ("evaluate", world, "--judge", "sim/judge", "--models", models),
        ("diagnose", "last", "--write", "--judge", "sim/judge"),
        ("diagnose", "last", "--fingerprint", "--judge", "sim/judge", "--responses", "3", "--trials", "2"),
    ):
        assert run([*verb, "--json", "--home", str(folder / "home")]) == 0
    source = runs_of(folder / "home")["evaluate"]
    for verb in (
        ("tree", "grow", source, "--judge", "sim/judge"),
        ("refine", source, "--models", "sim/weak", "--strategy", "self"),
        ("modes", source, "--judge", "sim/judge"),
        ("filter", described, "--judge", "sim/judge", "--thresholds", "all=5,5"),
        ("review", described, "--panel", "sim/panel-a,sim/panel-b,sim/panel-c"),
        ("rubrics", "last", "--judge", "sim/judge", "--pool", "sim/hasty"),
        ("audit", described, "--rubrics", "last", "--models", models, "--judge", "sim/judge"),
        ("duel", world, "--limit", "5", "--models", models, "--baseline", "sim/steady", "--judge", "sim/judge"),
        ("criteria", "quality", source, "--rater", "sim/judge-noisy", "--per", "2"),
        ("compare-judging", ranked, *given, "--judges", "sim/judge", "--methods", "pointwise,batch"),
        (
            "probe",
            str(folder / "perturbed.jsonl"),
            "--judges",
            "sim/judge,sim/judge-nearsighted",
            "--unchecked",
            "--tools",
            "zoom",
        ),
        ("arena", world, "--limit", "5", "--models", f"{models},sim/steady", "--judge", "sim/judge"),
        ("perturb", gold, "--perturber", "sim/judge-meddler", "--checker", "sim/judge", "--max-failures", "100%"),
    ):
        with made_once():
            assert run([*verb, "--json", "--home", str(folder / "home")]) == 0
    settings = load_settings(home=folder / "home", cwd=folder, env={})
    asked = GraphRequest(graph="twice", data=folder / "world.jsonl", judge="sim/steady", models=("sim/weak",), limit=3)
    asyncio.run(run_graph(asked, given=graph_file(), settings=settings))
    return folder / "home"


def runs_of(home: Path) -> dict[str, str]:
    """A run of each kind by its kind."""
    with Home.open(home, write=False) as opened:
        return {one.method: one.id for one in list_runs(opened)}


@pytest.fixture
def said(home: Path, capsys: pytest.CaptureFixture[str]) -> Said:
    """Runs a verb on the home and returns what it printed."""

    def call(*arguments: object) -> str:
        capsys.readouterr()
        assert run([*map(str, arguments), "--home", str(home)]) == 0
        return capsys.readouterr().out

    return call


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_shown_and_reported(kind: str, home: Path, said: Said, tmp_path: Path) -> None:
    """`show` prints text for people and JSON for machines; a page and a document have every section that has something to say."""
    id = runs_of(home)[kind]
    text = said("show", id)
    assert text.startswith(SIMULATED_NOTE)
    assert f"run {id} · {KINDS[kind].name} · " in text
    assert json.loads(said("show", id, "--json"))["run"] == id
    for name in ("page.html", "page.md"):
        said("report", id, "-o", tmp_path / name)
        written = (tmp_path / name).read_text()
        assert id in written
        for section in sections_of(asyncio.run(whole(home, id))):
            assert section.title in written


@pytest.mark.parametrize("kind", KINDS)
def test_the_terminal_and_markdown_show_the_same_figures(kind: str, home: Path) -> None:
    """Every cell that both places draw stands in both, to the character."""
    data = asyncio.run(whole(home, runs_of(home)[kind]))
    out = io.StringIO()
    draw_run(Console(file=out, width=ALL, highlight=False), data, full=True)
    terminal, document = squeezed(out.getvalue()), squeezed(render_document(data))
    sections = sections_of(data, "terminal")
    cells = {place: [cell for one in sections for cell in shared_cells(one.blocks, place)] for place in PLACES}
    assert cells["terminal"] or kind == "diagnosis"
    for cell in cells["terminal"]:
        assert squeezed(cell) in terminal
    for cell in cells["page"]:
        assert squeezed(inline(cell)) in document.replace("**", "").replace("~~", "")


@pytest.mark.parametrize("kind", KINDS)
def test_a_terminal_begins_with_a_short_conclusion(kind: str, home: Path) -> None:
    """A result begins with at most five sentences, which page and Markdown begin with, too, and has one table at first."""
    data = asyncio.run(whole(home, runs_of(home)[kind]))
    assert data.drawing.conclusion is not None
    sentences = data.drawing.conclusion(data)
    assert 1 <= len(sentences) <= MOST_SENTENCES
    out = io.StringIO()
    draw_run(Console(file=out, width=ALL, highlight=False), data)
    beginning = squeezed(plain(sentences[0]).partition("[")[0])
    assert beginning in squeezed(out.getvalue())
    assert beginning in squeezed(render_document(data).replace("**", "").replace("\\", ""))
    (section,) = in_brief(sections_of(data, "terminal"))
    tables = [block for block in section.blocks if isinstance(block, Table)]
    assert len(tables) == 1 or (kind == "diagnosis" and not tables)
    assert all(len(table.columns) <= MOST_COLUMNS for table in tables)


@pytest.mark.parametrize("kind", WITH_SAMPLES)
def test_one_sample_is_shown_whole(kind: str, home: Path, said: Said) -> None:
    """A sample's id, and what the run has of it, are printed as text."""
    id = runs_of(home)[kind]
    with Home.open(home, write=False) as opened:
        sample = results(opened, id)[0].sample_id
    assert f"sample {sample}" in said("show", id, "--sample", sample)
    assert sample in said("show", id, "--sample", sample, "--json")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in WITH_SAMPLES])
def test_a_run_without_samples_says_so(kind: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The mistake is the user's, and one line says what to do instead."""
    id = runs_of(home)[kind]
    assert run(["show", id, "--sample", "x", "--home", str(home)]) == 2
    assert f"has no samples to show: dokimasia show {id} " in capsys.readouterr().err


async def whole(home: Path, id: str) -> ReportData:
    """What a report on a run says, with its figures as `show` has them."""
    with Home.open(home, write=False) as opened:
        return await report_data(opened, get_run(opened, id))


def shared_cells(blocks: Sequence[Block], place: Place) -> Iterator[str]:
    """The texts that a place has of the cells that are drawn everywhere, and of the notes under their tables."""
    for block in blocks:
        if isinstance(block, Table):
            shown, notes = next(noted(one) for one in drawn_at(place, [block]) if isinstance(one, Table))
            places = [at for at, column in enumerate(shown.columns) if column.only is None]
            yield from (plain(row[at]) for row in shown.rows for at in places)
            yield from notes


def squeezed(text: str) -> str:
    """A text without the blanks that tell places apart."""
    return re.sub(r"\s+", " ", text)
