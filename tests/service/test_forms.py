"""Forms of runs: what is suggested, what stays, what can be changed of a run that is there, and refusals as pages."""

import re
import shutil
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from dokimasia.runs.catalogue import OWN, method_named
from dokimasia.service.forms import groups_of
from dokimasia.service.guard import Limits
from tests.report.conftest import Finished
from tests.service.conftest import asking, service_over
from tests.service.working import Working, working

BROWSER = {"accept": "text/html"}


@pytest.fixture
async def at_work(small: Finished, tmp_path: Path) -> AsyncIterator[Working]:
    """A service at work over a home with one finished evaluation, and a data root with a folder of prompts."""
    shutil.copytree(small.home, tmp_path / "home")
    (tmp_path / "root" / "mine").mkdir(parents=True)
    async with working(tmp_path / "home", data_root=tmp_path / "root") as at:
        yield at


def ids(text: str) -> list[str]:
    """All ids of a page."""
    return re.findall(r' id="([^"]*)"', text)


@pytest.mark.parametrize("path", ["/new/evaluate", "/new/filter", "/new/duel", "/runs/last?wait=true", "/settings"])
async def test_no_two_elements_share_an_id_and_every_list_is_there(client: httpx.AsyncClient, path: str) -> None:
    """Ids of a page are its own, and each list of suggestions that a field names is a list of the page."""
    text = (await client.get(path, headers=BROWSER, follow_redirects=True)).text
    assert len(ids(text)) == len(set(ids(text)))
    lists = set(re.findall(r'<datalist id="([^"]*)"', text))
    assert set(re.findall(r'<input[^>]* list="([^"]*)"', text)) <= lists
    assert path == "/settings" or "offers-models" in lists


@pytest.mark.parametrize("field", ["models", "judge"])
async def test_models_are_suggested(client: httpx.AsyncClient, field: str) -> None:
    """Every field that names models suggests those that can be named."""
    text = (await client.get("/new/evaluate")).text
    assert re.search(rf'<input id="{field}" [^>]*list="offers-models"', text)
    assert '<option value="sim/strong">' in text.split('<datalist id="offers-models">')[1].split("</datalist>")[0]


async def test_a_misspelt_model_is_told_beside_its_field(at_work: Working) -> None:
    """A model that there is not stands beside the field that names it, and not above the form alone."""
    sample = '{"id": "a", "prompt": "What is 1 + 1?", "reference_answer": "2"}\n'
    (at_work.service.data_root or Path()).joinpath("one.jsonl").write_text(sample)
    sent = {"data": "one.jsonl", "judge": "sim/jugde", "models": ["sim/weak"], "do": "estimate"}
    page = await at_work.client.post("/new/evaluate", data=sent, headers=BROWSER)
    assert page.status_code == 422
    field = page.text.split('<input id="judge"')[1].split('id="models"')[0]
    assert "there is no simulated model &#39;sim/jugde&#39;; did you mean &#39;sim/judge&#39;" in field
    assert page.text.count("there is no simulated model") == 1


async def test_an_estimate_adds_no_empty_field(client: httpx.AsyncClient) -> None:
    """A form that comes back has the fields that it had: what was empty is not one more."""
    fresh = (await client.get("/new/evaluate")).text
    sent = {"models": ["", "sim/strong", ""], "responses": ["", ""], "do": "data"}
    again = (await client.post("/new/evaluate", data=sent)).text
    assert again.count('name="responses"') == fresh.count('name="responses"')
    assert again.count('name="models"') == fresh.count('name="models"') == 2


async def test_all_that_is_wrong_is_said_in_one_round(at_work: Working) -> None:
    """What is no number, out of its range, no name, and what only reading can tell stand beside their fields at once."""
    data = b'{"id": "a", "prompt": "How many legs has a cat?", "reference_answer": "4"}\n'
    kept = (await at_work.client.post("/api/uploads", files={"file": ("world.jsonl", data)})).json()
    asked = {
        "data": kept["called"],
        "models": "sim/strong",
        "judge": "sim/judge",
        "repeats": "many",
        "limit": "0",
        "min_score": "9",
        "name": "large/world",
        "criteria_count": "abc",
        "do": "start",
    }
    page = unescape((await at_work.client.post("/new/evaluate", data=asked, headers=BROWSER)).text)
    beside = dict(re.findall(r'id="about-([a-z_]+)".*?</p>\s*<p class="fault" role="alert">(.*?)</p>', page))
    assert set(beside) == {"repeats", "limit", "min_score", "name", "criteria_count"}
    assert beside["limit"] == "enter 1 or more"
    assert beside["min_score"] == "enter 5 or less"
    assert "letters, digits, dots, dashes, underscores and spaces" in beside["name"]
    assert "Input should" not in page


def faults_beside_fields(page: str) -> dict[str, str]:
    """What a page says beside its fields, by field, without markup."""
    beside = re.findall(
        r'id="about-([a-z0-9_-]+)"(?:(?!id="about-).)*?class="fault" role="alert">(.*?)</p>', page, re.DOTALL
    )
    return {field: unescape(re.sub("<[^>]+>", "", fault)) for field, fault in beside}


async def test_models_and_options_and_data_are_faulted_in_one_round(at_work: Working) -> None:
    """Each misspelt model, a wrong option, a limit out of range and bad data stand beside their fields; all texts stay."""
    data = b'{"id": "a", "prompt": "What is it?", "image": "missing.png"}\n{"id": "b"}\n'
    kept = (await at_work.client.post("/api/uploads", files={"file": ("bad.jsonl", data)})).json()["called"]
    asked: dict[str, str | list[str]] = {
        "data": kept,
        "judge": "sim/jugde",
        "models": ["sim/weka", "sim/strnog"],
        "limit": "0",
        "prompts": "nowhere",
    }
    sent = await at_work.client.post("/new/evaluate", data={**asked, "do": "start"}, headers=BROWSER)
    assert sent.status_code == 422
    beside = faults_beside_fields(sent.text)
    assert set(beside) == set(asked)
    assert beside["models"].splitlines() == [
        "there is no simulated model 'sim/weka'; did you mean 'sim/weak'? The page Models lists all",
        "there is no simulated model 'sim/strnog'; did you mean 'sim/strong'? The page Models lists all",
    ]
    assert "there is no image file 'missing.png'" in beside["data"]
    assert "“Prompt” gives one question to all that have none" in beside["data"]
    twice = await at_work.client.post("/new/evaluate", data={**asked, "models": ["sim/weka"] * 2}, headers=BROWSER)
    assert faults_beside_fields(twice.text)["models"] == beside["models"].splitlines()[0]
    assert '<a href="/models">The page Models</a>' in sent.text
    for text in ("sim/jugde", "sim/weka", "sim/strnog", "nowhere", kept):
        assert f'value="{text}"' in sent.text
    missing = await at_work.client.post("/new/evaluate", data={**asked, "data": "", "do": "start"}, headers=BROWSER)
    assert {**faults_beside_fields(missing.text)} == {**beside, "data": "fill in this field"}


@pytest.mark.parametrize(("data", "fault"), [("", "fill in this field"), ("upload:none", "there is no upload 'none'")])
async def test_without_data_everything_else_is_still_checked(at_work: Working, data: str, fault: str) -> None:
    """A number of criteria that cannot be and a model that is named twice do not wait until the data are there."""
    asked = {
        "data": data,
        "judge": "sim/judge",
        "models": ["sim/weak", "sim/weak"],
        "criteria_count": "0",
        "tools": "x",
    }
    sent = await at_work.client.post("/new/evaluate", data={**asked, "do": "start"}, headers=BROWSER)
    assert sent.status_code == 422
    beside = faults_beside_fields(sent.text)
    assert set(beside) == {"data", "models", "criteria_count", "tools"}
    assert beside["data"].startswith(fault)
    assert beside["models"] == "“Models” names sim/weak twice"
    assert "write a number from" in beside["criteria_count"]


@pytest.mark.parametrize(
    ("method", "asked", "field", "sentence"),
    [
        ("evaluate", {}, "models", "name at least one candidate with “Models”, or existing answers with “Responses”"),
        (
            "evaluate",
            {"models": "sim/weak", "reasons": "on"},
            "reasons",
            "“Reasons” is for a judge, and there is none: name one with “Judge”, or leave “Reasons” out",
        ),
        (
            "evaluate",
            {"models": "sim/weak", "tree": "none-such"},
            "tree",
            "“Tree” is for a judge, and there is none: name one with “Judge”, or leave “Tree” out",
        ),
        ("arena", {"models": "sim/weak"}, "judge", "fill in this field"),
        (
            "arena",
            {"models": "sim/weak"},
            "models",
            "an arena is of 3 models or more, and “Models” names 1: for two there is duel",
        ),
    ],
)
async def test_faults_name_the_fields_of_the_form(
    at_work: Working, method: str, asked: dict[str, str], field: str, sentence: str
) -> None:
    """A message of a method stands beside the field that it concerns, and names fields where the command line has options."""
    data = b'{"id": "a", "prompt": "What is 1 + 1?", "reference_answer": "2"}\n'
    kept = (await at_work.client.post("/api/uploads", files={"file": ("one.jsonl", data)})).json()["called"]
    page = await at_work.client.post(f"/new/{method}", data={"data": kept, **asked, "do": "start"}, headers=BROWSER)
    assert faults_beside_fields(page.text)[field] == sentence


async def test_a_file_that_is_not_uploaded_is_named(at_work: Working) -> None:
    """The message says what there is to press, and no address for programs."""
    asked = {"data": "nothere.csv", "models": "sim/weak", "do": "start"}
    page = await at_work.client.post("/new/evaluate", data=asked, headers=BROWSER)
    assert faults_beside_fields(page.text)["data"] == (
        "No uploaded file and no path below the data root is called nothere.csv: choose a file from the list, or press Upload"
    )


async def test_a_form_names_no_file_of_the_documentation_and_no_exit_code(client: httpx.AsyncClient) -> None:
    """Neither the introduction of a method nor a hint speaks of what only a terminal or a checkout has."""
    for method in OWN:
        page = unescape((await client.get(f"/new/{method}")).text)
        assert not re.findall(r"docs/\w+\.md|[Ee]xit (?:code|with) \d|same\s+command|annotate draw", page), method


async def test_an_error_page_names_pages_and_no_commands(client: httpx.AsyncClient) -> None:
    """Where a page does what a command does, the page of an error names it; a program is told the command."""
    page = unescape((await client.get("/trees/none", headers=BROWSER)).text)
    told = (await client.get("/api/trees/none")).json()["detail"]
    assert "grow one with dokimasia tree grow RUN --judge NAME" in told
    assert "grow one with a new run of tree" in page


async def test_rules_of_fields_stand_beside_them(client: httpx.AsyncClient) -> None:
    """What a name may consist of, what a score lies between, and how a person is named is said before anything is sent."""
    page = (await client.get("/new/evaluate")).text
    about = dict(re.findall(r'id="about-([a-z_]+)">(.*?)</p>', page))
    assert "Letters, digits, dots, dashes, underscores and spaces" in about["name"]
    assert "From 1 to 5." in about["min_score"]
    assert "human/NAME" in about["models"]
    review = (await client.get("/new/review")).text
    assert "human/NAME" in dict(re.findall(r'id="about-([a-z_]+)">(.*?)</p>', review))["panel"]


@pytest.mark.parametrize("method", OWN)
def test_hints_of_forms_name_fields_and_no_options(method: str) -> None:
    """What a hint says of another field of its form it says by the field's label, and it names no command or file of a shell."""
    definition = method_named(method)
    groups = groups_of(definition.request, definition.scores.unmeasured)
    flags = {control.flag for group in groups for control in group.controls if control.flag}
    hints = {control.name: control.hint for group in groups for control in group.controls}
    for name, hint in hints.items():
        assert not flags & set(re.findall(r"--[a-z-]+", hint)), (name, hint)
        assert "dokimasia" not in hint, (name, hint)
        assert "`runs" not in hint, (name, hint)
    if method == "evaluate":
        assert "With “Responses”: models to ask" in hints["models"]
        assert hints["blind_below"].startswith("With “Passports”: ")


async def test_a_form_begins_with_what_its_method_is_for(client: httpx.AsyncClient) -> None:
    """The form of a method says in the words of the list of methods what it does, and details are folded."""
    for method, entry in OWN.items():
        page = unescape((await client.get(f"/new/{method}")).text)
        assert f'<p class="lead">{entry.help}</p>' in page


async def test_bounds_of_fields_are_written_in_full(client: httpx.AsyncClient) -> None:
    """No bound is in the notation of a programming language."""
    page = (await client.get("/new/evaluate")).text
    assert re.search(r'class="range">From 1 to 1,000,000,000\.', page)
    assert not re.search(r"\de\+\d", "".join(re.findall(r'class="range">([^<]*)<', page)))


async def test_a_person_without_a_name_is_told_how_one_is_named(at_work: Working, small: Finished) -> None:
    """`human/` is no model; the sentence says how a person is named."""
    data = (small.home.parent / "world.jsonl").read_bytes()
    kept = (await at_work.client.post("/api/uploads", files={"file": ("world.jsonl", data)})).json()
    asked = {"data": kept["called"], "panel": ["sim/panel-a", "human/"], "do": "estimate"}
    page = unescape((await at_work.client.post("/new/review", data=asked, headers=BROWSER)).text)
    assert "there is no model 'human/'" in page
    assert "human/NAME for a person" in page


async def test_the_form_says_what_simulated_models_see(client: httpx.AsyncClient, small: Finished) -> None:
    """Whoever tries pictures of their own is told on the form and on the result that simulated models cannot see them."""
    for path in ("/new/evaluate", f"/runs/{small.run}?wait=true"):
        assert "see only pictures of the simulated world" in (await client.get(path)).text


REFUSED = (
    ({"headers": {"host": "elsewhere.example"}}, 421, "--allow-host"),
    ({"headers": {"origin": "https://elsewhere.example"}}, 403, "another origin"),
    ({"content": b"x" * 2_000}, 413, "longer than"),
)


@pytest.mark.parametrize(("asked", "status", "part"), REFUSED)
async def test_a_refusal_is_a_page_for_a_browser_and_a_problem_for_a_program(
    small: Finished, asked: dict[str, Any], status: int, part: str
) -> None:
    """What the guard refuses is told with the same sentence in either form; the page names nobody."""
    with service_over(small.home, limits=Limits(body=1_000)) as service:
        async with asking(service) as client:
            headers = asked.get("headers", {})
            shown = await client.post("/settings/name", **{**asked, "headers": {**headers, **BROWSER}})
            told = await client.post("/settings/name", **asked)
            api = await client.post("/api/reviews/x/y", **{**asked, "headers": {**headers, **BROWSER}})
    assert shown.status_code == told.status_code == api.status_code == status
    assert shown.headers["content-type"].startswith("text/html")
    assert told.headers["content-type"] == api.headers["content-type"] == "application/problem+json"
    assert part in told.json()["detail"]
    assert part in unescape(shown.text)
    assert 'class="muted name"' not in shown.text


async def test_who_asks_too_often_is_told_by_a_page_when_to_come_again(small: Finished) -> None:
    """The page of a browser that asks too often has the header that says when."""
    with service_over(small.home, limits=Limits(rate=0.01, burst=1)) as service:
        async with asking(service, headers=BROWSER) as client:
            reply = [await client.get("/settings") for _ in range(2)][-1]
    assert reply.status_code == 429
    assert reply.headers["content-type"].startswith("text/html")
    assert int(reply.headers["retry-after"]) >= 1


async def test_a_body_that_grows_beyond_its_limit_is_refused_by_a_page(small: Finished) -> None:
    """A form without a length is refused once it is too long, never with an internal error."""

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(4):
            yield b"name=" + b"x" * 500

    kind = {"content-type": "application/x-www-form-urlencoded"}
    with service_over(small.home, limits=Limits(body=1_000)) as service:
        async with asking(service, headers={**BROWSER, **kind}) as client:
            reply = await client.post("/settings/name", content=pieces())
    assert reply.status_code == 413
    assert "longer than" in reply.text


async def forked(at: Working, run: str, **fields: str | list[str]) -> httpx.Response:
    """What the form of a fork is answered with, from a browser."""
    return await at.client.post(f"/runs/{run}/fork", data=fields, headers=BROWSER)


async def test_a_fork_takes_prompts_limits_and_a_name(at_work: Working, small: Finished, tmp_path: Path) -> None:
    """The form of a fork has what the command line has, by the same schema, and begins a run with it."""
    text = (await at_work.client.get(f"/runs/{small.run}/fork")).text
    for field in ("prompts", "max_cost", "max_calls", "max_tokens", "max_failures", "min_score", "name", "tags"):
        assert f'id="fork-{field}"' in text
    assert '"judge:' in text
    asked = {"node": "score", "old": "judge:sim/judge-noisy", "new": "sim/judge", "max_calls": "0", "name": "other"}
    reply = await forked(at_work, small.run, **asked)
    assert reply.status_code == 303, reply.text
    ended = await at_work.ended("other")
    assert ended["status"] != "done"
    prompts = await forked(at_work, small.run, node="score", prompts="mine")
    assert prompts.status_code == 422
    assert "mine: no prompt in it" in unescape(prompts.text)
    entered = {"old": ["judge:sim/judge-noisy", "models:sim/weak"], "new": ["sim/jugde", "sim/weka"]}
    several = await forked(at_work, small.run, node="score", max_cost="-1", max_calls="x", **entered)
    assert set(faults_beside_fields(several.text)) == {"1", "3", "fork-max_cost", "fork-max_calls"}
    assert "did you mean 'sim/weak'" in faults_beside_fields(several.text)["3"]
    outside = await forked(at_work, small.run, node="score", prompts="/etc")
    assert outside.status_code == 422
    assert "no path below the data root is called /etc" in unescape(outside.text)


async def test_a_fork_takes_no_model_by_its_address(at_work: Working, small: Finished) -> None:
    """A model is named as the JSON route takes it: an address, to which keys would be sent, is refused."""
    for asked in ({"old": "judge:sim/judge-noisy", "new": "https://elsewhere.example/v1"},):
        reply = await forked(at_work, small.run, node="score", **asked)
        assert reply.status_code == 422
        assert "is no name of a model" in unescape(reply.text)


async def test_a_retry_takes_limits(at_work: Working, small: Finished) -> None:
    """What is wrong with a limit of a retry or a resume is said, and names its field."""
    for verb in ("retry", "resume"):
        asked = {"kinds": "refused", "max_cost": "-1"}
        reply = await at_work.client.post(f"/runs/{small.run}/{verb}", data=asked, headers=BROWSER)
        assert reply.status_code == 422
        assert "Max cost: enter 0 or more" in unescape(reply.text)
