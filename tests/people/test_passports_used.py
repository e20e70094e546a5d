"""Passports held against runs: what is refused, what is warned of, and what is chosen by them."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dokimasia.domain.call import Chat, ChatReply, Message, ModelRef, Sampling, call_key
from dokimasia.domain.duel import REFERENCE
from dokimasia.domain.sample import TextPart
from dokimasia.errors import ConfigError, DataError
from dokimasia.methods.audit import METHOD as AUDIT
from dokimasia.methods.audit import AuditRequest
from dokimasia.methods.duel import METHOD as DUEL
from dokimasia.methods.duel import DuelRequest
from dokimasia.methods.evaluation import METHOD as EVALUATION
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.methods.review import METHOD as REVIEW
from dokimasia.methods.review import ReviewRequest
from dokimasia.people.passports import PAIRWISE, JudgeUse, each_has_one, weights_of
from dokimasia.prompts import default_library
from dokimasia.runs.forking import ForkRequest, fork
from dokimasia.runs.preview import preview
from dokimasia.runs.reading.reporting import write_report
from dokimasia.settings import Settings, resolve_model
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.runs import get_run
from tests.people.test_judge_checks import with_padding
from tests.planted_judges import detections, judge_of, kept_passport, planted_passport

JUDGE = "sim/judge-noisy"
Requests = Callable[..., EvaluationRequest]
HALF_BLIND = {"VG": 0.1, "VR": 0.95}


@pytest.fixture(scope="module")
def blind() -> Any:
    """The passport of a judge that misses nearly every error of reasoning, measured by the shipped prompts."""
    known = default_library().identity()
    prompts = {name: known[name] for name in ("checkpoints", "equivalence", "rubric_assessment", "repair")}
    return planted_passport(detections(misses=HALF_BLIND), judge=judge_of(JUDGE), prompts=prompts)


@pytest.fixture
def file(blind: Any, tmp_path: Path) -> Path:
    """Its file."""
    return kept_passport(tmp_path / "judge.json", blind)


def told(settings: Settings, request: Any, method: Any = EVALUATION) -> str:
    """Return the notes of a dry run."""
    return "\n".join(preview(method, request, settings=settings)["notes"])


def test_a_blind_judge_is_warned_of(settings: Settings, request_of: Requests, file: Path) -> None:
    """A dry run says of which errors the judge surely misses most, with its rate, and of which nothing is known."""
    said = told(settings, request_of(passports=(file,)))
    assert f"judge {JUDGE}: scoring by checkpoints is blind to errors of VR (Visual Reasoning): it detects" in said
    assert "surely below 50 %" in said
    assert "scoring by checkpoints was not measured for errors of SI (Semantic Interpretation)" in said
    assert "VG (Visual Grounding)" not in said
    assert "by the prompts of probes" not in said


def test_the_bound_decides_who_is_blind(settings: Settings, request_of: Requests, file: Path) -> None:
    """With a lower bound nothing is called blind; what was not measured stays told."""
    said = told(settings, request_of(passports=(file,), blind_below=0.01))
    assert "is blind to" not in said
    assert "was not measured" in said


def test_a_judge_without_blind_spots_is_not_warned_of(settings: Settings, request_of: Requests, tmp_path: Path) -> None:
    """A judge that detects nine errors in ten is called blind to nothing."""
    seeing = planted_passport(detections(misses=0.1), judge=judge_of(JUDGE))
    assert "is blind to" not in told(settings, request_of(passports=(kept_passport(tmp_path / "j.json", seeing),)))


def test_a_decision_no_better_than_chance_is_warned_of(
    settings: Settings, request_of: Requests, tmp_path: Path
) -> None:
    """Scoring and deciding whether an answer is right are each told: misses in all, false alarms, and no better than chance."""
    guesses = planted_passport(detections(misses=0.8, alarms=0.8), judge=judge_of(JUDGE))
    said = told(settings, request_of(passports=(kept_passport(tmp_path / "j.json", guesses),)))
    for way in ("scoring by checkpoints", "deciding whether an answer is right"):
        assert f"{way} is blind to errors as a whole: it detects" in said
        assert f"{way} finds fault with" in said
        assert f"{way} hardly tells right from wrong" in said
    seeing = planted_passport(detections(misses=0.1, alarms=0.1), judge=judge_of(JUDGE))
    said = told(settings, request_of(passports=(kept_passport(tmp_path / "k.json", seeing),)))
    assert not any(one in said for one in ("as a whole", "finds fault with", "hardly tells"))


def test_a_decision_that_the_judge_is_not_suitable_for_is_warned_of(
    settings: Settings, request_of: Requests, tmp_path: Path
) -> None:
    """A judge that scores well and whose decisions change with length is warned of by the decisions' name and reason."""
    careful = detections(images=24, misses=0.0, alarms=0.0, ways=("checkpoints",))
    cases = [*careful, *with_padding("right-or-wrong", worse=20, equal=20)]
    passport = planted_passport(cases, judge=judge_of(JUDGE))
    said = told(settings, request_of(passports=(kept_passport(tmp_path / "j.json", passport),)))
    assert (
        "by its passport it is not suitable for deciding whether an answer is right: changed by length 50.0 %" in said
    )
    assert "by its passport it is not suitable for scoring by checkpoints" not in said
    steady = planted_passport([*careful, *with_padding("right-or-wrong", equal=40)], judge=judge_of(JUDGE))
    said = told(settings, request_of(passports=(kept_passport(tmp_path / "k.json", steady),)))
    assert "by its passport it is not suitable" not in said


def test_a_dimension_marked_as_a_blind_spot_is_told(settings: Settings, request_of: Requests, file: Path) -> None:
    """Kinds of error that the passport marks as missed more often than the judge's others are named."""
    said = told(settings, request_of(passports=(file,)))
    assert "has blind spots, errors missed more often than the judge's others: entity_substitution" not in said
    assert "scoring by checkpoints has blind spots" in said
    assert "causal_misattribution" in said


def test_what_is_measured_otherwise_is_told(settings: Settings, request_of: Requests, tmp_path: Path) -> None:
    """Another sampling, tools, and prompts that the passport does not know are told, and are no reason to refuse it."""
    other = judge_of(JUDGE, sampling=Sampling(temperature=0.7), tools=True)
    path = kept_passport(tmp_path / "j.json", planted_passport(judge=other))
    said = told(settings, request_of(passports=(path,)))
    assert "was measured with temperature 0.7, and is asked for here with the provider's defaults" in said
    assert "it was measured with tools, and judges here without" in said
    assert "measured as checkpoints, by the prompts of probes and not by checkpoints" in said


@pytest.mark.parametrize(
    ("judge", "reason"),
    [
        (judge_of("sim/judge-lenient"), f"the judge here is {JUDGE}: leave it out"),
        (
            judge_of(JUDGE, model="openai/other-2"),
            "as openai/other-2 at sim, and sim/judge-noisy is sim/judge-noisy at sim here",
        ),
        (judge_of(JUDGE, endpoint="elsewhere"), "another model has other blind spots"),
    ],
)
def test_a_passport_of_another_model_is_refused(
    settings: Settings, request_of: Requests, tmp_path: Path, judge: Any, reason: str
) -> None:
    """A passport of no judge of the run, or of another model under its name, is refused with the reason and the way out."""
    path = kept_passport(tmp_path / "j.json", planted_passport(judge=judge))
    with pytest.raises(ConfigError) as problem:
        told(settings, request_of(passports=(path,)))
    assert reason in str(problem.value)
    assert str(path) in str(problem.value)


def test_a_passport_of_another_version_is_refused(settings: Settings, request_of: Requests, tmp_path: Path) -> None:
    """Where the endpoint last called the judge otherwise than when it was measured, the passport is refused with both names."""
    dated = planted_passport(judge=judge_of(JUDGE, version="judge-2026-01-01"))
    path = kept_passport(tmp_path / "j.json", dated)
    told(settings, request_of(passports=(path,)))
    ref = ModelRef(name=JUDGE, model=JUDGE, endpoint="sim")
    call = Chat(model=ref, messages=(Message(role="user", parts=(TextPart(text="?"),)),))
    reply = ChatReply(text="!", version="judge-2026-05-01")

    async def answered() -> None:
        with Home.open(settings.home, write=True, create=True) as home:
            await SqliteLedger(home).commit(call_key(call), call, reply, cost=None, label="")

    asyncio.run(answered())
    with pytest.raises(
        ConfigError, match="was measured as judge-2026-01-01, and its endpoint says judge-2026-05-01 now"
    ):
        told(settings, request_of(passports=(path,)))


def test_a_passport_from_other_prompts_is_refused(settings: Settings, request_of: Requests, tmp_path: Path) -> None:
    """A passport that was measured by another version of a prompt that the run asks by is refused, and both are named."""
    other = planted_passport(judge=judge_of(JUDGE), prompts={"checkpoints": "1:0123456789abcdef"})
    path = kept_passport(tmp_path / "j.json", other)
    with pytest.raises(
        ConfigError, match=r"prompt checkpoints version 1 \(01234567\), and this run asks by version \d"
    ):
        told(settings, request_of(passports=(path,)))
    with pytest.raises(ConfigError, match=r"name the folder of prompts that the probe was asked by \(--prompts\)"):
        told(settings, request_of(passports=(path,)))


def test_an_altered_passport_is_refused_by_every_method(settings: Settings, request_of: Requests, file: Path) -> None:
    """One changed figure in the file, and no run begins."""
    file.write_bytes(file.read_bytes().replace(b'"n": 48', b'"n": 49', 1))
    for method, request in (
        (EVALUATION, request_of(passports=(file,))),
        (REVIEW, ReviewRequest(data=request_of().data, panel=(JUDGE, "sim/weak"), passports=(file,))),
    ):
        with pytest.raises(DataError, match="it was changed after it was made"):
            told(settings, request, method)


def test_two_passports_of_one_judge_are_refused(settings: Settings, request_of: Requests, file: Path) -> None:
    """There is one passport a judge."""
    with pytest.raises(ConfigError, match=f"another passport of {JUDGE} already"):
        told(settings, request_of(passports=(file, file)))


def test_rules_need_no_passport(settings: Settings, request_of: Requests, file: Path) -> None:
    """Without a judge there is nobody whose passport it could be."""
    with pytest.raises(ConfigError, match="--passport is for a judge, and there is none"):
        told(settings, request_of(passports=(file,), judge=None))


async def test_warnings_stay_with_the_run(settings: Settings, request_of: Requests, file: Path, blind: Any) -> None:
    """Warnings stand in the figures and on the page; the run is the same one with and without a passport."""
    plain = await evaluate(request_of(limit=3), settings=settings)
    assert "passports" not in plain.summary
    result = await evaluate(request_of(limit=3, passports=(file,)), settings=settings)
    assert result.run == plain.run
    used = result.summary["passports"][0]
    assert (used["judge"], used["sha256"]) == (JUDGE, blind.sha256)
    assert any("is blind to errors of VR" in one for one in used["warnings"])
    page = settings.home / "page.html"
    with Home.open(settings.home, write=False) as home:
        await write_report(home, get_run(home, result.run), output=page)
    text = page.read_text()
    box = text[text.index('<div class="warning">Judge') :]
    assert "is blind to errors of VR (Visual Reasoning)" in box[: box.index("</div>")]


async def test_a_fork_needs_no_file(settings: Settings, request_of: Requests, file: Path) -> None:
    """A fork by another model of the same judge takes its parent's passport; one by another judge has none of its own."""
    result = await evaluate(request_of(limit=3, passports=(file,)), settings=settings)
    file.unlink()
    with Home.open(settings.home, write=False) as home:
        parent = get_run(home, result.run)
    forked = await fork(parent, ForkRequest(node="answer", models={"sim/weak": "sim/steady"}), settings=settings)
    assert forked.summary["passports"][0]["sha256"] is not None
    other = await fork(parent, ForkRequest(node="score", judge="sim/judge"), settings=settings)
    assert other.summary["passports"] == [
        {"judge": "sim/judge", "sha256": None, "warnings": ["no passport: nothing is known of what it misses"]}
    ]


def test_one_order_needs_a_fair_judge(settings: Settings, world: Path, tmp_path: Path) -> None:
    """Where pairs are judged in one order alone, position bias is told; in both orders it is not."""
    leaning = planted_passport(detections(bias=0.7, misses=0.1, images=40), judge=judge_of(JUDGE))
    path = kept_passport(tmp_path / "j.json", leaning)
    fields = {"data": world, "models": ("sim/weak",), "baseline": REFERENCE, "judge": JUDGE, "passports": (path,)}
    assert "favours" not in told(settings, DuelRequest(**fields), DUEL)
    said = told(settings, DuelRequest(**fields, single=True), DUEL)
    assert "it favours the answer shown first (bias +0." in said
    assert "leave --single out" in said


def test_the_judge_is_chosen_by_passports(settings: Settings, request_of: Requests, file: Path, tmp_path: Path) -> None:
    """Of several models that detects most, less false alarms, is the judge; the run is that of naming it."""
    better = kept_passport(tmp_path / "b.json", planted_passport(detections(misses=0.1), judge=judge_of("sim/judge")))
    named = (JUDGE, "sim/judge", "sim/judge-lenient")
    request = request_of(judge=None, choose_judge=named, passports=(file, better))
    shown = preview(EVALUATION, request, settings=settings)
    assert "sim/judge" in shown["models"]
    said = shown["notes"][0]
    assert said.startswith(
        "chosen among sim/judge-noisy, sim/judge and sim/judge-lenient for scoring by checkpoints and deciding whether an "
        "answer is right, by detection less false alarms on one half of the images:"
    )
    chosen, _, rates = said.partition(". On the other half, which did not choose, sim/judge detects ")
    assert "sim/judge +" in chosen
    assert "of 48 errors with" in rates
    assert "false alarms in 12 harmless changes, on 12 images" in rates
    assert "sim/judge-lenient has no passport" in said
    assert shown["run"] == preview(EVALUATION, request_of(judge="sim/judge"), settings=settings)["run"]


def test_a_choice_looks_at_every_decision(settings: Settings, request_of: Requests, tmp_path: Path) -> None:
    """The better judge by checkpoints is not chosen where it guesses what is right; and that none beats chance is told."""
    fields = {"images": 40, "misses": 0.1, "alarms": 0.1}
    guess = {"images": 40, "misses": 0.9, "alarms": 0.9}
    sharp = [*detections(**fields, ways=("checkpoints",)), *detections(**guess, ways=("right-or-wrong",))]
    even = detections(images=40, misses=0.3, alarms=0.2, ways=("checkpoints", "right-or-wrong"))
    files = [
        kept_passport(tmp_path / f"{number}.json", planted_passport(found, judge=judge_of(name)))
        for number, (name, found) in enumerate(((JUDGE, sharp), ("sim/judge", even)))
    ]
    request = request_of(judge=None, choose_judge=(JUDGE, "sim/judge"), passports=tuple(files))
    shown = preview(EVALUATION, request, settings=settings)
    assert shown["run"] == preview(EVALUATION, request_of(judge="sim/judge"), settings=settings)["run"]
    assert "for scoring by checkpoints and deciding whether an answer is right, by detection less" in shown["notes"][0]
    assert "better than chance" not in shown["notes"][0]
    assert "compared with nobody" not in shown["notes"][0]
    said = told(settings, request_of(judge=None, choose_judge=(JUDGE, "sim/judge"), passports=(files[0],)))
    assert "so none is better than chance" in said
    assert f"{JUDGE} alone has figures, and was compared with nobody" in said


def test_a_choice_needs_something_to_choose_by(settings: Settings, request_of: Requests, file: Path) -> None:
    """Both --judge and --choose-judge, no passport, or none that knows the way, is refused with the way out."""
    with pytest.raises(ConfigError, match="both name the judge"):
        told(settings, request_of(choose_judge=(JUDGE,), passports=(file,)))
    with pytest.raises(ConfigError, match="name them with --passport"):
        told(settings, request_of(judge=None, choose_judge=(JUDGE,)))
    with pytest.raises(ConfigError, match="sim/judge has no passport: there is nothing to choose by"):
        told(settings, request_of(judge=None, choose_judge=("sim/judge",), passports=(file,)))


def test_audits_and_duels_need_a_judge(settings: Settings, world: Path, tmp_path: Path) -> None:
    """Without --judge and --choose-judge nothing is audited or compared."""
    (tmp_path / "rubrics.jsonl").write_text("")
    for method, request in (
        (AUDIT, AuditRequest(data=world, rubrics=tmp_path / "rubrics.jsonl", models=("sim/weak",))),
        (DUEL, DuelRequest(data=world, models=("sim/weak",), baseline=REFERENCE)),
    ):
        with pytest.raises(ConfigError, match="name the judge with --judge"):
            told(settings, request, method)


def test_blind_members_leave_the_panel(settings: Settings, world: Path, tmp_path: Path) -> None:
    """With --drop-blind a member that surely misses most errors is left out, which makes another panel; two have to stay."""
    blind = kept_passport(tmp_path / "x.json", planted_passport(detections(misses=0.9), judge=judge_of("sim/weak")))
    seeing = kept_passport(tmp_path / "y.json", planted_passport(detections(misses=0.1), judge=judge_of("sim/strong")))
    fields = {"data": world, "panel": ("sim/strong", "sim/steady", "sim/weak"), "passports": (blind, seeing)}
    whole, dropped = (
        preview(REVIEW, ReviewRequest(**fields, drop_blind=drop), settings=settings) for drop in (False, True)
    )
    assert sorted(whole["models"]) == ["sim/steady", "sim/strong", "sim/weak"]
    assert sorted(dropped["models"]) == ["sim/steady", "sim/strong"]
    assert whole["run"] != dropped["run"]
    assert any("sim/weak: left out of the panel: it detects" in one for one in dropped["notes"])
    assert any("sim/steady: no passport" in one for one in dropped["notes"])
    with pytest.raises(ConfigError, match="--drop-blind leaves 1 of the panel"):
        told(settings, ReviewRequest(**fields | {"panel": ("sim/strong", "sim/weak")}, drop_blind=True), REVIEW)


def test_how_a_panel_is_asked_is_told_once(settings: Settings, world: Path, tmp_path: Path) -> None:
    """Sampling and prompts of probes are told once a run with the way out, and with all members of whom they are true."""
    panel = ("sim/strong", "sim/steady", "sim/weak")
    files = tuple(
        kept_passport(tmp_path / f"{number}.json", planted_passport(detections(misses=0.1), judge=judge_of(name)))
        for number, name in enumerate(panel)
    )
    said = told(settings, ReviewRequest(data=world, panel=panel, passports=files), REVIEW)
    assert said.count("by the prompts of probes") == 1
    assert said.count("was measured with temperature 0") == 1
    assert "dokimasia probe --sampling own (so, too, sim/steady and sim/weak)" in said


def test_a_bound_without_a_passport_is_refused(settings: Settings, request_of: Requests) -> None:
    """--blind-below says nothing where there is no passport, which is told with the way out."""
    with pytest.raises(ConfigError, match="name the passport with --passport FILE, or leave --blind-below out"):
        told(settings, request_of(blind_below=0.7))


def test_an_evaluation_is_recommended_nothing_that_it_cannot_do(
    settings: Settings, request_of: Requests, tmp_path: Path
) -> None:
    """What sees better in pairs is recommended for a duel, with its false alarms and a mark where few images are behind it."""
    blind = detections(misses=0.95, ways=("checkpoints",), images=12)
    pairs = detections(misses=0.0, alarms=0.0, ways=("pairwise-rules",), images=12)
    path = kept_passport(tmp_path / "j.json", planted_passport([*blind, *pairs], judge=judge_of(JUDGE)))
    said = told(settings, request_of(passports=(path,)))
    assert "; in a duel, pairwise-rules is recommended for them (100.0 % [" in said
    assert "(thin: 6 images))" in said
    single = detections(misses=0.0, alarms=0.0, ways=("single-vanilla",), images=12)
    path = kept_passport(tmp_path / "k.json", planted_passport([*blind, *single], judge=judge_of(JUDGE)))
    assert "is recommended" not in told(settings, request_of(passports=(path,)))


def test_weights_go_by_detection_less_false_alarms() -> None:
    """Judges count in proportion to what they detect less their false alarms, together 1; one that guesses counts nothing."""
    way = JudgeUse("comparison", PAIRWISE, "duel_verdict")
    passports = {
        "good": planted_passport(detections(misses=0.1, alarms=0.1, images=60)),
        "poor": planted_passport(detections(misses=0.6, alarms=0.1, images=60)),
        "guesses": planted_passport(detections(misses=0.9, alarms=0.9)),
    }
    weights = weights_of(passports, way)
    assert sum(weights.values()) == pytest.approx(1)
    assert weights["good"] / weights["poor"] == pytest.approx(0.8 / 0.3, rel=0.4)
    assert weights["guesses"] == 0
    with pytest.raises(ConfigError, match="none would count"):
        weights_of({"guesses": passports["guesses"]}, way)
    with pytest.raises(ConfigError, match="knows nothing of"):
        weights_of(passports, JudgeUse("holding against a reference", ("reference",), ""))


def test_weights_need_a_passport_of_every_judge(settings: Settings, file: Path, tmp_path: Path) -> None:
    """Judges that are averaged have one passport each, which fit; without one, and with another's, it is refused."""
    with Home.open(settings.home, write=True, create=True) as home:
        first, second = (resolve_model(settings, name) for name in (JUDGE, "sim/judge"))
        with pytest.raises(ConfigError, match="sim/judge has no passport, and weights need one of every judge"):
            each_has_one([file], (first, second), {}, home)
        other = kept_passport(tmp_path / "other.json", planted_passport(judge=judge_of("sim/weak")))
        with pytest.raises(ConfigError, match=r"other\.json: it is of sim/weak"):
            each_has_one([file, other], (first, second), {}, home)
        fitting = kept_passport(tmp_path / "k.json", planted_passport(judge=judge_of("sim/judge")))
        assert list(each_has_one([file, fitting], (first, second), {}, home)) == [JUDGE, "sim/judge"]
