"""Runs under prompts of the user's: recorded, found again, and never continued under others."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import dokimasia.prompts
from dokimasia.errors import ConfigError
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.prompts import default_library
from dokimasia.runs.lifecycle import resume
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.serving.server import running_server
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, get_run

Requests = Callable[..., EvaluationRequest]
SHIPPED = Path(dokimasia.prompts.__file__).parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the prompts of every step that asks a judge, each changed by a sentence."""
    made = tmp_path / "prompts"
    made.mkdir()
    for name in ("solver", "criteria", "checkpoints", "repair"):
        text = next(SHIPPED.rglob(f"{name}.md")).read_text()
        text = re.sub(r"^version: \d+$", "version: 9", text, count=1, flags=re.MULTILINE)
        (made / f"{name}.md").write_text(text.replace("## user\n", "## user\nWork with care.\n\n", 1))
    return made


def move(folder: Path) -> Path:
    return folder.rename(folder.with_name("elsewhere"))


def run_of(settings: Settings, id: str) -> Run:
    with Home.open(settings.home, write=False) as home:
        return get_run(home, id)


async def test_simulated_judges_know_the_prompts_of_a_folder(
    settings: Settings, request_of: Requests, folder: Path
) -> None:
    """Judged under other prompts, repairs included, everything is scored, in a run of its own with the versions on record."""
    shipped = await evaluate(request_of(), settings=settings)
    own = await evaluate(request_of(prompts=(folder,)), settings=settings)
    assert own.run != shipped.run
    for model in own.summary["models"].values():
        assert model["n_scored"] + sum(model["failures"].values()) == 14
        assert model["n_scored"] >= 10
    recorded = run_of(settings, own.run).options["plan"]
    assert isinstance(recorded, dict)
    versions = recorded["prompts"]
    assert isinstance(versions, dict)
    assert {name for name, version in versions.items() if str(version).startswith("9:")} == {
        "solver",
        "criteria",
        "checkpoints",
        "repair",
    }


async def test_a_resume_finds_the_folder_again(settings: Settings, request_of: Requests, folder: Path) -> None:
    """An interrupted run goes on under the same prompts without naming them, and refuses changed, moved or other ones."""
    part = await evaluate(request_of(prompts=(folder,), max_calls=20), settings=settings)
    assert not part.complete
    file = folder / "solver.md"
    text = file.read_text()
    file.write_text(text.replace("with care", "in haste"))
    with pytest.raises(ConfigError, match=r"accepted with other prompts \(read from .*prompts\): solver was 9:"):
        await resume(run_of(settings, part.run), settings=settings)
    file.write_text(text)
    moved = move(folder)
    with pytest.raises(ConfigError, match="if it has moved, name it with --prompts"):
        await resume(run_of(settings, part.run), settings=settings)
    whole = await resume(
        run_of(settings, part.run), settings=settings, changes={"prompts": (moved,), "max_calls": None}
    )
    assert whole.complete


async def test_the_simulated_server_knows_them_too(request_of: Requests, folder: Path, tmp_path: Path) -> None:
    """`sim serve --prompts` answers a judge's request under other prompts as the models in process do."""
    config = tmp_path / "dokimasia.toml"
    with running_server(library=default_library().overridden(folder)) as url:
        config.write_text(
            f'[models.J]\nmodel = "openai/sim/judge"\napi_base = "{url}"\ntransport = "direct"\nendpoint = "server"\n'
        )
        settings = load_settings(config=config, home=tmp_path / "home", env={})
        over_wire = await evaluate(request_of(judge="J", prompts=(folder,)), settings=settings)
    in_process = await evaluate(
        request_of(judge="sim/judge", prompts=(folder,)), settings=Settings(home=tmp_path / "other")
    )

    def scores(summary: dict[str, dict[str, dict[str, object]]]) -> list[object]:
        return [model["score"] for model in summary["models"].values()]

    assert scores(over_wire.summary) == scores(in_process.summary)
    assert over_wire.summary["models"]["sim/strong"]["n_scored"] == 14
