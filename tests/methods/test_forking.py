"""A run forked from a step: what comes before is taken over by its ids, and only the new model is asked."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import dokimasia.prompts
from dokimasia.domain.call import ModelCall
from dokimasia.errors import ConfigError, InputError, Interrupted, TransportError
from dokimasia.gateway.doubles import CountingTransport
from dokimasia.gateway.gateway import ModelGateway
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.prompts import default_library
from dokimasia.runs import work as crowd
from dokimasia.runs.forking import ForkRequest, fork, prepare_fork
from dokimasia.runs.lifecycle import RunResult, resume
from dokimasia.runs.services import Stop
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, get_run
from tests.methods.conftest import Finished

Requests = Callable[..., EvaluationRequest]
OTHER = "sim/judge"
SHIPPED = Path(dokimasia.prompts.__file__).parent


def away(model: str) -> CountingTransport:
    """Simulated models of which one refuses every call."""

    def fail(call: ModelCall) -> TransportError | None:
        refused = TransportError("bad_request", "no entry", retryable=False, status=400)
        return refused if call.model.name == model else None

    return CountingTransport(SimTransport(), fail=fail)


def run_of(settings: Settings, id: str) -> Run:
    with Home.open(settings.home, write=False) as home:
        return get_run(home, id)


def rows_of(settings: Settings, id: str) -> dict[str, ResultRow]:
    with Home.open(settings.home, write=False) as home:
        return {row.item: row for row in results(home, id)}


def labels_of(settings: Settings, rows: dict[str, ResultRow]) -> dict[str, list[str]]:
    """The prompts by which each item's calls were asked."""
    with Home.open(settings.home, write=False) as home:
        used = SqliteLedger(home).calls_for({key for row in rows.values() for key in row.calls})
    return {item: [used[key].label for key in row.calls] for item, row in rows.items()}


async def forked(settings: Settings, parent: RunResult, node: str, **changes: Any) -> tuple[RunResult, Counter[str]]:
    transport = CountingTransport(SimTransport())
    request = ForkRequest(node=node, **changes)
    result = await fork(run_of(settings, parent.run), request, settings=settings, transports={"sim": transport})
    return result, transport.by_model


async def test_another_judge_scores_what_is_there(settings: Settings, request_of: Requests, finished: Finished) -> None:
    """Forked from `score`, chains, criteria and answers are the old run's by their ids, and only the new judge is asked."""
    parent = await finished(request_of())
    child, sent = await forked(settings, parent, "score", judge=OTHER)
    assert set(sent) == {OTHER}
    assert child.run != parent.run
    assert child.complete
    assert child.summary["judge"] == OTHER
    assert child.summary["forked_from"] == {"run": parent.run, "node": "score"}
    before, after = rows_of(settings, parent.run), rows_of(settings, child.run)
    assert set(before) == set(after)
    for item, row in after.items():
        old = before[item]
        if row.kind == "replay":
            assert row.model_copy(update={"run_id": old.run_id}) == old
        else:
            assert (row.criteria_id, row.response_id) == (old.criteria_id, old.response_id)
    scored = [row for row in after.values() if row.kind == "score" and row.criteria_id]
    assert sent[OTHER] == len({key for row in scored for key in row.calls[1:]})
    assert {tuple(labels_of(settings, after)[row.item][1:]) for row in scored} == {
        ("checkpoints",),
        ("checkpoints", "equivalence"),
    }


async def test_a_fork_scores_as_the_other_judge_would_have(
    settings: Settings, request_of: Requests, finished: Finished
) -> None:
    """Forked from the first step, a run has the figures of a run that had the other judge from the start."""
    parent = await finished(request_of())
    child, sent = await forked(settings, parent, "write_chain", judge=OTHER)
    assert set(sent) == {OTHER}
    whole = await evaluate(request_of(judge=OTHER), settings=Settings(home=settings.home.with_name("other")))
    assert child.summary["models"] == whole.summary["models"]
    assert child.summary["preparation"] == whole.summary["preparation"]


async def test_a_slow_judge_makes_no_fork_look_for_the_candidates(
    settings: Settings, request_of: Requests, monkeypatch: pytest.MonkeyPatch, finished: Finished
) -> None:
    """While the judge is waited for, only models that the fork reaches are compared: it asks no candidate and loads none."""
    parent = await finished(request_of())
    compared = asyncio.Event()
    endpoint_idles = ModelGateway.endpoint_idles

    def watched(gateway: ModelGateway, models: Iterable[str]) -> bool:
        compared.set()
        return endpoint_idles(gateway, models)

    monkeypatch.setattr(crowd, "TICK", 0.001)
    monkeypatch.setattr(ModelGateway, "endpoint_idles", watched)
    transport = CountingTransport(SimTransport(), hold=lambda _: compared.wait())
    request = ForkRequest(node="score", judge=OTHER)
    child = await fork(run_of(settings, parent.run), request, settings=settings, transports={"sim": transport})
    assert compared.is_set()
    assert child.complete


async def test_criteria_drawn_anew_from_the_old_chains(
    settings: Settings, request_of: Requests, finished: Finished
) -> None:
    """Forked from `extract_criteria`, chains and answers are taken over with the calls that made them."""
    parent = await finished(request_of())
    child, sent = await forked(settings, parent, "extract_criteria", judge=OTHER)
    assert set(sent) == {OTHER}
    before, after = rows_of(settings, parent.run), rows_of(settings, child.run)
    labels = labels_of(settings, after)
    for item, row in after.items():
        if row.kind == "replay" and row.outcome == "made":
            assert row.chain_id == before[item].chain_id
            assert labels[item][0] == "solver"
            assert labels[item].count("criteria") == 1
        elif row.outcome == "scored" and before[item].response_id:
            assert row.response_id == before[item].response_id
            assert labels[item][:2] == ["candidate", "checkpoints"]
            assert labels[item][2:] in ([], ["equivalence"])


async def test_another_judge_takes_the_second_look(
    settings: Settings, request_of: Requests, finished: Finished
) -> None:
    """Forked from `judge_criteria`, the criteria as they stand are looked at by another judge, and nothing before is."""
    parent = await finished(request_of(judge="sim/judge-inventive", protocol="default"))
    child, sent = await forked(settings, parent, "judge_criteria", judge="sim/judge")
    assert set(sent) == {"sim/judge"}
    before, after = rows_of(settings, parent.run), rows_of(settings, child.run)
    labels = labels_of(settings, after)
    replays = {item: row for item, row in after.items() if row.kind == "replay"}
    assert {row.outcome for row in replays.values()} == {"made"}
    for item, row in replays.items():
        assert row.chain_id == before[item].chain_id
        kept = [label for label in labels_of(settings, before)[item] if label != "criteria_check"]
        assert labels[item] == [*kept, "criteria_check"]


async def test_as_published_there_is_no_second_look_to_fork_from(
    settings: Settings, request_of: Requests, finished: Finished
) -> None:
    """Of a run as in the paper the second look cannot be done anew, since there was none."""
    parent = await finished(request_of(protocol="published", limit=3))
    with pytest.raises(InputError, match="as published nobody takes a second look"):
        await forked(settings, parent, "judge_criteria", judge=OTHER)


async def test_a_fork_keeps_how_the_question_was_put(settings: Settings, request_of: Requests) -> None:
    """Forked, a run goes on as published with the bare question, under the prompts of that way alone."""
    parent = await evaluate(request_of(protocol="published", limit=3), settings=settings)
    child, _ = await forked(settings, parent, "score", judge=OTHER)
    plans: list[Any] = [run_of(settings, one.run).options["plan"] for one in (parent, child)]
    assert plans[1]["prompts"] == plans[0]["prompts"]
    assert (child.summary["protocol"], child.summary["ask"]) == ("published", "plain")


async def test_another_candidate_answers_under_the_old_criteria(
    settings: Settings, request_of: Requests, finished: Finished
) -> None:
    """Forked from `answer` with another candidate, the judge stays, and the candidate that stays is not asked again."""
    parent = await finished(request_of())
    child, sent = await forked(settings, parent, "answer", models={"sim/weak": "sim/steady"})
    assert set(sent) == {"sim/steady", "sim/judge-noisy"}
    assert sent["sim/steady"] == 14
    assert set(child.summary["models"]) == {"sim/strong", "sim/steady"}
    assert child.summary["models"]["sim/strong"] == parent.summary["models"]["sim/strong"]


async def test_a_failed_answer_stays_failed(settings: Settings, request_of: Requests) -> None:
    """What failed before the step is taken over as it failed: its model is not asked again."""
    parent = await evaluate(request_of(), settings=settings, transports={"sim": away("sim/weak")})
    failures = parent.summary["models"]["sim/weak"]["failures"]
    assert failures["api_error"] > 0
    child, sent = await forked(settings, parent, "score", judge=OTHER)
    assert set(sent) == {OTHER}
    assert child.summary["models"]["sim/weak"]["failures"] == failures
    again = await resume(run_of(settings, child.run), settings=settings, retry=("api_error",))
    assert again.summary["models"]["sim/weak"]["n_scored"] > 0


async def test_a_sample_without_a_chain_stays_failed(settings: Settings, request_of: Requests) -> None:
    """Where no chain could be written there is nothing to draw criteria from, and the old judge is not asked for one."""
    parent = await evaluate(request_of(), settings=settings, transports={"sim": away("sim/judge-noisy")})
    child, sent = await forked(settings, parent, "extract_criteria", judge=OTHER)
    assert not sent
    assert child.summary["models"]["sim/strong"]["n_scored"] == 0
    anew, sent = await forked(settings, parent, "write_chain", judge=OTHER)
    assert set(sent) == {OTHER, "sim/strong", "sim/weak"}
    assert anew.summary["models"]["sim/strong"]["n_scored"] == 14


async def test_a_fork_needs_no_key_of_those_it_does_not_ask(
    settings: Settings, request_of: Requests, tmp_path: Path
) -> None:
    """Neither the old judge nor the candidates have to be reachable where only scores are asked anew."""
    config = tmp_path / "dokimasia.toml"
    models = {"J": "sim/judge-noisy", "C": "sim/strong"}
    config.write_text(
        "".join(
            f'[models.{name}]\nmodel = "{model}"\ntransport = "sim"\napi_key_env = "OLD_KEY"\n'
            for name, model in models.items()
        )
    )
    with_key = load_settings(config=config, home=settings.home, env={"OLD_KEY": "k" * 20})
    parent = await evaluate(request_of(judge="J", models=("C",)), settings=with_key)
    without = load_settings(config=config, home=settings.home, env={})
    child, sent = await forked(without, parent, "score", judge=OTHER)
    assert set(sent) == {OTHER}
    assert child.complete
    with pytest.raises(ConfigError, match="OLD_KEY is not set"):
        await forked(without, parent, "answer", judge=OTHER)


async def test_a_fork_is_interrupted_and_resumed_like_any_run(
    settings: Settings, request_of: Requests, finished: Finished
) -> None:
    """Stopped again and again, a fork resumes from its own rows and ends with the figures of one never stopped."""
    parent = await finished(request_of())
    whole, _ = await forked(settings, parent, "extract_criteria", judge=OTHER)
    other = Settings(home=settings.home.with_name("other"))
    again = await evaluate(request_of(), settings=other)
    assert again.run == parent.run
    request = ForkRequest(node="extract_criteria", judge=OTHER)
    sent: Counter[str] = Counter()
    result = None
    for number in range(40):
        stop = Stop()
        transport = CountingTransport(SimTransport(), stop=stop.ask, stop_after=7)
        options: dict[str, Any] = {"settings": other, "stop": stop, "transports": {"sim": transport}}
        try:
            if number == 0:
                result = await fork(run_of(other, parent.run), request, **options)
            else:
                result = await resume(run_of(other, whole.run), **options)
        except Interrupted:
            continue
        finally:
            sent += transport.by_model
        break
    assert result is not None
    assert result.summary == whole.summary
    assert set(sent) == {OTHER}


async def test_a_fork_of_a_fork(settings: Settings, request_of: Requests, finished: Finished) -> None:
    """A fork is a run: forked in its turn it keeps the judges of the steps before, each by its own model."""
    parent = await finished(request_of())
    middle, _ = await forked(settings, parent, "extract_criteria", judge=OTHER)
    last, sent = await forked(settings, middle, "score", judge="sim/judge-careless")
    assert set(sent) == {"sim/judge-careless"}
    plan: Any = run_of(settings, last.run).options["plan"]
    named = {node: spec["ref"]["name"] for node, spec in plan["judges"].items()}
    assert named == {
        "write_chain": "sim/judge-noisy",
        "judge_chain": "sim/judge-noisy",
        "extract_criteria": OTHER,
        "judge_criteria": OTHER,
    }
    assert plan["judge"]["ref"]["name"] == "sim/judge-careless"


async def test_another_prompt_from_a_step_on(
    settings: Settings, request_of: Requests, tmp_path: Path, finished: Finished
) -> None:
    """With another prompt for scoring, only scores are asked again, under a new version that stands beside them."""
    parent = await finished(request_of())
    folder = tmp_path / "prompts"
    prompt_file(folder, "checkpoints", extra="Be strict.")
    request = ForkRequest(node="score", prompts=(folder,))
    library = default_library().overridden(folder)
    transport = CountingTransport(SimTransport(library=library))
    child = await fork(run_of(settings, parent.run), request, settings=settings, transports={"sim": transport})
    assert set(transport.by_model) == {"sim/judge-noisy"}
    assert child.complete
    assert child.summary["models"]["sim/strong"]["n_scored"] > 0
    early = ForkRequest(node="score", prompts=(prompt_file(tmp_path / "early", "criteria", extra="Be brief."),))
    with pytest.raises(InputError, match="extract_criteria asks by it, which comes before score"):
        await fork(run_of(settings, parent.run), early, settings=settings)


async def test_a_run_that_changed_since_cannot_be_taken_over(settings: Settings, request_of: Requests) -> None:
    """A fork that is resumed after the run before it changed says so, and forked anew it is another run."""
    parent = await evaluate(request_of(), settings=settings, transports={"sim": away("sim/weak")})
    part, _ = await forked(settings, parent, "score", judge=OTHER, max_calls=3)
    assert not part.complete
    await resume(run_of(settings, parent.run), settings=settings, retry=("api_error",))
    with pytest.raises(InputError, match="which has changed since or was deleted"):
        await resume(run_of(settings, part.run), settings=settings)
    anew, _ = await forked(settings, parent, "score", judge=OTHER)
    assert anew.run != part.run


async def test_what_cannot_be_forked_is_said(settings: Settings, request_of: Requests, finished: Finished) -> None:
    """An unknown step lists all steps; no change, a change too early, or an unfinished run are errors with a way out."""
    parent = await finished(request_of())
    with pytest.raises(InputError, match=r"no step 'judge'(?s:.*)write_chain(?s:.*)extract_criteria(?s:.*)score"):
        await forked(settings, parent, "judge", judge=OTHER)
    with pytest.raises(InputError, match="a fork changes something"):
        await forked(settings, parent, "score")
    with pytest.raises(InputError, match="the judge is sim/judge-noisy already"):
        await forked(settings, parent, "score", judge="sim/judge-noisy")
    with pytest.raises(InputError, match="fork from answer"):
        await forked(settings, parent, "score", models={"sim/weak": "sim/steady"})
    with pytest.raises(ConfigError, match="'sim/hasty' is no candidate of the run"):
        await forked(settings, parent, "answer", models={"sim/hasty": "sim/steady"})
    with pytest.raises(ConfigError, match="a model would answer twice"):
        await forked(settings, parent, "answer", models={"sim/weak": "sim/strong"})
    part = await evaluate(request_of(seed=1, max_calls=5), settings=Settings(home=settings.home.with_name("part")))
    with pytest.raises(InputError, match=f"is interrupted; finish it first: dokimasia resume {part.run}"):
        await forked(Settings(home=settings.home.with_name("part")), part, "score", judge=OTHER)


async def test_a_dry_run_says_what_is_taken_over(settings: Settings, request_of: Requests, finished: Finished) -> None:
    """The preview names each step's fate, its models and the calls at most, and makes no run."""
    parent = await finished(request_of())
    with Home.open(settings.home, write=False) as home:
        request = ForkRequest(node="extract_criteria", judge=OTHER)
        shown = (await prepare_fork(home, get_run(home, parent.run), request, settings=settings)).preview
    assert {step["step"]: step["again"] for step in shown["steps"]} == {
        "write_chain": False,
        "check_chain": False,
        "judge_chain": False,
        "extract_criteria": True,
        "judge_criteria": True,
        "answer": False,
        "score": True,
    }
    child, sent = await forked(settings, parent, "extract_criteria", judge=OTHER)
    assert child.run == shown["run"]
    assert sent.total() <= shown["calls"] + shown["undecided"]["calls"] + 2


async def test_responses_from_a_file_are_taken_over(
    settings: Settings, request_of: Requests, tmp_path: Path, finished: Finished
) -> None:
    """A run over answers that were given can be forked, and nobody but the new judge is asked."""
    ids = [row.sample_id for row in rows_of_first(await finished(request_of()), settings)]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(f'{{"id": "{id}", "model": "someone", "response": "It is red."}}\n' for id in ids))
    parent = await evaluate(request_of(models=(), responses=path), settings=settings)
    child, sent = await forked(settings, parent, "score", judge=OTHER)
    assert set(sent) == {OTHER}
    assert child.summary["models"]["someone"]["n"] == 14


def rows_of_first(result: RunResult, settings: Settings) -> list[ResultRow]:
    return [row for row in rows_of(settings, result.run).values() if row.kind == "replay"]


def prompt_file(folder: Path, name: str, *, extra: str, version: int = 2) -> Path:
    """Write a folder with one shipped prompt, changed by a sentence; return the folder."""
    source = next(SHIPPED.rglob(f"{name}.md"))
    text = (
        source.read_text()
        .replace("version: 1\n", f"version: {version}\n")
        .replace("## user\n", f"\n{extra}\n## user\n")
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(text)
    return folder
