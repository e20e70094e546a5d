"""Right or wrong on the command line: printed, shown with its sample, exported, compared, reported; and without a judge."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dokimasia.cli.main import run
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.world import write_world
from tests.cli.conftest import Program, write_config
from tests.killing import sent_requests

Verb = Callable[..., tuple[int, str, str]]
JUDGED = ("--judge", "sim/judge", "--models", "sim/terse,sim/talkative")


@pytest.fixture
def verb(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Verb:
    """Runs a verb on a home of its own, where the planted world lies, and returns its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world.jsonl", 12, 2)

    def call(*arguments: object) -> tuple[int, str, str]:
        code = run([*map(str, arguments), "--home", str(tmp_path / "home")])
        said = capfd.readouterr()
        return code, " ".join(said.out.split()) if "--json" not in arguments else said.out, said.err

    return call


def test_what_is_right_stands_first_and_silence_is_said(verb: Verb) -> None:
    """The table has right answers before scores and what is spoken to after them, and says which model says too little."""
    code, out, _ = verb("evaluate", "world.jsonl", *JUDGED)
    assert code == 0
    assert "model strict accuracy score 95 % interval addressed cost" in out
    assert "These address less than 80 % of the criteria's weight: sim/terse (" in out
    _, out, _ = verb("show", "last", "--full")
    assert "model strict accuracy score 95 % interval 1 5 " in out
    assert "model addressed scored" in out
    assert "An answer is right if its final answer matches the reference" in out
    code, out, _ = verb("evaluate", "world.jsonl", *JUDGED, "--ask", "plain")
    assert code == 0
    _, out, _ = verb("show", "last", "--full")
    assert "The models were sent the bare question and not asked to show what their answers rest on" in out


def test_a_sample_shows_what_was_decided_and_what_was_not_said(verb: Verb, tmp_path: Path) -> None:
    """Beside the scores stand the verdict, the answer that was compared, what decided it, and `not stated` for silence."""
    assert verb("evaluate", "world.jsonl", *JUDGED)[0] == 0
    assert verb("export", "last", "-o", "all.jsonl")[0] == 0
    lines = (tmp_path / "all.jsonl").read_text().splitlines()
    rows = [row for row in map(json.loads, lines) if row["model"] == "sim/terse" and row["verdict"] == "right"]
    row = next(row for row in rows if not row["criteria_stated"][0])
    code, out, _ = verb("show", "last", "--sample", row["id"])
    assert code == 0
    assert "model answer 1 2" in out
    assert "sim/terse right not stated" in out
    assert f"right: final answer “{row['final_answer']}” (by rule: {row['rule']})" in out
    _, out, _ = verb("show", "last", "--sample", row["id"], "--json")
    found = {one["model"]: one for one in json.loads(out)["answers"]}
    terse = found["sim/terse"]
    assert (terse["verdict"], terse["final"]["rule"], terse["final"]["stated"]) == ("right", row["rule"], True)
    assert terse["stated"] < found["sim/talkative"]["stated"] == 1
    assert len(terse["judgement"]["stated"]) == len(terse["judgement"]["scores"])


def test_the_page_shows_it_too(verb: Verb, tmp_path: Path) -> None:
    """Page and Markdown have the columns, the lengths of answers, and the verdict with each answer."""
    assert verb("evaluate", "world.jsonl", *JUDGED)[0] == 0
    for name in ("page.html", "page.md"):
        assert verb("report", "last", "-o", name)[0] == 0
        text = (tmp_path / name).read_text()
        for words in (
            "not stated",
            "addressed",
            "Length of answers against their score",
            "by rule: choice",
            "Prompt style",
        ):
            assert words in text, (name, words)
    page = (tmp_path / "page.html").read_text()
    assert '<td class="good">right</td>' in page
    assert '<td class="bad">wrong</td>' in page


def test_an_export_has_a_column_for_each(verb: Verb, tmp_path: Path) -> None:
    """Verdict, rule, final answer, what is spoken to and the length are columns, and which criteria are spoken to a list."""
    assert verb("evaluate", "world.jsonl", *JUDGED)[0] == 0
    assert verb("export", "last", "-o", "out.csv")[0] == 0
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 24
    for row in rows:
        assert row["verdict"] in ("right", "wrong")
        assert row["rule"] in ("choice", "exact", "number", "list", "judge")
        assert row["response"].endswith(f"Final answer: {row['final_answer']}") == (row["final_stated"] == "true")
        assert int(row["length"]) == len(row["response"])
        told, weights = json.loads(row["criteria_stated"]), json.loads(row["weights"])
        spoken = sum(weight for one, weight in zip(told, weights, strict=True) if one)
        assert float(row["stated"]) == pytest.approx(spoken / 10)
        assert (row["stated_score"] == "") == (spoken == 0)


def test_a_comparison_says_who_says_more_before_any_score(verb: Verb) -> None:
    """Silence is named first; right answers and what is spoken to stand above the scores, and machines get the same."""
    assert verb("evaluate", "world.jsonl", *JUDGED)[0] == 0
    code, out, _ = verb("diff", "last", "last", "--models", "sim/terse,sim/talkative")
    assert code == 0
    places = [
        out.index(words)
        for words in (
            "sim/terse addresses",
            "sim/terse → sim/talkative strict accuracy",
            " addressed 12 ",
            " score 12/12 ",
        )
    ]
    assert places == sorted(places)
    _, out, _ = verb("diff", "last", "last", "--models", "sim/terse,sim/talkative", "--json")
    (pair,) = json.loads(out)["pairs"]
    assert pair["strict_accuracy"]["n"] == pair["stated"]["n"] == 12
    assert sum(pair["strict_accuracy"]["changed"].values()) == 12
    assert pair["stated"]["first"] < 0.5 < pair["stated"]["second"]
    assert pair["both_stated"]["n"] <= 12


def test_rules_alone(verb: Verb, tmp_path: Path) -> None:
    """Without --judge the table has strict accuracy and what is undecided; nothing else speaks of a judge."""
    code, out, _ = verb("evaluate", "world.jsonl", "--models", "sim/terse,sim/weak")
    assert code == 0
    assert "model strict accuracy right undecided calls cost" in out
    assert "With --judge, a judge decides the undecided answers." in out
    _, out, _ = verb("show", "last", "--full")
    assert "what they cannot is undecided. Strict accuracy counts undecided answers as not right" in out
    _, out, _ = verb("show", "last", "--json")
    figures = json.loads(out)
    assert "judge" not in figures
    assert figures["models"]["sim/terse"]["strict_accuracy"]["n"] > 6
    _, out, _ = verb("show", "last", "--sample", "natural-2000000-count")
    assert re.search(r"model answer (failure )?─+ sim/terse (right|wrong|unknown)", out)
    assert "No criteria" not in out
    assert "None" not in out
    assert verb("report", "last", "-o", "page.md")[0] == 0
    text = (tmp_path / "page.md").read_text()
    assert "Judge: none: rules alone say whether an answer is right" in text
    assert "no rule says whether the answer is right, and no judge was named" in text
    assert not any(words in text for words in ("chains and criteria", "a scored sample", "None:", "Judge sees"))
    assert verb("report", "last", "-o", "page.html")[0] == 0
    assert "No criteria yet" not in (tmp_path / "page.html").read_text()
    assert verb("export", "last", "-o", "out.jsonl")[0] == 0
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {row["verdict"] for row in rows} == {"right", "wrong", "unknown"}
    assert {row.get("score") for row in rows} == {None}
    code, out, _ = verb("diff", "last", "last", "--models", "sim/terse,sim/weak")
    assert code == 0
    assert "no judge" in out
    assert "not paired" not in out


def compared_by_rules(folder: Path, sides: dict[str, str]) -> tuple[str, ...]:
    """Write data, and answers that are right (R), wrong by a rule (W) or undecided (U), and return how these are evaluated."""
    count = len(next(iter(sides.values())))
    samples = [
        {"id": f"q{at:03}", "prompt": "How many boats?", "reference_answer": f"{at + 3}", "category": "ab"[at % 2]}
        for at in range(count)
    ]
    said = {"R": "{}", "W": "1000{}", "U": "I cannot tell, perhaps a few or none"}
    answers = [
        {"id": f"q{at:03}", "model": model, "response": f"Final answer: {said[kind].format(at + 3)}"}
        for model, kinds in sides.items()
        for at, kind in enumerate(kinds)
    ]
    for name, rows in (("boats.jsonl", samples), ("answers.jsonl", answers)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ("evaluate", "boats.jsonl", "--responses", "answers.jsonl")


def test_undecided_answers_stay_in_the_denominator(verb: Verb, tmp_path: Path) -> None:
    """14 right and 6 undecided answers are 70.0 % and up to 100.0 %, in verdict, table, categories, pages and JSON."""
    asked = compared_by_rules(tmp_path, {"m": "R" * 14 + "U" * 6})
    code, out, _ = verb(*asked)
    assert code == 0
    open_range = "up to 100.0 % if the 6 undecided answers are right (46 to 100 % with sampling error)."
    assert f"m: strict accuracy 70.0 % [46, 88] of 20 answers, {open_range}" in out
    assert "m 70.0 % [46, 88] 14/20 6, up to 100.0 % (46–100) 0 $0.00" in out
    _, out, _ = verb("show", "last", "--full")
    assert re.search(r"Strict accuracy by category .* m 70.0 % \[\d+, \d+\], up to 100.0 %", out)
    figures = json.loads(verb("show", "last", "--json")[1])["models"]["m"]
    found = figures["strict_accuracy"]
    assert (found["share"], found["upper"], found["n"], found["n_undecided"]) == (0.7, 1.0, 20, 6)
    assert figures["by_category"]["a"]["strict_accuracy"]["n_undecided"] == 3
    for name in ("page.md", "page.html"):
        assert verb("report", "last", "-o", name)[0] == 0
        text = (tmp_path / name).read_text().replace("**", "").replace("<strong>", "").replace("</strong>", "")
        assert "if the 6 undecided answers are right" in text
        assert "100.0 % [77, 100]" not in text


def test_a_difference_is_one_of_strict_accuracy(verb: Verb, tmp_path: Path) -> None:
    """Of 59 and 99 right answers of 120 the difference is 33 points on all samples, beside what undecided ones leave open."""
    first, second = "R" * 59 + "W" * 21 + "U" * 40, "WWW" + "R" * 49 + "U" * 7 + "R" * 17 + "U" * 4 + "R" * 33 + "U" * 7
    assert verb(*compared_by_rules(tmp_path, {"a": first, "b": second}))[0] == 0
    figures = json.loads(verb("show", "last", "--json")[1])["models"]
    assert [figures[name]["strict_accuracy"]["share"] for name in "ab"] == [0.491667, 0.825]
    code, out, _ = verb("diff", "last", "last", "--models", "b,a")
    assert code == 0
    assert "b → a strict accuracy 120 82.5 % → 49.2 % −33.3 [−44.6, −21.3] < 0.001" in out
    assert "undecided answers, counted as not right: 18 of b and 40 of a" in out
    assert "the difference on these samples lies between −48.3 and 0.0" in out
    (pair,) = json.loads(verb("diff", "last", "last", "--models", "a,b", "--json")[1])["pairs"]
    right = pair["strict_accuracy"]
    assert (right["n"], right["difference"]["mean"], right["lost"]) == (120, 0.333333, {})
    assert right["n_undecided"] == {"first": 40, "second": 18}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("refine", "last"), "decided by rules alone, so it has no criteria"),
        (("diagnose", "last"), "decided by rules alone, so it has no criteria"),
        (("tree", "grow", "last", "--judge", "sim/judge"), "has no criteria to grow a tree from"),
        (("fork", "last", "--from", "score", "--judge", "sim/judge"), "rules alone decided is not forked: evaluate"),
        (("criteria", "export", "last"), "without a judge none are made"),
        (("evaluate", "world.jsonl", "--models", "sim/weak", "--tools", "all"), "--tools is for a judge"),
        (("evaluate", "world.jsonl", "--models", "sim/weak", "--criteria", "c"), "--criteria is for a judge"),
        (
            ("evaluate", "world.jsonl", "--models", "sim/weak", "--min-score", "3"),
            "hold right answers to --min-accuracy",
        ),
        (("resume", "last", "--min-score", "3"), "without a judge there are no scores"),
        (("evaluate", "world.jsonl", "--models", "sim/weak", "--ask", "loudly"), "'loudly' is not one of"),
        (("evaluate", "world.jsonl", "--models", "sim/weak", "--protocol", "own"), "'own' is not one of"),
        (("evaluate", "world.jsonl", "--models", "sim/weak", "--tolerance", "2"), "2"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(verb: Verb, arguments: tuple[str, ...], says: str) -> None:
    """What needs criteria, and what there is not, ends with exit code 2 and the way out."""
    assert verb("evaluate", "world.jsonl", "--models", "sim/weak,sim/strong", "--limit", "3")[0] == 0
    code, _, err = verb(*arguments)
    assert code == 2
    assert says in " ".join(err.split())


def test_what_rules_cannot_decide_is_for_a_judge(verb: Verb, tmp_path: Path) -> None:
    """Where rules alone leave too many open the way out is a judge, and asking anew is advised for the rest alone."""
    ids = [json.loads(line)["id"] for line in (tmp_path / "world.jsonl").read_text().splitlines()]
    (tmp_path / "answers.jsonl").write_text(
        "".join(json.dumps({"id": id, "model": "m", "response": "It looks much like that."}) + "\n" for id in ids)
    )
    asked = ("evaluate", "world.jsonl", "--responses", "answers.jsonl")
    code, _, err = verb(*asked)
    assert code == 3
    assert "12 of 12 items failed, all of m (undecided 12); a judge decides what rules cannot" in err
    assert "with --judge J" in err
    assert "--retry-failed" not in err
    code, _, err = verb(*asked, "--judge", "sim/judge")
    assert code == 0, err


def test_over_http(program: Program, tmp_path: Path, world: Path) -> None:
    """Over HTTP, rules alone ask the candidates alone; the bare question and the published protocol are other requests."""
    log = tmp_path / "server.log"
    printed: list[Any] = []
    counts: list[int] = []
    with running_server(log_path=log) as url:
        write_config(tmp_path, url)
        for how in (
            (),
            ("--judge", "J"),
            ("--judge", "J", "--ask", "plain"),
            ("--judge", "J", "--protocol", "published"),
        ):
            ran = program("evaluate", world, "--models", "A,B", "--limit", "6", *how, "--json")
            assert ran.returncode == 0, ran.stderr
            printed.append(json.loads(ran.stdout))
            counts.append(len(sent_requests(log)))
    rules, ours, plain, published = printed
    assert counts[0] == 12
    assert counts[0] < counts[1] < counts[2] < counts[3]
    assert len({one["run"] for one in printed}) == 4
    assert [(one["ask"], one["protocol"]) for one in printed] == [
        ("show", "default"),
        ("show", "default"),
        ("plain", "default"),
        ("plain", "published"),
    ]
    for name in ("A", "B"):
        known, judged = rules["models"][name]["strict_accuracy"], ours["models"][name]["strict_accuracy"]
        assert known["n"] <= judged["n"] == 6
        assert known["bounds"]["low"] <= judged["share"] <= known["bounds"]["high"]
        assert published["models"][name]["stated"]["n"] == 0
        assert plain["models"][name]["strict_accuracy"]["n"] == 6
    again = program("evaluate", world, "--models", "A,B", "--limit", "6", "--json")
    assert json.loads(again.stdout) == rules
