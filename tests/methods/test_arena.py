"""Arenas end to end on creative cases: all pairs, Swiss rounds, answers that exist, scores elsewhere, failures, bad input."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from dokimasia.domain.call import Chat, ChatReply, ModelCall, ModelReply
from dokimasia.domain.identity import unit_interval
from dokimasia.errors import ConfigError, DataError
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.arena import METHOD, ArenaRequest, arena
from dokimasia.methods.arena.figures import ArenaModel, halves, outcomes
from dokimasia.methods.arena.request import ArenaPlan
from dokimasia.prompts import recognise
from dokimasia.report.blocks import Chart, Table, plain
from dokimasia.report.data import ReportData
from dokimasia.runs.lifecycle import RunResult, resume
from dokimasia.runs.outcome import RETRYABLE
from dokimasia.runs.reading.exporting import export_rows
from dokimasia.runs.reading.reporting import report_data
from dokimasia.settings import Settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.world import write_creative
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run

CASES = 8
TIED = 2
MODELS = ("sim/strong", "sim/steady", "sim/hasty", "sim/weak")


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight creative cases of one to nine pictures."""
    path = tmp_path_factory.mktemp("creative") / "cases.jsonl"
    write_creative(path, CASES, 1)
    return path


def run(settings: Settings, data: Path, transport: Any = None, **changes: Any) -> RunResult:
    request = ArenaRequest.model_validate({"judge": "sim/judge", "models": MODELS, "data": data, **changes})
    return asyncio.run(arena(request, settings=settings, transports={"sim": transport or SimTransport()}))


def asked(call: ModelCall) -> str:
    found = recognise(call.messages) if isinstance(call, Chat) else None
    return "" if found is None else found.name


def exported(settings: Settings, done: RunResult) -> Sequence[Any]:
    with Home.open(settings.home, write=False) as home:
        return asyncio.run(export_rows(home, get_run(home, done.run))).rows


def test_all_pairs_meet_in_both_orders_and_every_answer_is_asked_once(cases: Path, settings: Settings) -> None:
    """Each case has a verdict of every pair in either order, from one answer of each model; better writers are rated higher."""
    transport = CountingTransport(SimTransport())
    done = run(settings, cases, transport)
    count = Counter(map(asked, transport.sent))
    assert count == {"candidate_plain": CASES * 4, "duel_verdict": CASES * 6 * 2}
    figures = done.summary
    assert figures["open_items"] == 0
    assert next(iter(figures["models"])) == "sim/strong"
    assert list(figures["models"])[-1] == "sim/weak"
    met = Counter((row["id"], frozenset((row["model"], row["baseline"]))) for row in exported(settings, done))
    assert set(met.values()) == {1}
    assert len(met) == CASES * 6
    for pair in figures["pairs"]:
        assert pair["n"] == CASES
        assert pair["verdicts"]["valid"] == 2 * CASES
        ratings = [figures["models"][pair[side]]["rating"]["mean"] for side in ("first", "second")]
        assert pair["difference"]["mean"] == pytest.approx(ratings[1] - ratings[0], abs=1e-5)
        assert pair["difference"]["mean"] >= 0, "the better model is the second"
        better = pair["verdicts"]["better"] + pair["verdicts"]["much_better"]
        assert figures["wins"][pair["second"]][pair["first"]] == pytest.approx(100 * better / (2 * CASES))
    assert figures["direction"] == "second minus first"
    for one, other in combinations(MODELS, 2):
        assert figures["wins"][one][other] + figures["wins"][other][one] <= 100


def test_the_order_of_models_decides_nothing(cases: Path, settings: Settings) -> None:
    """The same models in another order are the same run."""
    done = run(settings, cases)
    silent = CountingTransport(SimTransport())
    again = run(settings, cases, silent, models=tuple(reversed(MODELS)))
    assert (again.run, again.summary) == (done.run, done.summary)
    assert not silent.sent


def test_a_round_is_drawn_from_the_rows_of_the_one_before(cases: Path, settings: Settings) -> None:
    """Each half's second round is the pairing closest by points on the other half, of all in which nobody meets twice."""
    models = (*MODELS, "sim/writer", "sim/terse")
    done = run(settings, cases, models=models, draw="swiss", rounds=2)
    first, second = done.summary["rounds"]
    rows = exported(settings, done)
    with Home.open(settings.home, write=False) as home:
        half_of = halves(home, done.run, 0)
    assert sorted(half_of.values()) == [0] * 4 + [1] * 4
    assert done.summary["open_items"] == 0
    assert len(rows) == 2 * 3 * CASES
    for half in (0, 1):
        points: dict[str, list[float]] = {name: [] for name in models}
        for row in rows:
            if half_of[row["id"]] != half and [row["model"], row["baseline"]] in first[1 - half]:
                for verdict in (row["verdict_first"], row["verdict_second"]):
                    points[row["model"]].append((verdict > 0) - (verdict < 0))
                    points[row["baseline"]].append((verdict < 0) - (verdict > 0))
        means = {name: sum(values) / len(values) for name, values in points.items()}
        met = {frozenset(pair) for pair in first[half]}
        open_to = [one for one in matchings(sorted(models)) if not {frozenset(pair) for pair in one} & met]
        drawn = [tuple(pair) for pair in second[half]]
        assert len(drawn) == 3
        assert {*drawn} in [{*one} for one in open_to]
        assert apart(drawn, means) <= min(apart(one, means) for one in open_to) + TIED


def matchings(names: list[str]) -> list[list[tuple[str, str]]]:
    """Every way to pair so many models."""
    if not names:
        return [[]]
    return [
        [(names[0], other), *rest]
        for other in names[1:]
        for rest in matchings([name for name in names[1:] if name != other])
    ]


def apart(pairs: Sequence[tuple[str, str]], points: dict[str, float]) -> int:
    """How far the places of those that meet lie apart; equal points stand in some order, which `TIED` allows for."""
    standing = sorted(points, key=lambda name: -points[name])
    return sum((standing.index(one) - standing.index(other)) ** 2 for one, other in pairs)


def test_what_failed_is_asked_anew_and_no_round_is_drawn_again(cases: Path, settings: Settings) -> None:
    """Failed verdicts are no ties: they leave the figures and open the bounds; a retry mends them in the rounds as drawn."""

    def garbled(call: ModelCall, reply: ModelReply) -> ModelReply:
        if asked(call) == "duel_verdict" and unit_interval("garbled", call.messages[1].text) < 0.2:
            return ChatReply(text="I cannot say.")
        return reply

    done = run(settings, cases, CountingTransport(SimTransport(), change=garbled), draw="swiss", rounds=2)
    failed = sum(one["verdicts"]["failed"] for one in done.summary["pairs"])
    assert failed
    for one in done.summary["pairs"]:
        if one["verdicts"]["failed"]:
            assert one["bounds"]["reward"]["low"] < one["bounds"]["reward"]["high"]
    assert any(row["failure"] == "unparsable" for row in exported(settings, done))
    with Home.open(settings.home, write=False) as home:
        row = get_run(home, done.run)
    mended = asyncio.run(resume(row, settings=settings, retry=RETRYABLE, transports={"sim": SimTransport()}))
    assert not any(one["verdicts"]["failed"] for one in mended.summary["pairs"])
    assert mended.summary["rounds"] == done.summary["rounds"]


def test_verdicts_of_one_order_alone_put_no_model_before_another(
    cases: Path, tmp_path: Path, settings: Settings
) -> None:
    """By a judge that always takes the first place equal models stay equal where verdicts fail in one order, and so are drawn."""
    path, names = tmp_path / "answers.jsonl", ("a", "b", "c", "d")
    texts = [(json.loads(line)["id"], name) for line in cases.read_text().splitlines() for name in names]
    path.write_text(
        "".join(json.dumps({"id": id, "model": name, "response": f"{name} {id}"}) + "\n" for id, name in texts)
    )

    def first(call: ModelCall, reply: ModelReply) -> ModelReply:
        found = recognise(call.messages) if isinstance(call, Chat) else None
        assert found is not None
        turned = found.inputs["response_a"] > found.inputs["response_b"]
        lost = turned and int(found.inputs["response_a"][-1]) % 2
        return ChatReply(text="I cannot say." if lost else "Final Verdict is: [[A>>B]]")

    transport = CountingTransport(SimTransport(), change=first)
    done = run(settings, cases, transport, models=names, responses=path, draw="swiss", rounds=2)
    half = CASES * 2 // 2
    for one in done.summary["models"].values():
        assert (one["reward"]["mean"], one["win_rate"]["mean"]) == (0, 50)
        assert (one["verdicts"]["one_order"], one["verdicts"]["failed"]) == (half, half)
        ArenaModel.model_validate(one)
    assert {share for wins in done.summary["wins"].values() for share in wins.values()} == {50}
    with Home.open(settings.home, write=False) as home:
        stored = get_run(home, done.run)
        drawn = list(outcomes(home, stored, ArenaPlan.model_validate(stored.options["plan"])))
    assert (len(drawn), sum(outcome for *_, outcome in drawn)) == (2 * 2 * CASES, 0)


def test_answers_that_exist_are_judged_and_nobody_is_asked(cases: Path, tmp_path: Path, settings: Settings) -> None:
    """With --responses the judge alone is asked; a model without an answer to each case is named."""
    ids = [json.loads(line)["id"] for line in cases.read_text().splitlines()]
    texts = {"one": "A dull line.", "two": "Another dull line.", "three": "A third line that is longer."}
    lines = [{"id": id, "model": model, "response": f"{text} {id}"} for id in ids for model, text in texts.items()]
    given = tmp_path / "given.jsonl"
    given.write_text("".join(json.dumps(line) + "\n" for line in lines))
    transport = CountingTransport(SimTransport())
    done = run(settings, cases, transport, models=("one", "two", "three"), responses=given)
    assert {asked(call) for call in transport.sent} == {"duel_verdict"}
    assert done.summary["models"].keys() == texts.keys()
    given.write_text("".join(json.dumps(line) + "\n" for line in lines[1:]))
    with pytest.raises(DataError, match=ids[0]):
        run(settings, cases, models=("one", "two", "three"), responses=given)


@pytest.mark.parametrize("draw", ["all", "swiss"])
def test_incomplete_answers_meet_where_two_are_there(
    draw: str, cases: Path, tmp_path: Path, settings: Settings
) -> None:
    """With --on-bad-sample skip a missing answer meets nobody; a case with one answer is left out, and nothing stays open."""
    ids = [json.loads(line)["id"] for line in cases.read_text().splitlines()]
    texts = {"one": "A dull line.", "two": "Another dull line.", "three": "A third line that is longer."}
    missing = {(ids[0], "one"), (ids[1], "three"), (ids[2], "one"), (ids[2], "two")}
    lines = [
        {"id": id, "model": model, "response": f"{text} {id}"}
        for id in ids
        for model, text in texts.items()
        if (id, model) not in missing
    ]
    given = tmp_path / "given.jsonl"
    given.write_text("".join(json.dumps(line) + "\n" for line in lines))
    names = tuple(texts)
    with pytest.raises(DataError, match=ids[0]):
        run(settings, cases, models=names, responses=given, draw=draw)
    done = run(settings, cases, models=names, responses=given, draw=draw, on_bad_sample="skip")
    assert (done.summary["open_items"], done.summary["samples"]) == (0, CASES - 1)
    met = {(row["id"], frozenset((row["model"], row["baseline"]))) for row in exported(settings, done)}
    if draw == "all":
        assert len(met) == 3 * (CASES - 3) + 2
    assert not [id for id, pair in met for model in pair if (id, model) in missing]


def test_scores_elsewhere_stand_beside_rewards_and_ratings(cases: Path, tmp_path: Path, settings: Settings) -> None:
    """Spearman's correlation and R² are those of the points, over the models that have both."""
    scores = {"sim/strong": 70.0, "sim/steady": 75.0, "sim/hasty": 60.0, "sim/weak": 20.0, "unknown": 99.0}
    file = tmp_path / "scores.csv"
    file.write_text("model,rating\n" + "".join(f"{model},{score}\n" for model, score in scores.items()))
    found = run(settings, cases, scores=file).summary["elsewhere"]
    assert found["scores"] == {model: scores[model] for model in sorted(MODELS)}
    points = found["reward"]["points"]
    x, y = [one[0] for one in points.values()], [one[1] for one in points.values()]
    assert len(x) == 4
    assert found["reward"]["spearman"]["value"] == pytest.approx(stats.spearmanr(x, y)[0], abs=1e-6)
    assert found["reward"]["r_squared"] == pytest.approx(stats.pearsonr(x, y)[0] ** 2, abs=1e-5)
    assert found["reward"]["spearman"]["low"] is None, "four models have no interval"
    file.write_text("model,rating,id\nsim/strong,3,case\n")
    with pytest.raises(DataError, match="no id"):
        run(settings, cases, scores=file)
    file.write_text("model,rating\nnobody,3\n")
    with pytest.raises(DataError, match="none of the models"):
        run(settings, cases, scores=file)


def test_a_model_that_always_wins_has_no_rating_and_that_is_said(cases: Path, settings: Settings) -> None:
    """No prior draws its rating back: it is a group of its own, on the page, too, and the others are rated."""

    def decided(call: ModelCall, reply: ModelReply) -> ModelReply:
        if asked(call) == "candidate_plain":
            return ChatReply(text=f"{call.model.name} speaks. " + getattr(reply, "text", ""))
        if asked(call) != "duel_verdict":
            return reply
        inputs = recognise(call.messages).inputs  # pyright: ignore[reportOptionalMemberAccess]
        best = [inputs[f"response_{side}"].startswith("sim/weak speaks") for side in "ab"]
        return (
            ChatReply(text="Final Verdict is: [[A>B]]" if best[0] else "Final Verdict is: [[B>A]]")
            if any(best)
            else reply
        )

    done = run(settings, cases, CountingTransport(SimTransport(), change=decided))
    first = done.summary["groups"][0]
    assert first["models"] == ["sim/weak"]
    assert "always won" in first["reason"]
    assert done.summary["models"]["sim/weak"]["rating"] is None
    assert done.summary["models"]["sim/weak"]["win_rate"]["mean"] == 100
    with Home.open(settings.home, write=False) as home:
        data: ReportData = asyncio.run(report_data(home, get_run(home, done.run)))
    section = METHOD.report.drawing().sections[0](data)
    said = [plain(block.text) for block in section.blocks if hasattr(block, "kind") and block.kind == "warning"]
    assert any("cannot be compared" in text for text in said)
    assert any("sim/weak: no finite rating" in text for text in said)
    conclude = METHOD.report.drawing().conclusion
    assert conclude is not None
    concluded = [plain(sentence) for sentence in conclude(data)]
    assert concluded[0].startswith("The ratings of sim/hasty, sim/steady and sim/strong cannot be tested")
    assert not any("lead over" in text for text in concluded)


def test_ratings_that_cannot_be_tested_rank_nobody(tmp_path: Path, settings: Settings) -> None:
    """Of too few cases the conclusion says that and why, and names no model as the highest."""
    path = tmp_path / "few.jsonl"
    write_creative(path, 4, 1)
    done = run(settings, path, judge="sim/judge-noisy")
    assert all(pair["p"] is None for pair in done.summary["pairs"])
    with Home.open(settings.home, write=False) as home:
        data: ReportData = asyncio.run(report_data(home, get_run(home, done.run)))
    conclude = METHOD.report.drawing().conclusion
    assert conclude is not None
    text = " ".join(plain(sentence) for sentence in conclude(data))
    rated = [name for name, one in done.summary["models"].items() if one["rating"] is not None]
    assert len(rated) > 1
    assert "cannot be tested (4 cases, and an interval of ratings needs 6), so none is ranked above another" in text
    assert "highest" not in text
    assert "lead" not in text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"models": ("sim/strong", "sim/weak")}, "duel"),
        ({"models": ("sim/strong", "sim/weak", "sim/weak")}, "more than once"),
        ({"rounds": 2}, "`draw` swiss"),
        ({"draw": "swiss", "rounds": 4}, "3 or fewer"),
    ],
)
def test_what_cannot_be_held_is_refused(cases: Path, settings: Settings, changes: dict[str, Any], said: str) -> None:
    """The error names the option and a way out, before anything is asked."""
    silent = CountingTransport(SimTransport())
    with pytest.raises(ConfigError, match=said):
        run(settings, cases, silent, **changes)
    assert not silent.sent


def test_the_page_draws_ranks_and_the_win_matrix_with_their_numbers(cases: Path, settings: Settings) -> None:
    """Each heat map stands over a table that says the same."""
    done = run(settings, cases, judge="sim/judge-noisy")
    with Home.open(settings.home, write=False) as home:
        data: ReportData = asyncio.run(report_data(home, get_run(home, done.run)))
    sections = {one.id: one for make in METHOD.report.drawing().sections if (one := make(data)) is not None}
    wins = sections["wins"].blocks
    chart = next(block for block in wins if isinstance(block, Chart))
    table = next(block for block in wins if isinstance(block, Table))
    assert chart.figure["data"][0]["type"] == "heatmap"
    drawn = chart.figure["data"][0]["z"]
    for row, cells in zip(drawn, table.rows, strict=True):
        assert [plain(cell) for cell in cells[1:]] == ["–" if one is None else f"{one:.0f}" for one in row]
