"""One's own data in the form of a new run: uploads by their names, and what of them cannot be used with the way out."""

import io
import json
import re
import zipfile
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from dokimasia.service.data_preview import check_upload
from dokimasia.service.uploads import RequestFiles
from tests.service.test_models_page import faults
from tests.service.working import Working, working

BROWSER = {"accept": "text/html"}
COLOURS = ("red", "green", "blue", "yellow", "black")


@pytest.fixture
async def at_work(tmp_path: Path) -> AsyncIterator[Working]:
    """A service at work over an empty home, to which only uploads are data."""
    async with working(tmp_path / "home") as at:
        yield at


def png(colour: str) -> bytes:
    """A small picture of one colour."""
    out = io.BytesIO()
    Image.new("RGB", (32, 24), colour).save(out, "PNG")
    return out.getvalue()


IMAGES = {f"images/{one}.png": png(one) for one in COLOURS}


def lines(**names: str) -> bytes:
    """A data set of five questions on five images; names of fields may be others than they should be."""
    return b"".join(
        json.dumps(
            {
                "id": f"q{number}",
                names.get("prompt", "prompt"): "What colour is it?",
                "reference_answer": colour,
                "images": [f"images/{colour}.png"],
            }
        ).encode()
        + b"\n"
        for number, colour in enumerate(COLOURS)
    )


async def uploaded(at: Working, *, packed: str = "", **files: bytes) -> dict[str, Any]:
    """What an upload is answered with; `packed` is the name of the ZIP that the files come in."""
    if not packed:
        reply = await at.client.post("/api/uploads", files=[("file", one) for one in files.items()])
        return reply.json()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return (await at.client.post("/api/uploads", files={"file": (packed, out.getvalue())})).json()


async def told(at: Working, do: str, **fields: str) -> str:
    """The page of the form after a button of it was pressed."""
    asked = {"models": "sim/strong", "judge": "sim/judge", "do": do, **fields}
    return unescape((await at.client.post("/new/evaluate", data=asked, headers=BROWSER)).text)


async def test_five_images_are_looked_at_estimated_and_judged(at_work: Working) -> None:
    """A ZIP with data and five images is shown with them, estimated with its prompts, begun and finished."""
    kept = await uploaded(at_work, packed="colours.zip", **{"data.jsonl": lines(), **IMAGES})
    assert re.fullmatch(r"upload:colours@[0-9a-f]{8}", kept["called"])
    looked = await told(at_work, "data", data=kept["called"])
    assert looked.count("<article") == looked.count('<img src="data:image') == 5
    assert 'class="notice' not in looked.split("<main")[1]
    estimated = await told(at_work, "estimate", data=kept["called"], name="colours")
    assert "dokimasia evaluate data.jsonl" in estimated
    assert " --name colours" in estimated
    assert "as they would be sent" in estimated
    asked = {"models": "sim/strong", "judge": "sim/judge", "do": "start", "data": kept["called"]}
    begun = await at_work.client.post("/new/evaluate", data=asked, headers=BROWSER)
    run = begun.headers["location"].rpartition("/")[2]
    assert (await at_work.ended(run))["status"] == "done"
    again = unescape((await at_work.client.get(f"/new/evaluate?from={run}")).text)
    assert f'value="{kept["called"]}"' in again


async def test_the_estimate_of_a_review_counts_people_and_shows_prompts(at_work: Working) -> None:
    """What a person would be asked is counted apart from calls, and every kind of prompt is shown."""
    kept = await uploaded(at_work, packed="colours.zip", **{"data.jsonl": lines(), **IMAGES})
    asked = {"data": kept["called"], "panel": ["sim/panel-a", "sim/panel-b", "human/dana"], "do": "estimate"}
    page = unescape((await at_work.client.post("/new/review", data=asked, headers=BROWSER)).text)
    assert re.search(r"human/dana <span[^>]*>a person</span></th><td[^>]*>\d+ questions", page)
    assert "Questions to people at most" in page
    for prompt in ("describe", "peer_review", "peer_vote"):
        assert f"<summary>{prompt}</summary>" in page
    assert "(description 3)" in page


@pytest.mark.parametrize("do", ["data", "estimate"])
async def test_one_of_several_data_files_is_offered(at_work: Working, do: str) -> None:
    """Of an upload with two data files the sentence names both, and a button chooses one, which is looked at."""
    files = {"data.jsonl": lines(), "other.jsonl": lines(), **IMAGES}
    kept = await uploaded(at_work, packed="two.zip", **files)
    page = await told(at_work, do, data=kept["called"])
    assert f"the upload 'two' holds 2 data files: name one of {kept['called']}/data.jsonl" in page
    offered = re.findall(r'name="data_file" value="([^"]*)"', page)
    assert offered == [f"{kept['called']}/data.jsonl", f"{kept['called']}/other.jsonl"]
    chosen = await told(at_work, do, data=kept["called"], data_file=offered[1])
    assert f'name="data" value="{offered[1]}"' in chosen
    assert chosen.count("<article") == 5


@pytest.mark.parametrize("do", ["data", "estimate"])
async def test_missing_images_are_named_with_what_to_upload(at_work: Working, do: str) -> None:
    """Data without their images say of each line which image is missing in which upload, and what to upload."""
    kept = await uploaded(at_work, **{"data.jsonl": lines()})
    page = await told(at_work, do, data=kept["called"])
    assert "there is no image file 'images/red.png' in the upload data.jsonl" in page
    assert "Upload the data and these images together" in page


async def test_faults_of_the_data_are_shown_with_all_others(at_work: Working) -> None:
    """Too few models for an arena, a judge that does not exist and data without images are all said in one round."""
    kept = await uploaded(at_work, **{"data.jsonl": lines()})
    asked = {"data": kept["called"], "models": "sim/strong", "judge": "sim/nobody", "do": "estimate"}
    page = (await at_work.client.post("/new/arena", data=asked, headers=BROWSER)).text
    beside = faults(page)
    assert set(beside) == {"data", "models", "judge"}
    assert "there is no image file 'images/red.png'" in beside["data"]
    assert "an arena is of 3 models or more" in beside["models"]


async def test_tree_name_and_data_are_corrected_in_one_round(at_work: Working) -> None:
    """A tree that does not exist, a name that is taken and unreadable data are said together; what was typed stays."""
    kept = await uploaded(at_work, packed="colours.zip", **{"data.jsonl": lines(), **IMAGES})
    asked = {"data": kept["called"], "models": "sim/strong", "judge": "sim/judge", "name": "taken"}
    begun = await at_work.client.post("/new/evaluate", data={**asked, "do": "start"}, headers=BROWSER)
    await at_work.ended(begun.headers["location"].rpartition("/")[2])
    wrong = {**asked, "models": "sim/weak", "tree": "nowhere", "max_cost": "-1"}
    for do in ("start", "estimate"):
        page = (await at_work.client.post("/new/evaluate", data={**wrong, "do": do}, headers=BROWSER)).text
        assert set(faults(page)) == {"tree", "max_cost", "name"}
        assert 'value="nowhere"' in page
        assert 'value="taken"' in page
        assert str(at_work.service.home.path) not in page
    page = (await at_work.client.post("/new/evaluate", data={**wrong, "data": "upload:no"}, headers=BROWSER)).text
    assert set(faults(page)) == {"data", "tree", "max_cost", "name"}
    page = (await at_work.client.post("/new/evaluate", data={**asked, "max_cost": "-1"}, headers=BROWSER)).text
    assert set(faults(page)) == {"max_cost"}, "the run itself may keep its name"
    page = (
        await at_work.client.post("/new/diagnosis", data={"run": "no-run", "tree": "no-tree"}, headers=BROWSER)
    ).text
    assert set(faults(page)) == {"run", "tree", "judge"}


async def test_missing_images_are_named_on_the_page_of_data(at_work: Working) -> None:
    """A data set says at once which of its images are missing and what to upload; a complete one says nothing."""
    incomplete = await uploaded(at_work, **{"data.jsonl": lines(), "images/red.png": png("red")})
    complete = await uploaded(at_work, packed="colours.zip", **{"data.jsonl": lines(), **IMAGES})
    listed = (await at_work.client.get("/data", headers=BROWSER)).text
    told = {}
    for kept in (incomplete, complete):
        assert f'hx-get="/data/{kept["id"]}/check"' in listed
        told[kept["id"]] = unescape((await at_work.client.get(f"/data/{kept['id']}/check", headers=BROWSER)).text)
    assert told[complete["id"]].strip() == ""
    missing = told[incomplete["id"]]
    assert "4 of 5 samples name images that are not in this data set: images/green.png, images/blue.png" in missing
    assert "images/red.png" not in missing
    alone = await uploaded(at_work, **{"alone.jsonl": lines()})
    told_alone = (await at_work.client.get(f"/data/{alone['id']}/check", headers=BROWSER)).text
    assert "5 of 5 samples name images that are not in this data set" in told_alone
    assert "Upload the data and these images together" in missing


async def test_images_alone_are_called_after_themselves(at_work: Working) -> None:
    """Several images are an upload called after the first of them; what they lack, a question, is said of that name."""
    kept = await uploaded(at_work, **{f"{one}.png": png(one) for one in COLOURS})
    assert kept["name"] == "black.png and 4 more"
    page = await told(at_work, "estimate", data=kept["called"])
    assert "the upload black.png and 4 more is a folder of images, which ask nothing" in page
    assert "samples have no question" in await told(at_work, "data", data=kept["called"])
    page = await told(at_work, "estimate", data=kept["called"], prompt="What colour is it?")
    assert "dokimasia evaluate black.png-and-4-more" in page


async def test_a_question_under_another_name_is_pointed_to(at_work: Working) -> None:
    """Samples whose question has another name say which fields there are, in the look and in the estimate."""
    kept = await uploaded(at_work, packed="names.zip", **{"data.jsonl": lines(prompt="question"), **IMAGES})
    looked = await told(at_work, "data", data=kept["called"])
    assert "5 samples have no question. Among its other fields (question) may be the question" in looked
    estimated = await told(at_work, "estimate", data=kept["called"])
    assert "the field 'prompt' is missing (there are 'images', 'question'" in estimated


async def test_fields_under_other_names_are_named_with_those_that_may_be_meant(at_work: Working) -> None:
    """Where all fields have other names, each is paired with the one that may be meant, and what is alike is said once."""
    row = {"picture": "images/red.png", "question": "What colour is it?", "answer": "red"}
    data = b"".join(json.dumps({"identifier": f"q{at}", **row}).encode() + b"\n" for at in range(8))
    kept = await uploaded(at_work, packed="names.zip", **{"data.jsonl": data, **IMAGES})
    page = await told(at_work, "data", data=kept["called"])
    assert (
        "line 1: the field 'id' is missing; there are 'answer', 'identifier', 'picture', 'question': did you mean "
        "id by 'identifier', image by 'picture', prompt by 'question', reference_answer by 'answer'?"
    ) in page
    assert "The same is wrong with lines 2, 3, 4, 5, 6, 7, 8." in page
    assert page.count("the field 'id' is missing") == page.count("the field 'prompt' is missing") == 1


async def test_a_look_applies_the_columns_of_the_form(at_work: Working) -> None:
    """A CSV without `id` names the field "Columns" and lists its columns; a look with that field filled in shows it."""
    data = b"topic,question,answer,picture\nred,What colour?,red,images/red.png\nblue,And this?,blue,images/blue.png\n"
    sent = await uploaded(at_work, packed="topics.zip", **{"data.csv": data, **IMAGES})
    bare = await told(at_work, "data", data=sent["called"])
    assert (
        "the first line names no column 'id'; there are 'topic', 'question', 'answer', 'picture': did you mean image by "
        "'picture'?; id=COLUMN in “Columns” names another"
    ) in bare
    assert "--map" not in bare.split("The data")[-1]
    named = await told(at_work, "data", data=sent["called"], columns="id=topic, image=picture, prompt={question} Say.")
    assert named.count("<article") == named.count('<img src="data:image') == 2
    assert "And this? Say." in named
    first = await told(at_work, "data", data=sent["called"], columns="id=topic, image=picture", limit="1")
    assert first.count("<article") == 1
    wrong = await told(at_work, "data", data=sent["called"], columns="id=theme")
    assert "has no column 'theme', which “Columns” names; it has topic, question, answer, picture" in wrong


async def test_what_is_wrong_with_a_model_names_the_way_out(at_work: Working) -> None:
    """A model that there is not, and one whose key is missing, say what to do before anything is begun."""
    kept = await uploaded(at_work, packed="colours.zip", **{"data.jsonl": lines(), **IMAGES})
    page = await told(at_work, "estimate", data=kept["called"], models="sim/stronk")
    assert "did you mean 'sim/strong'" in page
    assert '<a href="/models">The page Models</a> lists all' in page
    assert "dokimasia models" not in page
    page = await told(at_work, "estimate", data=kept["called"], models="openai/gpt-5")
    assert "OPENAI_API_KEY" in page, page.split("<main")[1][-3000:]


async def test_a_run_leads_to_its_data_set(at_work: Working) -> None:
    """The page of a run over an upload has a link to that upload, which lists the run."""
    kept = await uploaded(at_work, packed="mine.zip", **{"data.jsonl": lines(), **IMAGES})
    request = {"data": kept["called"], "judge": "sim/judge", "models": ["sim/weak"], "limit": 1}
    run = (await at_work.client.post("/api/runs/evaluate", json=request)).json()["id"]
    await at_work.ended(run)
    page = (await at_work.client.get(f"/runs/{run}?wait=true", headers=BROWSER)).text
    assert f'<a href="/data#data-{kept["id"]}">its data</a>' in page
    listed = (await at_work.client.get("/data", headers=BROWSER)).text
    assert f'id="data-{kept["id"]}"' in listed
    assert f'href="/runs/{run}"' in listed
    name = listed.partition(f'id="data-{kept["id"]}"')[2].partition("</th>")[0]
    assert f'<a href="/runs/{run}/samples"' in name, "the name leads to the samples, and the form has a link of its own"
    assert "Evaluate models on it" in name


async def test_an_upload_is_called_after_its_data(at_work: Working) -> None:
    """A table and a workbook of one name, uploaded with an image, are two choices; the upload has the name of the first."""
    reply = await at_work.client.post(
        "/api/uploads",
        files=[
            ("file", ("a.png", png("red"))),
            ("file", ("my.csv", b"id,prompt\na,What?\n")),
            ("file", ("my.xlsx", b"PK")),
        ],
    )
    assert reply.json()["name"] == "my.csv and 2 more"
    page = await told(at_work, "data", data=reply.json()["called"])
    offered = re.findall(r'name="data_file" value="[^"]*/([^"/]*)"', page)
    assert offered == ["my.csv", "my.xlsx"]


async def test_a_changed_group_stays_open(at_work: Working) -> None:
    """A fold in which something was entered is open on the page that comes back; on a blank form all are folded."""

    def opened(page: str) -> dict[str, bool]:
        groups = re.findall(r'<details class="group"( open)?><summary>([^<]*)', page)
        return {title.strip(): bool(open) for open, title in groups}

    blank = (await at_work.client.get("/new/evaluate", headers=BROWSER)).text
    assert opened(blank)
    assert not any(opened(blank).values())
    assert opened(await told(at_work, "data", max_cost="5"))["Limits"]


async def test_an_upload_is_checked_when_it_arrives(at_work: Working) -> None:
    """Bad rows and missing columns are said in the reply, with file, line and way out, and on the page of data."""
    bad = b'{"id": "a", "prompt": "What?"}\nzz\n{"prompt": "no id"}\n'
    kept = await uploaded(at_work, **{"q.jsonl": bad})
    check = kept["check"]
    assert (check["rows"], check["samples"], check["complete"]) == (3, 1, True)
    assert check["faults"][0].startswith("q.jsonl, line 2:")
    assert any(fault.startswith("q.jsonl, line 3:") and "'id'" in fault for fault in check["faults"])
    part = unescape((await at_work.client.get(f"/data/{kept['id']}/check", headers=BROWSER)).text)
    assert "What cannot be used of it as data" in part
    assert "q.jsonl, line 2:" in part
    listed = (await at_work.client.get("/data", headers=BROWSER)).text
    assert f'href="/data/{kept["id"]}"' in listed
    assert " --" not in part


async def test_an_upload_that_is_no_data_set_says_so(at_work: Working) -> None:
    """A table without the columns of a data set is kept, since a form may take it, and says what is missing."""
    kept = await uploaded(at_work, **{"ratings.csv": b"person,score\nann,3\nben,4\n"})
    assert kept["check"]["samples"] == 0
    assert kept["check"]["faults"]
    part = unescape((await at_work.client.get(f"/data/{kept['id']}/check", headers=BROWSER)).text)
    assert "No sample of it can be used as data" in part
    assert "the form that takes it checks it" in part
    whole = await uploaded(at_work, packed="colours.zip", **{"data.jsonl": lines(), **IMAGES})
    assert whole["check"]["faults"] == []
    assert whole["check"]["samples"] == 5


async def test_the_page_of_a_data_set_shows_its_rows(at_work: Working) -> None:
    """Look leads to the samples with their images and questions; each data file of several can be looked at."""
    kept = await uploaded(at_work, packed="colours.zip", **{"data.jsonl": lines(), **IMAGES})
    page = unescape((await at_work.client.get(f"/data/{kept['id']}", headers=BROWSER)).text)
    assert page.count("<article") == page.count('<img src="data:image') == 5
    assert "What colour is it?" in page
    assert 'class="notice' not in page.split("<main")[1]
    two = await uploaded(at_work, packed="two.zip", **{"data.jsonl": lines(), "other.jsonl": b"zz\n", **IMAGES})
    page = unescape((await at_work.client.get(f"/data/{two['id']}", headers=BROWSER)).text)
    assert f'href="/data/{two["id"]}?file=other.jsonl"' in page
    assert "other.jsonl, line 1:" in page
    assert (await at_work.client.get(f"/data/{two['id']}?file=../about.json", headers=BROWSER)).status_code == 422
    assert (await at_work.client.get("/data/none", headers=BROWSER)).status_code == 404


async def test_the_check_of_an_upload_is_bounded_in_rows_and_time(at_work: Working) -> None:
    """Rows beyond the bound, and all after the time, are left unread, and the check says that it is incomplete."""
    many = b"".join(b'{"id": "q%d", "prompt": "What?"}\n' % number for number in range(50))
    kept = await uploaded(at_work, **{"many.jsonl": many})
    places = RequestFiles(at_work.service.home)
    upload = places.uploads.get(kept["id"])
    first = check_upload(places, upload, rows=20)
    assert (first.rows, first.complete) == (20, False)
    assert check_upload(places, upload, rows=50).complete
    ticks = iter(range(1000))
    timed = check_upload(places, upload, seconds=10, clock=lambda: float(next(ticks)))
    assert (timed.rows, timed.complete) == (9, False)
