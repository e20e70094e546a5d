"""Readers of other harnesses' results: each format to one table, failures told from scores, and bad files refused."""

import json
import re
import sys
import zipfile
from collections import Counter
from pathlib import Path

import pytest
import zstandard

from dokimasia.datasets import named_file
from dokimasia.errors import ConfigError, DataError, NotFound
from dokimasia.integrations import ResultsFile, parse_columns, read_results, recognised
from dokimasia.integrations.inspect_logs import MAX_MEMBER
from tests.integrations.writing import (
    ITEMS,
    LOGS,
    TABLE_COLUMNS,
    WRITERS,
    answers,
    image,
    lmms_eval,
    promptfoo,
    table,
    unpacked,
    vlmevalkit,
    write_lines,
)

pytestmark = pytest.mark.quick


def read(format: str, folder: Path, name: str) -> ResultsFile:
    """The rows of a planned file."""
    columns = parse_columns([TABLE_COLUMNS]) if format == "table" else {}
    return read_results(WRITERS[format](folder, name), columns=columns)


@pytest.mark.parametrize("name", ["first", "second"])
@pytest.mark.parametrize("format", WRITERS)
def test_every_format_gives_the_same_table(format: str, name: str, tmp_path: Path) -> None:
    """Scores, answers and kinds of failure are those of the plan; a failure has no score, whatever the file recorded."""
    file = read(format, tmp_path, name)
    plan = answers(name)
    assert file.format == recognised(file.path) == format
    assert len(file.rows) == ITEMS
    assert len(file.models) == 1
    for row, said in zip(file.rows, plan, strict=True):
        failure = said.failure
        if format == "lmms-eval" and failure == "api_error":
            failure = "empty"  # lmms-eval writes an empty reply where a call failed
        if format == "promptfoo" and failure == "unparsed":
            failure = ""  # to promptfoo it is a wrong answer like any other
        assert (row.failure or "", row.score) == (failure, None if failure else float(said.right)), row
        assert not (failure and row.score is not None)
    if format not in ("openai-evals", "inspect"):
        assert [row.images for row in file.rows] == [(image(said.item),) for said in plan]
    if format == "inspect":
        assert len({row.images for row in file.rows}) == ITEMS // 3


def test_harness_version_model_and_scorer_are_read(tmp_path: Path) -> None:
    """What wrote a file is known as far as the file, or the file beside it, says so."""
    files = {format: read(format, tmp_path, "first") for format in WRITERS}
    assert {format: (file.harness, file.version) for format, file in files.items()} == {
        "inspect": ("Inspect", "0.3.285"),
        "lmms-eval": ("lmms-eval", "0.7.2"),
        "vlmevalkit": ("VLMEvalKit", None),
        "promptfoo": ("promptfoo", "0.118.0"),
        "openai-evals": ("OpenAI Evals", None),
        "table": ("table", None),
    }
    assert {format: (file.models[0], file.scorer) for format, file in files.items()} == {
        "inspect": ("mockllm/first", "graded"),
        "lmms-eval": ("org/first", "bars_score"),
        "vlmevalkit": ("first", "hit"),
        "promptfoo": ("openai:first", "score"),
        "openai-evals": ("first", "correct"),
        "table": ("first", "points"),
    }
    assert files["inspect"].rows[0].category == files["vlmevalkit"].rows[0].category == "count"


@pytest.mark.parametrize("ending", ["xlsx", "tsv", "json"])
def test_vlmevalkit_writes_three_kinds_of_file(ending: str, tmp_path: Path) -> None:
    """A guessed hit, which the judge counted as right, is a failure, and so is the text of a failed call."""
    file = read_results(vlmevalkit(tmp_path, "second", ending=ending))
    guessed = file.rows[7]
    assert (guessed.failure, guessed.score, guessed.recorded) == ("unparsed", None, 1.0)
    assert read_results(vlmevalkit(tmp_path, "first", ending=ending)).rows[23].failure == "api_error"


def test_lmms_eval_nests_replies_in_two_ways(tmp_path: Path) -> None:
    """Flat or nested, with `resps` or without, the reply is the same; without a file beside it the folder names the model."""
    flat, nested = lmms_eval(tmp_path / "a", "second"), lmms_eval(tmp_path / "b", "second", nested=True)
    answers_read = [[row.answer for row in read_results(path).rows] for path in (flat, nested)]
    assert answers_read[0] == answers_read[1] == [said.text for said in answers("second")]
    assert read_results(nested).models == ["org__second"]


def test_a_metric_without_numbers_leaves_items_unscored(tmp_path: Path) -> None:
    """Where a task scores only the whole, no number is made up; several metrics are an error that names them."""
    path = write_lines(
        tmp_path / "mmmu.jsonl", [{"doc_id": 1, "filtered_resps": "A", "mmmu_acc": {"parsed_pred": ["A"]}}]
    )
    (row,) = read_results(path).rows
    assert (row.failure, row.score) == ("unscored", None)
    assert "mmmu_acc" in row.reason
    several = write_lines(
        tmp_path / "two.jsonl", [{"doc_id": 1, "filtered_resps": "A", "em": 1.0, "anls": float("nan")}] * 1
    )
    assert read_results(several).scorer == "em"
    both = write_lines(tmp_path / "both.jsonl", [{"doc_id": 1, "filtered_resps": "A", "em": 1.0, "anls": 0.5}])
    with pytest.raises(DataError, match="several metrics: em, anls; choose with --scorer"):
        read_results(both)
    assert read_results(both, scorer="anls").rows[0].score == 0.5


def test_inspect_epochs_are_repeats_and_scorers_have_names() -> None:
    """Each epoch of an item is a repeat of it; another scorer than the headline's is chosen by name."""
    file = read_results(LOGS / "epochs.eval")
    assert [(row.item, row.repeat, row.score) for row in file.rows if row.item == "q2"] == [
        ("q2", 0, 1.0),
        ("q2", 1, 0.0),
    ]
    other = read_results(LOGS / "first.eval", scorer="includes")
    assert (other.scorer, other.rows[0].score) == ("includes", 1.0)
    with pytest.raises(DataError, match="no scorer 'f1'; it has graded, includes"):
        read_results(LOGS / "first.eval", scorer="f1")


def test_a_json_log_gives_the_rows_of_its_archive(tmp_path: Path) -> None:
    """The JSON log of the same evaluation has the same rows, NaN included, and so has an archive packed by deflate."""
    parts = unpacked(LOGS / "second.eval")
    header = parts.pop("header.json")
    summaries = parts["summaries.json"]
    assert isinstance(header, dict)
    assert isinstance(summaries, list)
    samples = [parts[f"samples/{summary['id']}_epoch_1.json"] for summary in summaries]
    log = tmp_path / "second.json"
    log.write_text(json.dumps(header | {"samples": samples}, indent=2))
    assert "NaN" in log.read_text()
    packed = tmp_path / "deflated.eval"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in (("header.json", header), *parts.items()):
            archive.writestr(name, json.dumps(part))
    rows = read_results(LOGS / "second.eval").rows
    assert read_results(packed).rows == rows
    from_json = read_results(log).rows
    assert [(row.item, row.score, row.failure, row.images, row.content) for row in from_json] == [
        (row.item, row.score, row.failure, row.images, row.content) for row in rows
    ]


def test_an_unfinished_inspect_log_is_read_from_its_journal(tmp_path: Path) -> None:
    """Without header and summaries, those of the journal are read."""
    parts = unpacked(LOGS / "second.eval")
    summaries = parts["summaries.json"]
    assert isinstance(summaries, list)
    path = tmp_path / "started.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": {"model": "m", "packages": {}}}))
        for number, start in ((10, 20), (2, 0)):
            archive.writestr(f"_journal/summaries/{number}.json", json.dumps(summaries[start : start + 3]))
        for name, part in parts.items():
            if name.startswith("samples/"):
                archive.writestr(name, json.dumps(part))
    assert [row.item for row in read_results(path).rows] == ["q1", "q2", "q3", "q21", "q22", "q23"]


def test_promptfoo_repeats_prompts_and_models(tmp_path: Path) -> None:
    """Providers are models, a repeated test is a repeat, and several prompts of one provider are models of their own."""
    path = promptfoo(tmp_path)
    assert read_results(path).models == ["openai:first", "openai:second"]
    document = json.loads(path.read_text())
    entry = document["results"]["results"][0]
    entries = [entry, {**entry, "testIdx": 1}, {**entry, "promptIdx": 5, "success": False}]
    path.write_text(json.dumps({"results": {"results": entries}}))
    rows = read_results(path, scorer="success").rows
    assert [(row.item, row.model, row.repeat, row.score) for row in rows] == [
        ("0", "openai:first, prompt 1", 0, 1.0),
        ("0", "openai:first, prompt 1", 1, 1.0),
        ("0", "openai:first, prompt 2", 0, 0.0),
    ]
    lines = write_lines(tmp_path / "promptfoo.jsonl", [entry])
    assert recognised(lines) == "promptfoo"
    with pytest.raises(DataError, match="no score 'f1'"):
        read_results(lines, scorer="f1")


def test_openai_evals_scores_of_grading_models(tmp_path: Path) -> None:
    """The first reply is the model's, later ones are the grader's; a choice that cannot be read is no score."""
    rows = [
        {"spec": {"completion_fns": ["m", "grader"]}},
        {"sample_id": "a.0", "type": "sampling", "data": {"prompt": "?", "sampled": "four"}},
        {"sample_id": "a.0", "type": "sampling", "data": {"prompt": "grade", "sampled": "A"}},
        {"sample_id": "a.0", "type": "metrics", "data": {"choice": "A", "score": 0.75}},
        {"sample_id": "a.1", "type": "sampling", "data": {"prompt": "?", "sampled": "five"}},
        {"sample_id": "a.1", "type": "metrics", "data": {"choice": "__invalid__", "score": 0.0}},
    ]
    first, second = read_results(write_lines(tmp_path / "log.jsonl", rows)).rows
    assert (first.answer, first.score, first.model) == ("four", 0.75, "m")
    assert (second.failure, second.recorded) == ("unparsed", 0.0)


def test_a_refusal_that_scores_is_an_answer(tmp_path: Path) -> None:
    """Text that opens like a refusal is one only where it scored nothing."""
    lines = [{"id": n, "response": "I cannot help with that, but no.", "score": n} for n in (0, 1)]
    rows = read_results(write_lines(tmp_path / "t.jsonl", lines)).rows
    assert Counter(row.failure for row in rows) == {"refused": 1, None: 1}


def test_a_model_is_named_with_its_file(tmp_path: Path) -> None:
    """`NAME=FILE` names the model; a file that says otherwise is refused with the line."""
    path = write_lines(tmp_path / "t.jsonl", [{"id": 1, "score": 1}])
    assert read_results(named_file(f"mine={path}")).models == ["mine"]
    other = write_lines(
        tmp_path / "o.jsonl", [{"id": 1, "score": 1, "model": "mine"}, {"id": 2, "score": 1, "model": "x"}]
    )
    with pytest.raises(DataError, match=r"o\.jsonl, line 2: it is a result of x, and not of mine"):
        read_results(named_file(f"mine={other}"))
    assert read_results(other).models == ["mine", "x"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": 1, "score": 1}\n{"id": 1, "score": 0}\n', r"line 2: item '1' of bad is on line 1 already"),
        ('{"id": 1, "score": "perhaps"}\n', r"line 1: the score 'perhaps' is not a number"),
        ('{"id": 1, "score": 1}\n{"id": 2, "sc', r"line 2: broken JSON at character \d+"),
        ('{"id": 1, "score": 1}\n[1]\n', "line 2: not a JSON object"),
        ('{"id": 1, "score": 1}\n{"id": "", "score": 0}\n', "line 2: the column 'id', which names the item, is empty"),
        ('{"score": 1}\n', "no column that names the item"),
        ('{"id": 1, "model": "a", "score": 1}\n{"id": 2, "score": 1}\n', "line 2: the column 'model'.* is empty"),
        ("", "holds no result"),
        ("[" * 100_000, "nested too deeply|broken JSON"),
    ],
)
def test_bad_lines_are_named(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match=message) as error:
        read_results(path)
    assert "bad.jsonl" in str(error.value)


def test_scores_that_are_no_numbers_are_missing(tmp_path: Path) -> None:
    """NaN and infinity are no scores, and neither are numbers beyond all bounds."""
    path = tmp_path / "t.jsonl"
    values = ("NaN", "Infinity", "1e999", "null", '"nan"')
    path.write_text("".join(f'{{"id": {n}, "score": {value}}}\n' for n, value in enumerate(values)))
    assert {(row.failure, row.score) for row in read_results(path).rows} == {("unscored", None)}


def test_hostile_archives_are_refused(tmp_path: Path) -> None:
    """A bomb is refused by its size before it is unpacked; damage, pickles and other archives are named."""
    bomb = tmp_path / "bomb.eval"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("header.json", "w") as member:
        for _ in range(MAX_MEMBER // 2**20):
            member.write(b" " * 2**20)
        member.write(b" ")
    with pytest.raises(DataError, match="unpacked it has"):
        read_results(bomb)
    data = bytearray((LOGS / "second.eval").read_bytes())
    with zipfile.ZipFile(LOGS / "second.eval") as archive:
        start = archive.getinfo("summaries.json").header_offset + 60
    data[start : start + 8] = b"\0" * 8
    damaged = tmp_path / "damaged.eval"
    damaged.write_bytes(data)
    with pytest.raises(DataError, match=r"summaries\.json: the archive is damaged"):
        read_results(damaged)
    cut = tmp_path / "cut.eval"
    cut.write_bytes(data[:5000])
    with pytest.raises(DataError, match="is not a readable archive"):
        read_results(cut)
    pickle = tmp_path / "m_d_result.pkl"
    pickle.write_bytes(b"\x80\x04N.")
    with pytest.raises(DataError, match="is a pickle, which is never read"):
        read_results(pickle)
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(DataError, match="neither an Inspect log nor a workbook"):
        read_results(other)


@pytest.fixture
def bomb(tmp_path: Path) -> Path:
    """An Inspect log with a part packed by Zstandard that is much larger than it says."""
    packed = zstandard.ZstdCompressor().compress(b" " * 2**26)
    path = tmp_path / "bomb.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", packed)
    data = path.read_bytes().replace(
        len(packed).to_bytes(4, "little") * 2, len(packed).to_bytes(4, "little") + b"\x10\0\0\0"
    )
    central = data.index(b"PK\x01\x02")
    data = data[: central + 10] + (93).to_bytes(2, "little") + data[central + 12 :]
    data = data[:8] + (93).to_bytes(2, "little") + data[10:]
    path.write_bytes(data)
    return path


def test_a_zstandard_bomb_is_unpacked_no_further_than_it_says(bomb: Path) -> None:
    """A part that says that it is small, and is not, is damage; no more than its stated size is unpacked."""
    with pytest.raises(DataError, match="the archive is damaged"):
        read_results(bomb, format="inspect")


def test_without_zstandard_the_extra_is_named(bomb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the package is missing, the error names the extra that brings it."""
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ConfigError, match=re.escape("pip install 'dokimasia[inspect]'")):
        read_results(bomb, format="inspect")


def test_what_is_asked_for_is_checked(tmp_path: Path) -> None:
    """Formats, columns and files that do not exist are the user's mistakes, with the way out."""
    path = table(tmp_path, "first")
    with pytest.raises(ConfigError, match="no format 'hf'; there are inspect, lmms-eval"):
        read_results(path, format="hf")
    with pytest.raises(DataError, match="no column 'nope'; it has question_no, picture"):
        read_results(path, columns={"item": "nope"})
    with pytest.raises(ConfigError, match="write FIELD=COLUMN, with a field of item, answer, score"):
        parse_columns(["row=a"])
    with pytest.raises(ConfigError, match="names the column of item twice"):
        parse_columns(["item=a", "item=b"])
    with pytest.raises(NotFound, match="there is no file"):
        read_results(tmp_path / "none.csv")
