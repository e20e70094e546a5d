"""What a user meets in the first hour, in process: comparing, names, forks, deleting, dry runs, pipes and headings."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from dokimasia.cli.main import VERB_GROUPS, VERBS, run
from dokimasia.simulation.world import write_world

pytestmark = pytest.mark.quick

Verb = Callable[..., tuple[int, str, str]]
JUDGED = ("evaluate", "world.jsonl", "--judge", "sim/judge", "--models", "sim/strong,sim/weak")
RULES = ("evaluate", "world.jsonl", "--models", "sim/strong,sim/weak")


@pytest.fixture
def verb(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Verb:
    """Runs a verb on a world of eight questions with a home of its own and returns its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world.jsonl", 8, 3)

    def call(*arguments: object) -> tuple[int, str, str]:
        code = run([*map(str, arguments), "--home", str(tmp_path / "home")])
        said = capfd.readouterr()
        return code, " ".join(said.out.split()), " ".join(said.err.split())

    return call


def made(verb: Verb, *arguments: object) -> str:
    """Make a run and return its id."""
    code, out, said = verb(*arguments, "--json")
    assert code == 0, said
    return json.loads(out)["run"]


def test_a_run_without_a_judge_has_no_score_to_compare(verb: Verb) -> None:
    """Of a judged run and one by rules alone strict accuracy is compared, and it is said how many answers are undecided."""
    judged, rules = made(verb, *JUDGED), made(verb, *RULES)
    code, out, _ = verb("diff", judged, rules)
    assert code == 0
    assert f"no judge scored in run {rules}: there are no scores to compare" in out
    assert "sim/weak strict accuracy 8 " in out
    assert "score: in points" not in out
    for pair in json.loads(verb("diff", judged, rules, "--json")[1])["pairs"]:
        undecided = pair["strict_accuracy"]["n_undecided"]
        assert undecided["first"] == 0 < undecided["second"]
        assert f"counted as not right: 0 of first and {undecided['second']} of second; whatever they are" in out
        assert pair["without_scores"] == ["second"]
        assert (pair["bounds"], pair["coverage"], pair["difference"], pair["lost"]) == (None, None, None, {})
        right = pair["strict_accuracy"]
        assert (right["n"], right["lost"]) == (pair["n_shared"], {})
        assert right["bounds"]["high"] - right["bounds"]["low"] == pytest.approx(right["n_undecided"]["second"] / 8)


def test_only_in_one_run_are_models_that_the_other_lacks(verb: Verb) -> None:
    """Two models of one run are in it both; a model that was not named is not compared, one that one run lacks is told."""
    both = made(verb, *JUDGED[:-1], "sim/strong,sim/weak,sim/steady")
    one = made(verb, *JUDGED[:-1], "sim/strong")
    _, out, _ = verb("diff", both, both, "--models", "sim/strong,sim/weak")
    assert "only in" not in out
    assert "not compared: sim/steady " in out
    _, out, _ = verb("diff", both, one)
    assert "only in first: sim/steady, sim/weak " in out
    assert "not compared" not in out


def test_the_two_newest_runs_are_compared_in_their_order(verb: Verb) -> None:
    """`diff last last` is the older of the two newest against the newer; what `last` stands for is said, for --json, too."""
    older, newer = made(verb, *RULES), made(verb, *JUDGED)
    _, out, said = verb("diff", "last", "last", "--json")
    found = json.loads(out)
    assert (found["first"]["run"], found["second"]["run"]) == (older, newer)
    assert f"last: run {older} of " in said
    assert f"last: run {newer} of " in said
    _, out, said = verb("diff", newer, "last", "--json")
    assert json.loads(out)["second"]["run"] == older
    assert f"last: run {older} of " in said
    _, out, _ = verb("diff", "last", "last", "--models", "sim/strong,sim/weak", "--json")
    found = json.loads(out)
    assert found["first"]["run"] == found["second"]["run"] == newer


def test_a_name_moves_only_by_force_and_can_be_given_back(verb: Verb) -> None:
    """Whose name it is is told with the way out, `runs name` gives another, and commands do not repeat names."""
    first = made(verb, *RULES, "--name", "base", "--tag", "ci")
    code, _, said = verb(*JUDGED, "--name", "base")
    assert (code, f"run {first} is called 'base' already" in said) == (2, True)
    assert [run["id"] for run in json.loads(verb("runs", "--json")[1])] == [first], "nothing of the second was stored"
    code, _, said = verb(*JUDGED, "--name", "base", "--force")
    assert code == 0
    assert f"which was the name of run {first}" in said
    assert f"dokimasia runs name {first} NAME" in said
    assert "was the name of" not in verb(*JUDGED, "--name", "base")[2]
    assert verb("runs", "name", first, "last")[0] == verb("runs", "name", first, "a/b")[0] == 2
    assert verb("runs", "name", first, "rules")[0] == 0
    listed = json.loads(verb("runs", "--json")[1])
    assert [one["name"] for one in listed] == ["base", "rules"]
    assert not any(word in one["command"] for one in listed for word in ("--name", "--tag", "--force"))
    code, _, said = verb("runs", "name", first, "base")
    assert (code, f"run {listed[0]['id']} is called 'base' already" in said) == (2, True)
    code, _, said = verb("runs", "name", first, "base", "--force")
    assert (code, f"which was the name of run {listed[0]['id']}" in said) == (0, True)


def test_a_run_asked_for_under_two_names_shows_and_answers_to_both(verb: Verb) -> None:
    """The list has the newest name first; either finds the run, until another run takes one of them."""
    first = made(verb, *RULES, "--name", "week 1")
    assert made(verb, *RULES, "--name", "base") == first
    assert "base, week 1" in verb("runs")[1]
    (listed,) = json.loads(verb("runs", "--json")[1])
    assert (listed["name"], listed["other_names"]) == ("base", ["week 1"])
    for name in ("base", "week 1"):
        assert json.loads(verb("show", name, "--json")[1])["run"] == first
    second = made(verb, *JUDGED, "--name", "week 1")
    listed = json.loads(verb("runs", "--json")[1])
    assert [(run["id"], run["name"], run["other_names"]) for run in listed] == [
        (second, "week 1", []),
        (first, "base", []),
    ]


def test_a_misspelt_name_of_a_run_is_answered_with_the_nearest(verb: Verb) -> None:
    """Every verb that names a run suggests a name that is like the misspelt one, and lists the newest runs if none is."""
    first = made(verb, *JUDGED, "--name", "week1")
    for words in (
        ("show", "wek1"),
        ("report", "wek1"),
        ("export", "wek1"),
        ("resume", "wek1"),
        ("fork", "wek1", "--judge", "sim/judge-noisy"),
        ("runs", "name", "wek1", "other"),
        ("runs", "delete", "wek1"),
        ("diff", first, "wek1"),
        ("board", first, "wek1"),
        ("gate", first, "--baseline", "wek1", "--max-drop", 5),
        ("refine", "wek1"),
        ("bundle", "wek1"),
        ("tree", "grow", "wek1", "--judge", "sim/judge"),
    ):
        code, _, said = verb(*words)
        assert (code, "; did you mean 'week1'?" in said) == (2, True), (words, said)
    assert verb("show")[1] == verb("show", "week1")[1], "by default the newest run"
    code, _, said = verb("show", "zzz")
    assert (code, "The newest are: week1 (evaluate)." in said) == (2, True)


def test_runs_show_the_models_and_the_spending_of_each(verb: Verb, tmp_path: Path) -> None:
    """Models of forks and of stored responses are listed, too; a run that the ledger answered has spent nothing."""
    asked = made(verb, *JUDGED)
    answers = tmp_path / "answers.jsonl"
    verb("export", asked, "-o", answers)
    stored = made(verb, JUDGED[0], JUDGED[1], "--judge", "sim/judge", "--responses", str(answers))
    forked = made(verb, "fork", stored, "--from", "score", "--judge", "sim/judge-careless")
    runs = {run["id"]: run for run in json.loads(verb("runs", "--json")[1])}
    assert runs[asked]["models"] == runs[stored]["models"]
    assert {*runs[stored]["models"], "sim/judge-careless"} == {*runs[forked]["models"]}
    assert runs[asked]["spent"]["calls"] > 0 == runs[stored]["spent"]["calls"]
    assert runs[forked]["spent"]["calls"] > 0
    shown = " ".join(verb("runs")[1].split())
    assert f"models: {', '.join(runs[forked]['models'])}"[:30] in shown


def test_a_fork_says_whose_judge_made_its_criteria(verb: Verb) -> None:
    """Criteria that were taken over were made by the judge of the run that they are from, not by the fork's."""
    parent = made(verb, *JUDGED)
    assert "calls of the judge made the criteria. " in verb("show", parent, "--full")[1]
    forked = made(verb, "fork", parent, "--from", "score", "--judge", "sim/judge-noisy")
    _, out, _ = verb("show", forked, "--full")
    assert f"calls of sim/judge made the criteria, which were taken over from run {parent}. " in out
    again = made(verb, "fork", parent, "--from", "extract_criteria", "--judge", "sim/judge-noisy")
    assert "calls of the judge made the criteria. " in verb("show", again, "--full")[1]


def test_runs_that_rest_on_one_are_named_before_it_goes(verb: Verb) -> None:
    """Deleting says which runs were made from it and how it comes back, and it comes back: they can be shown again."""
    parent = made(verb, *JUDGED)
    refined = made(verb, "refine", parent)
    code, _, said = verb("runs", "delete", refined, "--yes")
    assert (code, said) == (0, "")
    refined = made(verb, "refine", parent)
    code, _, said = verb("runs", "delete", parent, "--yes")
    assert code == 0
    assert f"run {refined} rests on it: refine {parent}" in said
    assert f"comes back with the same command: {' '.join(JUDGED)}" in said
    assert made(verb, *JUDGED) == parent
    assert verb("show", refined)[0] == 0


def test_a_dry_run_begins_with_its_cost(verb: Verb) -> None:
    """The first words are the cost; prompts, which are long, are printed below and only where they are asked for."""
    _, brief, _ = verb(*JUDGED, "--dry-run")
    assert brief.startswith("estimated cost $0.00: 8 samples, about ")
    assert "── prompt" not in brief
    assert "add --show-prompts" in brief
    for words in (["--show-prompts"], ["--dry-run", "--show-prompts"]):
        _, full, _ = verb(*JUDGED, *words)
        assert full.startswith("estimated cost $0.00: 8 samples, about ")
        assert full.index("sim/weak: 8 calls") < full.index("─ prompt solver")


def test_the_help_groups_the_verbs_and_an_old_name_leads_to_the_new(
    verb: Verb, capfd: pytest.CaptureFixture[str]
) -> None:
    """Every verb is under one heading; names of earlier versions end with an error that has the name of today."""
    assert run(["--help"]) == 0
    lines = capfd.readouterr().out.splitlines()
    headings = [line for line in lines if line.endswith(":") and not line.startswith((" ", "Options"))]
    assert headings == [f"{heading}:" for heading in VERB_GROUPS]
    assert {line.split()[0] for line in lines if line.startswith("  ")} >= set(VERBS)
    assert len(VERBS) == sum(map(len, VERB_GROUPS.values()))
    assert "no command" in verb("correctly")[2]
    for words, name in (
        (["check", "last"], "decide"),
        (["run", "G", "D"], "graph"),
        (["annotate", "correct"], "annotate overrule"),
    ):
        code, out, said = verb(*words)
        assert (code, out) == (2, "")
        assert f"`{' '.join(words[: len(name.split())])}` is called `{name}` now" in said


def test_a_growth_counts_criteria(verb: Verb) -> None:
    """The heading of a growth says of how many criteria it is."""
    grown = made(verb, "tree", "grow", made(verb, *JUDGED), "--judge", "sim/judge", "--min-support", "1")
    figures = json.loads(verb("show", grown, "--json")[1])
    assert f"world.jsonl · {figures['n']} criteria · judge" in verb("show", grown)[1]


def test_what_is_piped_is_as_wide_as_columns_says(
    verb: Verb, capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a terminal lines have 120 columns, and with COLUMNS set as many as that."""
    made(verb, *RULES)

    def widest() -> int:
        run(["show", "last", "--home", str(tmp_path / "home")])
        return max(map(len, capfd.readouterr().out.splitlines()))

    assert 100 < widest() <= 120
    monkeypatch.setenv("COLUMNS", "70")
    assert 50 < widest() <= 70


def test_predictions_given_as_data_are_scored_over_their_questions(verb: Verb, tmp_path: Path) -> None:
    """The TSV beside VLMEvalKit's predictions has the questions; a method that takes no responses says which file to give."""
    openpyxl = pytest.importorskip("openpyxl")
    rows = [("1", "What is two and two?", "4"), ("2", "What is two and three?", "5")]
    questions = tmp_path / "MMBench_DEV_EN.tsv"
    questions.write_text("index\tquestion\tanswer\timage_path\n" + "".join("\t".join(row) + "\t\n" for row in rows))
    book = openpyxl.Workbook()
    for row in (("index", "question", "answer", "prediction"), *((*row, "4") for row in rows)):
        book.active.append(list(row))
    book.save(tmp_path / "GPT4o_MMBench_DEV_EN.xlsx")
    code, out, said = verb("evaluate", "GPT4o_MMBench_DEV_EN.xlsx", "--json")
    assert (code, "has a model's predictions on MMBench_DEV_EN.tsv" in said) == (0, True), said
    assert json.loads(out)["models"]["GPT4o"]["strict_accuracy"]["share"] == 0.5
    same = made(verb, "evaluate", questions, "--responses", "GPT4o_MMBench_DEV_EN.xlsx")
    assert same == json.loads(out)["run"]
    code, _, said = verb("review", "GPT4o_MMBench_DEV_EN.xlsx", "--panel", "sim/strong,sim/weak")
    assert code == 2
    assert f"give {questions}" in said


def test_simulated_models_say_that_they_see_no_photographs(verb: Verb, tmp_path: Path) -> None:
    """On pictures of the user's own, a run of simulated models says that its figures mean nothing; on theirs, it does not."""
    Image.new("RGB", (32, 24), (200, 10, 10)).save(tmp_path / "red.png")
    own = tmp_path / "own.jsonl"
    own.write_text(json.dumps({"id": "red", "image": "red.png", "prompt": "Which colour?", "reference_answer": "red"}))
    asked = ("--judge", "sim/judge", "--models", "sim/strong", "--limit", "1")
    says = "sim/judge and sim/strong are simulated and can see nothing in these pictures"
    code, preview, err = verb("evaluate", own, *asked, "--dry-run")
    assert code == 0
    assert says in " ".join((preview + err).split())
    code, result, err = verb("evaluate", own, *asked)
    assert says in err
    assert says in " ".join(result.split()), "beside the figures, too"
    assert says in " ".join(verb("show", "last")[1].split())
    assert says in verb("report", "last", "-o", "-", "--format", "md")[1].replace("\\", "")
    assert says not in " ".join(verb("evaluate", "world.jsonl", *asked, "--dry-run")[1].split())
    assert says not in verb("evaluate", "world.jsonl", *asked)[2]
