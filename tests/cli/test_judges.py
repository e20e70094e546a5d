"""`dokimasia judges check`: a careful judge is suitable, one with a blind spot is not, and nothing is paid twice."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dokimasia import check_judge_sync, load_settings
from dokimasia.algorithms.blindspots import item_share
from dokimasia.cli.main import run
from dokimasia.methods.probe.passports import check_of
from dokimasia.operations.judge_checks import JudgeCheckRequest
from dokimasia.people.passports import images_needed, read_passport
from dokimasia.storage.home import Home

KINDS = "VG,numerical_errors,tone_mismatch"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 14 right answers."""
    folder = tmp_path_factory.mktemp("judges")
    assert run(["sim", "make", str(folder / "texts.jsonl"), "--gold", "texts", "--samples", "14", "--seed", "1"]) == 0
    return folder


def command(folder: Path, judge: str, *more: str) -> list[str]:
    data = ["--data", str(folder / "texts.jsonl"), "--perturber", "sim/judge", "--dimensions", KINDS]
    return ["judges", "check", judge, *data, "--home", str(folder / "home"), *more]


def checked(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> dict[str, Any]:
    """Run a check that is to succeed, and return its figures."""
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def qualities(figures: dict[str, Any], evaluator: str) -> dict[str, Any]:
    (use,) = (use for use in figures["uses"] if use["evaluator"] == evaluator)
    return {one["name"]: one for one in use["qualities"]}


def test_a_careful_judge_is_suitable_and_its_passport_is_written(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It misses nothing by any evaluator; every quality has its count, its coverage and its limit."""
    figures = checked(capsys, command(folder, "sim/judge", "-o", str(folder / "judge.json")))
    assert figures["verdict"] == "suitable"
    checks = [quality for use in figures["uses"] for quality in use["qualities"]]
    n_open = sum(quality["within"] == "open" for quality in checks)
    assert n_open > len(checks) / 2
    assert figures["sentence"] == (
        f"suitable ({n_open} of {len(checks)} checks still open; checkpoints, by which evaluations score, not measured): it "
        "misses 0.0 % [0, 23] of 98 planted errors on 14 images (worst way of judging: single-axes). Use it with single-axes, "
        "pairwise-axes and right-or-wrong. To measure checkpoints, add --evaluators "
        "single-axes,pairwise-axes,right-or-wrong,checkpoints (--dry-run says what it costs)"
    )
    assert figures["unmeasured"] == ["checkpoints"]
    for use in figures["uses"]:
        assert use["verdict"] == "suitable"
        assert use["cost"] == 0
        assert use["timed"] == use["priced"] > 0
        for one in use["qualities"]:
            assert one["limit"] == figures["limits"][one["name"]]
            assert one["coverage"] == round(one["n_scored"] / one["n"], 6)
    missed = qualities(figures, "single-axes")["undetected errors"]
    assert (missed["value"], missed["n"], missed["within"]) == (0, 98, "yes")
    assert read_passport(folder / "judge.json").sha256 == figures["passport"]
    (probe,) = figures["runs"]
    for words in (["show", probe], ["report", probe, "-o", "-", "--format", "md"]):
        assert run([*words, "--home", str(folder / "home")]) == 0
        drawn = " ".join(capsys.readouterr().out.replace("\\", "").split())
        verdict = f"sim/judge is {figures['sentence']}."
        assert 0 < drawn.index(verdict) < drawn.index("image-to-text: "), "it leads"


def test_a_judge_with_a_blind_spot_is_not_suitable(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its misses are beyond the limit, its blind spot is named, and it disagrees with the reference."""
    figures = checked(capsys, command(folder, "sim/judge-blind", "--reference", "sim/judge"))
    assert figures["verdict"] == "not suitable"
    single = qualities(figures, "single-axes")
    assert single["undetected errors"]["low"] > figures["limits"]["undetected errors"]
    assert single["blind spots"]["kinds"] == ["numerical_errors"]
    assert "blind to numerical errors" in figures["sentence"]
    disagreement = single["disagreement with reference"]
    errors = round(single["undetected errors"]["value"] * 98)
    assert round(disagreement["value"] * disagreement["n_scored"]) == errors


def test_a_check_of_what_evaluate_asks_lacks_nothing_and_its_verdict_leads_the_warnings(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`evaluate --passport` begins with the verdict of a judge that is not suitable."""
    passport, data = folder / "blind.json", folder / "world.jsonl"
    arguments = command(folder, "sim/judge-blind", "--evaluators", "checkpoints,right-or-wrong", "-o", str(passport))
    figures = checked(capsys, arguments)
    assert not figures.get("unmeasured")
    assert figures["sentence"].startswith("not suitable. Do not use it with checkpoints (")
    assert "not measured" not in figures["sentence"]
    assert run(["sim", "make", str(data), "--samples", "4", "--seed", "1"]) == 0
    evaluation = [
        "evaluate",
        str(data),
        "--judge",
        "sim/judge-blind",
        "--models",
        "sim/weak",
        "--passport",
        str(passport),
    ]
    notes = checked(capsys, [*evaluation, "--dry-run", "--home", str(folder / "home")])["notes"]
    verdict = f"judge sim/judge-blind: by its passport it is {figures['sentence']}"
    assert verdict == next(note for note in notes if "judge sim/judge-blind" in note)


def test_what_is_open_where_it_decides_is_not_said_to_count_for_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Open undetected errors decide, and open false alarms within the limit do not."""
    assert run(command(folder, "sim/judge", "--limit", "4", "--evaluators", "single-axes")) == 0
    rows = capsys.readouterr().out.splitlines()
    (undetected,) = [row for row in rows if "undetected errors  " in row]
    assert undetected.rstrip().endswith("open")
    (alarms,) = [row for row in rows if "false alarms  " in row and "%" in row]
    assert alarms.rstrip().endswith("open (does not count)")


def test_a_lenient_judge_without_false_alarms_needs_correction(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its decisions of right and wrong can be corrected, its scores cannot; 28 images make both sure."""
    texts = folder / "lenient" / "texts.jsonl"
    assert run(["sim", "make", str(texts), "--gold", "texts", "--samples", "28", "--seed", "1"]) == 0
    figures = checked(capsys, command(texts.parent, "sim/judge-lenient", "--evaluators", "single-axes,right-or-wrong"))
    verdicts = {use["evaluator"]: use["verdict"] for use in figures["uses"]}
    assert verdicts == {"single-axes": "not suitable", "right-or-wrong": "suitable with correction"}
    assert figures["verdict"] == "suitable with correction"
    assert figures["sentence"].startswith("suitable with correction for right-or-wrong alone, not for single-axes (")
    assert ". Use it, corrected, with right-or-wrong (" in figures["sentence"]
    assert "; do not use it with single-axes (" in figures["sentence"]
    assert "dokimasia correct" in figures["sentence"]


def test_a_judge_that_favours_length_is_found_and_no_other_is_accused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It likes two in five answers better for padding; a judge without that habit changes nothing, whatever else it does."""
    figures = checked(capsys, command(folder, "sim/judge-longer", "-o", str(folder / "longer.json")))
    assert figures["verdict"] == "not suitable"
    single = qualities(figures, "single-axes")["length bias"]
    assert (single["n"], single["n_scored"], single["coverage"], single["within"]) == (28, 28, 1, "no")
    assert figures["limits"]["length bias"] < single["low"] < 0.4 < single["high"]
    assert "single-axes (length bias +" in figures["sentence"]
    pairs = qualities(figures, "pairwise-axes")["length bias"]
    assert (pairs["n"], pairs["n_scored"]) == (14, 14)
    assert pairs["low"] < 0.4 < pairs["high"]
    decisions = qualities(figures, "right-or-wrong")
    assert "length bias" not in decisions
    changed = decisions["changed by length"]
    assert (changed["n"], changed["n_scored"]) == (28, 28)
    assert changed["low"] < 0.4 / 2 < changed["high"], "errors alone can be forgiven for length"
    passport = read_passport(folder / "longer.json")
    assert {length.evaluator: length.bias.mean for length in passport.lengths} == {
        "single-axes": single["value"],
        "pairwise-axes": pairs["value"],
        "right-or-wrong": changed["value"],
    }
    for judge in ("sim/judge", "sim/judge-first-place", "sim/judge-lenient"):
        figures = checked(capsys, command(folder, judge))
        for use in figures["uses"]:
            assert not [reason for reason in use["reasons"] if "length" in reason]
        assert qualities(figures, "single-axes")["length bias"]["value"] == 0
        assert qualities(figures, "right-or-wrong")["changed by length"]["value"] == 0


def test_the_estimate_counts_the_calls_for_length(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two calls for each evaluator and right answer, beside what the ledger has of the same probe without."""
    assert run(command(folder, "sim/judge", "--name", "counted")) == 0
    probe = ["probe", "counted-errors", "--judges", "sim/judge-fickle", "--unchecked", "--home", str(folder / "home")]
    probe += ["--evaluators", "single-axes,pairwise-axes,right-or-wrong"]
    without = checked(capsys, probe)["calls"]
    assert checked(capsys, [*probe, "--padded", "--dry-run"])["calls"] == 2 * 3 * 14
    assert checked(capsys, [*probe, "--padded"])["calls"] == without + 2 * 3 * 14


def test_few_samples_cannot_tell_and_say_what_is_missing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With four images the interval reaches beyond the limit; about so many items would settle it."""
    figures = checked(capsys, command(folder, "sim/judge", "--limit", "4", "--evaluators", "single-axes"))
    assert figures["verdict"] == "cannot tell"
    (use,) = figures["uses"]
    assert use["missing"][0].startswith("undetected errors: about ")


def test_the_same_check_asks_nothing_again_and_python_gives_the_same(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second check sends no call; `check_judge` returns what `--json` prints."""
    figures = checked(capsys, command(folder, "sim/judge"))
    capsys.readouterr()
    assert run(command(folder, "sim/judge")) == 0
    said = capsys.readouterr()
    assert said.err.count("nothing was asked: the run was complete") == 2
    assert "sim/judge is suitable (" in said.out
    assert "it misses 0.0 % [0, 23] of 98 planted errors on 14 images" in " ".join(said.out.split())
    assert re.search(r"false alarms +0.0 % \[0, 23\] +20 % +14   open \(does not count\)", said.out)
    (bias,) = [line for line in said.out.splitlines() if "position bias  " in line]
    assert "points" in bias
    assert "±10 points" in bias, "a bias is in percentage points, beside shares in percent"
    check = check_judge_sync(
        "sim/judge",
        folder / "texts.jsonl",
        perturber="sim/judge",
        dimensions=KINDS.split(","),
        settings=load_settings(home=folder / "home"),
    )
    assert check.model_dump(mode="json", exclude_none=True) == {
        **figures,
        "uses": check.model_dump(mode="json", exclude_none=True)["uses"],
    }
    assert [use.verdict for use in check.uses] == [use["verdict"] for use in figures["uses"]]


def test_labels_of_people_are_held_against_the_judge(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A filled form is taken in; the judge's disagreement is over what people labelled, and the second time nothing is new."""
    capsys.readouterr()
    home = ["--home", str(folder / "home")]
    assert run(command(folder, "sim/judge", "--name", "mine")) == 0
    assert run(["decide", "mine-errors", "--export", str(folder / "form.jsonl"), *home]) == 0
    form, filled = str(folder / "form.jsonl"), str(folder / "eva.jsonl")
    assert run(["sim", "label", form, "--person", "eva", "-o", filled]) == 0
    labels = ["judges", "check", "sim/judge", "--data", "mine-errors", "--labels", filled, *home]
    figures = checked(capsys, labels)
    assert figures["checked"] == 1.0
    one = qualities(figures, "single-axes")["disagreement with labels"]
    assert one["n"] == one["n_scored"] > 90
    assert one["within"] == "yes"
    assert checked(capsys, labels) == figures


def test_a_passport_has_the_ceiling_of_people_who_labelled_the_same(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once a second person has labelled the planted errors, the passport holds the judge and both against the same panels."""
    home = ["--home", str(folder / "home")]
    assert run(command(folder, "sim/judge", "--name", "both")) == 0
    form = str(folder / "both.jsonl")
    assert run(["decide", "both-errors", "--export", form, *home]) == 0
    for person in ("anna", "ben"):
        filled = str(folder / f"{person}.jsonl")
        assert run(["sim", "label", form, "--person", person, "-o", filled]) == 0
        assert run(["decide", "both-errors", "--import", filled, "--who", person, *home]) == 0
    passport = checked(capsys, ["passport", "sim/judge", *home])
    for ceiling in passport["human_ceiling"]:
        assert ceiling["people"] >= 2
        assert ceiling["comparisons"] >= 2 * ceiling["n"] > 100
        assert 0.5 < ceiling["among_people"]["share"] < 1
        assert ceiling["judge"]["low"] > ceiling["difference"]["mean"]
    assert run(["passport", "sim/judge", *home]) == 0
    assert "human ceiling" in capsys.readouterr().out


def test_a_run_that_planted_nothing_says_why_and_the_way_out(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Right answers of a word leave no place for an error: exit code 2, with the reasons and what to change."""
    rows = [json.loads(line) for line in (folder / "texts.jsonl").read_text().splitlines()[:4]]
    short = [{**row, "gold": "seven"} for row in rows]
    (folder / "short.jsonl").write_text("\n".join(map(json.dumps, short)))
    arguments = ["judges", "check", "sim/judge", "--data", str(folder / "short.jsonl"), "--perturber", "sim/judge"]
    assert run([*arguments, "--dimensions", "numerical_errors", "--home", str(tmp_path / "home")]) == 2
    (error,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert "planted nothing (4 " in error
    assert "other --dimensions, or with another --perturber" in error


def calls_of(home: Path) -> int:
    """The number of calls that a home's ledger has."""
    with Home.open(home, write=False) as opened:
        return opened.all("SELECT count(*) FROM calls")[0][0] + opened.all("SELECT count(*) FROM attempts")[0][0]


def test_data_that_can_give_no_verdict_are_refused_before_the_first_call(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two images, or harmless changes alone: whatever the judge answered, the check could not tell."""
    home = tmp_path / "home"
    arguments = command(folder, "sim/judge", "--limit", "2")
    arguments[arguments.index("--home") + 1] = str(home)
    for more in ([], ["--dry-run"]):
        assert run([*arguments, *more]) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert "errors on 2 images cannot tell whether a judge is suitable" in said
        assert "at least 3 are needed to find it not suitable, and 13 to find it suitable" in said
    assert calls_of(home) == 0
    terse = folder / "terse.jsonl"
    rows = [json.loads(line) for line in (folder / "texts.jsonl").read_text().splitlines()]
    terse.write_text("\n".join(json.dumps({**row, "gold": "a red bus"}) for row in rows))
    words = ["judges", "check", "sim/judge", "--data", str(terse), "--perturber", "sim/judge", "--home", str(home)]
    assert run([*words, "--dimensions", "tone_mismatch,narrative_visual_conflict"]) == 2
    assert "there is no planted error for a judge to miss" in " ".join(capsys.readouterr().err.split())
    assert calls_of(home) == 0


def test_harmless_changes_alone_are_not_put_to_the_judge(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a planted error there is nothing to miss: the judge is not asked."""
    home = tmp_path / "home"
    data = [str(folder / "texts.jsonl"), "--perturber", "sim/judge", "--dimensions", "score_neutral"]
    assert run(["perturb", *data, "--name", "harmless", "--home", str(home)]) == 0
    planted = calls_of(home)
    assert run(["judges", "check", "sim/judge", "--data", "harmless", "--home", str(home)]) == 2
    assert "there is no planted error for a judge to miss" in " ".join(capsys.readouterr().err.split())
    assert calls_of(home) == planted


def test_labels_that_cannot_be_read_are_refused_before_the_first_call(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that is no filled form of labels stops the check with its line, and nothing is planted before."""
    filled = tmp_path / "labels.jsonl"
    filled.write_text('{"item": "a", "label": "perhaps"}\n')
    data = ["--data", str(folder / "texts.jsonl"), "--perturber", "sim/judge", "--labels", str(filled)]
    assert run(["judges", "check", "sim/judge", *data, "--home", str(tmp_path / "home")]) == 2
    assert f"{filled}, line 1" in capsys.readouterr().err
    assert not (tmp_path / "home").exists()


def test_probes_of_harmless_changes_alone_give_no_verdict_and_say_that_errors_are_missing(
    folder: Path, tmp_path: Path
) -> None:
    """A probe without a planted error, which is no check's, leaves the verdict open and says what is missing."""
    home = tmp_path / "home"
    data = [str(folder / "texts.jsonl"), "--perturber", "sim/judge", "--dimensions", "score_neutral"]
    assert run(["perturb", *data, "--name", "harmless", "--home", str(home)]) == 0
    probe = ["probe", "harmless", "--judges", "sim/judge", "--evaluators", "single-axes", "--unchecked"]
    assert run([*probe, "--home", str(home)]) == 0
    with Home.open(home, write=False) as opened:
        check = check_of(opened, "sim/judge", ())[0]
    assert check.verdict == "cannot tell"
    assert "single-axes (no planted error was put to the judge)" in check.sentence
    assert check.uses
    for use in check.uses:
        assert use.missing[0].startswith("undetected errors: planted errors. Plant some (--perturber")


def test_few_images_are_said_in_the_estimate(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Four images can show that a judge is not suitable, and not that it is; with fourteen nothing is said."""
    few = checked(capsys, command(folder, "sim/judge", "--limit", "4", "--dry-run"))["planting"]["notes"]
    assert any("that takes 13 images" in note for note in few)
    enough = checked(capsys, command(folder, "sim/judge", "--dry-run"))["planting"]["notes"]
    assert not any("images" in note for note in enough)


def test_the_images_needed_are_those_of_the_interval() -> None:
    """One image less, and even a judge that misses nothing, or everything, leaves the verdict open."""
    for images, verdict, missed in ((13, "suitable", 0.0), (3, "not suitable", 1.0)):
        assert images_needed(verdict) == images
        for number in (images - 1, images):
            interval = item_share([(missed, image) for image in range(number)]).interval
            assert interval is not None
            within = interval.high <= 0.25 or interval.low > 0.25
            assert within == (number == images)


def test_a_dry_run_sends_nothing(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It prints the estimate of planting, and makes no home."""
    arguments = command(folder, "sim/judge", "--dry-run")
    arguments[arguments.index("--home") + 1] = str(tmp_path / "none")
    previews = checked(capsys, arguments)
    assert previews["planting"]["calls"] > 0
    assert previews["probing"] is None
    assert previews["left_out"] == ["checkpoints"]
    assert not (tmp_path / "none").exists()
    assert run(arguments) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "left out checkpoints, by which evaluations score: a call more for each planted error" in said
    assert said.endswith("--evaluators single-axes,pairwise-axes,right-or-wrong,checkpoints measures all")


def test_an_unknown_judge_is_refused_before_anything_is_planted(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No run is stored, and nothing is paid for errors that nobody would be asked about."""
    arguments = command(folder, "nobody")
    arguments[arguments.index("--home") + 1] = str(tmp_path / "home")
    assert run(arguments) == 2
    assert "there is no model 'nobody'" in capsys.readouterr().err
    assert run(["runs", "--json", "--home", str(tmp_path / "home")]) == 0
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.parametrize(
    ("more", "way_out"),
    [
        (["--data", "texts.jsonl", "--perturber", "sim/judge", "--reference", "sim/judge"], "name another model"),
        (["--data", "nothing", "--perturber", "sim/judge"], "leave --perturber out"),
        (["--data", "texts.jsonl", "--checker", "sim/judge"], "name who plants them with --perturber"),
        (["--data", "texts.jsonl"], "--perturber"),
        (["--data", "texts.jsonl", "--perturber", "sim/judge", "--dimensions", "score_neutral"], "plants no error"),
        (["--data", "texts.jsonl", "--perturber", "sim/judge", "--evaluators", "single-eye"], "there is no evaluator"),
        (["--data", "texts.jsonl", "--perturber", "sim/judge", "--reference", "nobody"], "there is no model 'nobody'"),
    ],
)
def test_what_cannot_be_checked_says_the_way_out(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    more: list[str],
    way_out: str,
) -> None:
    """The error names the option, and nothing is sent."""
    monkeypatch.chdir(folder)
    assert run(["judges", "check", "sim/judge", *more, "--home", str(folder / "other")]) == 2
    assert way_out in capsys.readouterr().err


def test_the_limit_on_spending_holds_for_both_runs() -> None:
    """What was spent on planting errors is taken from what the probe may spend."""
    request = JudgeCheckRequest(judge="J", data=Path("data.jsonl"), perturber="P", max_cost=2.0)
    assert request.probing(Path("run"), spent=0.5).max_cost == 1.5
    assert request.probing(Path("run"), spent=3.0).max_cost == 0
