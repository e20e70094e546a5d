"""Cached input through a whole run: reported by an endpoint, booked at its price, kept, and shown."""

import json
import sqlite3
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.simulation.serving.faults import parse_faults
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home
from dokimasia.storage.ledger import SqliteLedger
from dokimasia.storage.schema.migrations import FIRST, MIGRATIONS

MODEL = """
[models.{name}]
model = "openai/sim/{name}"
endpoint = "planted"
api_base = "{url}"
transport = "{transport}"
input_price = 10.0
cached_input_price = 1.0
output_price = 20.0
"""


@pytest.mark.parametrize("transport", ["litellm", "direct"])
def test_cached_input_is_booked_at_its_price(
    transport: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through either transport half of each prompt is booked at the price of cached input, stored, and said."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world.jsonl", 2, 1)
    with running_server(faults=parse_faults("cached_input=1")) as url:
        models = "".join(MODEL.format(name=name, url=url, transport=transport) for name in ("judge", "strong"))
        (tmp_path / "dokimasia.toml").write_text(models)
        assert run(["evaluate", "world.jsonl", "--judge", "judge", "--models", "strong", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    with Home.open(tmp_path / ".dokimasia", write=False) as home:
        calls = home.all("SELECT input_tokens, output_tokens, cached_tokens, cost FROM calls")
        assert list(SqliteLedger(home).verify()) == []
    assert calls
    for sent, received, cached, cost in calls:
        assert cached == sent // 2
        assert cost == pytest.approx(((sent - cached) * 10 + cached * 1 + received * 20) / 1e6)
    assert figures["together"]["tokens"]["cached"] == sum(cached for _, _, cached, _ in calls)
    assert run(["report", "last", "--format", "md", "--output", "report.md"]) == 0
    assert "were read from a provider's cache of prompts" in (tmp_path / "report.md").read_text()


def test_an_older_home_has_no_cached_tokens_and_stays_whole(tmp_path: Path) -> None:
    """A home of the schema before opens as before; its calls say nothing of a cache."""
    home = tmp_path / "home"
    Home.open(home, write=True).close()
    database = sqlite3.connect(home / "dokimasia.db")
    number = FIRST + [name for name, _ in MIGRATIONS].index("cached_tokens")
    database.execute("ALTER TABLE calls DROP COLUMN cached_tokens")
    for table in ("comments", "views"):  # of the migrations after it
        database.execute(f"DROP TABLE {table}")
    for table in ("spending", "payers"):
        database.execute(f"ALTER TABLE {table} DROP COLUMN cut_off")
    database.execute("DELETE FROM _migrations WHERE number >= ?", (number,))
    database.commit()
    database.close()
    with Home.open(home, write=True) as opened:
        assert opened.all("SELECT cached_tokens FROM calls") == []
        assert list(SqliteLedger(opened).verify()) == []
