"""From errors that are planted to rates that are corrected, verb by verb as a user goes on, offline."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dokimasia.cli.main import run
from dokimasia.simulation.people import CheckRow, true_label_of_row
from dokimasia.simulation.world import write_described, write_world
from dokimasia.storage.home import Home

JUDGES = ("sim/judge", "sim/judge-lenient")
EVALUATORS = "single-axes,pairwise-axes,right-or-wrong,gated"
MODELS = "sim/strong,sim/weak"


class Chain(NamedTuple):
    """A home with labelled perturbations that two judges were probed with: the runs, and what their passports say."""

    folder: Path
    runs: dict[str, str]
    passports: dict[str, dict[str, Any]]

    @property
    def home(self) -> list[str]:
        return ["--home", str(self.folder / "home")]

    def passport(self, judge: str) -> Path:
        return self.folder / f"{judge.removeprefix('sim/')}.json"


def ok(*arguments: object) -> None:
    """Run a command that is to succeed."""
    assert run([str(one) for one in arguments]) == 0, arguments


def last(home: Path) -> str:
    with Home.open(home, write=False) as opened:
        return str(opened.rows("SELECT id FROM runs ORDER BY created_at DESC, rowid DESC LIMIT 1")[0]["id"])


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Chain:
    """Data, perturbations, a person's labels by file, a probe a judge, a passport a judge."""
    folder = tmp_path_factory.mktemp("chain")
    home = ["--home", folder / "home"]
    data, form, anna = folder / "texts.jsonl", folder / "form.jsonl", folder / "anna.jsonl"
    ok("sim", "make", data, "--gold", "texts", "--samples", 8)
    ok("perturb", data, "--perturber", "sim/judge", "--dimensions", "VG,numerical_errors,score_neutral", *home)
    perturbed = last(folder / "home")
    ok("decide", perturbed, "--export", form, *home)
    rows = [row for row in map(json.loads, form.read_text().splitlines()) if row.get("kind") == "perturbation"]
    said = [
        {"item": row["item"], "label": true_label_of_row(CheckRow.model_validate(row), folder), "who": "anna"}
        for row in rows
    ]
    anna.write_text("".join(json.dumps(one) + "\n" for one in said))
    ok("decide", perturbed, "--import", anna, *home)
    made = Chain(folder, {}, {})
    for judge in JUDGES:
        probe = ["probe", perturbed, "--judges", judge, "--evaluators", EVALUATORS, "--reader", "sim/judge-misreading"]
        ok(*probe, *home)
        made.runs[judge] = last(folder / "home")
        ok("passport", judge, "-o", made.passport(judge), *home)
        made.passports[judge] = json.loads(made.passport(judge).read_text())
    return made


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    """Run a command that is to succeed, and return what it prints as JSON."""
    capsys.readouterr()
    ok(*arguments, "--json")
    return json.loads(capsys.readouterr().out)


def test_a_passport_holds_what_each_way_of_judging_was_probed_for(chain: Chain) -> None:
    """All four ways are in it, and of those that decide sensitivity and specificity; the lenient judge detects less."""
    detected: list[float] = []
    for passport in chain.passports.values():
        errors = {one["evaluator"]: one for one in passport["errors"] if one["level"] == "all"}
        assert set(errors) == set(EVALUATORS.split(","))
        assert all(one["n_scored"] == one["n"] > 0 for one in errors.values())
        assert {one["evaluator"] for one in passport["binary"]} == {"gated", "right-or-wrong"}
        assert passport["data"][0]["checked"] == 1.0
        detected.append(errors["single-axes"]["detection"]["share"])
    assert detected[0] > detected[1]


def test_the_reader_errs_on_some_justifications_and_not_on_all(
    chain: Chain, capsys: pytest.CaptureFixture[str]
) -> None:
    """Justifications of clean answers differ from answer to answer, so that a reader's false alarms are a rate."""
    figures = printed(capsys, "show", chain.runs[JUDGES[0]], *chain.home)
    (judge,) = figures["tasks"]["image-to-text"]["judges"].values()
    alarms = judge["evaluators"]["single-axes"]["false_alarms"]
    assert 0 < alarms["share"] < 1


def test_an_evaluation_warns_by_the_passport_and_is_corrected_by_it(
    chain: Chain, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was not probed is told before and in the figures; the rate by the passport stands beside the one as judged."""
    world, mix, judge = chain.folder / "world.jsonl", chain.folder / "mix.json", JUDGES[0]
    write_world(world, 12, 3)
    passport = ["--passport", chain.passport(judge)]
    command = ["evaluate", world, "--judge", judge, "--models", MODELS, *passport, *chain.home]
    assert "scoring by checkpoints was not measured" in str(printed(capsys, *command, "--dry-run")["notes"])
    figures = printed(capsys, *command)
    assert "scoring by checkpoints was not measured" in str(figures["passports"])
    mix.write_text(json.dumps({"shares": {"VG": 3, "VR": 1}}))
    run_id = figures["run"]
    (measure,) = printed(capsys, "correct", run_id, *passport, "--mix", mix, *chain.home)["measures"].values()
    for one in measure["models"].values():
        assert one["raw"]["n"] == one["by_rule"] + one["by_judge"] == 12
        corrected = one["by_passport"]
        assert corrected.get("no_interval") or corrected["low"] <= corrected["rate"] <= corrected["high"]
        mixes = one["over_mixes"]  # none beside a rate that is cut at what rules decided
        assert mixes is None or mixes["low"] <= one["by_passport"]["rate"] <= mixes["high"]


def test_two_audits_are_averaged_by_the_passports_of_their_judges(
    chain: Chain, capsys: pytest.CaptureFixture[str]
) -> None:
    """`analyse --against` weights by both passports; with one alone it names the judge that has none, and ends with 2."""
    data, rubrics = chain.folder / "described.jsonl", chain.folder / "rubrics.jsonl"
    write_described(data, 10, 3)
    ok("review", data, "--panel", "sim/panel-a,sim/panel-b,sim/panel-c", "--json", *chain.home)
    pool = ["--judge", "sim/judge", "--pool", "sim/hasty,sim/nearsighted"]
    ok("rubrics", "last", *pool, "--export", rubrics, *chain.home)
    runs: list[str] = []
    for judge in JUDGES:
        audit = ["audit", data, "--rubrics", rubrics, "--models", MODELS, "--judge", judge]
        runs.append(printed(capsys, *audit, "--passport", chain.passport(judge), *chain.home)["run"])
    both = [word for judge in JUDGES for word in ("--passport", chain.passport(judge))]
    analyse = ["analyse", runs[0], "--against", runs[1]]
    figures = printed(capsys, *analyse, *both, *chain.home)
    plain = printed(capsys, *analyse, *chain.home)
    assert "both, by passport" in _table(capsys, *analyse, *both, *chain.home)
    assert "both, by passport" not in _table(capsys, *analyse, *chain.home)
    assert figures["models"] == plain["models"]
    assert run([str(one) for one in (*analyse, *both[:2], *chain.home)]) == 2
    assert f"{JUDGES[1]} has no passport" in capsys.readouterr().err


def _table(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """What a command that is to succeed prints, each stretch of white space as one blank."""
    capsys.readouterr()
    ok(*arguments)
    return " ".join(capsys.readouterr().out.split())
