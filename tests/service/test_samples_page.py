"""The samples of a run as pages: every method's, what a filter finds, one sample whole, its calls, small copies of images."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from dokimasia.domain.sample import Sample
from dokimasia.methods.evaluation import EvaluationRequest, evaluate
from dokimasia.runs.reading.inspection import sample_groupings
from dokimasia.service.filtering import failure_label
from dokimasia.settings import load_settings
from dokimasia.simulation.world import write_world
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import get_run, load_samples
from tests.report import conftest as reports
from tests.report.conftest import ATTACKS, Finished
from tests.runs import conftest as runs
from tests.runs.kinds import EVERY, KINDS, Kind
from tests.service.conftest import asking, service_over

full, hostile = reports.full, reports.hostile
world, homes = runs.world, runs.homes

HTML = {"accept": "text/html"}
WITHOUT = {"tree", "diagnosis", "fingerprint"}
"""Kinds of runs that have no samples of their own."""


async def body(client: httpx.AsyncClient, path: str, status: int = 200, *, part: bool = False) -> str:
    """The HTML at a path; as a `part`, what htmx is given."""
    reply = await client.get(path, headers=HTML | ({"hx-request": "true"} if part else {}))
    assert reply.status_code == status, reply.text
    return reply.text


def listed(text: str) -> list[str]:
    """The names of the samples that a list shows, in order."""
    return [unescape(name) for name in re.findall(r"data-row>([^<]*)</a>", text)]


def samples_of(finished: Finished) -> list[Sample]:
    """The samples of a run."""
    with Home.open(finished.home, write=False) as home:
        return list(load_samples(home, finished.run))


@EVERY
async def test_every_kind_of_run_shows_its_samples(homes: runs.Homes, tmp_path: Path, kind: Kind) -> None:
    """The list, each sample and its calls answer for a run of every method; one without samples says so in a sentence."""
    settings, made = homes.finished(kind, tmp_path / "home")
    with service_over(settings.home) as service:
        async with asking(service) as client:
            path = f"/runs/{made.run}/samples"
            if kind.name in WITHOUT:
                assert "has no samples to show" in await body(client, path, 404)
                return
            names = listed(await body(client, path))
            assert names == [one.id for one in samples_of(Finished(settings.home, made.run))]
            for name in names[:2]:
                shown = await body(client, f"{path}/{quote(name, safe='')}")
                assert f'<h1 id="sample-title">{name}</h1>' in shown
                assert "<svg" in shown
                if "Each call as it was sent" in shown:
                    sent = await client.get(
                        f"/runs/{made.run}/calls/{quote(name, safe='')}", headers={"hx-request": "true"}
                    )
                    assert sent.text.lstrip().startswith('<div class="sent">')
                    assert sent.text.count('<details class="call"') == int(
                        re.findall(r"Each call as it was sent \((\d+)\)", shown)[0]
                    )


async def test_a_filter_finds_what_it_says(client: httpx.AsyncClient, small: Finished) -> None:
    """Model, score, verdict, category and words of an address leave the samples that they are true of, and stay in links."""
    with Home.open(small.home, write=False) as home:
        rows = [row for row in results(home, small.run) if row.kind == "score" and row.model == "sim/weak"]
    low = {row.sample_id for row in rows if row.score is not None and row.score <= 2}
    wrong = {row.sample_id for row in rows if row.verdict == "wrong"}
    path = f"/runs/{small.run}/samples"
    assert set(listed(await body(client, f"{path}?model=sim/weak&high=2"))) == low
    found = await body(client, f"{path}?model=sim/weak&answer=wrong&order=low")
    assert set(listed(found)) == wrong
    assert "model=sim%2Fweak&amp;answer=wrong&amp;order=low" in found
    category = samples_of(small)[0].category
    assert set(listed(await body(client, f"{path}?category={category}"))) == {
        one.id for one in samples_of(small) if one.category == category
    }
    assert "matches the filter" in await body(client, f"{path}?q=zzzzzz")


@pytest.mark.parametrize(
    "asked",
    [
        "model=nobody",
        "order=random",
        "by=nobody",
        "reply=odd",
        "comments=no",
        "failure=none",
        "answer=%3Cscript%3E",
    ],
)
async def test_a_filter_that_makes_no_sense_is_said_to(client: httpx.AsyncClient, small: Finished, asked: str) -> None:
    """What is no number, or names nothing that there is, is answered by a sentence and never by an error of ours."""
    assert "notice bad" in await body(client, f"/runs/{small.run}/samples?{asked}", 422)


@pytest.mark.parametrize(
    "asked",
    [
        "",
        "model=sim/weak&order=low",
        "answer=wrong&model=sim/weak",
        "q=colour",
        "low=30&high=80&order=high",
        "answers=true&q=the",
    ],
)
async def test_a_program_finds_the_samples_that_the_page_lists(
    client: httpx.AsyncClient, small: Finished, asked: str
) -> None:
    """The JSON route takes the filters of the page and lists the same samples in the same order, page by page."""
    path = f"/runs/{small.run}/samples?{asked}"
    names: list[str] = []
    after: str | None = ""
    while after is not None:
        reply = (await client.get(f"/api{path}&limit=4{f'&after={after}' if after else ''}")).json()
        names += [one["sample"] for one in reply["samples"]]
        after = reply["next"]
    assert len(names) == reply["total"]
    assert names == (listed(await body(client, path)) if names else [])
    assert (await client.get(f"/api/runs/{small.run}/samples?model=nobody")).status_code == 422


def headings(text: str) -> dict[str, tuple[str, str]]:
    """The headings that sort the list: by the text of each, its link and how the list is sorted by it."""
    found = re.findall(r'<th scope="col"([^>]*)><a href="([^"]+)"[^>]*>(.*?)</a></th>', text, re.DOTALL)
    return {
        re.sub(r"<span.*?</span>|<wbr>", "", name): (unescape(link), "".join(re.findall(r'aria-sort="(\w+)"', rest)))
        for rest, link, name in found
    }


async def test_every_heading_sorts_by_its_column(client: httpx.AsyncClient, small: Finished) -> None:
    """A heading is a link that sorts by its column, and the other way round once the list is sorted by it."""
    path = f"/runs/{small.run}/samples"
    page = await body(client, path)
    assert list(headings(page)) == ["sample", "sim/strong", "sim/weak", "failures"]
    assert {way for _, way in headings(page).values()} == {""}
    with Home.open(small.home, write=False) as home:
        rows = [row for row in results(home, small.run) if row.kind == "score" and row.model == "sim/weak"]
    scores = {row.sample_id: row.score or 0 for row in rows}
    expected = {
        "sample": (sorted(scores), sorted(scores, reverse=True)),
        "sim/weak": (sorted(scores.values()), sorted(scores.values(), reverse=True)),
    }
    for name, (up, down) in expected.items():
        first = await body(client, headings(page)[name][0])
        assert headings(first)[name][1] == "ascending"
        second = await body(client, headings(first)[name][0])
        assert headings(second)[name][1] == "descending"
        for names, wanted in ((listed(first), up), (listed(second), down)):
            assert [scores[one] if name == "sim/weak" else one for one in names] == wanted
    link = headings(page)["failures"][0]
    assert headings(await body(client, link))["failures"][1] == "descending"
    kept = headings(await body(client, f"{path}?answer=wrong&show=sim/weak"))["sim/weak"][0]
    assert kept == f"{path}?answer=wrong&order=low&by=sim%2Fweak&show=sim%2Fweak"


async def test_failures_are_counted_and_sorted_by(tmp_path: Path, full: Finished) -> None:
    """The samples with the most failed items come first, and their kinds of failure stand beside them in words."""
    with Home.open(full.home, write=False) as home:
        failures = [row for row in results(home, full.run, as_judged=True) if row.failure]
    failed, kind = [row.sample_id for row in failures], failures[0].failure
    with service_over(full.home) as service:
        async with asking(service) as client:
            path = f"/runs/{full.run}/samples?order="
            most = listed(await body(client, f"{path}most-failures"))
            counts = [failed.count(name) for name in most]
            assert counts == sorted(counts, reverse=True)
            assert counts[0]
            fewest = listed(await body(client, f"{path}fewest-failures"))
            assert [failed.count(name) for name in fewest] == sorted(counts)
            assert kind is not None
            assert failure_label(kind) in await body(client, f"/runs/{full.run}/samples?failure={kind}")


async def test_a_refused_reply_is_found_where_it_was_scored(full: Finished) -> None:
    """`reply=refused` finds every refusal: what failed as one, and what was kept as an answer and flagged."""
    with Home.open(full.home, write=False) as home:
        rows = home.all(
            "SELECT r.sample_id, r.model, r.arm FROM results r LEFT JOIN responses t ON t.id = r.response_id "
            "WHERE r.failure = 'refused' OR t.flags LIKE '%refused%'"
        )
    assert rows
    with service_over(full.home) as service:
        async with asking(service) as client:
            path = f"/runs/{full.run}/samples?reply=refused"
            assert set(listed(await body(client, path))) == {sample for sample, _, _ in rows}
            weak = {sample for sample, model, arm in rows if model == "sim/weak" and not arm}
            assert set(listed(await body(client, f"{path}&model=sim/weak"))) == weak
            assert not listed(await body(client, f"/runs/{full.run}/samples?reply=empty"))


async def test_the_models_of_the_list_are_chosen(
    client: httpx.AsyncClient, small: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many models the list shows the first few, or those that the address names; the page of a sample keeps the choice."""
    monkeypatch.setattr("dokimasia.service.filtering.SHOWN", 1)
    path = f"/runs/{small.run}/samples"
    page = await body(client, path)
    assert list(headings(page)) == ["sample", "sim/strong", "failures"]
    assert "1 of 2 models shown" in page
    chosen = await body(client, f"{path}?show=sim/weak")
    assert list(headings(chosen)) == ["sample", "sim/weak", "failures"]
    name = listed(chosen)[0]
    assert f'href="{path}/{name}?show=sim%2Fweak"' in chosen
    assert f'href="{path}?show=sim%2Fweak"' in await body(client, f"{path}/{name}?show=sim/weak")
    assert "there is no model" in await body(client, f"{path}?show=nobody", 422)


async def test_entries_of_modes_and_diagnosis_open_their_samples(homes: runs.Homes, tmp_path: Path) -> None:
    """On a run's page every link to samples answers, and the list that it leads to has a sample."""
    for kind in ("modes", "diagnosis"):
        settings, made = homes.finished(KINDS[kind], tmp_path / kind)
        with Home.open(settings.home, write=False) as home:
            (source,) = [id for (id,) in home.all("SELECT id FROM runs WHERE method = 'evaluate'")]
        pages = {source, made.run} if kind == "modes" else {source}
        with service_over(settings.home) as service:
            async with asking(service) as client:
                for run in pages:
                    page = await body(client, f"/runs/{run}?wait=true")
                    links = {unescape(link) for link in re.findall(r'href="(/runs/[^"]+/samples[?/][^"]+)"', page)}
                    assert any(("group-modes" if kind == "modes" else "model=") in link for link in links), kind
                    of_modes = [link for link in links if "group-modes" in link]
                    assert all(link.startswith(f"/runs/{source}/samples?") for link in of_modes), of_modes
                    for link in sorted(links):
                        assert "sample-title" in (shown := await body(client, link)) or listed(shown), link


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        ("low=abc", "score (low): &#39;abc&#39; is no number"),
        ("high=nan", "score (high): &#39;nan&#39; is no number"),
        ("low=4&high=2", "The bounds are reversed: 4 is above 2"),
    ],
)
async def test_what_is_wrong_with_a_bound_stands_beside_its_field(
    client: httpx.AsyncClient, small: Finished, asked: str, fault: str
) -> None:
    """The page keeps what was typed, and htmx, which drops an error's page, has the sentence too."""
    path = f"/runs/{small.run}/samples"
    page = await body(client, f"{path}?{asked}", 200 if "&" in asked else 422)
    for shown in (page, await body(client, f"{path}?{asked}", part=True)):
        beside = shown.partition('id="bounds-fault"')[2].partition("</span>")[0]
        assert fault in beside
        assert "notice bad" not in shown
        name, _, value = asked.partition("&")[0].partition("=")
        assert re.search(rf'name="{name}"[^>]*value="{value}"', shown)
    assert 'hx-select-oob="#bounds-fault"' in page
    assert bool(listed(page)) == ("&" not in asked)
    fine = (await body(client, f"{path}?low=2&high=4")).partition('id="bounds-fault"')[2]
    assert fine.startswith(' class="fault" role="alert"></span>')


async def test_what_says_nothing_is_left_out(client: httpx.AsyncClient, small: Finished) -> None:
    """An empty field of the form, or a parameter of another page, filters nothing."""
    path = f"/runs/{small.run}/samples"
    assert listed(await body(client, f"{path}?q=&model=&low=&utm=x")) == listed(await body(client, path))


async def test_the_samples_beside_a_sample_are_those_of_the_filter(client: httpx.AsyncClient, small: Finished) -> None:
    """A sample's links lead through the list that it was found in, and keep the filter."""
    asked = "?model=sim/weak&order=low"
    names = listed(await body(client, f"/runs/{small.run}/samples{asked}"))
    page = await body(client, f"/runs/{small.run}/samples/{names[3]}{asked}")
    for rel, name in (("prev", names[2]), ("next", names[4])):
        href = unescape(re.findall(rf'rel="{rel}" href="([^"]+)"', page)[0])
        assert href == f"/runs/{small.run}/samples/{name}?model=sim%2Fweak&order=low"
    assert f"4 of {len(names)} found" in page


async def test_a_capability_and_a_failure_mode_find_their_samples(homes: runs.Homes, tmp_path: Path) -> None:
    """Where a tree was grown from a run, or its failures were coded, they find its samples, modes by the model's answer."""
    for kind in ("tree", "modes"):
        settings, _ = homes.finished(KINDS[kind], tmp_path / kind)
        with Home.open(settings.home, write=False) as home:
            (source,) = [id for (id,) in home.all("SELECT id FROM runs WHERE method = 'evaluate'")]
            (way,) = sample_groupings(home, get_run(home, source))
        assert way.name == kind
        with service_over(settings.home) as service:
            async with asking(service) as client:
                for id, group in list(way.groups.items())[:4]:
                    path = f"/runs/{source}/samples?group-{kind}={quote(id)}"
                    assert set(listed(await body(client, path))) == {sample for sample, _ in group.members}
                    of_weak = {sample for sample, model in group.members if model in ("", "sim/weak")}
                    assert set(listed(await body(client, f"{path}&model=sim/weak"))) == of_weak
                assert "notice bad" in await body(client, f"/runs/{source}/samples?group-{kind}=nothing", 422)


async def test_calls_are_shown_as_they_were_sent(client: httpx.AsyncClient, small: Finished) -> None:
    """Each call has its messages, its images as small copies, its reply, tokens, cost and latency."""
    name = samples_of(small)[0].id
    text = await body(client, f"/runs/{small.run}/calls/{name}")
    assert "tokens in" in text
    assert "latency unknown" not in text
    assert "/thumbnails/" in text
    assert "checkpoints" in text
    assert "<h1>Calls of" in text


async def test_a_small_copy_is_small_and_never_changes(client: httpx.AsyncClient, small: Finished) -> None:
    """An image's small copy is a WebP that a browser keeps; what the home has not, or is no hash, is not found."""
    sha256 = samples_of(small)[0].images[0].sha256
    reply = await client.get(f"/thumbnails/{sha256}")
    assert reply.headers["content-type"] == "image/webp"
    assert "immutable" in reply.headers["cache-control"]
    assert len(reply.content) < 20_000
    assert (await client.get(f"/thumbnails/{'0' * 64}")).status_code == 404
    for path in ("../../dokimasia.db", "%2e%2e%2fdokimasia.db", "x" * 64):
        assert (await client.get(f"/thumbnails/{path}")).status_code in (404, 422)


async def test_a_run_or_a_sample_that_is_not_there(client: httpx.AsyncClient, small: Finished) -> None:
    """The sentence of the command line stands on the page."""
    assert "no run of" in await body(client, "/runs/none/samples", 404)
    assert "has no sample" in await body(client, f"/runs/{small.run}/samples/none", 404)
    assert "has no sample" in await body(client, f"/runs/{small.run}/calls/none", 404)


async def test_no_attack_gets_out_of_a_page(hostile: Finished) -> None:
    """Whatever samples, models and answers hold, no page has an element or an attribute of theirs."""
    with service_over(hostile.home) as service:
        async with asking(service) as client:
            path = f"/runs/{hostile.run}/samples"
            names = [one.id for one in samples_of(hostile)]
            pages = [await body(client, path), await body(client, f"{path}?q={quote(ATTACKS[1])}")]
            for name in names:
                pages.append(await body(client, f"{path}/{quote(name, safe='')}"))
                pages.append(await body(client, f"/runs/{hostile.run}/calls/{quote(name, safe='')}"))
                pages.append(
                    await body(
                        client,
                        f"/compare/sample?runs={hostile.run}&sample={quote(name, safe='')}"
                        f"&models={quote('<b>one</b>,two | three')}",
                    )
                )
    for text in pages:
        assert not re.search(r"<(script>|iframe|b>(one|bold)|img src=x|svg onload|a href=\"?javascript)", text)
        assert (
            "pwned" not in re.sub(r"&#39;|&#34;|&#x27;|&quot;|&lt;|&gt;|&amp;", "\x00", text)
            or "<script>window" not in text
        )


async def test_a_sample_is_read_by_itself(
    client: httpx.AsyncClient, small: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page of one sample reads no other sample's rows, and makes no figures of the run."""

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("the page of a sample reads the whole run")

    monkeypatch.setattr("dokimasia.runs.figures.results", forbidden)
    monkeypatch.setattr("dokimasia.methods.evaluation.figures.results", forbidden, raising=False)
    text = await body(client, f"/runs/{small.run}/samples/{samples_of(small)[0].id}")
    assert "Atomic criteria" in text
    assert 'data-mark="1"' in text


async def test_a_sample_without_results_shows_its_question(tmp_path: Path) -> None:
    """The page of a sample that a run has not come to yet shows what is asked."""
    write_world(tmp_path / "world.jsonl", 3, 0)
    settings = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    request = EvaluationRequest(data=tmp_path / "world.jsonl", judge="sim/judge", models=("sim/strong",))
    run = (await evaluate(request, settings=settings)).run
    with Home.open(settings.home, write=True) as home:
        sample = next(iter(load_samples(home, run)))
        await home.write(lambda connection: connection.execute("DELETE FROM results WHERE sample_id = ?", (sample.id,)))
    with service_over(settings.home) as service:
        async with asking(service) as client:
            page = await body(client, f"/runs/{run}/samples/{quote(sample.id)}")
    assert sample.prompt in unescape(page)


async def test_many_repeats_of_an_answer_are_on_parts_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part has so many answers of each model and the forms to correct them, and links to the others."""
    monkeypatch.setattr("dokimasia.service.pages.samples.REPEATS", 2)
    data = tmp_path / "world.jsonl"
    write_world(data, 2, 1)
    settings = load_settings(home=tmp_path / "home", cwd=tmp_path, env={})
    request = EvaluationRequest(data=data, judge="sim/judge", models=("sim/strong", "sim/weak"), repeats=5, limit=1)
    made = await evaluate(request, settings=settings)
    with service_over(settings.home) as service:
        async with asking(service) as client:
            path = f"/runs/{made.run}/samples/{samples_of(Finished(settings.home, made.run))[0].id}"
            for part, repeats in ((1, ["", " · repeat 2"]), (2, [" · repeat 3", " · repeat 4"]), (3, [" · repeat 5"])):
                text = await body(client, f"{path}?part={part}")
                names = [f"{model}{repeat}" for model in ("sim/strong", "sim/weak") for repeat in repeats]
                assert sorted(re.findall(r'<details class="answer"[^>]*><summary><b>([^<]*)</b>', text)) == sorted(
                    names
                )
                assert sorted(re.findall(r"Correct this: <b>([^<]*)</b>", text)) == sorted(names)
                assert f'href="{path}?part={2 if part != 2 else 3}"' in text
