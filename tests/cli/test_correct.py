"""`correct` as a user runs it: judges with planted false verdicts, passports, mixes of errors, labels of people, and misuse."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from dokimasia.cli.main import run
from dokimasia.people.correction.figures import decided_run
from dokimasia.runs.decisions import DecidedAnswer
from dokimasia.simulation.world import write_described, write_world
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run
from tests.planted_judges import detections, judge_of, kept_passport, planted_passport

MODELS = "sim/strong,sim/weak"
OBLIGING = "sim/judge-obliging"

Figures = dict[str, Any]
Printed = Callable[..., Figures]


class Place(NamedTuple):
    """A home with two evaluations of the same answers: by a judge that errs as planted, and by one that does not."""

    folder: Path
    judged: str
    true: str

    @property
    def home(self) -> list[str]:
        return ["--home", str(self.folder / "home")]

    def answers(self, run: str, measure: int = 0) -> Mapping[str, Sequence[DecidedAnswer]]:
        with Home.open(self.folder / "home", write=False) as home:
            return decided_run(home, get_run(home, run)).measures[measure].models

    def truth(self, model: str) -> float:
        decisions = [one.decision for one in self.answers(self.true)[model] if one.decision is not None]
        return sum(one.right for one in decisions) / len(decisions)


def last(folder: Path) -> str:
    with Home.open(folder / "home", write=False) as home:
        return str(home.rows("SELECT id FROM runs ORDER BY created_at DESC, rowid DESC LIMIT 1")[0]["id"])


def evaluated(folder: Path, data: Path, judge: str) -> str:
    command = ["evaluate", str(data), "--judge", judge, "--models", MODELS, "--home", str(folder / "home")]
    assert run([*command, "--json"]) == 0
    return last(folder)


@pytest.fixture(scope="session")
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A world of 60 questions; its seed is the fixture's parameter."""
    folder = tmp_path_factory.mktemp("correct")
    write_world(folder / "world.jsonl", 60, getattr(request, "param", 3))
    true = evaluated(folder, folder / "world.jsonl", "sim/judge")
    return Place(folder, evaluated(folder, folder / "world.jsonl", OBLIGING), true)


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    """Runs `correct` and returns what it prints as JSON."""

    def correct(place: Place, *options: object, of: str = "") -> Figures:
        capsys.readouterr()
        assert run(["correct", of or place.judged, *map(str, options), "--json", *place.home]) == 0
        return json.loads(capsys.readouterr().out)

    return correct


def labels(place: Place, path: Path, *, errors: Sequence[str] = (), of: int = 60) -> Path:
    """Write what is true of the answers to so many drawn samples as people's labels."""
    lines: list[str] = []
    drawn = Random(0).sample(range(60), of)
    for model, answers in place.answers(place.true).items():
        for number, one in enumerate(answers):
            if one.decision is None or number not in drawn:
                continue
            line = {"id": one.unit.id, "model": model, "annotator": "anna", "value": int(one.decision.right)}
            if errors and not one.decision.right:
                line["error"] = errors[number % len(errors)]
            lines.append(json.dumps(line) + "\n")
    path.write_text("".join(lines))
    return path


def passport(path: Path, *, judge: str = OBLIGING, prompts: Mapping[str, str] | None = None) -> Path:
    """Write the passport of a judge that overlooks one error in five and rejects one right answer in ten."""
    found = detections(images=60, misses=0.2, alarms=0.1, ways=("gated", "right-or-wrong"))
    return kept_passport(path, planted_passport(found, judge=judge_of(judge), prompts=prompts))


def mix(path: Path, **kinds: Any) -> Path:
    path.write_text(json.dumps(kinds))
    return path


def holds(one: Mapping[str, Any], truth: float) -> bool:
    return one["low"] <= truth <= one["high"]


@pytest.mark.parametrize("place", [3, *(pytest.param(seed, marks=pytest.mark.full) for seed in (8, 21))], indirect=True)
def test_labels_and_passport_bring_back_what_the_judge_got_wrong(
    place: Place, printed: Printed, tmp_path: Path
) -> None:
    """As judged more answers are right than are; corrected either way the intervals hold the truth, and so do differences."""
    options = (
        "--passport", passport(tmp_path / "passport.json"),
        "--mix", mix(tmp_path / "mix.json", shares={"VG": 1, "VR": 1}),
        "--human", labels(place, tmp_path / "said.jsonl"),
    )  # fmt: skip
    figures = printed(place, *options)
    models = figures["measures"]["right"]["models"]
    for name, one in models.items():
        truth = place.truth(name)
        assert holds(one["by_passport"], truth)
        assert holds(one["by_labels"], truth)
        assert one["by_rule"] + one["by_judge"] == one["raw"]["n"]
    weak = models["sim/weak"]
    assert weak["raw"]["share"] > place.truth("sim/weak")
    assert abs(weak["by_passport"]["rate"] - place.truth("sim/weak")) < weak["raw"]["share"] - place.truth("sim/weak")
    (pair,) = figures["measures"]["right"]["pairs"]
    apart = place.truth("sim/weak") - place.truth("sim/strong")
    assert holds(pair["by_passport"], apart)
    assert holds(pair["by_labels"], apart)
    assert figures == printed(place, *options)
    lead, missing = figures["conclusion"]
    assert figures["direction"] == "second minus first"
    assert "sim/strong is better than sim/weak: sim/weak − sim/strong is −" in lead
    assert f"{abs(100 * pair['by_labels']['difference']):.1f} points [" in lead
    assert "answers that are right: " in lead
    assert missing == "No label is missing."


def test_the_conclusion_is_printed_first_and_counts_missing_labels(
    place: Place, printed: Printed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Behind the heading stands who is better, how sure that is, what is undecided, and how many labels are missing."""
    few = labels(place, tmp_path / "few.jsonl", of=12)
    figures = printed(place, "--human", few)
    missing = {name: one["by_labels"]["missing"] for name, one in figures["measures"]["right"]["models"].items()}
    assert all(missing.values())
    lead, *_, last_sentence = figures["conclusion"]
    assert lead.startswith("Nothing could be corrected; as judged, ")
    assert last_sentence.startswith(f"At least {sum(missing.values())} labels are missing (")
    assert run(["correct", place.judged, "--human", str(few), *place.home]) == 0
    text = " ".join(capsys.readouterr().out.split())
    before, _, after = text.partition(" ".join(figures["conclusion"]))
    assert after
    assert before.rstrip().endswith("judged by sim/judge-obliging"), "only the heading stands before it"


def test_rates_of_rules_alone_are_strict(place: Place, printed: Printed, tmp_path: Path) -> None:
    """Without a judge the rate as decided counts undecided answers as not right, and labels correct it over all answers."""
    assert run(["evaluate", str(place.folder / "world.jsonl"), "--models", MODELS, *place.home]) == 0
    said = labels(place, tmp_path / "said.jsonl")
    figures = printed(place, "--human", said, of=last(place.folder))
    found = figures["measures"]["right"]
    total = sum(one["raw"]["n_undecided"] for one in found["models"].values())
    assert f"As judged, {total} undecided answer" in " ".join(figures["conclusion"])
    for model, one in found["models"].items():
        raw = one["raw"]
        assert (raw["n"], raw["answers"], raw["coverage"]) == (60, 60, 1.0)
        assert one["by_rule"] + raw["n_undecided"] == 60
        assert raw["share"] - 1e-6 <= place.truth(model) <= raw["upper"] + 1e-6  # written to six digits
        assert holds(one["by_labels"], place.truth(model))
    assert any(one["raw"]["n_undecided"] for one in found["models"].values())
    assert all(one["n"] == 60 for one in found["pairs"])


def test_without_mix_and_labels_a_passport_corrects_nothing(
    place: Place, printed: Printed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rate as judged stands beside the reason for the refusal, the way out, and how far mixes could move it."""
    file = passport(tmp_path / "passport.json")
    one = printed(place, "--passport", file)["measures"]["right"]["models"]["sim/weak"]
    assert one["by_passport"]["rate"] is None
    assert "--mix FILE" in one["by_passport"]["refused"]
    assert "--human FILE" in one["by_passport"]["refused"]
    assert one["over_mixes"]["low"] <= one["over_mixes"]["high"]
    assert one["raw"]["share"] is not None
    assert run(["correct", place.judged, "--passport", str(file), *place.home]) == 0
    assert "by passport: none: the passport knows how often" in " ".join(capsys.readouterr().out.split())


def test_labels_that_say_the_kind_of_error_are_a_mix(place: Place, printed: Printed, tmp_path: Path) -> None:
    """Kinds of error that people name weight the sensitivity, and are held against the passport's own mix and a given one."""
    file = passport(tmp_path / "passport.json")
    alike = labels(place, tmp_path / "alike.jsonl", errors=("VG", "VR"))
    figures = printed(place, "--passport", file, "--human", alike)
    assert set(figures["mix"]["shares"]) == {"VG", "VR"}
    assert figures["mix"]["counted"]
    assert figures["measures"]["right"]["models"]["sim/weak"]["by_passport"]["rate"] is not None
    shifted = labels(place, tmp_path / "shifted.jsonl", errors=("numerical_errors",))
    assert any(
        "another mix of kinds" in line for line in printed(place, "--passport", file, "--human", shifted)["warnings"]
    )
    given = mix(tmp_path / "mix.json", shares={"entity_substitution": 1})
    lines = printed(place, "--passport", file, "--mix", given, "--human", shifted)["warnings"]
    assert any("75 % of its weight would have to move" in line for line in lines)
    assert any("than those of the given mix" in line for line in lines)
    equal = mix(tmp_path / "equal.json", counts={"VG": 30, "VR": 31})
    assert printed(place, "--passport", file, "--mix", equal)["warnings"] == []


def test_labels_drawn_by_annotate_come_back_as_a_correction(
    place: Place, printed: Printed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`annotate draw --scale 0-1` draws answers that no rule decided, and `correct` takes what was read."""
    forms = tmp_path / "forms"
    draw = [
        "annotate",
        "draw",
        place.judged,
        "--annotators",
        "anna",
        "--cases",
        "40",
        "--scale",
        "0-1",
        "-o",
        str(forms),
    ]
    assert run([*draw, *place.home]) == 0
    opened = {
        (one.unit.id, model)
        for model, answers in place.answers(place.judged).items()
        for one in answers
        if one.decision is not None and not one.known
    }
    assert f"{len(opened)} items" in capsys.readouterr().err
    page = (forms / "anna" / "annotate.html").read_text()
    assert "Is the final answer right? The reasoning before it does not count." in page
    shown = [json.loads(line) for line in (forms / "anna" / "items.jsonl").read_text().splitlines()]
    assert all(one["reference"] for one in shown)
    assert run([*draw, "--per", "2", *place.home]) == 2
    key = [json.loads(line) for line in (tmp_path / "forms.key.jsonl").read_text().splitlines()][1:]
    assert {(one["id"], one["model"]) for one in key} == opened
    truth = {
        (one.unit.id, model): int(one.decision.right)
        for model, answers in place.answers(place.true).items()
        for one in answers
        if one.decision is not None
    }
    filled = [{"item": one["item"], "score": truth.get((one["id"], one["model"]), 0)} for one in key]
    (tmp_path / "anna.jsonl").write_text("".join(json.dumps(one) + "\n" for one in filled))
    said = tmp_path / "said.jsonl"
    assert run(["annotate", "read", f"{forms}.key.jsonl", str(tmp_path / "anna.jsonl"), "-o", str(said)]) == 0
    figures = printed(place, "--human", said)
    assert figures["human"]["labels"] == len(opened)
    assert not any("which response" in line for line in figures["warnings"])
    lines = [json.loads(line) for line in said.read_text().splitlines()]
    lines[3]["response_sha256"] = "0" * 64
    other = tmp_path / "other.jsonl"
    other.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run(["correct", place.judged, "--human", str(other), *place.home]) == 2
    assert f"1 of {len(lines)} labels are of other responses than those of run" in capsys.readouterr().err
    other.write_text("".join(json.dumps(line | {"response_sha256": None}) + "\n" for line in lines))
    assert any(
        "cannot be verified to belong to this run" in line for line in printed(place, "--human", other)["warnings"]
    )
    for name, one in figures["measures"]["right"]["models"].items():
        assert one["by_labels"]["labels"] == one["by_judge"]
        assert one["by_labels"]["missing"] == 0
        assert one["by_labels"]["rate"] == pytest.approx(place.truth(name), abs=1e-6)
        assert holds(one["by_labels"], place.truth(name))


def test_a_draw_of_labels_is_spread_over_models_and_verdicts(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So many answers of each model are drawn, in each verdict as many as its part; a larger draw holds the smaller."""
    verdicts = {
        (one.unit.id, model): one.correctness
        for model, answers in place.answers(place.judged).items()
        for one in answers
        if one.decision is not None and not one.known
    }
    drawn: list[set[tuple[str, str]]] = []
    for number in (8, 12):
        forms = tmp_path / f"forms-{number}"
        draw = ["annotate", "draw", place.judged, "--annotators", "anna", "--cases", str(number), "--scale", "0-1"]
        assert run([*draw, "-o", str(forms), *place.home]) == 0
        key = Path(f"{forms}.key.jsonl").read_text().splitlines()[1:]
        drawn.append({(one["id"], one["model"]) for one in map(json.loads, key)})
        for model in MODELS.split(","):
            of_model = [verdicts[unit] for unit in drawn[-1] if unit[1] == model]
            every = [verdict for unit, verdict in verdicts.items() if unit[1] == model]
            assert len(of_model) == min(number, len(every))
            expected = len(of_model) * every.count("right") / len(every)
            assert of_model.count("right") == pytest.approx(expected, abs=1)
    assert drawn[0] < drawn[1]
    assert "spread over the judge's verdicts: sim/strong " in capsys.readouterr().err


def test_few_labels_say_how_many_are_missing(
    place: Place, printed: Printed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Labels of answers that rules decided do not count, and the number that is missing stands in place of the rate."""
    said = labels(place, tmp_path / "said.jsonl", of=30)
    figures = printed(place, "--human", said)
    assert figures["human"]["ruled"] > 0
    for one in figures["measures"]["right"]["models"].values():
        labelled = one["by_labels"]
        assert labelled["rate"] is None
        assert 0 < labelled["missing"] <= one["by_judge"] - labelled["labels"]
        assert labelled["certain"]["low"] <= labelled["certain"]["high"]
    assert run(["correct", place.judged, "--human", str(said), *place.home]) == 0
    assert "which change nothing" in " ".join(capsys.readouterr().out.split())


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Three models, of which rules leave only a few answers open."""
    folder = tmp_path_factory.mktemp("three")
    write_world(folder / "world.jsonl", 60, 1)
    home = ["--home", str(folder / "home")]
    models = ["--models", "sim/strong,sim/steady,sim/hasty"]
    assert run(["evaluate", str(folder / "world.jsonl"), "--judge", "sim/judge", *models, *home, "--json"]) == 0
    return Place(folder, last(folder), last(folder))


def few_labels(three: Place, path: Path, **of: int) -> Path:
    """Label so many open answers of each model."""
    lines: list[str] = []
    for model, answers in three.answers(three.judged).items():
        units = [one.unit for one in answers if not one.known][: of[model.removeprefix("sim/")]]
        lines += [json.dumps({"id": unit.id, "model": model, "annotator": "anna", "value": 1}) for unit in units]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_pairs_without_labels_enough_are_counted_as_judged(
    three: Place, printed: Printed, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one model alone has a rate by labels, no pair has: pairs that clearly differ as judged are not called undecided."""
    n_open = {
        model.removeprefix("sim/"): sum(not one.known for one in answers)
        for model, answers in three.answers(three.judged).items()
    }
    said = few_labels(three, tmp_path / "said.jsonl", strong=n_open["strong"], steady=2, hasty=2)
    figures = printed(three, "--human", said)
    measure = figures["measures"]["right"]
    assert measure["models"]["sim/strong"]["by_labels"]["rate"] is not None
    sure = sum(not pair["raw"]["low"] <= 0 <= pair["raw"]["high"] for pair in measure["pairs"])
    assert 0 < sure < 3
    text = f"No pair can be compared by labels yet; as judged, {sure} of 3 pairs of models differ beyond chance"
    assert any(sentence.startswith(text) for sentence in figures["conclusion"])
    for width in (120, 80, 60):
        monkeypatch.setenv("COLUMNS", str(width))
        assert run(["correct", three.judged, "--human", str(said), *three.home]) == 0
        shown = capsys.readouterr().out
        for line in ("sim/strong − sim/hasty", "sim/strong − sim/steady", "sim/steady − sim/hasty"):
            assert re.search(rf"^ {line} ", shown, re.MULTILINE), "a name breaks, or the column is cut"
        assert re.search(r"^ sim/steady .* 2 missing", shown, re.MULTILINE)
        steady = n_open["steady"]
        reason = f"2 of {steady} open answers are labelled: label the remaining {steady - 2}"
        assert reason in " ".join(shown.split())
    pair = few_labels(three, tmp_path / "two.jsonl", strong=n_open["strong"], steady=n_open["steady"], hasty=2)
    ends = [
        sentence for sentence in printed(three, "--human", pair)["conclusion"] if "undecided, 2 of them" in sentence
    ]
    assert ends, "pairs without a comparison are told apart"


def test_three_people_settle_an_answer_by_majority(
    place: Place, printed: Printed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two who differ are refused with the way out; the third's word makes a majority, which is counted."""
    path = labels(place, tmp_path / "said.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    of = {"id": lines[0]["id"], "model": lines[0]["model"]}
    more = [of | {"annotator": "ben", "value": 1 - lines[0]["value"]}]
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, *more]))
    assert run(["correct", place.judged, "--human", str(path), *place.home]) == 2
    assert "have a third person rate them" in capsys.readouterr().err
    more.append(of | {"annotator": "carla", "value": lines[0]["value"]})
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, *more]))
    figures = printed(place, "--human", path)
    assert figures["human"]["by_majority"] == 1
    assert figures["human"]["people"] == 3


def test_a_refused_rate_has_neither_mixes_nor_pairs(
    place: Place, printed: Printed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A judge that found more wrong than its passport makes possible: no rate, no range over mixes and no difference to it."""
    found = detections(images=60, misses=0.75, alarms=0.0, ways=("gated", "right-or-wrong"))
    file = kept_passport(tmp_path / "passport.json", planted_passport(found, judge=judge_of(OBLIGING)))
    given = ("--passport", file, "--mix", mix(tmp_path / "mix.json", shares={"VG": 1}))
    measure = printed(place, *given)["measures"]["right"]
    refused = {name for name, one in measure["models"].items() if one["by_passport"]["refused"]}
    assert refused
    assert all(measure["models"][name]["over_mixes"] is None for name in refused)
    for pair in measure["pairs"]:
        assert pair["by_passport"]["difference"] is None
        assert "more answers were judged wrong" in pair["by_passport"]["refused"]
    assert run(["correct", place.judged, *map(str, given), *place.home]) == 0
    assert "passport passport.json, answers that are right, sensitivity" in " ".join(capsys.readouterr().out.split())


def test_what_are_no_labels_is_told(place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A passport in the place of labels, and a kind of error that there is not, end with exit code 2 and one line."""
    assert run(["correct", place.judged, "--human", str(passport(tmp_path / "p.json")), *place.home]) == 2
    assert "p.json is a passport: name it with --passport" in capsys.readouterr().err
    said = labels(place, tmp_path / "said.jsonl", errors=("miscount",))
    assert run(["correct", place.judged, "--human", str(said), *place.home]) == 2
    assert "no kind of error called miscount; there are" in capsys.readouterr().err


def test_labels_of_one_category_are_no_random_draw(
    place: Place, printed: Printed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Samples that a random draw would hardly bring are refused, with the category that gives them away."""
    data = [json.loads(line) for line in (place.folder / "world.jsonl").read_text().splitlines()]
    categories = {one["id"]: one["category"] for one in data}
    answers = place.answers(place.judged)["sim/weak"]
    opened = [categories[one.unit.id] for one in answers if one.decision is not None and not one.known]
    rarest = min(set(opened), key=lambda name: (opened.count(name) / len(opened)) ** opened.count(name))
    path = labels(place, tmp_path / "said.jsonl")
    kept = [line for line in path.read_text().splitlines() if categories[json.loads(line)["id"]] == rarest]
    path.write_text("\n".join(kept) + "\n")
    figures = printed(place, "--human", path)
    assert any("no random draw: 100 % of them" in line for line in figures["warnings"])
    for one in figures["measures"]["right"]["models"].values():
        assert one["by_labels"]["rate"] is one["by_labels"]["weight"] is one["by_labels"]["alone"]["rate"] is None
    capsys.readouterr()
    assert run(["correct", place.judged, "--human", str(path), *place.home]) == 0
    assert " ".join(capsys.readouterr().out.split()).count("no random draw") == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"id": "nowhere", "value": 1}, "line 1: the run has no sample 'nowhere'"),
        ({"model": "sim/other", "value": 1}, "line 1: the run has no model 'sim/other'; there are"),
        ({"value": 3}, "these are scores, and a passport corrects what is right or wrong"),
        ({"value": 7}, "line 1: the value 7 is neither 1 (right) nor 0 (wrong)"),
        ({"baseline": "sim/weak", "value": 1}, "is no label of an answer"),
        ({"value": 1, "error": "typos"}, "the passport has measured no errors of the kind typos"),
    ],
)
def test_labels_that_cannot_be_used_are_named(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str], line: dict[str, Any], said: str
) -> None:
    """Unknown samples, models and kinds of error, values but 0 and 1, and ratings of pairs end with exit code 2."""
    wrong = next(one for one in place.answers(place.true)["sim/weak"] if one.decision and not one.decision.right)
    if "error" in line:
        line = line | {"value": 0}
    row = {"id": wrong.unit.id, "model": "sim/weak" if "baseline" not in line else "sim/strong", "annotator": "anna"}
    (tmp_path / "said.jsonl").write_text(json.dumps(row | line) + "\n")
    given = ["--human", str(tmp_path / "said.jsonl"), "--passport", str(passport(tmp_path / "passport.json"))]
    assert run(["correct", place.judged, *given, *place.home]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ({"shares": {"typos": 1}}, "no errors of the kind typos; it knows"),
        ({"shares": {"VG": 1, "entity_substitution": 1}}, "entity_substitution beside the whole group"),
        ({"counts": {"VG": 1.5}}, "VG: '1.5' is no whole number of at least 0"),
        ({"shares": {"VG": -1}}, "VG: '-1' is no share of at least 0"),
        ({"counts": {"VG": 0}}, "every kind of error has 0"),
        ({"VG": 1}, "no mix; a mix is a JSON object"),
    ],
)
def test_a_mix_that_cannot_be_used_is_named(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str], kinds: dict[str, Any], said: str
) -> None:
    """A mix of unknown kinds, of a group beside its dimensions, or of what is no share, ends with exit code 2."""
    given = ["--passport", str(passport(tmp_path / "passport.json")), "--mix", str(mix(tmp_path / "mix.json", **kinds))]
    assert run(["correct", place.judged, *given, *place.home]) == 2
    assert said in capsys.readouterr().err


def test_passports_that_do_not_fit_are_refused(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A passport of another judge, of other prompts or altered by hand ends with exit code 2, as does nothing to correct by."""
    other = passport(tmp_path / "other.json", judge="sim/judge")
    prompts = passport(tmp_path / "prompts.json", prompts={"equivalence": f"99:{'0' * 64}"})
    altered = passport(tmp_path / "altered.json")
    altered.write_text(altered.read_text().replace('"k": ', '"k": 1', 1))
    for file, said in (
        (other, "the judge here is sim/judge-obliging"),
        (prompts, "the prompt equivalence version 99"),
        (altered, "it was changed after it was made"),
    ):
        assert run(["correct", place.judged, "--passport", str(file), *place.home]) == 2
        assert said in capsys.readouterr().err
    assert run(["correct", place.judged, *place.home]) == 2
    assert "--passport FILE" in capsys.readouterr().err
    assert run(["correct", place.judged, "--mix", str(mix(tmp_path / "mix.json", shares={"VG": 1})), *place.home]) == 2
    assert "name it with --passport" in capsys.readouterr().err


def test_the_schema_describes_what_is_printed(place: Place, printed: Printed, tmp_path: Path, capsys: Any) -> None:
    """`correct --schema` has a field for each that --json prints."""
    from dokimasia.people.correction.shape import CorrectionFigures

    figures = printed(
        place, "--human", labels(place, tmp_path / "said.jsonl"), "--passport", passport(tmp_path / "p.json")
    )
    assert CorrectionFigures.model_validate(figures).run == place.judged
    assert run(["correct", "--schema"]) == 0
    assert set(json.loads(capsys.readouterr().out)["properties"]) == set(figures)


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """An audit of described pictures by a careless judge."""
    folder = tmp_path_factory.mktemp("audited")
    home = ["--home", str(folder / "home")]
    data, rubrics = str(folder / "data.jsonl"), str(folder / "rubrics.jsonl")
    write_described(folder / "data.jsonl", 35, 3)
    assert run(["review", data, "--panel", "sim/panel-a,sim/panel-b,sim/panel-c", "--json", *home]) == 0
    made = ["rubrics", "last", "--judge", "sim/judge", "--pool", "sim/hasty,sim/nearsighted", "--export", rubrics]
    assert run([*made, *home]) == 0
    runs = []
    for judge in ("sim/judge", "sim/judge-lenient"):
        assert run(["audit", data, "--rubrics", rubrics, "--models", MODELS, "--judge", judge, "--json", *home]) == 0
        runs.append(last(folder))
    return Place(folder, runs[1], runs[0])


def test_gates_and_rubrics_of_an_audit_are_corrected_by_labels(
    audited: Place, printed: Printed, tmp_path: Path
) -> None:
    """Labels of descriptions correct the gates, labels of rubrics the share that holds; of these a passport knows nothing."""
    lines: list[str] = []
    for measure in (0, 1):
        for model, answers in audited.answers(audited.true, measure).items():
            for one in answers:
                if one.decision is None:
                    continue
                row = {"id": one.unit.id, "model": model, "annotator": "anna", "value": int(one.decision.right)}
                lines.append(
                    json.dumps(row | ({"criterion": one.unit.criterion, "measure": "holds"} if measure else {}))
                )
    (tmp_path / "said.jsonl").write_text("\n".join(lines) + "\n")
    given = [
        "--passport",
        passport(tmp_path / "p.json", judge="sim/judge-lenient"),
        "--mix",
        mix(tmp_path / "m.json", shares={"VG": 1, "VR": 1}),
    ]
    figures = printed(audited, "--human", tmp_path / "said.jsonl", *given)
    gates, rubrics = (figures["measures"][name] for name in ("gate_pass", "must_right"))
    for number, measure in enumerate((gates, rubrics)):
        for name, one in measure["models"].items():
            decisions = [
                one.decision for one in audited.answers(audited.true, number)[name] if one.decision is not None
            ]
            assert holds(one["by_labels"], sum(decision.right for decision in decisions) / len(decisions))
    assert gates["models"]["sim/weak"]["raw"]["share"] > gates["models"]["sim/weak"]["by_labels"]["rate"]
    assert gates["models"]["sim/weak"]["by_passport"]["rate"] is not None
    assert "single rubrics" in rubrics["models"]["sim/weak"]["by_passport"]["refused"]
    assert any("rather than of gates" in line for line in figures["warnings"])


def test_other_runs_have_nothing_to_correct(audited: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that decides nothing of answers is named with what is corrected."""
    with Home.open(audited.folder / "home", write=False) as home:
        review = str(home.rows("SELECT id FROM runs WHERE method = 'review'")[0]["id"])
    (tmp_path / "said.jsonl").write_text("{}\n")
    assert run(["correct", review, "--human", str(tmp_path / "said.jsonl"), *audited.home]) == 2
    assert "runs of evaluate, whose answers are right or wrong, and of audit" in capsys.readouterr().err


def test_conclusions_by_passport_say_how_far_they_hold(place: Place, printed: Printed, tmp_path: Path) -> None:
    """Every rate with an interval has tipping points, on their side of the passport's rate; labels alone have none."""
    options = (
        "--passport", passport(tmp_path / "passport.json"),
        "--mix", mix(tmp_path / "mix.json", shares={"VG": 1, "VR": 1}),
    )  # fmt: skip
    figures = printed(place, *options)["measures"]["right"]
    for model in figures["models"].values():
        within = model["robustness"][0]
        assert within["text"].startswith("the corrected rate stays within its interval")
        assert {point["rate"] for point in within["tipping"]} == {"sensitivity", "specificity"}
        for point in within["tipping"]:
            assert point["below"] is None or point["below"] < point["passport"]
            assert point["above"] is None or point["above"] > point["passport"]
    (pair,) = figures["pairs"]
    (order,) = pair["robustness"]
    assert order["conclusion"] == "sim/strong is better than sim/weak"
    assert {point["model"] for point in order["tipping"]} == {"", "sim/strong", "sim/weak"}
    labelled = printed(place, "--human", labels(place, tmp_path / "said.jsonl"))["measures"]["right"]
    assert [model["robustness"] for model in labelled["models"].values()] == [[], []]


def test_labels_by_category_and_for_a_width(place: Place, printed: Printed, tmp_path: Path) -> None:
    """With a label of every answer that no rule decided the rate is the true one, and so many labels suffice."""
    said = labels(place, tmp_path / "said.jsonl")
    figures = printed(place, "--human", said, "--by-category", "--width", "25%")
    assert figures["by_category"]
    for name, model in figures["measures"]["right"]["models"].items():
        assert holds(model["by_labels"], place.truth(name))
        needed = model["by_labels"]["needed"]
        assert needed is None or needed <= 60


def test_scores_of_people_correct_mean_scores(
    place: Place, printed: Printed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Scores that are those of the true judge bring back its mean; no rates are printed beside them."""
    with Home.open(place.folder / "home", write=False) as home:
        true = decided_run(home, get_run(home, place.true)).scores
    drawn = set(Random(1).sample(sorted({one.unit.id for one in true["sim/weak"]}), 40))
    lines = [
        json.dumps({"id": one.unit.id, "model": one.unit.model, "annotator": "anna", "value": one.score}) + "\n"
        for answers in true.values()
        for one in answers
        if one.unit.id in drawn
    ]
    path = tmp_path / "scores.jsonl"
    path.write_text("".join(lines))
    figures = printed(place, "--human", path, "--width", "10%")
    assert figures["measures"] == {}
    for name, model in figures["scores"]["models"].items():
        assert model["labels"] == 40
        assert model["low"] <= sum(one.score for one in true[name]) / len(true[name]) <= model["high"]
    (pair,) = figures["scores"]["pairs"]
    assert pair["low"] <= pair["difference"] <= pair["high"]
    assert run(["correct", place.judged, "--human", str(path), *place.home]) == 0
    assert "mean score" in capsys.readouterr().out
    path.write_text(lines[0] + lines[1].replace('"value": ', '"value": 1'))
    assert run(["correct", place.judged, "--human", str(path), *place.home]) == 2
    assert "line 2: the value 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--width", "x"], "'x' is no share of the scale"),
        (["--width", "5%"], "about labels: name them with --human"),
        (["--by-category"], "about labels: name them with --human"),
    ],
)
def test_options_of_labels_without_labels_are_refused(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    """With exit code 2, and what to name."""
    given = ["--passport", str(passport(tmp_path / "passport.json")), *options]
    assert run(["correct", place.judged, *given, *place.home]) == 2
    assert said in capsys.readouterr().err


def test_shares_stand_in_the_order_of_their_subtraction(place: Place, printed: Printed, tmp_path: Path) -> None:
    """The first share of the lead minus the second is the difference, whichever model is better."""
    lead = printed(place, "--human", labels(place, tmp_path / "labels.jsonl"))["conclusion"][0]
    found = re.search(r" − .* is (\S+) points.*: ([\d.]+) %[^%]*? and ([\d.]+) %", lead)
    assert found is not None, lead
    difference, first, second = (float(number.replace("−", "-")) for number in found.groups())
    assert difference == pytest.approx(first - second, abs=0.11)
