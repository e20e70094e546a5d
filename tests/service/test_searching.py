"""Searches by meaning over HTTP, on the page and on the command line, with the package's own server of models."""

import asyncio
import json
import re
import shutil
import time
from collections.abc import AsyncIterator, Iterator
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dokimasia.client import Client
from dokimasia.service.allowances import Allowances
from dokimasia.service.guard import AccessTokens, Caller, token_digest
from dokimasia.simulation.serving.server import running_server
from dokimasia.storage.home import Home
from dokimasia.storage.spending import paid_by
from tests.cli.served import served
from tests.processes import PATIENCE, run_program
from tests.report.conftest import Finished, run_on
from tests.service.test_samples_page import body, listed
from tests.service.working import Working, working

MODEL = """embedding = "near"

[models.near]
model = "openai/sim/embedding"
endpoint = "sim-server"
api_base = "{url}"
transport = "direct"
input_price = 100.0
output_price = 0.0
"""
QUESTIONS = 21
READER, STARTER = "reader-token-0123456789", "starter-token-0123456789"


class Searched(NamedTuple):
    """A home with a finished evaluation, beside a configuration with an embedding model, and the log of its server."""

    home: Path
    run: str
    log: Path

    def embedded(self) -> int:
        """The number of requests that the server got; it logs them after its replies, which the ledger counts."""
        with Home.open(self.home, write=False) as home:
            ((paid,),) = home.all("SELECT count(*) FROM calls WHERE kind = 'embedding'")
        end = time.monotonic() + PATIENCE
        while (got := self._logged()) < paid and time.monotonic() < end:
            time.sleep(0.02)
        return got

    def _logged(self) -> int:
        return len(self.log.read_text().splitlines()) if self.log.is_file() else 0


@pytest.fixture
def searched(small: Finished, tmp_path: Path) -> Iterator[Searched]:
    """A copy of the small home, which an embedding model on loopback can search."""
    shutil.copytree(small.home, tmp_path / "home")
    log = tmp_path / "server.log"
    with running_server(log_path=log) as url:
        (tmp_path / "dokimasia.toml").write_text(MODEL.format(url=url))
        yield Searched(tmp_path / "home", small.run, log)


@pytest.fixture
async def service(searched: Searched) -> AsyncIterator[Working]:
    """A service over it."""
    async with working(searched.home) as opened:
        yield opened


async def search(service: Working, run: str, text: str, status: int = 200, **more: Any) -> dict[str, Any]:
    """The reply to a search, or the problem."""
    reply = await service.client.post(f"/api/runs/{run}/search", json={"text": text, **more})
    assert reply.status_code == status, reply.text
    return reply.json()


async def test_texts_are_embedded_once_and_the_nearest_come_first(service: Working, searched: Searched) -> None:
    """An estimate sends nothing; a search pays for the questions once; another text is the only new one after it."""
    questions = (await service.client.get(f"/api/runs/{searched.run}/samples", params={"limit": 500})).json()["samples"]
    target = questions[4]["sample"]
    sample = (await service.client.get(f"/api/runs/{searched.run}/samples/{target}")).json()["sample"]
    text = f"{sample['prompt']}\n{sample['reference_answer']}"
    estimate = await search(service, searched.run, text, estimate=True)
    assert (estimate["texts"], estimate["calls"], estimate["samples"]) == (QUESTIONS, 1, [])
    assert estimate["cost"] > 0
    assert searched.embedded() == 0
    result = await search(service, searched.run, text, limit=500)
    assert result["samples"][0] == {"sample": target, "similarity": 1.0}
    similarities = [near["similarity"] for near in result["samples"]]
    assert similarities == sorted(similarities, reverse=True)
    assert (len(similarities), searched.embedded()) == (len(questions), 1)
    assert result["cost"] == pytest.approx(estimate["cost"], rel=0.5)
    again = await search(service, searched.run, text)
    assert (again["texts"], again["calls"], again["cost"], len(again["samples"])) == (0, 0, 0.0, 10)
    other = await search(service, searched.run, "a question about numbers")
    assert (other["texts"], searched.embedded()) == (1, 2)
    answers = await search(service, searched.run, "a question about numbers", answers=True)
    assert answers["texts"] > 0
    assert searched.embedded() == 3


@pytest.mark.parametrize("answers", [False, True])
async def test_a_text_is_paid_for_once_where_others_come_to_it(small: Finished, tmp_path: Path, answers: bool) -> None:
    """A run over more samples of the same data embeds the texts that the smaller run lacked, and nothing else."""
    data, home = small.home.parent / "world.jsonl", tmp_path / "home"
    runs = [await asyncio.to_thread(run_on, data, home, limit=limit, seed=1) for limit in (8, 21)]
    with running_server() as url:
        (tmp_path / "dokimasia.toml").write_text(MODEL.format(url=url))
        async with working(home) as service:
            first, second = [await search(service, run.run, "counting", answers=answers) for run in runs]
            alone = await search(service, runs[1].run, "counting", answers=answers, estimate=True)
    assert first["texts"] > 1
    assert second["texts"] > 0
    assert (alone["texts"], alone["calls"]) == (0, 0)
    with Home.open(home, write=False) as opened:
        requests = opened.all("SELECT request FROM calls WHERE kind = 'embedding'")
    paid = [text["text_ref"] for (request,) in requests for text in json.loads(request)["texts"]]
    assert len(paid) == len(set(paid)) == first["texts"] + second["texts"]


async def test_the_list_is_sorted_by_meaning_beside_its_filters(service: Working, searched: Searched) -> None:
    """The list over HTTP takes the text as a filter once it is embedded, and shows similarities beside other filters."""
    path, text = f"/api/runs/{searched.run}/samples", "counting objects"
    refused = await service.client.get(path, params={"meaning": text})
    assert refused.status_code == 409
    assert f"POST /api/runs/{searched.run}/search" in refused.json()["detail"]
    result = await search(service, searched.run, text, limit=500)
    nearest = {near["sample"]: near["similarity"] for near in result["samples"]}
    first = (await service.client.get(path, params={"meaning": text, "limit": 8})).json()
    rest = (await service.client.get(path, params={"meaning": text, "limit": 500, "after": first["next"]})).json()
    shown = [*first["samples"], *rest["samples"]]
    assert [sample["similarity"] for sample in shown] == list(nearest.values())
    assert all(sample["similarity"] == nearest[sample["sample"]] for sample in shown)
    wrong = {"answer": "wrong", "model": "sim/weak"}
    expected = {sample["sample"] for sample in (await service.client.get(path, params=wrong)).json()["samples"]}
    filtered = (await service.client.get(path, params={"meaning": text, **wrong})).json()["samples"]
    assert [sample["sample"] for sample in filtered] == [name["sample"] for name in shown if name["sample"] in expected]
    named = (await service.client.get(path, params={"meaning": text, "order": "name"})).json()["samples"]
    assert [sample["sample"] for sample in named] == sorted(nearest)


async def test_the_page_embeds_only_after_a_press_of_the_button(service: Working, searched: Searched) -> None:
    """A text in the field shows a button with the price; the button embeds, and leads to the sorted list and samples."""
    path, client = f"/runs/{searched.run}/samples", service.client
    assert 'name="meaning"' in await body(client, path)
    offer = await body(client, f"{path}?meaning=counting&model=sim%2Fweak")
    button = re.search(
        r'<form method="post" action="([^"]+)"><button class="primary">Search by meaning \(about \$0\.\d+\)', offer
    )
    assert button is not None
    assert searched.embedded() == 0
    sent = await client.post(unescape(button[1]), headers={"accept": "text/html"})
    assert (sent.status_code, searched.embedded()) == (303, 2)
    place = sent.headers["location"]
    assert "meaning=counting" in place
    assert "model=sim" in place
    shown = await body(client, place)
    assert "Search by meaning (about" not in shown
    scores = [float(score) for score in re.findall(r'title="similarity in meaning[^>]*>(-?\d\.\d\d)<', shown)]
    assert (len(scores), scores) == (QUESTIONS, sorted(scores, reverse=True))
    first = listed(shown)[0]
    sample = await body(client, f"{path}/{first}?{place.partition('?')[2]}")
    assert f"{path}/{listed(shown)[1]}?" in unescape(sample)
    assert searched.embedded() == 2


async def test_without_an_embedding_model_the_setting_is_named(small: Finished, tmp_path: Path) -> None:
    """No field on the page, and a sentence with the setting over HTTP."""
    shutil.copytree(small.home, tmp_path / "home")
    async with working(tmp_path / "home") as service:
        assert 'name="meaning"' not in await body(service.client, f"/runs/{small.run}/samples")
        for reply in (
            await service.client.post(f"/api/runs/{small.run}/search", json={"text": "counting"}),
            await service.client.get(f"/api/runs/{small.run}/samples", params={"meaning": "counting"}),
        ):
            assert reply.status_code == 422
            assert 'write embedding = "MODEL" at the top of dokimasia.toml' in reply.json()["detail"]


async def test_limits_on_money_hold(searched: Searched) -> None:
    """A search stops at its own limit and at those of the service and of a token, whose spending it counts to."""
    async with working(searched.home) as service:
        problem = await search(service, searched.run, "counting", 422, max_cost=0.00001)
        assert "of $1e-05 are spent" in problem["detail"]
        assert searched.embedded() == 0
    tokens = AccessTokens(
        (
            (token_digest(READER), Caller("rea", frozenset(("read",)))),
            (token_digest(STARTER), Caller("sta", frozenset(("read", "run")))),
        )
    )
    allowances = Allowances(max_cost_per_token=0.5)
    async with working(searched.home, allowances=allowances, tokens=tokens) as service:
        service.client.headers["authorization"] = f"Bearer {READER}"
        assert "lacks the scope 'run'" in (await search(service, searched.run, "counting", 403))["detail"]
        page = await body(service.client, f"/runs/{searched.run}/samples?meaning=counting")
        assert "you cannot search by meaning" in page
        assert "Search by meaning (" not in page
        service.client.headers["authorization"] = f"Bearer {STARTER}"
        result = await search(service, searched.run, "counting")
        assert paid_by(service.service.home, "sta").cost == pytest.approx(result["cost"])
    async with working(searched.home, allowances=Allowances(max_cost_per_token=1e-9), tokens=tokens) as service:
        service.client.headers["authorization"] = f"Bearer {STARTER}"
        assert "may spend" in (await search(service, searched.run, "another text", 422))["detail"]
        assert (await search(service, searched.run, "counting"))["cost"] == 0.0


async def test_a_server_that_is_down_is_named_and_what_was_embedded_is_kept(small: Finished, tmp_path: Path) -> None:
    """A failed call is a bad gateway with its reason."""
    shutil.copytree(small.home, tmp_path / "home")
    (tmp_path / "dokimasia.toml").write_text(MODEL.format(url="http://127.0.0.1:9/v1"))
    async with working(tmp_path / "home") as service:
        problem = await search(service, small.run, "counting", 502)
    assert "what was embedded is kept" in problem["detail"]


def test_the_command_line_and_the_client_search(searched: Searched) -> None:
    """`show --search` prints the nearest samples, here and through a service, and embeds nothing twice."""
    folder = searched.home.parent
    command = ("show", searched.run, "--search", "counting", "--home", searched.home)
    dry = run_program([*command, "--dry-run"], folder)
    assert re.search(r"near would embed 22 texts in 2 calls, for about \$0\.\d+", dry.stderr)
    assert (dry.stdout, searched.embedded()) == ("", 0)
    result = json.loads(run_program([*command, "--limit", "3", "--json"], folder).stdout)
    assert (len(result["samples"]), searched.embedded()) == (3, 2)
    printed = run_program(command, folder)
    assert printed.stdout.index(result["samples"][0]["sample"]) < printed.stdout.index(result["samples"][1]["sample"])
    with served(searched.home) as service, Client(service.url) as client:
        near = client.find(searched.run).search("counting", limit=3)
        assert near["samples"] == result["samples"]
        assert searched.embedded() == 2
    refused = run_program(["show", searched.run, "--answers", "--home", searched.home], folder)
    assert (refused.returncode, "go with --search TEXT" in refused.stderr) == (2, True)
