"""What a service lets its runs spend and ask, whatever their requests say, also after a kill."""

import asyncio
import json
from concurrent.futures import Future
from pathlib import Path

import pytest

from dokimasia.domain.ports import Spending
from dokimasia.errors import CallFailed
from dokimasia.gateway.budget import Budget
from dokimasia.operations.operation import Right
from dokimasia.service.allowances import Allowances
from dokimasia.service.guard import AccessTokens, Caller, token_digest
from dokimasia.simulation.serving.server import running_server
from dokimasia.storage.home import Home
from dokimasia.storage.spending import paid_by
from tests.cli.served import configured, runs_of, served
from tests.killing import committed, held_back
from tests.processes import run_program
from tests.service.working import Working, working

CONFIGURATION = """
[models.paid]
model = "sim/strong"
input_price = 100.0
output_price = 100.0

[models.judge]
model = "sim/judge"
input_price = 100.0
output_price = 100.0
"""
ANA, BEN = "ana-token-0123456789", "ben-token-0123456789"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home to be, beside a configuration with models that have a price."""
    (tmp_path / "dokimasia.toml").write_text(CONFIGURATION)
    return tmp_path / "home"


def tokens() -> AccessTokens:
    """Two people who may begin runs."""
    rights: frozenset[Right] = frozenset(("read", "run"))
    return AccessTokens(((token_digest(ANA), Caller("ana", rights)), (token_digest(BEN), Caller("ben", rights))))


async def begun(service: Working, *, token: str = "", name: str = "a", count: int = 20, **more: object) -> str:
    """The id of an evaluation of so many new questions, or the sentence of its refusal."""
    lines = [{"id": f"{name}{n}", "prompt": f"What is {name} and {n}?", "reference_answer": "4"} for n in range(count)]
    headers = {"authorization": f"Bearer {token}"} if token else {}
    service.client.headers.update(headers)
    data = "\n".join(map(json.dumps, lines)).encode()
    await service.client.post("/api/uploads", files={"file": (f"{name}.jsonl", data)})
    asked = {"data": f"upload:{name}.jsonl", "judge": "judge", "models": ["paid"], **more}
    reply = await service.client.post("/api/runs/evaluate", json=asked)
    return reply.json().get("id") or reply.json()["detail"]


async def test_a_limit_of_the_service_holds_over_runs_and_restarts(home: Path) -> None:
    """Runs stop where the service's allowance ends; the next one is refused, also by the next process."""
    allowances = Allowances(max_cost=0.2)
    async with working(home, allowances=allowances) as service:
        run = await service.ended(await begun(service))
        assert run["status"] == "interrupted"
        spent = paid_by(service.service.home, "").cost
        assert 0.1 < spent <= 0.2
    async with working(home, allowances=Allowances(max_cost=spent)) as service:
        assert "the runs of the service may spend" in await begun(service, name="b")
        assert "ask whoever runs the service for more" in await begun(service, name="b")
    async with working(home, allowances=Allowances(max_cost=100.0)) as service:
        await service.client.post(f"/api/runs/{run['id']}/resume", json={})
        assert (await service.ended(run["id"]))["status"] == "done"
        assert paid_by(service.service.home, "").cost > spent


def test_a_limit_of_the_service_holds_over_a_kill_in_the_middle_of_a_run(tmp_path: Path) -> None:
    """Killed in the middle of a run and started again, the service spends in both lives together what one may spend.

    Requests that were under way at the death are counted; at the limit the run stops, and so does every later one.
    """
    home, most = tmp_path / "home", 0.01
    lines = [{"id": f"s{n}", "prompt": f"What is {n} + 2?", "reference_answer": "4"} for n in range(40)]
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, lines)))
    words = ("evaluate", tmp_path / "questions.jsonl", "--judge", "J", "--models", "A", "--detach")
    with running_server(log_path=tmp_path / "server.log") as url:
        configured(tmp_path, url, J="judge", A="strong")
        with held_back(home, at=6), served(home, "--max-cost", most) as service:
            run = service.run(*words).stdout.strip()
            assert service.process.until(lambda: committed(home) >= 6)
            service.process.kill()
        with Home.open(home, write=False) as opened:
            spent = paid_by(opened, "").cost
        assert 0 < spent <= most
        with served(home, "--max-cost", most) as service:
            assert service.process.until(lambda: "spen" in runs_of(home)[0]["why"])
            service.run(*words, "--seed", 1)
            assert service.process.until(lambda: all("spen" in shown["why"] for shown in runs_of(home)))
    with Home.open(home, write=False) as opened:
        [(paid,)] = opened.all("SELECT sum(cost) FROM calls")
        assert (run,) in opened.all("SELECT id FROM runs")
        assert spent <= paid_by(opened, "").cost <= most
        assert 0 < paid <= most


async def test_each_token_has_an_allowance_of_its_own(home: Path) -> None:
    """What one holder spends leaves the allowance of another untouched, and runs are counted for who begins them."""
    async with working(home, allowances=Allowances(max_cost_per_token=0.7), tokens=tokens()) as service:
        assert (await service.ended(await begun(service, token=ANA, count=100)))["status"] == "interrupted"
        assert (await service.ended(await begun(service, token=BEN, name="b", count=1)))["status"] == "done"
        ana, ben = (paid_by(service.service.home, name).cost for name in ("ana", "ben"))
        assert 0 < ben < ana <= 0.7


async def test_only_configured_models_are_asked(home: Path) -> None:
    """With `models_only`, a name that is not of the configuration is refused with those that are."""
    async with working(home, allowances=Allowances(models_only=True)) as service:
        said = await begun(service, models=["openai/gpt-5"])
        assert (
            said
            == "openai/gpt-5: this service asks only the models of its dokimasia.toml and those added to its home; "
            "there are: judge, paid"
        )
        assert (await service.ended(await begun(service, count=1)))["status"] == "done"


async def test_a_dry_run_asks_only_configured_models(home: Path) -> None:
    """What a start would refuse with `models_only`, a dry run refuses with the same sentence, and so does a form."""
    async with working(home, allowances=Allowances(models_only=True)) as service:
        refused = await begun(service, models=["openai/gpt-5"])
        asked = {"data": "upload:a.jsonl", "judge": "judge", "models": ["openai/gpt-5"]}
        reply = await service.client.post("/api/runs/evaluate", params={"dry_run": True}, json=asked)
        assert (reply.status_code, reply.json()["detail"]) == (422, refused)
        page = await service.client.post(
            "/new/evaluate", data={**asked, "do": "estimate"}, headers={"accept": "text/html"}
        )
        assert page.status_code == 422
        assert "asks only the models" in page.text
        allowed = {**asked, "models": ["paid"]}
        reply = await service.client.post("/api/runs/evaluate", params={"dry_run": True}, json=allowed)
        assert reply.status_code == 200
        run = await service.ended(await begun(service, count=1))
        reply = await service.client.post(
            f"/api/runs/{run['id']}/fork", params={"dry_run": True}, json={"judge": "openai/gpt-5", "node": "score"}
        )
        assert (reply.status_code, reply.json()["detail"]) == (422, refused)


@pytest.mark.parametrize("name", ["openai/http://10.0.0.1/v1", "openai/http:/10.0.0.1/v1"])
async def test_addresses_are_no_names(home: Path, name: str) -> None:
    """A model named by an address is refused, with one slash, too."""
    async with working(home) as service:
        assert "is no name of a model" in await begun(service, models=[name])


async def test_spending_above_is_stored_before_a_request_leaves() -> None:
    """A request waits until its share of every budget is stored, and no request leaves that one of them has no room for."""
    stored: list[Spending] = []
    pending: list[Future[None]] = []

    def record(spending: Spending) -> "Future[None]":
        stored.append(spending)
        pending.append(Future())
        return pending[-1]

    service = Budget(1.0, record=record, whose="the service: ")
    runs = [Budget(above=(service,)) for _ in range(2)]
    reservation = await runs[0].reserve(tokens=1, cost=0.75)
    sending = asyncio.ensure_future(reservation.send())
    await asyncio.sleep(0)
    assert (stored, sending.done()) == ([Spending(1, 1, 0.75, cut_off=1)], False)
    pending[0].set_result(None)
    await sending
    waiting = asyncio.ensure_future(runs[1].reserve(tokens=1, cost=0.5))
    await asyncio.sleep(0)
    assert not waiting.done()
    reservation.settle(tokens=1, cost=0.6)
    with pytest.raises(CallFailed, match=r"the service: \$0.6000 of \$1 are spent"):
        await waiting
    assert (service.cost, runs[0].cost, runs[1].cost) == (0.6, 0.6, 0.0)


def test_a_limit_by_token_needs_tokens(tmp_path: Path) -> None:
    """`serve` says so and ends with exit code 2."""
    done = run_program(["serve", "--max-cost-per-token", "1"], tmp_path)
    assert done.returncode == 2
    assert "--token-file" in done.stderr
