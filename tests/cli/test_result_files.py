"""Files of other harnesses on the command line and in Python: compared, exported and reported without a home."""

import json
from pathlib import Path
from typing import Any

import pytest

import dokimasia
from dokimasia.cli.main import run
from dokimasia.errors import InputError, NotFound
from dokimasia.integrations import parse_columns
from dokimasia.report.comparison import RunComparison
from dokimasia.report.fields import as_json
from dokimasia.report.results import ResultsComparison
from dokimasia.simulation.world import write_world
from tests.integrations.writing import (
    ITEMS,
    LOGS,
    TABLE_COLUMNS,
    lmms_eval,
    openai_evals,
    promptfoo,
    table,
    vlmevalkit,
    write_lines,
)

BOTH = ("first", "second")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DOKIMASIA_HOME", raising=False)


def printed(capfd: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0) -> str:
    """What a command prints; for a failing one, what it says."""
    capfd.readouterr()
    assert run(list(map(str, arguments))) == code
    out, said = capfd.readouterr()
    return said if code else out


def compared(capfd: pytest.CaptureFixture[str], *arguments: str | Path) -> dict[str, Any]:
    return json.loads(printed(capfd, "diff", *arguments, "--json"))


def files_of(format: str, folder: Path) -> list[str | Path]:
    """The arguments that name the planned files of a format."""
    match format:
        case "inspect":
            return [LOGS / f"{name}.eval" for name in BOTH]
        case "promptfoo":
            return [promptfoo(folder)]
        case "table":
            return [*(table(folder, name) for name in BOTH), "--map", TABLE_COLUMNS]
    writer = {"lmms-eval": lmms_eval, "vlmevalkit": vlmevalkit, "openai-evals": openai_evals}[format]
    return [writer(folder, name) for name in BOTH]


def test_what_was_read_of_each_file_is_said(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A line for each file on standard error counts its rows, models, items and failures."""
    for name, score in (("a", "1"), ("b", "")):
        (tmp_path / f"{name}.csv").write_text(f"id,model,response,score\n1,{name},x,1\n2,{name},y,{score}\n")
    capfd.readouterr()
    assert run(["diff", "a.csv", "b.csv", "--json"]) == 0
    said = [line for line in capfd.readouterr().err.splitlines() if line.startswith("read ")]
    assert said == ["read a.csv: 2 rows, 1 model, 2 items", "read b.csv: 2 rows, 1 model, 2 items, 1 without a score"]


@pytest.mark.parametrize("format", ["inspect", "lmms-eval", "vlmevalkit", "promptfoo", "openai-evals", "table"])
def test_two_models_are_compared_from_every_format(
    format: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The pair, its failures and bounds are those of the plan, and no home is made."""
    figures = compared(capfd, *files_of(format, tmp_path / "files"))
    (pair,) = figures["pairs"]
    assert figures["direction"] == "second minus first"
    assert {source["format"] for source in figures["sources"]} == {format}
    assert (pair["n_shared"], pair["only_first"], pair["only_second"]) == (ITEMS, 0, 0)
    unread = 0 if format == "promptfoo" else 1  # promptfoo knows no answer that cannot be read
    assert pair["n_paired"] == ITEMS - 4 - unread
    assert pair["difference"]["mean"] > 0
    assert pair["changed"]["higher"] == 5
    assert pair["changed"]["lower"] == 1 - unread
    first, second = figures["models"].values()
    assert sum(first["failures"].values()) == 4
    assert sum(second["failures"].values()) == unread
    assert first["bounds"]["low"] <= first["score"]["mean"] <= first["bounds"]["high"]
    assert first["bounds"] == {"low": round(13 / ITEMS, 6), "high": round(17 / ITEMS, 6)}
    known = format != "openai-evals"
    assert (figures["clusters"], figures["n_clusters"]) == (("images", 8) if known else ("items", ITEMS))
    assert not (tmp_path / ".dokimasia").exists()


def test_what_people_read_begins_with_a_conclusion(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """At most five sentences, then scores with their bounds, kinds of failure, and differences; the same bytes each time."""
    out = printed(capfd, "diff", *files_of("vlmevalkit", tmp_path))
    assert out == printed(capfd, "diff", *files_of("vlmevalkit", tmp_path))
    lead = out.partition("\n \n")[0].split("model ")[0]
    assert "first failed on 4 of 24 answers (2 refused, 1 empty, 1 API error)" in " ".join(lead.split())
    assert lead.count(". ") <= 5
    for title in ("wrong – right", "recorded", "API error", "needed", "first → second"):
        assert title in out
    table_out = printed(capfd, "diff", *files_of("openai-evals", tmp_path))
    assert "No image is known of any item" in " ".join(table_out.split())


def test_several_files_are_compared_in_pairs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Every two of three models, with p-values adjusted over all pairs; `--models` picks one pair; names tell files apart."""
    named = f"third={vlmevalkit(tmp_path / 'again', 'second')}"
    figures = compared(capfd, *files_of("vlmevalkit", tmp_path), named)
    assert [(pair["first_model"], pair["second_model"]) for pair in figures["pairs"]] == [
        ("first", "second"),
        ("first", "third"),
        ("second", "third"),
    ]
    assert all(pair["adjusted"] >= pair["p_value"] for pair in figures["pairs"])
    assert figures["pairs"][2]["difference"]["mean"] == 0
    one = compared(capfd, *files_of("vlmevalkit", tmp_path), named, "--models", "third,first")
    assert [(pair["first_model"], pair["difference"]["mean"] < 0) for pair in one["pairs"]] == [("third", True)]
    twice = compared(capfd, *[vlmevalkit(tmp_path / place, "first") for place in ("a", "b")])
    assert list(twice["models"]) == [f"first ({n}: first_Bars_judge_result.xlsx)" for n in (1, 2)]


def test_scorers_are_chosen_and_other_harnesses_join(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Another scorer gives other scores; files of two harnesses are paired by the ids of their items."""
    logs = [LOGS / "first.eval", LOGS / "second.eval"]
    usual, other = (compared(capfd, *logs, *more) for more in ((), ("--scorer", "includes")))
    assert usual["sources"][0]["scorer"] == "graded"
    assert other["sources"][0]["scorer"] == "includes"
    rows = [{"id": f"q{n + 1}", "model": "mine", "score": 1} for n in range(10)]
    mixed = compared(capfd, logs[0], write_lines(tmp_path / "mine.jsonl", rows))
    (pair,) = mixed["pairs"]
    assert (pair["n_shared"], pair["only_first"], pair["only_second"]) == (10, 14, 0)
    assert mixed["clusters"] == "images"


def test_runs_join_files(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A run beside a file is compared by right and wrong answers, and its export is such a file itself."""
    write_world(tmp_path / "world.jsonl", 12, 3)
    words = ["evaluate", "world.jsonl", "--judge", "sim/judge", "--models", "sim/strong,sim/weak", "--home", "home"]
    assert run([*words, "--name", "mine"]) == 0
    assert run(["export", "mine", "-o", "mine.jsonl", "--home", "home"]) == 0
    capfd.readouterr()
    lines = [json.loads(line) for line in (tmp_path / "mine.jsonl").read_text().splitlines()]
    rows = [{"id": row["id"], "model": "sim/strong", "score": 0} for row in lines if row["model"] == "sim/strong"]
    zeros = write_lines(tmp_path / "zeros.jsonl", rows)
    figures = compared(capfd, "mine", zeros, "--home", "home")
    assert figures["sources"][0]["harness"] == "Dokimasia"
    assert figures["sources"][0]["scorer"] == "right or wrong"
    (pair,) = figures["pairs"]
    assert pair["first_model"].startswith("sim/strong (")
    assert pair["second"] == 0
    exported = compared(capfd, "mine.jsonl", "--home", "elsewhere")
    assert exported["pairs"][0]["n_shared"] == 12
    assert exported["scale"][1] > 1
    assert exported["simulated"] == ["sim/strong", "sim/weak"]
    assert "Simulated models" in printed(capfd, "diff", "mine.jsonl")
    printed(capfd, "export", "mine.jsonl", "-o", "again.csv")
    assert compared(capfd, "again.csv")["simulated"] == ["sim/strong", "sim/weak"]
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("ending", ["jsonl", "csv", "xlsx"])
def test_exports_are_compared_as_their_runs_are(ending: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Exports say which samples share an image: means, intervals and p-values are those of `diff` of the two runs."""
    pictures = write_world(tmp_path / "world.jsonl", 12, 3)
    assert pictures < 12
    for name, judge in (("one", "sim/judge"), ("two", "sim/judge-noisy")):
        words = ["evaluate", "world.jsonl", "--judge", judge, "--models", "sim/weak", "--name", name, "--home", "home"]
        assert run([*words, "--seed", "0"]) == 0
        printed(capfd, "export", name, "-o", f"{name}.{ending}", "--home", "home")
    runs = json.loads(printed(capfd, "diff", "one", "two", "--home", "home", "--json"))
    (of_runs,) = runs["pairs"]
    files = compared(capfd, f"one.{ending}", f"two.{ending}")
    (of_files,) = files["pairs"]
    assert (files["clusters"], files["n_clusters"], files["scale"]) == ("images", pictures, runs["scale"])
    for figure in ("n_paired", "first", "second", "difference", "bounds", "p_value", "permutations", "changed"):
        assert of_files[figure] == of_runs[figure]


def test_an_export_without_images_and_scale_is_read(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Exports of older versions name neither: each item is then a cluster of its own, unless another file has images."""
    rows = [{"id": str(number), "model": "m", "response": "x", "score": 1 + number % 5} for number in range(12)]
    newer = [{**row, "model": "n", "image_id": str(int(row["id"]) // 4), "scale": "1,5"} for row in rows]
    write_lines(tmp_path / "older.jsonl", rows)
    write_lines(tmp_path / "newer.jsonl", newer)
    other = write_lines(tmp_path / "other.jsonl", [{**row, "model": "o"} for row in rows])
    figures = compared(capfd, "older.jsonl", other)
    assert (figures["clusters"], figures["n_clusters"], figures["scale"]) == ("items", 12, [0, 5])
    figures = compared(capfd, "older.jsonl", "newer.jsonl")
    assert (figures["clusters"], figures["n_clusters"]) == ("images", 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((LOGS / "first.eval",), "has one model, mockllm/first: name another file"),
        (("none.eval", "other.eval"), "there is no file none.eval, nor a run of that name"),
        ((LOGS / "first.eval", "none.csv"), "there is no file none.csv"),
        (
            (LOGS / "first.eval", LOGS / "second.eval", "--models", "a,b"),
            "no model 'a' in these files; there are mockllm/first",
        ),
        ((LOGS / "first.eval", LOGS / "second.eval", "--scale", "1"), "--scale takes two numbers"),
        ((LOGS / "first.eval", LOGS / "second.eval", "--scale", "2,5"), "the score 1 lies outside the scale of 2 to 5"),
        ((LOGS / "first.eval", LOGS / "second.eval", "--map", "x=y"), "write FIELD=COLUMN"),
        ((LOGS / "first.eval", LOGS / "second.eval", "--from", "table"), "first.eval"),
        ((LOGS / "first.eval", "other.jsonl"), "have no item in common: one has q1, q2, q3, the other 1, 2"),
        ((LOGS / "first.eval", "hundred.jsonl"), "bring them to one scale"),
        (
            ("other.jsonl", "unscored.jsonl"),
            "unscored.jsonl has no column of scores, so that there is nothing to compare: name it with --map score=COLUMN, or "
            "name a judged file. It has id, response, points",
        ),
        (("unscored.jsonl", "m=unscored.jsonl", "--map", "score=empty"), "has no column 'empty'"),
        (("unscored.jsonl", "m=unscored.jsonl", "--map", "score=points"), "no item has a score"),
        (
            ("other.jsonl", "unscored.jsonl", "--map", "none.jsonl:score=points"),
            "--map names the columns of 'none.jsonl', which is none of the files: other.jsonl, unscored.jsonl",
        ),
        (("other.jsonl", "unscored.jsonl", "--map", "unscored.jsonl:x=points"), "write FIELD=COLUMN"),
        (("one", "two", "--scorer", "f1"), "are for files of results"),
        (("one",), "name the run to compare with"),
    ],
)
def test_mistakes_end_with_exit_code_2(
    arguments: tuple[str | Path, ...], message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each says what is wrong and what to do, and nothing is printed or written."""
    write_lines(tmp_path / "other.jsonl", [{"id": n, "model": "m", "score": 1} for n in (1, 2)])
    write_lines(tmp_path / "hundred.jsonl", [{"id": f"q{n}", "model": "m", "score": 40 * n} for n in (1, 2)])
    write_lines(tmp_path / "unscored.jsonl", [{"id": n, "response": "x", "points": None} for n in (1, 2)])
    said = printed(capfd, "diff", *arguments, code=2)
    assert message in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hundred.jsonl", "other.jsonl", "unscored.jsonl"]


def test_items_of_one_id_with_another_question_are_not_paired(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The content of items is compared as far as both files know it."""
    rows = [{"doc_id": n, "doc_hash": f"h{n}", "filtered_resps": "A", "acc": 1.0} for n in range(4)]
    changed = [{**row, "doc_hash": "other" if row["doc_id"] == 2 else row["doc_hash"], "acc": 0.0} for row in rows]
    names = [write_lines(tmp_path / f"{name}.jsonl", listed) for name, listed in (("a", rows), ("b", changed))]
    (pair,) = compared(capfd, *names)["pairs"]
    assert (pair["n_shared"], pair["other_content"], pair["only_first"], pair["only_second"]) == (3, 1, 0, 0)
    assert pair["difference"]["mean"] == -1
    assert "1 item of one id that ask" in " ".join(printed(capfd, "diff", *names).split())
    for row in changed:
        row["doc_hash"] = f"new {row['doc_id']}"
    write_lines(names[1], changed)
    assert "behind each stands another question" in printed(capfd, "diff", *names, code=2)


def test_rows_are_exported_and_read_again(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The table of a file, as JSON lines or CSV, compares as the file itself does."""
    logs = [LOGS / f"{name}.eval" for name in BOTH]
    original = compared(capfd, *logs)["pairs"]
    for ending in ("jsonl", "csv"):
        again: list[Path] = []
        for log in logs:
            path = tmp_path / f"{log.stem}.{ending}"
            printed(capfd, "export", log, "-o", path)
            again.append(path)
        pairs = compared(capfd, *again)["pairs"]
        assert pairs == original, ending
    assert printed(capfd, "export", logs[0]).count("\n") == ITEMS
    assert "leave it out" in printed(capfd, "export", logs[0], "--as", "vlmevalkit", "-o", "x", code=2)


def test_a_report_on_files_is_one_page(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """HTML without network beside the files by default, Markdown on standard output, with one file or with several."""
    paths = files_of("vlmevalkit", tmp_path / "files")
    out = printed(capfd, "report", *paths)
    page = (tmp_path / out.strip()).read_text()
    assert "What of this score is failure" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    markdown = printed(capfd, "report", *paths, "-o", "-")
    assert markdown.replace("\\", "").startswith(
        "# Dokimasia: first_Bars_judge_result.xlsx, second_Bars_judge_result.xlsx\n"
    )
    assert "| **first** | 2 | 1 | 0 | 1 | 0 | 4 |" in markdown
    alone = printed(capfd, "report", paths[0], "-o", "-")
    assert "## Differences" not in alone
    assert "| VLMEvalKit | hit | 24 |" in alone
    shown = json.loads(printed(capfd, "report", *paths, "-o", "page.html", "--json"))
    assert shown["bytes"] == (tmp_path / "page.html").stat().st_size
    assert "a report is on one run" in printed(capfd, "report", "one", "two", code=2)


def test_each_file_may_have_columns_of_its_own(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Columns that all files share, and those of a file alone, by its name or by the name of its model."""
    write_lines(tmp_path / "a.jsonl", [{"id": n, "ok": n % 2} for n in range(8)])
    write_lines(tmp_path / "b.jsonl", [{"question": n, "points": 1} for n in range(8)])
    figures = compared(capfd, "a.jsonl", "b.jsonl", "--map", "score=ok", "--map", "b.jsonl:item=question,score=points")
    assert figures["pairs"][0]["difference"]["mean"] == 0.5
    assert figures["pairs"][0]["n_shared"] == 8
    by_model = compared(capfd, "a.jsonl", "m=b.jsonl", "--map", "score=ok", "--map", "m:item=question,score=points")
    assert by_model["pairs"][0]["difference"] == figures["pairs"][0]["difference"]
    for columns in (
        {"score": "ok", "b.jsonl": {"item": "question", "score": "points"}},
        {"a.jsonl": {"score": "ok"}, tmp_path / "b.jsonl": {"item": "question", "score": "points"}},
    ):
        in_python = dokimasia.diff_sync("a.jsonl", "b.jsonl", columns=columns)
        assert isinstance(in_python, ResultsComparison)
        assert as_json(in_python)["pairs"] == figures["pairs"]
    with pytest.raises(
        InputError, match=r'has no column of scores.* columns=\{"score": COLUMN\}.* It has question, points'
    ):
        dokimasia.diff_sync("b.jsonl", "a.jsonl", columns={"a.jsonl": {"score": "ok"}, "b.jsonl": {"item": "question"}})


def test_a_table_of_predictions_and_references_says_how_they_are_scored(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without ids the error proposes the questions; without scores it names the command that makes them."""
    path = tmp_path / "preds.csv"
    path.write_text("question,prediction,reference\nWhere?,here,there\nWho?,Ann,Ann\n")
    assert run(["diff", str(path), f"other={path}"]) == 2
    assert "such as --map item=question. It has question, prediction, reference" in capfd.readouterr().err
    assert run(["diff", str(path), f"other={path}", "--map", "item=question"]) == 2
    assert "it has references: `dokimasia evaluate DATA --responses preds.csv` scores them" in " ".join(
        capfd.readouterr().err.split()
    )
    path.write_text("id,answer\n1,here\n2,there\n")
    assert run(["diff", str(path), f"other={path}"]) == 2
    assert "it has references" not in capfd.readouterr().err


def test_python_reads_files_by_name(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A text that names a file is a file, as on the command line; it is compared, exported and reported without a home."""
    paths = [table(tmp_path, name) for name in BOTH]
    columns = parse_columns([TABLE_COLUMNS])
    names = [path.name for path in paths]
    by_path = dokimasia.diff_sync(*paths, columns=columns)
    assert dokimasia.diff_sync(*names, columns=columns).pairs == by_path.pairs
    assert dokimasia.diff_sync(f"first={names[0]}", names[1], columns=columns).pairs == by_path.pairs
    for form in (paths[0], names[0]):
        rows = dokimasia.export_sync(form, tmp_path / "rows.jsonl", columns=columns)
        assert len(rows.rows) == len((tmp_path / "rows.jsonl").read_text().splitlines()) == ITEMS
    page = dokimasia.write_report_sync(names, columns=columns)
    assert page.name == f"{paths[0].stem}-{paths[1].stem}.html"
    printed(capfd, "report", *names, "--map", TABLE_COLUMNS, "-o", "command.html")
    assert page.read_bytes() == (tmp_path / "command.html").read_bytes()
    assert dokimasia.write_report_sync(paths[0], "one.md", columns=columns).read_text().startswith("# ")
    for verb in (dokimasia.diff_sync, dokimasia.export_sync, dokimasia.write_report_sync):
        with pytest.raises(NotFound, match=r"there is no file none\.csv"):
            verb("none.csv")
    assert not (tmp_path / ".dokimasia").exists()


def test_python_takes_paths(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`dokimasia.diff` of paths gives the figures of the command; of names it still gives those of runs."""
    paths = [table(tmp_path, name) for name in BOTH]
    columns = parse_columns([TABLE_COLUMNS])
    figures = dokimasia.diff_sync(paths[0], paths[1], columns=columns)
    assert isinstance(figures, ResultsComparison)
    assert figures.pairs[0].n_shared == ITEMS
    write_world(tmp_path / "world.jsonl", 6, 3)
    words = ["evaluate", "world.jsonl", "--judge", "sim/judge", "--models", "sim/strong,sim/weak", "--home", "home"]
    assert run([*words, "--name", "mine"]) == 0
    settings = dokimasia.load_settings(home=tmp_path / "home")
    runs = dokimasia.diff_sync("mine", "mine", models=("sim/weak", "sim/strong"), settings=settings)
    assert isinstance(runs, RunComparison)


def test_pairing_by_id_alone_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Running numbers of two harnesses, or a file without questions, pair by ID alone, which is said."""
    (tmp_path / "a.csv").write_text("id,question,score\n0,What?,1\n1,Who?,0\n")
    (tmp_path / "b.csv").write_text("id,score\n0,0\n1,1\n")
    rows = [{"doc_id": n, "doc_hash": f"h{n}", "filtered_resps": "A", "acc": 1.0} for n in range(2)]
    write_lines(tmp_path / "c.jsonl", rows)
    said = " ".join(printed(capfd, "diff", "a.csv", "b.csv").split())
    assert "paired by ID alone: b.csv has no questions to compare" in said
    assert "the questions of table and lmms-eval" in compared(capfd, "a.csv", "c.jsonl")["by_id_alone"]
    (tmp_path / "d.csv").write_text("id,question,score\n0,What?,0\n1,Who?,1\n")
    assert "by_id_alone" not in compared(capfd, "a.csv", "d.csv")


def test_a_file_is_not_compared_with_itself(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The same file, named twice, is said to be so."""
    (tmp_path / "a.csv").write_text("id,score\n0,0\n1,1\n")
    assert "a.csv is named twice" in printed(capfd, "diff", "a.csv", "a.csv", code=2)


def test_what_diff_says_of_failures_and_titles(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Every table has its title, failures are said once and by model, and ids stand in the order of their numbers."""
    ids = (10, 9, 2)
    for name, scores in (("a", "111"), ("b", "000"), ("c", "00")):
        rows = [f"{id},{name},x,{score}\n" for id, score in zip(ids, scores, strict=False)]
        if name == "c":
            rows.append(f"2,{name},,\n")
        (tmp_path / f"{name}.csv").write_text("id,model,response,score\n" + "".join(rows))
    out = printed(capfd, "diff", "a.csv", "b.csv")
    assert out.count("No answer failed.") == 1
    assert "Differences of every two models" in out
    table = out[out.index("The items with the largest differences") :]
    assert table.index(" 2 ") < table.index(" 9 ") < table.index(" 10 ")
    out = " ".join(printed(capfd, "diff", "a.csv", "c.csv").split())
    assert "Failed answers by kind" in out
    assert "if this answer was wrong and" in out
    assert "not paired: 1 without a score of c: empty" in out
