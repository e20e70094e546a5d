"""The first page: which runs it lists, what it says of each, and where ticks lead."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
from jinja2 import BaseLoader

from dokimasia.report.blocks import Paragraph
from dokimasia.report.drawing import Charts
from dokimasia.service.drawing import MENU, drawn, templates
from dokimasia.service.pages.samples import name_of
from dokimasia.storage.home import Home
from dokimasia.storage.naming import name_run
from dokimasia.storage.runs import Run, create_run, get_run
from tests.report.conftest import Finished
from tests.runs.kinds import JUDGE
from tests.service.conftest import asking, service_over
from tests.service.waiting import Waits

BROWSER = {"accept": "text/html"}


async def test_the_list_says_what_a_run_is(client: httpx.AsyncClient, small: Finished) -> None:
    """A run's row names its method, data, models, status and how many samples it has."""
    text = (await client.get("/", headers=BROWSER)).text
    for said in (small.run, "evaluate", "world.jsonl", "sim/strong", "badge done", "21 samples"):
        assert said in text


def stored(id: str, **fields: Any) -> Run:
    """An interrupted run of 63 items, as a home keeps it."""
    options = {"plan": {}, "request": {}, "estimate": {"samples": 21, "items": 63, "models": {}}}
    return Run(id=id, status="interrupted", options=options, **fields)


async def test_a_run_goes_by_names_and_counts_items(tmp_path: Path) -> None:
    """Progress is of items, as on the run's page; no hexadecimal id is a title, and data of another run has its name."""
    first, second = "0123456789abcdef", "fedcba9876543210"
    with Home.open(tmp_path / "home", write=True) as home:
        await create_run(home, stored(first, method="perturb", data_name="world.jsonl"))
        await create_run(home, stored(second, method="probe", data_name=first))
        await name_run(home, first, "the first one", ())
    with service_over(tmp_path / "home") as service:
        async with asking(service) as client:
            text = (await client.get("/", headers=BROWSER)).text
    assert "0 of 63 items" in text
    assert 'max="63"' in text
    titles = re.findall(r'<a class="strong"[^>]*>([^<]*)</a>', text)
    assert set(titles) == {"the first one", "the first one (probe fedcba98)"}
    assert '<div class="data">the first one</div>' in text


async def test_figures_that_take_a_moment_come_with_the_row(client: httpx.AsyncClient, small: Finished) -> None:
    """The list does not wait for figures: a row asked for alone has its best model and its cost, the next list too."""
    row = (await client.get(f"/runs/{small.run}/row", headers=BROWSER)).text
    assert "sim/strong: " in row
    assert "accuracy" in row
    assert "$0.00" in row
    assert "hx-trigger" not in row
    assert "sim/strong: " in (await client.get("/", headers=BROWSER)).text


async def test_a_title_says_where_one_is(client: httpx.AsyncClient) -> None:
    """The title of every page, in the menu or not, ends with the program's name."""
    for path, _ in MENU:
        text = (await client.get(path, headers=BROWSER)).text
        assert text.split("<title>")[1].split("</title>")[0].endswith("Dokimasia"), path
    for name in templates().list_templates():
        source = (templates().loader or BaseLoader()).get_source(templates(), name)[0]
        for title in re.findall(r"{% block title %}(.*?){% endblock %}", source):
            assert title.endswith("Dokimasia"), name


@pytest.mark.parametrize(
    ("asked", "there"),
    [
        ({"status": "done"}, True),
        ({"status": "failed"}, False),
        ({"method": "evaluate"}, True),
        ({"method": "audit"}, False),
        ({"q": "WORLD"}, True),
        ({"q": "nothing like it"}, False),
        ({"tag": "absent"}, False),
        ({"page": "9"}, False),
    ],
)
async def test_runs_are_found(client: httpx.AsyncClient, small: Finished, asked: dict[str, str], there: bool) -> None:
    """Status, method, tag and text choose which runs are listed."""
    text = (await client.get("/", params=asked, headers=BROWSER)).text
    assert (f'href="/runs/{small.run}"' in text) is there


async def test_ticked_runs_lead_to_their_comparison(client: httpx.AsyncClient) -> None:
    """Ticks lead to the comparison without any script, one alone to the choice of two of its models."""
    reply = await client.get("/", params={"compare": ["a1", "b2"]}, headers=BROWSER)
    assert reply.status_code == 303
    assert reply.headers["location"] == "/compare?runs=a1&runs=b2"
    alone = await client.get("/", params={"compare": "a1"}, headers=BROWSER)
    assert alone.headers["location"] == "/compare?runs=a1"


async def test_a_browser_is_told_errors_as_a_page_and_a_program_as_json(small: Finished) -> None:
    """The same sentence stands in a page for a browser and in a problem for a program."""
    with service_over(small.home) as service:
        async with asking(service) as client:
            shown = await client.get("/runs/zzz/row", headers=BROWSER)
            told = await client.get("/runs/zzz/row", headers={"accept": "application/json"})
            fragment = await client.get("/runs/zzz/row", headers={**BROWSER, "hx-request": "true"})
    assert shown.status_code == told.status_code == fragment.status_code == 404
    assert shown.headers["content-type"].startswith("text/html")
    assert told.headers["content-type"] == fragment.headers["content-type"] == "application/problem+json"
    assert "no run of" in json.loads(told.text)["detail"]
    assert "no run of" in shown.text


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/nope", ["there is no page &#39;/nope&#39;"]),
        ("/passport", ["did you mean <code>/passports</code>?"]),
        ("/runs/{run}/nope", ["there is no page", 'href="/runs/{run}"']),
        ("/runs/{run}/samples/a/b", ["no sample", 'href="/runs/{run}/samples"']),
        ("/passports/judge?name=sim/nobody", ["no finished probe of this home asked a judge", 'href="/passports"']),
    ],
)
async def test_an_error_says_what_is_wrong_and_where_to_go(
    client: httpx.AsyncClient, small: Finished, path: str, said: list[str]
) -> None:
    """An address at which nothing is names it, with one that is spelt almost so, and leads to the page above it."""
    page = await client.get(path.format(run=small.run), headers=BROWSER)
    assert page.status_code == 404
    for one in said:
        assert one.format(run=small.run) in page.text
    assert "Not Found" not in page.text


async def test_a_program_is_told_that_there_is_no_route(client: httpx.AsyncClient) -> None:
    """A route that is not there, and one that takes another method, name the address and what there is."""
    assert (await client.get("/api/nope")).json()["detail"] == (
        "there is no route '/api/nope'; /api/openapi.json describes all"
    )
    assert (await client.put("/api/runs", json={})).json()["detail"] == "PUT cannot be asked of '/api/runs', but GET"


async def test_a_guessed_address_leads_to_a_judge(client: httpx.AsyncClient) -> None:
    """`/passports/NAME`, as the JSON route has it, leads to the page of the judge's passport."""
    led = await client.get("/passports/sim/judge@low", headers=BROWSER)
    assert (led.status_code, led.headers["location"]) == (303, "/passports/judge?name=sim%2Fjudge%40low")


@pytest.mark.parametrize("workers", [0, 4])
async def test_a_service_says_by_how_many_workers_runs_are_walked(small: Finished, workers: int) -> None:
    """The page of a run at work names the number of workers where there are some; what is said of the service always does."""
    with service_over(small.home, workers=workers) as service:
        async with asking(service) as client:
            live = (await client.get(f"/runs/{small.run}/live", headers=BROWSER)).text
            assert re.findall(r"<dt>Workers</dt><dd>(\d+)</dd>", live) == [str(workers)] * bool(workers)
            assert (await client.get("/api/health")).json()["workers"] == workers


async def test_items_that_wait_for_people_have_not_failed(waiting_once: Waits) -> None:
    """List, live page, events and samples count what waits apart, and a waiting run links to where one answers."""
    run = waiting_once.runs["questions"]
    with service_over(waiting_once.home) as service:
        async with asking(service) as client:
            row = (await client.get(f"/runs/{run}/row", headers=BROWSER)).text
            assert "wait for people" in row
            assert "failed" not in row
            live = (await client.get(f"/runs/{run}/live", headers=BROWSER)).text
            assert f'data-waits>This run waits for people. <a href="/review/{run}">' in live
            picture = (await service.events.log(service.run(run))).picture
            assert picture.failures == {}
            assert picture.progress is None or picture.progress["waiting_items"]
            listed = (await client.get(f"/api/runs/{run}/samples")).json()["samples"]
            assert {(one["failed"], one["waiting"]) for one in listed} == {(0, 1)}
            for none in ("failed=true", "failure=any"):
                assert not (await client.get(f"/api/runs/{run}/samples?{none}")).json()["total"]
            assert (await client.get(f"/api/runs/{run}/samples?failure=waiting")).json()["total"] == len(listed)


async def test_commands_in_sentences_are_shown_as_code(client: httpx.AsyncClient) -> None:
    """What a sentence puts between backticks stands as code on a page, everything around it escaped."""
    text = (await client.get("/runs/`<none>`", headers=BROWSER)).text
    assert "<code>&lt;none&gt;</code>" in text


async def test_the_list_is_found_at_runs_and_pages_answer_head(client: httpx.AsyncClient, small: Finished) -> None:
    """`/runs` leads to the list with its filter, and HEAD of a page says what GET would, without the page."""
    reply = await client.get("/runs?status=done", headers=BROWSER)
    assert (reply.status_code, reply.headers["location"]) == (303, "/?status=done")
    for path in ("/", f"/runs/{small.run}?wait=true", f"/runs/{small.run}/samples", "/trees", "/compare"):
        assert (await client.head(path, headers=BROWSER)).status_code == 200
    assert (await client.head("/runs/nothing", headers=BROWSER)).status_code == 404


async def test_a_run_has_one_name_on_all_pages(waiting: Waits) -> None:
    """A run without a name of its own is called the same in lists, on its page, in its review and in a comparison's fault."""
    run, other = waiting.runs["pairs"], waiting.runs["tree"]
    with service_over(waiting.home) as service:
        duel, tree = (name_of(service.home, get_run(service.home, id)) for id in (run, other))
        assert duel == f"world.jsonl (duel {run[:8]})"
        async with asking(service, headers=BROWSER) as client:
            for path in ("/", f"/runs/{run}?wait=true", f"/review/{run}", f"/runs/{run}/samples", "/compare"):
                assert duel in unescape((await client.get(path)).text), path
            page = unescape((await client.get(f"/runs/{run}?wait=true")).text)
            assert f"<h1>{duel}</h1>" in page
            compared = unescape((await client.get(f"/compare?runs={run},{other}")).text)
    fault = compared.partition('role="alert"')[2].partition("</div>")[0]
    assert f"run “{duel}” is a run of duels and run “{tree}” is tree growth" in fault
    assert run not in fault


async def test_labels_and_sentences_are_in_words(waiting: Waits) -> None:
    """No label shows an option of the command line, and what stands between backticks is code."""
    with service_over(waiting.home) as service:
        async with asking(service, headers=BROWSER) as client:
            form = unescape((await client.get("/new/evaluate")).text)
    labels = re.findall(r"<label[^>]*>(.*?)</label>", form)
    assert "Reasons" in labels
    assert not [label for label in labels if "--" in label]
    drawn_text = drawn([Paragraph("`perturb` makes them with `a < b`")], Charts())
    assert drawn_text == (
        '<p class="plain"><span class="code">perturb</span> makes them with <span class="code">a &lt; b</span></p>'
    )


async def test_exports_and_intervals_are_explained(waiting: Waits) -> None:
    """Each form of an export says what it holds; widths of intervals that surprise are explained below them."""
    with service_over(waiting.home) as service:
        async with asking(service, headers=BROWSER) as client:
            page = unescape((await client.get(f"/runs/{waiting.runs['pairs']}?wait=true")).text)
            check = f"/judge-checks/verdict?name={JUDGE}&run={waiting.runs['probe']}"
            explained = [(await client.get(path)).text for path in (check, f"/passports/judge?name={JUDGE}")]
    exports = re.findall(r'export\?format=(\w+)" download>([^<]+)</a> <span class="muted">([^<]+)</span>', page)
    assert [form for form, _, _ in exports] == ["jsonl", "csv", "excel", "xlsx", "parquet", "vlmevalkit", "preferences"]
    assert len({holds for _, _, holds in exports}) == len(exports)
    for text in explained:
        assert "each image counts once" in text


async def test_the_list_names_the_models_under_test_and_no_judge(client: httpx.AsyncClient, small: Finished) -> None:
    """The judge of an evaluation is none of its models."""
    row = (await client.get(f"/runs/{small.run}/row", headers=BROWSER)).text
    (models,) = re.findall(r'<div class="models" title="([^"]*)">', row)
    with Home.open(small.home, write=False) as home:
        run = get_run(home, small.run)
    assert models.split(", ") == [name for name in run.model_names if name != run.request["judge"]]


async def test_a_form_of_export_that_needs_a_missing_package_is_no_link(
    client: httpx.AsyncClient, small: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason stands in place of the link; with the package there is the link."""
    path = f"/runs/{small.run}?wait=true"
    for there in (True, False):
        monkeypatch.setattr("dokimasia.service.pages.results.find_spec", lambda name, there=there: there or None)
        text = (await client.get(path, headers=BROWSER)).text
        assert ("export?format=parquet" in text) is there
        assert ("it needs pyarrow where the service runs" in text) is not there
        assert "export?format=csv" in text


@pytest.mark.parametrize("path", ["/judge-checks", "/passports"])
async def test_the_check_of_a_judge_is_a_page_of_the_judges(client: httpx.AsyncClient, path: str) -> None:
    """The menu marks its entry Judges."""
    text = (await client.get(path, headers=BROWSER)).text
    assert re.findall(r'<a href="([^"]*)" aria-current', text) == ["/passports"]
