"""Peer reviews end to end: agreed, divided, incomplete, repaired, resumed, and who came from where."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest
from PIL import Image

from dokimasia.domain.call import ChatReply, ModelCall, ModelReply, ModelSpec
from dokimasia.domain.ports import BlobStore, Transport
from dokimasia.domain.review import Candidate, PeerReview, PeerVote, ReviewRecord
from dokimasia.errors import ConfigError, DataError, Interrupted
from dokimasia.methods.review import METHOD, ReviewRequest, items
from dokimasia.prompts import recognise
from dokimasia.runs.lifecycle import RunResult, run
from dokimasia.runs.reading.reporting import Format, write_report
from dokimasia.runs.services import Stop
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.reviews import golden_captions, made_values
from dokimasia.storage.runs import get_run

PANEL = ("sim/panel-a", "sim/panel-b", "sim/panel-c")

Say = Callable[[str, str, Mapping[str, str], int], str]
"""From the member, the prompt, its inputs and how often this was asked to what the member says."""


class Panel:
    """A transport whose members say what a function says; it keeps what they were asked and may stop a run."""

    def __init__(self, say: Say, *, stop: Stop | None = None, after: int = 10**9) -> None:
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        self._say, self._stop, self._after = say, stop, after

    async def send(self, call: ModelCall, spec: ModelSpec, *, api_key: str | None, blobs: BlobStore) -> ModelReply:
        assert call.kind == "chat"
        request = recognise(call.messages)
        assert request is not None
        member = spec.ref.name
        assert len(request.images) == 1, "every member sees the image at every step"
        before = sum((member, request.name) == (name, prompt) for name, prompt, _ in self.asked)
        self.asked.append((member, request.name, {**request.inputs, "problem": request.problem or ""}))
        if self._stop is not None and len(self.asked) >= self._after:
            self._stop.ask()
        await asyncio.sleep(0.002)
        return ChatReply(text=self._say(member, request.name, request.inputs, before), finish_reason="stop")

    async def aclose(self) -> None:
        """Close nothing."""


def texts_of(inputs: Mapping[str, str]) -> list[str]:
    return [row["text"] for row in orjson.loads(inputs["candidates"])]


def reviewed(n: int, rewrite: str) -> str:
    ranking = ", ".join(map(str, range(1, n + 1)))
    return f"<analysis></analysis><ranking>{ranking}</ranking><rewrite>{rewrite}</rewrite>"


def voted(number: int) -> str:
    return f"<analysis></analysis><best_candidate_id>{number}</best_candidate_id><rationale>it is</rationale>"


def each_for(choose: Callable[[str, list[str]], str]) -> Say:
    """Members who write texts of their own and vote for the text that a function chooses of those shown."""

    def say(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        if prompt == "describe":
            return f"The dog of {member} sleeps. A red ball lies there."
        texts = texts_of(inputs)
        if prompt == "peer_review":
            kept = next(text for text in texts if member in text)
            return reviewed(len(texts), f"{kept} Snow falls in the yard of {member}.")
        return voted(texts.index(choose(member, texts)) + 1)

    return say


def write_images(folder: Path, count: int = 1, *, green: int = 90) -> Path:
    """A data file of nothing but ids and images."""
    rows: list[bytes] = []
    for number in range(count):
        Image.new("RGB", (8, 6), (number, green, 30)).save(folder / f"{number}.png")
        rows.append(orjson.dumps({"id": f"s{number}", "image": f"{number}.png"}))
    path = folder / "images.jsonl"
    path.write_bytes(b"\n".join(rows) + b"\n")
    return path


def review(settings: Settings, data: Path, transport: Transport | Panel, **changes: Any) -> RunResult:
    request = ReviewRequest.model_validate({"data": data, "panel": PANEL, **changes})
    return asyncio.run(run(METHOD, request, settings=settings, transports={"sim": transport}))


def items_of(settings: Settings, result: RunResult) -> list[dict[str, Any]]:
    with Home.open(settings.home, write=False) as home:
        return list(items(home, get_run(home, result.run)))


def agreeable(_: str, texts: list[str]) -> str:
    return next(text for text in texts if PANEL[1] in text)


def vain(member: str, texts: list[str]) -> str:
    return next(text for text in texts if member in text)


def test_agreed(tmp_path: Path, settings: Settings) -> None:
    """A unanimous vote ends the review after one cycle, and its text is golden, with the origin of every sentence."""
    data, panel = write_images(tmp_path), Panel(each_for(agreeable))
    result = review(settings, data, panel)
    (item,) = items_of(settings, result)
    assert item["record"]["verdict"] == "accepted"
    assert item["record"]["cycles"] == 1
    golden = item["golden"]
    assert (golden["author"], golden["agreement"], golden["votes"]) == (PANEL[1], "unanimous", 3)
    dog, ball, snow = golden["origins"]
    assert (dog["author"], dog["cycle"], dog["also"]) == (PANEL[1], 0, [])
    assert (ball["author"], ball["cycle"], ball["also"]) == (PANEL[0], 0, [PANEL[1], PANEL[2]])
    assert (snow["author"], snow["cycle"]) == (PANEL[1], 1)
    assert len(panel.asked) == 9
    assert result.summary["accepted"]["k"] == 1
    assert result.summary["golden"]["in_draft_of"] == {PANEL[0]: 1, PANEL[1]: 2, PANEL[2]: 1}
    assert result.summary["golden"]["only_in_draft_of"] == {PANEL[0]: 0, PANEL[1]: 1, PANEL[2]: 0}


def test_no_names_and_orders_of_their_own(tmp_path: Path, settings: Settings) -> None:
    """Every member is shown numbered texts alone, in orders that differ by member, cycle and step, and by seed."""

    def anonymous(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        letter = member[-1]
        if prompt == "describe":
            return f"Draft {letter}."
        texts = texts_of(inputs)
        return (
            reviewed(3, f"Better {letter}.") if prompt == "peer_review" else voted(texts.index(f"Better {letter}.") + 1)
        )

    data = write_images(tmp_path, 6)
    panel = Panel(anonymous)
    result = review(settings, data, panel)
    shown = [inputs["candidates"] for _, prompt, inputs in panel.asked if prompt != "describe"]
    assert not any(name in text for text in shown for name in (*PANEL, "panel"))
    orders = {tuple(text[0] + text[-2] for text in texts_of({"candidates": one})) for one in shown}
    assert len(orders) == 12, "all orders of three drafts, and of three rewrites, occur"
    with Home.open(settings.home, write=False) as home:
        candidates = {made.id: one for made, one in made_values(home, result.run, Candidate)}
        votes = [vote for _, vote in made_values(home, result.run, PeerVote)]
        reviews = [one for _, one in made_values(home, result.run, PeerReview)]
    assert all(candidates[vote.choice].author == vote.voter for vote in votes), "authorship is mapped back"
    assert all(candidates[one.rewrite].author == one.reviewer for one in reviews)
    assert all(one.ranking == one.shown for one in reviews)
    again = Panel(anonymous)
    review(settings, data, again, seed=1)
    assert {prompt for _, prompt, _ in again.asked} == {"peer_review", "peer_vote"}, "drafts do not depend on the seed"


def test_never_agrees(tmp_path: Path, settings: Settings) -> None:
    """A panel that is still divided after the last cycle discards the sample, and keeps all that was written and why."""
    data, panel = write_images(tmp_path), Panel(each_for(vain))
    result = review(settings, data, panel)
    (item,) = items_of(settings, result)
    record = item["record"]
    assert (record["verdict"], record["cycles"], item["golden"]) == ("discarded", 2, None)
    assert record["reason"] == "still divided after cycle 2: votes 1, 1, 1"
    assert (len(record["candidates"]), len(record["reviews"]), len(record["votes"])) == (9, 6, 6)
    assert len(panel.asked) == 15
    assert result.summary["discarded"]["k"] == 1
    assert result.summary["self_preference"]["votes"]["panel"]["difference"] == 1.0
    second = [inputs for _, prompt, inputs in panel.asked if prompt == "peer_review"][3:]
    assert all("Snow falls" in text for inputs in second for text in texts_of(inputs)), "rewrites replace candidates"


def test_majority(tmp_path: Path, settings: Settings) -> None:
    """With a majority the sample is accepted after the last cycle alone, and marked so; by default it is discarded."""

    def two_of_three(member: str, texts: list[str]) -> str:
        return vain(member, texts) if member == PANEL[0] else agreeable(member, texts)

    data = write_images(tmp_path)
    accepted = review(settings, data, Panel(each_for(two_of_three)), accept="majority")
    (item,) = items_of(settings, accepted)
    assert (item["golden"]["agreement"], item["golden"]["votes"], item["golden"]["cycle"]) == ("majority", 2, 2)
    assert accepted.summary["agreement"] == {"majority": 1}
    strict = review(settings, data, Panel(each_for(two_of_three)))
    assert strict.summary["verdicts"]["discarded"] == 1


def test_equal_texts_are_one(tmp_path: Path, settings: Settings) -> None:
    """Members who wrote the same text word for word agree, whichever of its copies they vote for."""

    def say(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        if prompt == "describe":
            return "A dog."
        return reviewed(3, "A dog sleeps.") if prompt == "peer_review" else voted(1)

    result = review(settings, write_images(tmp_path), Panel(say))
    assert result.summary["verdicts"]["accepted"] == 1
    assert result.summary["self_preference"]["votes"]["panel"]["n"] == 0, "a text of all says nothing of vanity"


def test_vote_for_candidate_seven_of_three(tmp_path: Path, settings: Settings) -> None:
    """A vote for a candidate that there is not goes back once with the reason; repeated, the sample is incomplete."""
    honest = each_for(agreeable)

    def sloppy(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        wrong = prompt == "peer_vote" and member == PANEL[2] and before == 0
        return voted(7) if wrong else honest(member, prompt, inputs, before)

    def stubborn(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        wrong = prompt == "peer_vote" and member == PANEL[2]
        return voted(7) if wrong else honest(member, prompt, inputs, before)

    data, mended = write_images(tmp_path), Panel(sloppy)
    assert review(settings, data, mended).summary["verdicts"]["accepted"] == 1
    assert [inputs["problem"] for _, _, inputs in mended.asked if inputs["problem"]] == [
        "the vote is for candidate 7, but the candidates are 1 to 3"
    ]
    result = review(settings, write_images(tmp_path, 2, green=7), Panel(stubborn))
    summary = result.summary
    assert summary["verdicts"] == {"accepted": 0, "discarded": 0, "incomplete": 2}
    assert summary["failures"] == {"unparsable": 2}
    assert summary["failed_members"] == {PANEL[2]: 2}
    assert summary["accepted"]["bounds"] == {"low": 0.0, "high": 1.0}, "an incomplete review says nothing of agreement"
    with Home.open(settings.home, write=False) as home:
        rows = results(home, result.run)
        records = [record for _, record in made_values(home, result.run, ReviewRecord)]
    assert {row.failure for row in rows} == {"unparsable"}
    assert all(len(record.candidates) == 6 and len(record.votes) == 2 for record in records), "what was written is kept"


def test_refusing_member(tmp_path: Path, settings: Settings) -> None:
    """A member that refuses to describe makes the review incomplete, never divided."""
    honest = each_for(agreeable)

    def prudish(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        return (
            "I'm sorry, but I can't help with that." if member == PANEL[0] else honest(member, prompt, inputs, before)
        )

    result = review(settings, write_images(tmp_path), Panel(prudish))
    assert result.summary["failures"] == {"refused": 1}
    (item,) = items_of(settings, result)
    assert (item["record"]["failed_member"], item["record"]["cycles"]) == (PANEL[0], 0)


def test_long_captions(tmp_path: Path, settings: Settings) -> None:
    """A golden caption of 3,400 words is kept and traced whole."""
    body = " ".join(f"Thing {number} stands in row {number // 7} beside post {number * 3}." for number in range(340))

    def verbose(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        if prompt == "describe":
            return f"{body} Seen by {member[-1]}."
        texts = texts_of(inputs)
        best = next(text for text in texts if text.endswith("by b."))
        return reviewed(3, best) if prompt == "peer_review" else voted(texts.index(best) + 1)

    result = review(settings, write_images(tmp_path), Panel(verbose))
    (item,) = items_of(settings, result)
    assert result.summary["golden"]["words"]["max"] > 3_000
    assert len(item["golden"]["origins"]) == 341
    assert item["golden"]["origins"][-1]["author"] == PANEL[1]


def test_another_request(tmp_path: Path, settings: Settings) -> None:
    """--prompt is what drafts are asked for and what reviewers are told; the data's own questions are not asked."""
    data, panel = write_images(tmp_path), Panel(each_for(agreeable))
    data.write_bytes(data.read_bytes().replace(b'"id"', b'"prompt":"What is it?","id"'))
    review(settings, data, panel, prompt="Copy every word.")
    assert {inputs["request"] for _, _, inputs in panel.asked} == {"Copy every word."}
    plain = Panel(each_for(agreeable))
    review(settings, data, plain)
    assert all("request" not in inputs for _, prompt, inputs in plain.asked if prompt != "describe")
    assert not any("What is it?" in str(inputs) for _, _, inputs in plain.asked)


def test_a_panel_of_one_or_of_doubles(tmp_path: Path, settings: Settings) -> None:
    """One model cannot agree with itself, and no model sits twice under one name; both are said before anything is asked."""
    data, panel = write_images(tmp_path), Panel(each_for(vain))
    for named, told in ((PANEL[:1], "two or more"), ((PANEL[0], PANEL[0]), "twice"), ((), "two or more")):
        with pytest.raises(ConfigError, match=told):
            review(settings, data, panel, panel=named)
    assert panel.asked == []


def test_sixty_megapixels_and_no_image(tmp_path: Path, settings: Settings) -> None:
    """An image of 60 megapixels, or none, is named with its line; with skip the others are reviewed."""
    data = write_images(tmp_path, 2)
    Image.new("1", (10_000, 6_000)).save(tmp_path / "huge.png")
    rows = [{"id": "huge", "image": "huge.png"}, {"id": "text", "prompt": "no image"}]
    data.write_bytes(data.read_bytes() + b"\n".join(map(orjson.dumps, rows)) + b"\n")
    with pytest.raises(DataError, match="huge"):
        review(settings, data, Panel(each_for(agreeable)))
    result = review(settings, data, Panel(each_for(agreeable)), on_bad_sample="skip")
    assert result.summary["n"] == 2
    assert any("text" in one for one in result.summary["skipped"])
    assert any("huge" in one for one in result.summary["skipped"])


def test_golden_captions_are_there_for_others(tmp_path: Path, settings: Settings) -> None:
    """Golden captions can be asked for by run, in the order of the data, each with an id of its own."""
    result = review(settings, write_images(tmp_path, 3), Panel(each_for(agreeable)))
    with Home.open(settings.home, write=False) as home:
        rows = golden_captions(home, result.run)
    assert [row.sample_id for row in rows] == ["s0", "s1", "s2"]
    assert len({row.id for row in rows}) == 3
    assert all(row.caption.text.startswith("The dog") for row in rows)


def test_checkpoints_hold_ids_alone(tmp_path: Path, settings: Settings) -> None:
    """No text of any member, image or prompt lies in the checkpoints of an interrupted review."""
    stop = Stop()
    panel = Panel(each_for(vain), stop=stop, after=8)
    request = ReviewRequest(data=write_images(tmp_path), panel=PANEL)
    with pytest.raises(Interrupted):
        asyncio.run(run(METHOD, request, settings=settings, stop=stop, transports={"sim": panel}))
    kept = b"".join(path.read_bytes() for path in settings.home.glob("checkpoints.db*"))
    assert b"seats" in kept
    assert b"red ball" not in kept
    assert b"candidate descriptions" not in kept


@pytest.mark.parametrize("format", ["html", "md"])
def test_report(tmp_path: Path, settings: Settings, format: Format) -> None:
    """A review has a report, whose figures are those of the summary and whose captions are marked unverified."""
    result = review(settings, write_images(tmp_path, 2), Panel(each_for(agreeable)))
    with Home.open(settings.home, write=False) as home:
        output = tmp_path / f"report.{format}"
        asyncio.run(write_report(home, get_run(home, result.run), output=output))
    text = output.read_text()
    assert "Simulated models" in text
    assert "Peer review" in text
    assert "2 of 2 captions are unverified" in text
    assert text.count("sim/panel-b") >= 2
