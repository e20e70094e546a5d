"""Comments on samples and named views: routes, pages, client, command line, export, rights, bounds and deletion."""

import json
import re
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path
from typing import cast
from urllib.parse import quote

import httpx
import pytest

from dokimasia.cli.main import run as command
from dokimasia.client import Client
from dokimasia.errors import InputError, NotFound
from dokimasia.runs.reading.exporting import export_rows
from dokimasia.service.guard import AccessTokens, Caller, token_digest
from dokimasia.storage.deletion import delete_run
from dokimasia.storage.home import Home
from dokimasia.storage.people import comments as stored
from dokimasia.storage.people.comments import comment_counts, comments_on, views_of
from dokimasia.storage.runs import get_run, load_samples
from tests.report.conftest import ATTACKS, Finished
from tests.service.browser.conftest import copied
from tests.service.conftest import asking, at_address, service_over

TOKENS = {"ana": "ana-token-0123456789", "bob": "bob-token-0123456789"}
ELSEWHERE = {"origin": "http://elsewhere.example", "sec-fetch-site": "cross-site"}


@pytest.fixture
def commented(small: Finished, tmp_path: Path) -> Finished:
    """A copy of a finished evaluation, to be written to."""
    return Finished(copied(small.home, tmp_path / "home"), small.run)


@pytest.fixture
async def writing(commented: Finished) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a service without tokens over it."""
    with service_over(commented.home) as service:
        async with asking(service) as client:
            yield client


def names_of(finished: Finished) -> list[str]:
    """The samples of the run, in order."""
    with Home.open(finished.home, write=False) as home:
        return [sample.id for sample in load_samples(home, finished.run)]


def readers() -> AccessTokens:
    """Two people who may read and no more."""
    people = {name: Caller(name, frozenset({"read"})) for name in TOKENS}
    return AccessTokens(tuple((token_digest(TOKENS[name]), person) for name, person in people.items()))


async def test_a_comment_is_written_listed_found_and_deleted(writing: httpx.AsyncClient, commented: Finished) -> None:
    """It stands on the sample's page, in the list and in the filter until it is deleted."""
    first, second = names_of(commented)[:2]
    path = f"/runs/{commented.run}"
    sent = {"sample": first, "text": "  The reference is wrong.  "}
    reply = await writing.post(f"/api{path}/comments", json=sent)
    assert reply.status_code == 201
    comment = reply.json()
    assert (comment["sample"], comment["text"]) == (first, "The reference is wrong.")
    assert (await writing.post(f"/api{path}/comments", json={"sample": second, "text": "Fine."})).status_code == 201
    listed = (await writing.get(f"/api{path}/comments", params={"sample": first})).json()
    assert (listed["total"], listed["comments"]) == (1, [comment])
    assert "The reference is wrong." in (await writing.get(f"{path}/samples/{first}")).text
    await writing.delete(f"/api{path}/comments/{comment['id'] + 1}")
    found = (await writing.get(f"/api{path}/samples", params={"comments": "yes"})).json()
    assert [one["sample"] for one in found["samples"]] == [first]
    page = (await writing.get(f"{path}/samples?comments=yes")).text
    assert "1 comment" in page
    assert re.findall(r"data-row>([^<]*)</a>", page) == [first]
    assert (await writing.delete(f"/api{path}/comments/{comment['id']}")).json() == comment
    assert (await writing.delete(f"/api{path}/comments/{comment['id']}")).status_code == 404
    assert (await writing.get(f"{path}/samples?comments=yes")).status_code == 200  # a link that was kept stays valid


async def test_the_forms_of_the_pages_do_the_same(writing: httpx.AsyncClient, commented: Finished) -> None:
    """Each form leads back to the page with what it stored, and keeps the filter of the address."""
    name = names_of(commented)[0]
    path = f"/runs/{commented.run}"
    reply = await writing.post(f"{path}/comments?order=low&show=sim/weak", data={"sample": name, "text": "Look here."})
    assert reply.status_code == 303
    assert reply.headers["location"] == f"{path}/samples/{quote(name)}?order=low&show=sim%2Fweak#comment-1"
    assert "Look here." in (await writing.get(reply.headers["location"])).text
    reply = await writing.post(f"{path}/comments/delete", data={"sample": name, "id": "1"})
    assert reply.headers["location"].endswith("#comments")
    reply = await writing.post(f"{path}/views", data={"name": "weak first", "query": "order=low&by=sim/weak&page=3"})
    assert reply.headers["location"] == f"{path}/samples?order=low&by=sim%2Fweak"
    assert "weak first</a>" in (await writing.get(f"{path}/samples")).text
    assert (await writing.post(f"{path}/views/delete", data={"name": "weak first"})).status_code == 303
    assert "weak first" not in (await writing.get(f"{path}/samples")).text


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"sample": "NAME", "text": ""}, 422),
        ({"sample": "NAME", "text": "   "}, 422),
        ({"sample": "NAME", "text": "x" * 2001}, 422),
        ({"sample": "nobody", "text": "x"}, 404),
        ({"sample": "NAME", "text": "x", "who": "root"}, 422),
        ({"sample": "NAME"}, 422),
    ],
)
async def test_a_comment_that_cannot_be_kept_is_refused(
    writing: httpx.AsyncClient, commented: Finished, sent: dict[str, str], status: int
) -> None:
    """An empty or too long text, another sample or a field too many stores nothing, over the API and the page."""
    filled = {name: value.replace("NAME", names_of(commented)[0]) for name, value in sent.items()}
    assert (await writing.post(f"/api/runs/{commented.run}/comments", json=filled)).status_code == status
    if "who" not in sent:
        assert (await writing.post(f"/runs/{commented.run}/comments", data=filled)).status_code == status
    with Home.open(commented.home, write=False) as home:
        assert not comments_on(home, commented.run)


@pytest.mark.parametrize("name", ["", " ", "x" * 81, "..", "/", "a\nb"])
async def test_a_view_needs_a_name(writing: httpx.AsyncClient, commented: Finished, name: str) -> None:
    """A name that no address can bear is refused."""
    reply = await writing.post(f"/api/runs/{commented.run}/views", json={"name": name, "query": ""})
    assert reply.status_code == 422


async def test_a_name_of_a_view_is_taken_once(writing: httpx.AsyncClient, commented: Finished) -> None:
    """A second view of the name is a conflict, and the first stays."""
    path = f"/api/runs/{commented.run}/views"
    assert (await writing.post(path, json={"name": "all", "query": "?order=low"})).json()["query"] == "order=low"
    assert (await writing.post(path, json={"name": "all", "query": "order=high"})).status_code == 409
    assert [view["query"] for view in (await writing.get(path)).json()["views"]] == ["order=low"]
    assert (await writing.delete(f"{path}/all")).status_code == 200
    assert (await writing.delete(f"{path}/all")).status_code == 404


async def test_only_the_author_deletes(commented: Finished) -> None:
    """Whoever may read may write; what another person wrote stays, over the API and the pages, until its author deletes it."""
    name = names_of(commented)[0]
    path = f"/runs/{commented.run}"
    ana, bob = ({"authorization": f"Bearer {token}"} for token in TOKENS.values())
    with service_over(commented.home, tokens=readers()) as service:
        async with asking(service) as client:
            sent = {"sample": name, "text": "Mine."}
            assert (await client.post(f"/api{path}/comments", json=sent)).status_code == 401
            comment = (await client.post(f"/api{path}/comments", json=sent, headers=ana)).json()
            assert comment["who"] == "ana"
            view = {"name": "mine", "query": "order=low"}
            assert (await client.post(f"/api{path}/views", json=view, headers=ana)).status_code == 201
            for verb, place, form in [
                ("DELETE", f"/api{path}/comments/{comment['id']}", None),
                ("POST", f"{path}/comments/delete", {"sample": name, "id": str(comment["id"])}),
                ("DELETE", f"/api{path}/views/mine", None),
                ("POST", f"{path}/views/delete", {"name": "mine"}),
            ]:
                reply = await client.request(verb, place, data=form, headers=bob)
                assert reply.status_code in (409, 422), place
            shown = (await client.get(f"{path}/samples/{name}", headers=bob)).text
            assert "Mine." in shown
            assert "comments/delete" not in shown
            assert "comments/delete" in (await client.get(f"{path}/samples/{name}", headers=ana)).text
            assert (await client.delete(f"/api{path}/comments/{comment['id']}", headers=ana)).status_code == 200
            assert (await client.delete(f"/api{path}/views/mine", headers=ana)).status_code == 200


async def test_another_page_cannot_write(writing: httpx.AsyncClient, commented: Finished) -> None:
    """A form of a page of another origin is refused, as every other is."""
    form = {"sample": names_of(commented)[0], "text": "x", "name": "x", "id": "1"}
    for place in ("comments", "comments/delete", "views", "views/delete"):
        reply = await writing.post(f"/runs/{commented.run}/{place}", data=form, headers=ELSEWHERE)
        assert reply.status_code == 403
    with Home.open(commented.home, write=False) as home:
        assert not comments_on(home, commented.run)


async def test_no_comment_gets_out_of_a_page(writing: httpx.AsyncClient, commented: Finished) -> None:
    """Whatever a comment or a view's name and query hold, pages show it as text."""
    name = names_of(commented)[0]
    for number, attack in enumerate(ATTACKS):
        sent = {"sample": name, "text": attack.replace("\x00", "")}
        assert (await writing.post(f"/api/runs/{commented.run}/comments", json=sent)).status_code == 201
        query = f'q={attack}"><script>alert(1)</script>'
        await writing.post(
            f"/api/runs/{commented.run}/views", json={"name": f'{number}"><script>', "query": query[:8000]}
        )
    for path in (f"/runs/{commented.run}/samples", f"/runs/{commented.run}/samples/{name}"):
        text = (await writing.get(path, headers={"accept": "text/html"})).text
        assert not re.search(r"<(script>|iframe|b>(one|bold)|img src=x|svg onload|a href=\"?javascript)", text)


async def test_there_are_so_many_and_no_more(
    writing: httpx.AsyncClient, commented: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run takes a bounded number of comments and views."""
    monkeypatch.setattr(stored, "MOST_COMMENTS", 2)
    monkeypatch.setattr(stored, "MOST_VIEWS", 1)
    sent = {"sample": names_of(commented)[0], "text": "x"}
    path = f"/api/runs/{commented.run}"
    replies = [(await writing.post(f"{path}/comments", json=sent)).status_code for _ in range(3)]
    assert replies == [201, 201, 422]
    views = [(await writing.post(f"{path}/views", json={"name": n, "query": ""})).status_code for n in "ab"]
    assert views == [201, 409]


def test_the_client_and_the_command_line_do_the_same(commented: Finished, capsys: pytest.CaptureFixture[str]) -> None:
    """A program and a terminal write, list and delete the comments that the pages show."""
    name, other = names_of(commented)[:2]
    with service_over(commented.home) as service, at_address(service) as url, Client(url, who="ana") as client:
        run = client.find(commented.run)
        comment = run.comment(name, "From a program.")
        assert comment["who"] == "ana"
        assert [one["text"] for one in run.comments(name)] == ["From a program."]
        assert list(run.comments(other)) == []
        assert run.name_view("low of sim/weak", "order=low")["query"] == "order=low"
        assert [view["name"] for view in run.views()] == ["low of sim/weak"]
        assert run.delete_view("low of sim/weak")["name"] == "low of sim/weak"
        with pytest.raises(NotFound):
            run.delete_comment(99)
        with pytest.raises(InputError):
            run.comment(name, "")

    def told(*words: str, code: int = 0) -> str:
        capsys.readouterr()
        assert command(["annotate", *words, "--home", str(commented.home)]) == code
        out, errors = capsys.readouterr()
        return out + errors

    assert told("comment", commented.run, name, "By hand.", "--who", "bob") == f"comment 2 on {name}\n"
    listed = json.loads(told("comments", commented.run, "--json"))["comments"]
    assert [one["who"] for one in listed] == ["ana", "bob"]
    assert told("delete-comment", commented.run, "1") == f"comment 1 on {name} is deleted\n"
    assert "By hand." in told("comments", commented.run, "--sample", name)
    assert told("comments", commented.run, "--sample", other) == "no comments\n"
    assert "has no sample 'nobody'" in told("comment", commented.run, "nobody", "x", code=2)


async def test_comments_are_exported_and_go_with_their_run(commented: Finished) -> None:
    """Every row of the sample has them, a run without comments has no such column, and a deleted run leaves none."""
    name = names_of(commented)[0]
    with Home.open(commented.home, write=True) as home:
        run = get_run(home, commented.run)
        assert "comments" not in (await export_rows(home, run)).columns
        await stored.keep_comment(home, run.id, name, "Odd.", who="ana")
        await stored.keep_view(home, run.id, "odd", "comments=yes", who="ana")
        rows = (await export_rows(home, run)).rows
        comments = {row["id"]: row["comments"] for row in rows}
        (comment,) = cast("list[str]", comments.pop(name))
        assert re.fullmatch(r"ana, [0-9T:+-]+: Odd\.", comment)
        assert set(comments.values()) == {None}
        assert comment_counts(home, run.id) == {name: 1}
        await delete_run(home, run.id)
        assert not comments_on(home, run.id)
        assert not views_of(home, run.id)


async def test_a_view_reopens_what_it_names(writing: httpx.AsyncClient, commented: Finished) -> None:
    """The link of a view leads to the list with its filter, its order and its models."""
    path = f"/runs/{commented.run}"
    query = "order=low&by=sim/weak&answer=wrong&show=sim/weak"
    await writing.post(f"/api{path}/views", json={"name": "weak & wrong", "query": query})
    page = (await writing.get(f"{path}/samples")).text
    link = unescape(re.findall(r'<a href="([^"]+)">weak &amp; wrong</a>', page)[0])
    opened = (await writing.get(link)).text
    assert 'aria-sort="ascending"' in opened
    assert opened.count('class="number"') == 1
