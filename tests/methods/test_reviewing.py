"""Peer reviews end to end: agreed, divided, kept, turns lost, incomplete, repaired, resumed, and who came from where."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import orjson
import pytest
from PIL import Image

from dokimasia.domain.call import ChatReply, ModelCall, ModelReply, ModelSpec
from dokimasia.domain.ports import BlobStore, Transport
from dokimasia.domain.review import Candidate, LostTurn, PeerReview, PeerVote
from dokimasia.errors import ConfigError, DataError, Interrupted, TransportError
from dokimasia.methods.review import METHOD, ReviewRequest
from dokimasia.methods.review.figures import review_items
from dokimasia.methods.review.report import conclusion, section
from dokimasia.prompts import recognise
from dokimasia.report.blocks import Table, plain
from dokimasia.report.data import ReportData
from dokimasia.runs.lifecycle import RunResult, resume, run
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


def analysis(n: int) -> str:
    critiques = (f"<candidate_{number}_critique>so so</candidate_{number}_critique>" for number in range(1, n + 1))
    return f"<analysis>{''.join(critiques)}</analysis>"


def reviewed(n: int, rewrite: str) -> str:
    ranking = ", ".join(map(str, range(1, n + 1)))
    return f"{analysis(n)}<ranking>{ranking}</ranking><rewrite>{rewrite}</rewrite>"


def kept(n: int, number: int) -> str:
    ranking = ", ".join(map(str, sorted(range(1, n + 1), key=lambda one: one != number)))
    return f"{analysis(n)}<ranking>{ranking}</ranking><keep>{number}</keep>"


def voted(n: int, number: int) -> str:
    return f"{analysis(n)}<best_candidate_id>{number}</best_candidate_id><rationale>it is</rationale>"


def each_for(choose: Callable[[str, list[str]], str]) -> Say:
    """Members who write texts of their own and vote for the text that a function chooses of those shown."""

    def say(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        if prompt == "describe":
            return f"The dog of {member} sleeps. A red ball lies there."
        texts = texts_of(inputs)
        if prompt == "peer_review":
            own = next(text for text in texts if member in text)
            return reviewed(len(texts), f"{own} Snow falls in the yard of {member}.")
        return voted(len(texts), texts.index(choose(member, texts)) + 1)

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
        return list(review_items(home, get_run(home, result.run)))


def agreeable(_: str, texts: list[str]) -> str:
    return next(text for text in texts if PANEL[1] in text)


def vain(member: str, texts: list[str]) -> str:
    return next(text for text in texts if member in text)


def evenly(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
    """Members who vote for their own text and find that of the second equally good."""
    if not prompt.startswith("peer_vote"):
        return each_for(vain)(member, prompt.removesuffix("_published"), inputs, before)
    texts = texts_of(inputs)
    numbers = [texts.index(next(text for text in texts if name in text)) + 1 for name in (member, PANEL[1])]
    return voted(len(texts), numbers[0]).replace(
        "<rationale>", f"<equally_good>Candidate {numbers[1]}</equally_good><rationale>"
    )


def test_a_text_that_all_find_best_or_equally_good_is_agreed_on(tmp_path: Path, settings: Settings) -> None:
    """Votes go to three texts, and one of these is as good as the best to all: it is golden, and the record says why."""
    data = write_images(tmp_path)
    result = review(settings, data, Panel(evenly), cycles=1)
    (item,) = items_of(settings, result)
    assert item["record"]["verdict"] == "accepted"
    assert (item["golden"]["author"], item["golden"]["votes"]) == (PANEL[1], 3)
    assert item["record"]["reason"] == "votes 1, 1, 1 after cycle 1, 2 more find it equally good"
    assert result.summary["golden"]["equally_good"] == 1, "no unanimous choice, as the paper wants it"
    assert sum(member["equally_good"] for member in result.summary["turns"].values()) == 2
    (item,) = items_of(settings, review(settings, data, Panel(evenly), cycles=1, protocol="published"))
    assert item["record"]["verdict"] == "discarded", "as published a vote names one"


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
        if prompt == "peer_review":
            return reviewed(3, f"Better {letter}.")
        return voted(3, texts.index(f"Better {letter}.") + 1)

    data = write_images(tmp_path, 10)
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
    """Members who wrote the same text, but for case and signs, agree: there is nothing left to vote on."""

    def say(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        if prompt == "describe":
            return f"A dog of {member}."
        return reviewed(3, "A dog sleeps." if member == PANEL[0] else "a dog  sleeps!")

    panel = Panel(say)
    result = review(settings, write_images(tmp_path), panel)
    (item,) = items_of(settings, result)
    assert result.summary["verdicts"]["accepted"] == 1
    assert item["record"]["reason"] == "one text after cycle 1: nothing was left to vote on"
    assert (item["golden"]["text"], item["golden"]["votes"]) == ("A dog sleeps.", 0)
    assert result.summary["golden"]["without_vote"] == 1
    assert len(panel.asked) == 6


def test_one_number_is_another_text(tmp_path: Path, settings: Settings) -> None:
    """Texts that differ in one number of a hundred words are put to the vote, however alike they are."""
    scene = " ".join(f"Thing {number} stands in row {number}." for number in range(20))

    def say(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        count = {PANEL[0]: "Four", PANEL[1]: "Five", PANEL[2]: "Five"}[member]
        if prompt == "describe":
            return f"{scene} {member}"
        texts = texts_of(inputs)
        if prompt == "peer_review":
            return reviewed(3, f"{scene} {count} tomatoes lie there.")
        return voted(len(texts), next(at for at, text in enumerate(texts, 1) if "Five" in text))

    result = review(settings, write_images(tmp_path), Panel(say))
    (item,) = items_of(settings, result)
    assert (item["record"]["reason"], item["golden"]["votes"]) == ("votes 3 after cycle 1", 3)
    assert "Five tomatoes" in item["golden"]["text"]
    assert result.summary["self_preference"]["votes"]["members"][PANEL[0]]["own"] == 0
    with Home.open(settings.home, write=False) as home:
        (first, *_) = [vote for _, vote in made_values(home, result.run, PeerVote)]
    assert len(first.shown) == 2, "a text that two wrote is shown once"


def test_all_keep_one(tmp_path: Path, settings: Settings) -> None:
    """A draft that all members keep is golden as it is, its author's, without a vote and without a second cycle."""
    honest = each_for(agreeable)

    def keepers(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        if prompt != "peer_review":
            return honest(member, prompt, inputs, before)
        texts = texts_of(inputs)
        return kept(3, texts.index(agreeable(member, texts)) + 1)

    panel = Panel(keepers)
    result = review(settings, write_images(tmp_path), panel)
    (item,) = items_of(settings, result)
    golden = item["golden"]
    assert (golden["author"], golden["cycle"], golden["votes"]) == (PANEL[1], 1, 0)
    assert golden["text"] == f"The dog of {PANEL[1]} sleeps. A red ball lies there."
    assert {(one["author"], one["cycle"]) for one in golden["origins"]} == {(PANEL[1], 0)}
    assert result.summary["kept"]["k"] == result.summary["kept"]["n"] == 3
    assert len(panel.asked) == 6
    with Home.open(settings.home, write=False) as home:
        reviews = [one for _, one in made_values(home, result.run, PeerReview)]
    assert {(one.rewrite, one.kept) for one in reviews} == {(golden["candidate"], True)}


def test_one_keeps_anothers_text(tmp_path: Path, settings: Settings) -> None:
    """A member that keeps another's text, or copies it, has none of its own in the vote, and no author is changed."""
    honest = each_for(agreeable)

    def say(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        if prompt != "peer_review" or member == PANEL[1]:
            return honest(member, prompt, inputs, before)
        texts = texts_of(inputs)
        first = next(text for text in texts if PANEL[0] in text)
        return kept(3, texts.index(first) + 1) if member == PANEL[0] else reviewed(3, f"  {first}")

    result = review(settings, write_images(tmp_path), Panel(say))
    votes = result.summary["self_preference"]["votes"]["members"]
    assert (votes[PANEL[0]]["n"], votes[PANEL[1]]["n"], votes[PANEL[2]]["n"]) == (1, 1, 0)
    assert (votes[PANEL[0]]["own"], votes[PANEL[1]]["own"], votes[PANEL[1]]["others"]) == (0, 1, 1)
    assert (result.summary["kept"]["k"], result.summary["kept"]["n"]) == (2, 3)
    assert result.summary["golden"]["last_author"] == {PANEL[0]: 0, PANEL[1]: 1, PANEL[2]: 0}


def test_votes_stand_where_nothing_is_new(tmp_path: Path, settings: Settings) -> None:
    """Where every candidate of a divided vote is kept the vote stands, and the review ends without another."""
    divided = each_for(vain)

    def say(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        if prompt != "peer_review" or before == 0:
            return divided(member, prompt, inputs, before)
        texts = texts_of(inputs)
        return kept(3, texts.index(vain(member, texts)) + 1)

    panel = Panel(say)
    result = review(settings, write_images(tmp_path), panel, cycles=5)
    (item,) = items_of(settings, result)
    assert item["record"]["reason"] == "still divided after cycle 2: votes 1, 1, 1"
    assert len(panel.asked) == 12


def test_talk_about_candidates_is_sent_back(tmp_path: Path, settings: Settings) -> None:
    """A rewrite that begins with talk goes back with its words and the empty form, and never becomes a candidate."""
    honest = each_for(agreeable)

    def talker(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        text = honest(member, prompt, inputs, before)
        talks = prompt == "peer_review" and member == PANEL[0] and before == 0
        return text.replace("<rewrite>", "<rewrite>Candidate 1 is already the best description. ") if talks else text

    panel = Panel(talker)
    result = review(settings, write_images(tmp_path), panel)
    assert result.summary["verdicts"]["accepted"] == 1
    (problem,) = [inputs["problem"] for _, _, inputs in panel.asked if inputs["problem"]]
    assert problem.startswith("not all of the rewrite is about the image: 'Candidate 1 is already")
    with Home.open(settings.home, write=False) as home:
        texts = [one.text for _, one in made_values(home, result.run, Candidate)]
    assert len(texts) == 6
    assert not any("already" in text for text in texts)


def test_a_lost_vote_costs_the_member_its_vote(tmp_path: Path, settings: Settings) -> None:
    """A vote for candidate 7 goes back once with the reason; repeated, it is missing, and the others' votes decide."""
    honest = each_for(agreeable)

    def sloppy(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        wrong = prompt == "peer_vote" and member == PANEL[2] and before == 0
        return voted(3, 7) if wrong else honest(member, prompt, inputs, before)

    def stubborn(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        wrong = prompt == "peer_vote" and member == PANEL[2]
        return voted(3, 7) if wrong else honest(member, prompt, inputs, before)

    data, mended = write_images(tmp_path), Panel(sloppy)
    assert review(settings, data, mended).summary["verdicts"]["accepted"] == 1
    assert [inputs["problem"] for _, _, inputs in mended.asked if inputs["problem"]] == [
        "the vote is for candidate 7, but the candidates are 1 to 3"
    ]
    result = review(settings, write_images(tmp_path, 2, green=7), Panel(stubborn))
    summary = result.summary
    assert summary["verdicts"] == {"accepted": 2, "discarded": 0, "incomplete": 0}
    assert summary["golden"]["lost_votes"] == 2
    assert summary["turns"][PANEL[2]] == {
        "describe": {"n": 2, "lost": 0},
        "compare": {"n": 2, "lost": 0},
        "vote": {"n": 2, "lost": 2},
        "equally_good": 0,
        "failures": {"unparsable": 2},
    }
    assert summary["turns"][PANEL[0]]["vote"] == {"n": 2, "lost": 0}
    item = items_of(settings, result)[0]
    assert item["record"]["reason"] == "votes 2 after cycle 1, 1 lost"
    assert (item["golden"]["votes"], item["golden"]["lost"]) == (2, 1)


def test_a_lost_comparison_leaves_the_candidate(tmp_path: Path, settings: Settings) -> None:
    """A member whose comparison cannot be used keeps its candidate as it was, votes all the same, and is named."""
    honest = each_for(agreeable)

    def careless(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        if prompt == "peer_review" and member == PANEL[1]:
            return "They all have something to be said for them."
        return honest(member, prompt, inputs, before)

    result = review(settings, write_images(tmp_path), Panel(careless))
    (item,) = items_of(settings, result)
    golden = item["golden"]
    assert (golden["author"], golden["votes"], golden["lost"]) == (PANEL[1], 3, 0)
    assert golden["text"] == f"The dog of {PANEL[1]} sleeps. A red ball lies there.", "it is the draft still"
    assert len(item["record"]["lost"]) == 1
    assert result.summary["turns"][PANEL[1]]["compare"] == {"n": 1, "lost": 1}
    with Home.open(settings.home, write=False) as home:
        ((_, lost),) = made_values(home, result.run, LostTurn)
        assert {row.failure for row in results(home, result.run)} == {None}
    assert (lost.member, lost.cycle, lost.part, lost.failure) == (PANEL[1], 1, "compare", "unparsable")
    assert "<ranking>" in lost.reason


def test_a_refused_draft_costs_the_member_its_draft(tmp_path: Path, settings: Settings) -> None:
    """A member that refuses to describe goes without a draft; the others' are compared, and the form is made for two."""
    honest = each_for(agreeable)

    def prudish(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        if member == PANEL[0] and prompt == "describe":
            return "I'm sorry, but I can't help with that."
        if member == PANEL[0] and prompt == "peer_review":
            return reviewed(2, f"A dog of {member} sleeps.")
        return honest(member, prompt, inputs, before)

    panel = Panel(prudish)
    result = review(settings, write_images(tmp_path), panel)
    assert result.summary["verdicts"]["accepted"] == 1
    assert result.summary["turns"][PANEL[0]]["failures"] == {"refused": 1}
    shown = [len(texts_of(inputs)) for _, prompt, inputs in panel.asked if prompt != "describe"]
    assert shown == [2, 2, 2, 3, 3, 3]


def test_as_published(tmp_path: Path, settings: Settings) -> None:
    """As published every comparison writes, one text is voted on, too, and a vote that is missing makes it incomplete."""

    def say(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        if prompt == "describe":
            return f"A dog of {member}."
        return reviewed(3, "A dog sleeps.") if prompt == "peer_review_published" else voted(1, 1)

    def keeper(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        wrong = prompt == "peer_review_published" and member == PANEL[2]
        return kept(3, 1) if wrong else say(member, prompt, inputs, before)

    data, panel = write_images(tmp_path), Panel(say)
    result = review(settings, data, panel, protocol="published")
    (item,) = items_of(settings, result)
    assert (item["golden"]["votes"], result.summary["protocol"]) == (3, "published")
    assert len(panel.asked) == 9
    keeping = Panel(keeper)
    other = review(settings, write_images(tmp_path, green=7), keeping, protocol="published")
    assert other.summary["verdicts"]["incomplete"] == 1
    assert {inputs["problem"] for _, _, inputs in keeping.asked} == {"", "there is no text in <rewrite>"}


def test_one_vote_decides_nothing(tmp_path: Path, settings: Settings) -> None:
    """A vote of which one reply alone can be used goes into the next cycle, and after the last is incomplete, not divided."""
    honest = each_for(agreeable)

    def alone(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        lost = prompt == "peer_vote" and member != PANEL[0]
        return "Candidate 2." if lost else honest(member, prompt, inputs, before)

    def alone_at_first(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        lost = prompt == "peer_vote" and member != PANEL[0] and before < 2
        return "Candidate 2." if lost else honest(member, prompt, inputs, before)

    data = write_images(tmp_path)
    result = review(settings, data, Panel(alone))
    assert result.summary["verdicts"] == {"accepted": 0, "discarded": 0, "incomplete": 1}
    assert result.summary["failures"] == {"unparsable": 1}
    assert result.summary["failed_members"] == {PANEL[1]: 1}
    assert result.summary["accepted"]["bounds"] == {"low": 0.0, "high": 1.0}, (
        "an incomplete review says nothing of agreement"
    )
    (item,) = items_of(settings, result)
    assert len(item["record"]["candidates"]) == 9, "what was written is kept"
    later = review(settings, write_images(tmp_path, green=7), Panel(alone_at_first))
    (item,) = items_of(settings, later)
    assert (item["record"]["verdict"], item["record"]["cycles"]) == ("accepted", 2)


def test_a_reply_that_did_not_come_is_waited_for(tmp_path: Path, settings: Settings) -> None:
    """Where an endpoint gives no reply the review is incomplete, and asking again brings the turn that was missing."""
    honest = each_for(agreeable)

    class Absent(Panel):
        async def send(self, call: ModelCall, spec: ModelSpec, **services: Any) -> ModelReply:
            if spec.ref.name == PANEL[2] and call.kind == "chat" and "You vote" in call.messages[0].text:
                raise TransportError("bad_request", "no such route", retryable=False, status=400)
            return await super().send(call, spec, **services)

    result = review(settings, write_images(tmp_path), Absent(honest))
    assert result.summary["failures"] == {"api_error": 1}
    assert result.summary["failed_members"] == {PANEL[2]: 1}
    again = Panel(honest)
    with Home.open(settings.home, write=False) as home:
        row = get_run(home, result.run)
    mended = asyncio.run(resume(row, settings=settings, retry=("api_error",), transports={"sim": again}))
    assert mended.summary["verdicts"]["accepted"] == 1
    assert [(member, prompt) for member, prompt, _ in again.asked] == [(PANEL[2], "peer_vote")]


def test_long_captions(tmp_path: Path, settings: Settings) -> None:
    """A golden caption of 3,400 words is kept and traced whole."""
    body = " ".join(f"Thing {number} stands in row {number // 7} beside post {number * 3}." for number in range(340))

    def verbose(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        if prompt == "describe":
            return f"{body} Seen by {member[-1]}."
        texts = texts_of(inputs)
        best = next(text for text in texts if text.endswith("by b."))
        return reviewed(3, best) if prompt == "peer_review" else voted(3, texts.index(best) + 1)

    result = review(settings, write_images(tmp_path), Panel(verbose))
    (item,) = items_of(settings, result)
    assert result.summary["golden"]["words"]["max"] > 3_000
    assert len(item["golden"]["origins"]) == 341
    assert item["golden"]["origins"][-1]["author"] == PANEL[1]


@pytest.mark.parametrize(
    ("body", "structured"),
    [
        ("# A harbour\nThree boats lie at the jetty.", 1),
        ("- three boats\n- a **red** jetty", 1),
        ("Three boats - two of them red - lie there. The jetty is 3.5 m long.", 0),
    ],
)
def test_captions_are_prose_or_structured(tmp_path: Path, settings: Settings, body: str, structured: int) -> None:
    """The two styles of captions (PerceptionRubrics, appendix D) are counted by their Markdown."""

    def say(member: str, prompt: str, inputs: Mapping[str, str], before: int) -> str:
        if prompt == "describe":
            return body
        return reviewed(1, body) if prompt == "peer_review" else voted(1, 1)

    result = review(settings, write_images(tmp_path), Panel(say))
    assert result.summary["golden"]["n"] == 1
    assert result.summary["golden"]["structured"] == structured


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


def test_several_questions_to_one_picture_are_samples_of_it(tmp_path: Path, settings: Settings) -> None:
    """Six samples of three pictures are said to be that, and no six images."""
    data = write_images(tmp_path, 3)
    rows = [{"id": f"q{at}", "image": f"{at}.png", "prompt": "What colour is it?"} for at in range(3)]
    data.write_bytes(data.read_bytes() + b"\n".join(map(orjson.dumps, rows)) + b"\n")
    summary = review(settings, data, Panel(each_for(agreeable))).summary
    assert (summary["n"], summary["images"]) == (6, 3)
    data = ReportData(METHOD.report.drawing(), cast("Any", None), summary)
    blocks = section(data).blocks
    assert plain(conclusion(data)[0]) == "The panel agreed on 6 of 6 samples (3 images) within 2 cycles."
    table = next(block for block in blocks if isinstance(block, Table))
    assert [column.title for column in table.columns][:2] == ["verdict", "samples"]


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
