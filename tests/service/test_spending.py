"""The spending of a service: by run, model and token, with its limits, as JSON and on a page."""

import json
from html import unescape
from pathlib import Path

import pytest

from dokimasia.service.allowances import Allowances
from dokimasia.service.spending import spending_of
from dokimasia.storage.runs import get_run
from dokimasia.storage.spending import paid_by, spent_by
from dokimasia.storage.usage import total_usage
from tests.service.test_allowances import ANA, BEN, CONFIGURATION, begun, tokens
from tests.service.working import working

HTML = {"accept": "text/html"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home to be, beside a configuration with models that have a price."""
    (tmp_path / "dokimasia.toml").write_text(CONFIGURATION)
    return tmp_path / "home"


async def test_spending_is_shown_by_run_model_and_token(home: Path) -> None:
    """The sums are those of the runs, of the ledger and of the allowances; the page says them, too."""
    limits = Allowances(max_cost=10.0, max_cost_per_token=4.0)
    async with working(home, allowances=limits, tokens=tokens()) as service:
        first = await begun(service, token=ANA, count=6)
        await service.ended(first)
        second = await begun(service, token=BEN, name="b", count=2)
        await service.ended(second)
        opened = service.service.home
        spending = (await service.client.get("/api/spending")).json()
        assert [entry["run"] for entry in spending["runs"]] == [first, second]
        for entry in spending["runs"]:
            assert (
                entry["cost"]
                == spent_by(opened, entry["run"]).cost
                == pytest.approx(total_usage(opened, entry["run"]).cost)
            )
            assert entry["status"] == get_run(opened, entry["run"]).status == "done"
        assert spending["cost"] == pytest.approx(sum(entry["cost"] for entry in spending["runs"]))
        assert spending["cost"] == pytest.approx(sum(entry["cost"] for entry in spending["models"]))
        assert {entry["model"] for entry in spending["models"]} == {"paid", "judge"}
        assert [entry["token"] for entry in spending["holders"]] == ["", "ana", "ben"]
        for entry in spending["holders"]:
            assert entry["cost"] == paid_by(opened, entry["token"]).cost
            assert entry["limit"] == (4.0 if entry["token"] else 10.0)
            assert entry["left"] == pytest.approx(entry["limit"] - entry["cost"])
        page = unescape((await service.client.get("/spending", headers=HTML)).text)
        assert f"2 runs spent ${spending['cost']:.2f}" in page
        assert f"Of the limit of $10.00 for all runs, ${10 - spending['cost']:.2f} is left." in page
        assert "The runs of one token may spend $4.00 together." in page
        assert page.count('<th scope="col"') <= 3 * 7
        for table in page.split("<thead>")[1:]:
            assert table.partition("</thead>")[0].count('<th scope="col"') <= 7
        assert f'href="/runs/{first}"' in page
        assert (await service.client.get("/api/runs")).json()["total"] == 2


async def test_a_limit_that_is_reached_is_said_first(home: Path) -> None:
    """The verdict says that no run may start, and nothing is left of the limit."""
    async with working(home, allowances=Allowances(max_cost=100.0)) as service:
        await service.ended(await begun(service, count=2))
        spent = paid_by(service.service.home, "").cost
    async with working(home, allowances=Allowances(max_cost=spent)) as service:
        page = unescape((await service.client.get("/spending", headers=HTML)).text)
        assert "for all runs is reached: no run may start or go on." in page
        assert spending_of(service.service).holders[0].left == 0.0
    async with working(home) as service:
        page = unescape((await service.client.get("/spending", headers=HTML)).text)
        assert "No limit holds for all runs together." in page
        assert json.loads((await service.client.get("/api/spending")).text)["max_cost"] is None


async def test_an_empty_home_has_spent_nothing(tmp_path: Path) -> None:
    """Without a run there are no tables, and the settings lead to the page."""
    async with working(tmp_path / "home") as service:
        page = (await service.client.get("/spending", headers=HTML)).text
        assert "No run has spent anything yet. No limit holds for all runs together." in page
        assert "<table" not in page
        assert 'href="/spending"' in (await service.client.get("/settings", headers=HTML)).text
