"""The pages of a judge's check: a form that is estimated and begun, the run at work for it, and the verdict."""

from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from dokimasia.cli.main import run
from tests.service.test_models_page import faults
from tests.service.working import working

HTML = {"accept": "text/html"}
ASKED = {"judge": "sim/judge-longer", "data": "texts.jsonl", "perturber": "sim/judge"}
ASKED |= {"dimensions": "numerical_errors", "evaluators": "single-axes", "name": "by hand"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder below which requests may name files, with five right answers."""
    folder = tmp_path / "root"
    assert run(["sim", "make", str(folder / "texts.jsonl"), "--gold", "texts", "--samples", "5", "--seed", "1"]) == 0
    return folder


async def test_a_check_goes_from_its_form_to_its_verdict(root: Path, tmp_path: Path) -> None:
    """What is at work is shown, what was typed goes on in the address, and the last page says what the command says."""
    async with working(tmp_path / "home", data_root=root, client={"follow_redirects": False}) as at:
        form = await at.client.get("/judge-checks", params={"judge": "sim/judge-longer"}, headers=HTML)
        assert 'name="perturber"' in form.text
        assert 'value="sim/judge-longer"' in form.text
        assert 'name="output"' not in form.text
        assert 'name="fresh"' not in form.text
        about = unescape(form.text.partition('<p class="lead">')[2].partition("<form")[0])
        assert about.startswith("Say whether a judge is good enough")
        assert "Errors are planted in right answers (“Perturber”)" in about
        assert "the same form resumes it" in about
        assert "--" not in about
        estimated = await at.client.post("/judge-checks", data={**ASKED, "do": "estimate"}, headers=HTML)
        assert "Planting errors" in estimated.text
        assert "known once they are planted" in estimated.text
        assert (await at.client.get("/api/runs")).json()["total"] == 0
        visited: list[str] = []
        where = ""
        while "/verdict" not in where:
            reply = await at.client.post("/judge-checks", data={**ASKED, "do": "start"}, headers=HTML)
            assert reply.status_code == 303, reply.text
            where = reply.headers["location"]
            if "/at-work" in where:
                begun = parse_qs(urlsplit(where).query)["at"][0]
                if not visited:
                    at_work = unescape((await at.client.get(where, headers=HTML)).text)
                    assert "This page opens the verdict when the check is done." in at_work
                    assert f'action="/runs/{begun}/cancel"' in at_work
                await at.ended(begun)
                shown = unescape((await at.client.get(where, headers=HTML)).text)
                assert "data-goes-on" in shown
                assert 'name="perturber" value="sim/judge"' in shown
                visited.append(begun)
            assert len(visited) < 4
        assert [one["id"] for one in (await at.client.get("/api/runs")).json()["runs"]] == visited[::-1]
        verdict = unescape((await at.client.get(where, headers=HTML)).text)
        check = (await at.client.get(f"/api/judge-checks/sim/judge-longer?run={visited[-1]}")).json()
        assert check["verdict"] in verdict
        assert "length bias" in verdict
        assert "check again with “Labels”" in verdict
        assert "Have people label them (the page Review)" in verdict
        assert 'href="/passports/judge?name=sim/judge-longer"' in verdict
        listed = (await at.client.get("/passports", headers=HTML)).text
        assert 'href="/judge-checks/verdict?name=sim/judge-longer"' in listed


async def test_what_is_wrong_stands_beside_its_field(root: Path, tmp_path: Path) -> None:
    """Nothing is begun, and what was typed is kept."""
    async with working(tmp_path / "home", data_root=root) as at:
        for wrong, words in (
            ({"per": "0"}, "enter 1 or more"),
            ({"judge": "nobody"}, "nobody"),
            ({"reference": "sim/judge-longer"}, "is the judge itself"),
            ({"perturber": ""}, "name who plants them"),
        ):
            reply = await at.client.post("/judge-checks", data={**ASKED, "do": "start", **wrong}, headers=HTML)
            assert reply.status_code == 422
            assert words in unescape(reply.text)
            assert 'value="by hand"' in reply.text
        assert (await at.client.get("/api/runs")).json()["total"] == 0


async def test_all_that_is_wrong_is_shown_at_once(root: Path, tmp_path: Path) -> None:
    """A number, an unknown model, an unknown evaluator and data without their images each stand beside their field."""
    (root / "blind.jsonl").write_text('{"id": "a", "image": "gone.png", "prompt": "What?", "reference_answer": "4"}\n')
    wrong = {
        "judge": "sim/nobody",
        "data": "blind.jsonl",
        "perturber": "sim/judge",
        "evaluators": "nonsense",
        "per": "0",
    }
    async with working(tmp_path / "home", data_root=root) as at:
        for action in ("estimate", "start"):
            reply = await at.client.post("/judge-checks", data={"do": action, **wrong}, headers=HTML)
            assert reply.status_code == 422
            beside = faults(reply.text)
            assert set(beside) == {"judge", "data", "evaluators", "per"}
            assert "there is no image file 'gone.png'" in beside["data"]
            assert "Upload the data and these images together" in beside["data"]
            assert "sim/nobody" in beside["judge"]
        alone = await at.client.post(
            "/judge-checks", data={**ASKED, "do": "start", "perturber": "sim/nobody"}, headers=HTML
        )
        assert set(faults(alone.text)) == {"perturber"}


async def test_a_run_that_was_stopped_says_so_and_does_not_go_on_alone(root: Path, tmp_path: Path) -> None:
    """Its page has a button; the same values begin where it stopped."""
    async with working(tmp_path / "home", data_root=root, client={"follow_redirects": False}) as at:
        reply = await at.client.post("/judge-checks", data={**ASKED, "do": "start", "max_calls": "1"}, headers=HTML)
        where = reply.headers["location"]
        await at.ended(parse_qs(urlsplit(where).query)["at"][0])
        shown = unescape((await at.client.get(where, headers=HTML)).text)
        assert "data-goes-on" not in shown
        assert "Go on" in shown
        assert "limit" in shown


async def test_reference_evaluators_data_and_a_taken_name_are_said_together(root: Path, tmp_path: Path) -> None:
    """All that is wrong with a check is said in one round, before anything is planted and paid."""
    async with working(tmp_path / "home", data_root=root) as at:
        asked = {"data": "texts.jsonl", "models": "sim/strong", "judge": "sim/judge", "name": "taken", "do": "start"}
        begun = await at.client.post("/new/evaluate", data=asked, headers=HTML)
        await at.ended(begun.headers["location"].rpartition("/")[2])
        wrong = {"reference": ASKED["judge"], "evaluators": "nothing", "data": "none.jsonl", "name": "taken"}
        page = await at.client.post("/judge-checks", data={**ASKED, **wrong, "do": "start"}, headers=HTML)
        assert set(faults(page.text)) == {"data", "reference", "evaluators", "name"}
        page = await at.client.post("/judge-checks", data={**ASKED, "name": "taken", "do": "start"}, headers=HTML)
        assert set(faults(page.text)) == {"name"}
        assert (await at.client.get("/api/runs")).json()["total"] == 1
