"""Judging methods compared with people: planted outcome bias, calls that an evaluation paid for, refusals, ties and failures."""

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from dokimasia.domain.call import ModelCall
from dokimasia.errors import ConfigError, DataError, InputError, Interrupted, TransportError
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.methods.judging import METHOD, METHODS, JudgingRequest, compare_judging
from dokimasia.methods.tree import grow_tree_sync
from dokimasia.runs.lifecycle import resume
from dokimasia.runs.preview import prepare
from dokimasia.runs.services import Stop
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.profiles import JudgeProfile, find_profile
from dokimasia.simulation.ranked_world import AUXILIARY, SKILLS, planted_rankings, planted_responses, write_ranked
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.simulation.truths.judges import expected_atoms, expected_pointwise
from dokimasia.simulation.world import make_world, write_world
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run

SAMPLES, SEED = 60, 5
BIASED = "sim/judge-outcome"


class Ranked:
    """A planted world with rankings, and a finished comparison of all methods on it by two judges."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "w.jsonl"
        write_world(self.data, SAMPLES, SEED)
        self.files = write_ranked(self.data, SAMPLES, SEED)
        self.settings = load_settings(home=folder / "home", cwd=folder, env={})
        self.done = asyncio.run(compare_judging(self.request(), settings=self.settings))
        self.planted = [
            (planted_responses(question, SKILLS, SEED), question) for _, question in make_world(SAMPLES, SEED)
        ]

    def request(self, **changes: Any) -> JudgingRequest:
        fields = {"data": self.data, **self.files, "judges": ("sim/judge", BIASED)}
        return JudgingRequest.model_validate(fields | changes)

    def questions(self) -> list[Any]:
        """What the truth is computed from: planted responses, and what people say of them."""
        return [(several, list(planted_rankings(question, several, SEED))) for several, question in self.planted]


@pytest.fixture(scope="session")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> Ranked:
    """The planted world with rankings, compared once."""
    return Ranked(tmp_path_factory.mktemp("ranked"))


def gap(summary: Any, judge: str, first: str, second: str) -> Any:
    """The gap of two methods over all categories."""
    found = (one for one in summary["gaps"] if (one["judge"], one["first"], one["second"]) == (judge, first, second))
    return next(one for one in found if one["category"] is None)


@pytest.mark.full
def test_planted_outcome_bias_is_covered(ranked: Ranked) -> None:
    """The gap between pointwise and atom covers what is planted, where a holistic judge goes by final answers; so do both."""
    summary, judge = ranked.done.summary, find_profile(BIASED)
    assert isinstance(judge, JudgeProfile)
    results = summary["results"][BIASED]
    expected = {
        "pointwise": expected_pointwise(judge, ranked.questions(), margin=results["pointwise"]["margins"][0]),
        "atom": expected_atoms(ranked.questions(), margin=results["atom"]["margins"][0]),
    }
    for method, truth in expected.items():
        accuracy = results[method]["accuracy"]
        assert accuracy["low"] <= truth <= accuracy["high"]
    found = gap(summary, BIASED, "pointwise", "atom")
    truth = 100 * (expected["atom"] - expected["pointwise"])
    assert truth > 20
    assert found["difference"]["low"] <= truth <= found["difference"]["high"]
    assert found["adjusted"] < 0.05


def test_without_the_bias_atom_wins_nothing(ranked: Ranked) -> None:
    """A judge without a fault rates as a whole as well as by steps, and batches do not depend on their order."""
    summary = ranked.done.summary
    assert gap(summary, "sim/judge", "pointwise", "atom")["adjusted"] > 0.05
    found = expected_atoms(ranked.questions())
    assert summary["results"]["sim/judge"]["atom"]["unfitted"]["share"] == pytest.approx(found, abs=1e-6)
    order = summary["order"]
    assert order["sim/judge"]["consistent"]["share"] == 1.0
    assert order[BIASED]["consistent"]["high"] < 1.0


def test_each_part_that_is_left_out_costs(ranked: Ranked) -> None:
    """Without weights, decomposition or chain, the judge that is prone to it agrees less; and people agree with people."""
    results = ranked.done.summary["results"][BIASED]
    shares = {method: one["accuracy"]["share"] for method, one in results.items()}
    assert all(shares["atom"] > shares[method] for method in METHODS if method != "atom")
    people = ranked.done.summary["people"]["accuracy"]
    assert 0.7 < people["low"] < people["high"] < 0.95


def test_equal_weights_cost_no_call(ranked: Ranked) -> None:
    """The method without weights rests on the very calls of atomic criteria."""
    results = ranked.done.summary["results"]["sim/judge"]
    assert results["atom-no-weights"]["calls"] == results["atom"]["calls"]
    assert results["atom-no-weights"]["accuracy"]["share"] != results["atom"]["accuracy"]["share"]
    silent = CountingTransport(SimTransport())
    again = ranked.request(methods=("atom-no-weights", "atom"), judges=("sim/judge",))
    done = asyncio.run(compare_judging(again, settings=ranked.settings, transports={"sim": silent}))
    assert done.complete
    assert silent.sent == []


def test_what_an_evaluation_paid_for_is_not_asked_again(ranked: Ranked, tmp_path: Path) -> None:
    """After an evaluation of the same responses, atom sends no call; and the other way round."""
    settings = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    request = EvaluationRequest(data=ranked.data, judge="sim/judge", responses=ranked.files["responses"], limit=8)
    asyncio.run(evaluate(request, settings=settings))
    silent = CountingTransport(SimTransport())
    asked = ranked.request(methods=("atom",), judges=("sim/judge",), limit=8)
    done = asyncio.run(compare_judging(asked, settings=settings, transports={"sim": silent}))
    assert done.complete
    assert silent.sent == []


def test_the_chain_alone_is_asked_for_where_nothing_else_is_needed(ranked: Ranked, tmp_path: Path) -> None:
    """Without decomposition no criteria are drawn: a chain a sample and a call a response."""
    settings = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    counting = CountingTransport(SimTransport())
    asked = ranked.request(methods=("atom-no-decomposition",), judges=("sim/judge",), limit=4)
    done = asyncio.run(compare_judging(asked, settings=settings, transports={"sim": counting}))
    assert done.summary["results"]["sim/judge"]["atom-no-decomposition"]["calls"] == len(counting.sent) == 4 + 4 * 5


def test_killed_and_resumed_says_the_same(ranked: Ranked, tmp_path: Path) -> None:
    """Interrupted every hundred calls, a comparison of all methods comes to the same bytes."""
    settings = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    request = ranked.request(limit=10)
    whole_settings = load_settings(home=tmp_path / "whole", cwd=tmp_path, env={})
    whole = asyncio.run(compare_judging(request, settings=whole_settings))

    def services(stop: Stop) -> dict[str, Any]:
        return {"transports": {"sim": CountingTransport(SimTransport(), stop=stop.ask, stop_after=100)}, "stop": stop}

    for number in range(30):
        try:
            if number == 0:
                done = asyncio.run(compare_judging(request, settings=settings, **services(Stop())))
            else:
                with Home.open(settings.home, write=False) as home:
                    row = get_run(home, whole.run)
                done = asyncio.run(resume(row, settings=settings, **services(Stop())))
            break
        except Interrupted:
            continue
    assert number > 1
    assert orjson.dumps(done.summary) == orjson.dumps(whole.summary)


def test_failed_judgements_are_no_numbers(ranked: Ranked, tmp_path: Path) -> None:
    """Where every fifth rating cannot be had, pairs without both are left out, counted, and bounded."""
    settings = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})

    def fail(call: ModelCall) -> BaseException | None:
        text = call.messages[-1].text if call.kind == "chat" else ""
        refused = "Rate the response." in text and sum(map(ord, text)) % 5 == 0
        return TransportError("bad_request", "no", retryable=False, status=400) if refused else None

    transport = CountingTransport(SimTransport(), fail=fail)
    asked = ranked.request(methods=("pointwise", "batch"), judges=("sim/judge",), limit=20, max_failures="100%")
    done = asyncio.run(compare_judging(asked, settings=settings, transports={"sim": transport}))
    one = done.summary["results"]["sim/judge"]["pointwise"]
    assert one["failures"]["api_error"] > 0
    assert 0 < one["coverage"] < 1
    accuracy = one["accuracy"]
    assert accuracy["n"] < done.summary["rankings"]["comparisons"]
    assert accuracy["bounds"]["low"] < accuracy["share"] < accuracy["bounds"]["high"]
    assert gap(done.summary, "sim/judge", "pointwise", "batch")["n"] == accuracy["n"]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"auxiliary": None, "methods": ("scan",)}, "name a file of them with --auxiliary .* or leave scan out"),
    ({"methods": ("pairwise",)}, "there is no judging method 'pairwise'; there are pointwise, batch"),
    ({"methods": ("batch", "batch")}, "names batch twice"),
    ({"judges": ()}, "--judges names no judge"),
    ({"judges": ("sim/judge", "sim/judge")}, "--judges names sim/judge twice"),
]


@pytest.mark.parametrize(("changes", "reason"), REFUSED)
def test_what_cannot_be_compared_is_refused(
    ranked: Ranked, settings: Settings, changes: dict[str, Any], reason: str
) -> None:
    """Options that make no comparison are refused before anything is sent, with the way out."""
    with pytest.raises(ConfigError, match=reason):
        asyncio.run(prepare(METHOD, ranked.request(**changes), settings=settings))


def test_judged_models_are_refused_as_auxiliary_ones(ranked: Ranked, settings: Settings, tmp_path: Path) -> None:
    """Auxiliary responses of a model that is judged, too, are refused by its name."""
    mixed = tmp_path / "mixed.jsonl"
    first = orjson.loads(ranked.files["auxiliary"].read_bytes().splitlines()[0]) | {"model": "west"}
    mixed.write_bytes(ranked.files["auxiliary"].read_bytes() + orjson.dumps(first) + b"\n")
    with pytest.raises(ConfigError, match="west is judged, too"):
        asyncio.run(prepare(METHOD, ranked.request(auxiliary=mixed), settings=settings))
    few = tmp_path / "few.jsonl"
    few.write_bytes(b"".join(ranked.files["auxiliary"].read_bytes().splitlines(keepends=True)[: len(AUXILIARY) + 1]))
    with pytest.raises(DataError, match="59 of 60 samples have fewer than 2 responses to compare"):
        asyncio.run(prepare(METHOD, ranked.request(auxiliary=few), settings=settings))


def test_rankings_that_do_not_fit_are_refused(ranked: Ranked, settings: Settings, tmp_path: Path) -> None:
    """Unknown samples and models are named with file and line, and one response a sample is no ranking to compare with."""
    path = tmp_path / "r.jsonl"
    path.write_text('{"id": "nowhere", "ranking": [["north"], ["west"]]}\n')
    with pytest.raises(DataError, match=r"r\.jsonl, line 1: the data have no sample 'nowhere'"):
        asyncio.run(prepare(METHOD, ranked.request(rankings=path), settings=settings))
    id = ranked.planted[0][1].id
    path.write_text(f'{{"id": "{id}", "ranking": [["north"]]}}\n')
    with pytest.raises(DataError, match="no pair to compare"):
        asyncio.run(prepare(METHOD, ranked.request(rankings=path), settings=settings))


def test_one_annotator_and_gaps(ranked: Ranked, settings: Settings, tmp_path: Path) -> None:
    """With one annotator there is no figure of people among themselves; what nobody ranked is neither judged nor counted."""
    path = tmp_path / "r.jsonl"
    ids = [question.id for _, question in ranked.planted[:3]]
    path.write_text(
        f'{{"id": "{ids[0]}", "ranking": [["north"], ["east", "west"]]}}\n'
        f'{{"id": "{ids[1]}", "scores": {{"south": 3, "centre": 3}}}}\n'
        f'{{"id": "{ids[2]}", "ranking": [["north"]]}}\n'
    )
    asked = ranked.request(rankings=path, judges=("sim/judge",), methods=("pointwise", "batch"))
    done = asyncio.run(compare_judging(asked, settings=settings))
    summary = done.summary
    assert summary["people"] is None
    said = summary["rankings"]
    assert (said["samples"], said["without"], said["comparisons"], said["annotators"]) == (2, 58, 4, 1)
    assert summary["results"]["sim/judge"]["pointwise"]["calls"] == 5
    assert summary["results"]["sim/judge"]["batch"]["calls"] == 4


def test_a_changed_file_of_responses_is_refused(ranked: Ranked, settings: Settings, tmp_path: Path) -> None:
    """A run is not continued with other responses than it was accepted with."""
    path = tmp_path / "answers.jsonl"
    path.write_bytes(ranked.files["responses"].read_bytes())
    asked = ranked.request(responses=path, judges=("sim/judge",), methods=("pointwise",), max_calls=3)
    part = asyncio.run(compare_judging(asked, settings=settings))
    path.write_bytes(path.read_bytes().replace(b"picture", b"painting", 1))
    with Home.open(settings.home, write=False) as home:
        row = get_run(home, part.run)
    with pytest.raises(DataError, match=r"answers\.jsonl has changed since run"):
        asyncio.run(resume(row, settings=settings, changes={"max_calls": None}))


def test_accuracy_by_capability(ranked: Ranked, settings: Settings, tmp_path: Path) -> None:
    """With a tree the tables are by its categories, and a sample counts in each that one of its criteria is in."""
    criteria = tmp_path / "criteria.csv"
    samples = [question.id for _, question in ranked.planted]
    lines = [f"How many boats lie there?,{sample}" for sample in samples]
    lines += [f"Why does the water stand so high?,{sample}" for sample in samples[:5]]
    criteria.write_text("criterion,sample_id\n" + "\n".join(lines) + "\n")
    grown = grow_tree_sync(file=criteria, judge="sim/judge", settings=settings, min_support=1, name="planted")
    categories = {leaf["leaf"].strip("<>").partition(">")[0] for leaf in grown.summary["leaves"]}
    assert len(categories) == 2
    asked = ranked.request(judges=("sim/judge",), methods=("pointwise",), tree="planted")
    summary = asyncio.run(compare_judging(asked, settings=settings)).summary
    found = summary["results"]["sim/judge"]["pointwise"]
    assert set(found["by_category"]) == categories
    counts = sorted(one["n"] for one in found["by_category"].values())
    assert counts[-1] == found["accuracy"]["n"]
    assert counts[0] < counts[-1]
    other = tmp_path / "other.csv"
    other.write_text("criterion,sample_id\nHow many boats lie there?,nowhere\n")
    grow_tree_sync(file=other, judge="sim/judge", settings=settings, min_support=1, name="other")
    with pytest.raises(InputError, match="none of its criteria is on a sample"):
        asyncio.run(prepare(METHOD, ranked.request(tree="other"), settings=settings))
