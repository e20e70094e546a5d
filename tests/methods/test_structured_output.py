"""A judge that takes JSON schemas scores as one that does not, and which it is belongs to what a run is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from dokimasia.endpoints.probing import check_models
from dokimasia.gateway.doubles import CountingTransport, Crash
from dokimasia.methods.evaluation import METHOD, EvaluationRequest, evaluate
from dokimasia.runs.lifecycle import resume
from dokimasia.runs.plans import run_id
from dokimasia.runs.preview import prepare
from dokimasia.settings import Settings, load_settings, resolve_model
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.home import Home
from dokimasia.storage.runs import get_run

Requests = Callable[..., EvaluationRequest]
SCHEMAS = "SELECT label, count(*) FROM calls WHERE json_extract(request, '$.output_schema') IS NOT NULL GROUP BY label"


def configured(folder: Path, url: str, transport: str, capabilities: str) -> Settings:
    """Settings with a judge and a candidate at a server, in a home of their own."""
    folder.mkdir()
    (folder / "dokimasia.toml").write_text(
        "".join(
            f'[models.{name}]\nmodel = "openai/sim/{model}"\nendpoint = "server"\napi_base = "{url}"\n'
            f'transport = "{transport}"\n{line}\n'
            for name, model, line in (("J", "judge-lenient", capabilities), ("A", "weak", ""))
        )
    )
    return load_settings(config=folder / "dokimasia.toml", home=folder / "home", env={})


def without_calls(summary: dict[str, Any]) -> dict[str, Any]:
    """The scores and failures of a summary, without what they took."""
    kept = ("n", "n_scored", "score", "failures", "coverage", "bounds")
    return {name: {key: model[key] for key in kept} for name, model in summary["models"].items()}


@pytest.mark.parametrize("transport", ["direct", "litellm"])
async def test_the_same_scores_with_and_without_a_schema(tmp_path: Path, request_of: Requests, transport: str) -> None:
    """Over HTTP a judge held to schemas gives the same criteria and scores; its run is another one."""
    request = request_of(judge="J", models=("A",), limit=6)
    with running_server() as url:
        plain_settings = configured(tmp_path / "plain", url, transport, "")
        held_settings = configured(tmp_path / "held", url, transport, 'capabilities = ["vision", "json_schema"]')
        plain = await evaluate(request, settings=plain_settings)
        held = await evaluate(request, settings=held_settings)
    assert without_calls(held.summary) == without_calls(plain.summary)
    assert held.summary["models"]["A"]["n_scored"] == 6
    assert held.run != plain.run
    with Home.open(plain_settings.home, write=False) as home:
        assert home.all(SCHEMAS) == []
        criteria = home.all("SELECT id FROM criteria_sets ORDER BY id")
        assert home.all("SELECT DISTINCT label FROM calls WHERE label IN ('checkpoints', 'criteria')") != []
    with Home.open(held_settings.home, write=False) as home:
        assert dict(home.all(SCHEMAS))["checkpoints"] == 6
        assert dict(home.all(SCHEMAS))["criteria"] == 6
        assert home.all("SELECT id FROM criteria_sets ORDER BY id") == criteria
        assert "structured" in orjson.loads(home.all("SELECT options FROM runs")[0][0])["plan"]["prompts"]


async def test_a_measured_profile_decides_where_the_configuration_is_silent(
    settings: Settings, request_of: Requests
) -> None:
    """After a check the same command is a new run with schemas; listed capabilities are the last word."""
    request = request_of(judge="sim/judge", models=("sim/weak",), limit=2)
    before = await evaluate(request, settings=settings)
    await check_models([resolve_model(settings, "sim/judge")], settings=settings)
    after = await evaluate(request, settings=settings)
    assert after.run != before.run
    assert without_calls(after.summary) == without_calls(before.summary)
    dry = await prepare(METHOD, request, settings=settings)
    assert run_id(METHOD, dry.plan) == after.run
    config = settings.home.parent / "own.toml"
    config.write_text('[models."sim/judge"]\nmodel = "sim/judge"\ncapabilities = ["vision"]\n')
    listed = load_settings(config=config, home=settings.home, env={})
    assert (await evaluate(request, settings=listed)).run == before.run


async def test_a_run_goes_on_as_it_was_accepted(settings: Settings, request_of: Requests) -> None:
    """What is measured between an interruption and the resume does not change how the judge is asked."""
    request = request_of(judge="sim/judge", models=("sim/weak",), limit=4)
    plan = (await prepare(METHOD, request, settings=settings)).plan
    gone = Crash("the machine went away")
    dying = CountingTransport(SimTransport(), fail=lambda _: gone if len(dying.sent) > 5 else None)
    with pytest.raises(Crash, match="went away"):
        await evaluate(request, settings=settings, transports={"sim": dying})
    await check_models([resolve_model(settings, "sim/judge")], settings=settings)
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, run_id(METHOD, plan))
    done = await resume(run, settings=settings)
    assert done.complete
    with Home.open(settings.home, write=False) as home:
        assert dict(home.all(SCHEMAS)) == {"probe": 1}
