"""Boards: models over the data sets of several runs, on the command line, in Python, over HTTP and on a page."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from dokimasia import board
from dokimasia.cli.main import run
from dokimasia.report.blocks import Paragraph, Table, plain
from dokimasia.report.board import as_csv, as_latex, board_blocks
from dokimasia.report.fields import Interval
from dokimasia.runs.reading.board import board_of, mean_of
from dokimasia.service.pages.start import headline
from dokimasia.settings import load_settings
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home
from dokimasia.storage.runs import list_runs
from dokimasia.storage.usage import ReachedCounts
from tests.service.conftest import asking, service_over

STRONG, WEAK, HASTY = "sim/strong", "sim/weak", "sim/hasty"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with runs over two data sets, one of which was also run on its first four samples."""
    folder = tmp_path_factory.mktemp("boards")
    home = folder / "home"
    for name, seed in (("first", 1), ("second", 2)):
        write_world(folder / name / f"{name}.jsonl", 16, seed)

    def evaluate(name: str, models: str, *more: str) -> None:
        data = str(folder / name / f"{name}.jsonl")
        words = ["evaluate", data, "--judge", "sim/judge", "--models", models, *more, "--home", str(home), "--json"]
        assert run(words) == 0

    evaluate("first", f"{STRONG},{WEAK},{HASTY}", "--tag", "both")
    evaluate("second", f"{STRONG},{WEAK}", "--tag", "both")
    evaluate("second", STRONG, "--limit", "4")
    return home


def printed(capfd: pytest.CaptureFixture[str], home: Path, *arguments: str) -> str:
    """What a board prints."""
    capfd.readouterr()
    assert run(["board", *arguments, "--home", str(home)]) == 0
    return capfd.readouterr().out


def shown(capfd: pytest.CaptureFixture[str], home: Path, run_name: str) -> dict[str, Any]:
    """The figures of a run, as `show` prints them."""
    capfd.readouterr()
    assert run(["show", run_name, "--json", "--home", str(home)]) == 0
    return json.loads(capfd.readouterr().out)


def test_figures_are_those_of_the_runs_and_ranks_hold(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Each cell is the run's own figure, the mean is over data sets, and only complete models have a rank."""
    figures = json.loads(printed(capfd, home, "--json"))
    assert [data["title"] for data in figures["data"]] == ["first.jsonl", "second.jsonl"]
    assert (figures["measure"], figures["scale"]) == ("accuracy", [0.0, 1.0])
    for model, of_model in figures["models"].items():
        for entry in of_model["entries"].values():
            accuracy = shown(capfd, home, entry["run"])["models"][model]["strict_accuracy"]
            figure = entry["figure"]
            assert (figure["mean"], figure["low"], figure["high"]) == (
                accuracy["share"],
                accuracy["low"],
                accuracy["high"],
            )
    strong = figures["models"][STRONG]
    cells = [entry["figure"]["mean"] for entry in strong["entries"].values()]
    assert strong["mean"]["mean"] == pytest.approx(sum(cells) / 2, abs=1e-6)
    assert strong["mean"]["low"] < strong["mean"]["mean"] < strong["mean"]["high"]
    assert {name: model["rank"] for name, model in figures["models"].items()} == {STRONG: 1, WEAK: 2, HASTY: None}
    assert strong["rank_interval"] == [1, 1]


def test_the_run_with_the_most_samples_counts(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A later run over four samples does not take the place of the whole run, and stands among the others."""
    figures = json.loads(printed(capfd, home, "--json"))
    assert figures["models"][STRONG]["entries"]["second.jsonl"]["n"] == 16
    (other,) = figures["others"]
    assert (other["model"], other["data"], other["entry"]["n"]) == (STRONG, "second.jsonl", 4)
    text = " ".join(printed(capfd, home).split())
    assert "Other runs of the same data" in text
    counted = figures["models"][STRONG]["entries"]["second.jsonl"]["run"]
    assert f"Of {STRONG} on second.jsonl, run {counted} counts: it has the most samples (16)." in text


def test_of_runs_with_equal_samples_the_newest_counts_and_is_named(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Of two runs with the same samples, the board says which it took, and why."""
    data = str(home.parent / "first" / "first.jsonl")
    words = ["evaluate", data, "--judge", "sim/judge-noisy", "--models", f"{STRONG},{WEAK}", "--limit", "4"]
    for seed in ("1", "2"):
        assert run([*words, "--seed", seed, "--name", f"tie{seed}", "--home", str(home)]) == 0
    try:
        newest = shown(capfd, home, "tie2")["run"]
        text = " ".join(printed(capfd, home, "tie1", "tie2").split())
        assert (
            f"Of {STRONG} and {WEAK} on first.jsonl, run {newest} counts: it is the newest of 2 with 4 samples." in text
        )
    finally:
        for name in ("tie1", "tie2"):
            assert run(["runs", "delete", name, "--yes", "--home", str(home)]) == 0


def test_board_says_who_is_first_and_how_sure_that_is(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The text begins with a verdict; runs with a tag, or runs that are named, make the board."""
    text = " ".join(printed(capfd, home, "--tag", "both").split())
    assert "sim/strong has the highest strict accuracy on 2 data sets" in text
    assert "1 model lacks at least one data set and has no rank." in text
    assert "Other runs" not in text
    runs = [data["runs"][0]["run"] for data in json.loads(printed(capfd, home, "--tag", "both", "--json"))["data"]]
    alone = json.loads(printed(capfd, home, runs[0], "--json", "--measure", "score"))
    assert (len(alone["data"]), alone["scale"]) == (1, [1.0, 5.0])
    assert set(alone["models"]) == {STRONG, WEAK, HASTY}


def test_models_with_equal_figures_share_the_first_place(
    home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Both are named, each with its interval, on the board and in the list of runs, which names nobody where none is right."""
    data, tied = str(home.parent / "first" / "first.jsonl"), tmp_path / "tied"
    words = ["evaluate", data, "--judge", "sim/judge", "--limit", "1", "--home", str(tied), "--json"]
    assert run([*words, "--models", f"{STRONG},sim/steady"]) == 0
    text = " ".join(printed(capfd, tied).split())
    assert (
        "sim/steady and sim/strong share the highest strict accuracy on first.jsonl: 100.0 % [3, 100]; 100.0 %" in text
    )
    assert "certain to be first" not in text
    assert run([*words, "--models", HASTY]) == 0
    with Home.open(tied, write=False) as opened:
        said = [headline(opened, row, ReachedCounts()).text for row in list_runs(opened)]
    assert said == [
        f"{HASTY}: score 1.00 (1 to 5); strict accuracy: none right",
        "sim/steady and sim/strong share the highest: score 5.00 (1 to 5), strict accuracy 100.0 %",
    ]


def test_csv_and_latex_hold_the_figures(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """CSV has unrounded figures with ranks, and LaTeX a table with escaped names."""
    figures = json.loads(printed(capfd, home, "--json"))
    rows = list(csv.DictReader(io.StringIO(printed(capfd, home, "--format", "csv"))))
    (mean,) = [row for row in rows if row["model"] == STRONG and row["data"] == "mean"]
    assert float(mean["mean"]) == figures["models"][STRONG]["mean"]["mean"]
    assert (mean["rank"], mean["rank_best"], mean["rank_worst"]) == ("1", "1", "1")
    text = printed(capfd, home, "--format", "latex")
    assert text.startswith("\\begin{table}\n")
    assert re.search(r"^1 & sim/strong & 1 & \d", text, re.MULTILINE)
    assert "95 \\%" in text


async def test_python_and_http_give_the_same(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The function, the route and the command return one board, and the page draws it."""
    figures = json.loads(printed(capfd, home, "--json"))
    settings = load_settings(home=home, cwd=home.parent, env={})
    made = await board(settings=settings)
    assert json.loads(made.model_dump_json(exclude_defaults=False))["models"].keys() == figures["models"].keys()
    assert "\\_" in as_latex(made.model_copy(update={"models": {"a_b": made.models[STRONG]}}))
    with service_over(home) as service:
        async with asking(service) as client:
            assert (await client.get("/api/board")).json() == figures
            page = (await client.get("/board")).text
            assert "sim/strong" in page
            assert '<option value="accuracy" selected>' in page
            assert "Other runs of the same data" in page
            assert (await client.get("/board?format=csv")).text == printed(capfd, home, "--format", "csv")
            assert (await client.get("/api/board?runs=nothing")).status_code == 404


def test_runs_without_a_board_are_refused(home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A home without runs, and runs with tags beside names, end with a sentence and exit code 2."""
    with Home.open(tmp_path / "empty", write=True):
        pass
    assert run(["board", "--home", str(tmp_path / "empty")]) == 2
    assert "no finished run with scores by sample" in capfd.readouterr().err
    assert run(["board", "last", "--tag", "both", "--home", str(home)]) == 2
    assert "not both" in capfd.readouterr().err


def test_the_mean_of_figures_has_an_interval_from_theirs() -> None:
    """Distances add in squares; a figure without an interval leaves the mean without one, with the reason."""
    mean = mean_of([Interval(mean=0.6, low=0.3, high=0.8), Interval(mean=0.8, low=0.4, high=0.95)])
    assert (mean.mean, mean.low, mean.high) == (0.7, 0.45, pytest.approx(0.825))
    lacking = mean_of([Interval(mean=0.6, low=0.3, high=0.8), Interval(mean=1, low=None, high=None, no_interval="why")])
    assert (lacking.low, lacking.high, lacking.no_interval) == (None, None, "why")


def test_samples_without_a_value_are_counted(home: Path) -> None:
    """A model whose judgements failed on some samples is shown with how many; they are no scores."""
    with Home.open(home, write=False) as opened:
        made = board_of(opened, [run for run in list_runs(opened) if run.status == "done"])
    entry = made.models[STRONG].entries["first.jsonl"]
    partial = entry.model_copy(update={"n_measured": entry.n - 3})
    model = made.models[STRONG].model_copy(update={"entries": {"first.jsonl": partial}})
    texts = [
        plain(block.text)
        for block in board_blocks(made.model_copy(update={"models": {STRONG: model}}))
        if isinstance(block, Paragraph)
    ]
    assert any(f"3 samples of {entry.n} of sim/strong on first.jsonl" in text for text in texts)
    titles = [column.title for block in board_blocks(made) if isinstance(block, Table) for column in block.columns]
    assert "unweighted mean of 2" in titles
    whole = [plain(block.text) for block in board_blocks(made) if isinstance(block, Paragraph)]
    assert not any("Without a value" in text for text in whole)


def test_no_name_on_a_board_becomes_a_formula(home: Path) -> None:
    """Models and data sets of which a spreadsheet would compute the names have an apostrophe before them in CSV."""
    with Home.open(home, write=False) as opened:
        figures = board_of(opened, list_runs(opened))
    entry = figures.models[STRONG]
    entries = {f"=HYPERLINK({title})": one for title, one in entry.entries.items()}
    models = {"@sum(1)": entry.model_copy(update={"entries": entries})}
    rows = list(csv.reader(io.StringIO(as_csv(figures.model_copy(update={"models": models})))))
    assert {row[0] for row in rows[1:]} == {"'@sum(1)"}
    assert sum(row[1].startswith("'=HYPERLINK") for row in rows) == len(entries)
