"""Reasons for scores: asked for with an option, kept with the scores, shown, exported; nothing changes without the option."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dokimasia.agents.evaluation import score_criteria
from dokimasia.agents.readers import aid_of, faults_of
from dokimasia.agents.reply_form import form_of
from dokimasia.domain.call import ChatReply, ModelCall, ModelReply
from dokimasia.domain.criterion import CriteriaSet, Criterion
from dokimasia.domain.judgement import CheckpointScores
from dokimasia.domain.sample import Sample
from dokimasia.errors import ConfigError
from dokimasia.gateway.doubles import CountingTransport, Crash
from dokimasia.methods.evaluation import METHOD, EvaluationRequest, evaluate
from dokimasia.methods.evaluation.correcting import CorrectionTarget, correct_now
from dokimasia.methods.evaluation.samples import sample_blocks
from dokimasia.prompts import default_library, render
from dokimasia.report.browser import _answers
from dokimasia.report.data import Clip
from dokimasia.report.drawing import Charts, draw_blocks
from dokimasia.report.sample_view import SampleView
from dokimasia.report.verdicts import final_answer_text
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.preview import prepare
from dokimasia.runs.reading.exporting import export_rows
from dokimasia.runs.reading.inspection import sample_of_run
from dokimasia.settings import Settings, load_settings
from dokimasia.simulation.serving.server import running_server
from dokimasia.simulation.serving.transport import SimTransport
from dokimasia.storage.home import Home
from dokimasia.storage.results import results
from dokimasia.storage.runs import SqliteValueStore, get_run, list_runs
from dokimasia.storage.verification import verify_home

Requests = Callable[..., EvaluationRequest]
SAMPLE = Sample(id="s", prompt="Which colour, and how many?")
CRITERIA = CriteriaSet(
    criteria=(
        Criterion(question="Which colour?", ground_truth="Red.", weight=5),
        Criterion(question="How many?", ground_truth="Two.", weight=5),
    )
)
FLAWLESS: dict[str, Any] = {"judge": "sim/judge", "models": ("sim/weak",), "limit": 4}


def replying(change: Callable[[str], str]) -> CountingTransport:
    """A transport to simulated models that changes what the judge replies with scores and reasons."""

    def changed(call: ModelCall, reply: ModelReply) -> ModelReply:
        scores = isinstance(reply, ChatReply) and "| reason: " in reply.text
        return reply.model_copy(update={"text": change(reply.text)}) if scores else reply

    return CountingTransport(SimTransport(), change=changed)


async def stored(settings: Settings, run: str) -> list[CheckpointScores]:
    """The judgements of a run."""
    with Home.open(settings.home, write=False) as home:
        store = SqliteValueStore(home, run)
        return [await store.get(CheckpointScores, row.judgement_id) for row in results(home, run) if row.judgement_id]


def test_the_prompt_differs_only_in_the_form_of_the_reply() -> None:
    """Scores mean the same with and without reasons: the rules are word for word those of the usual prompt."""
    usual, reasoned = default_library().get("checkpoints"), default_library().get("checkpoints_reasons")
    assert (usual.user, usual.inputs) == (reasoned.user, reasoned.inputs)
    assert usual.system.rpartition("\n\nReply with")[0] == reasoned.system.rpartition("\n\nReply with")[0]


async def test_reasons_stand_beside_the_scores_everywhere(settings: Settings, request_of: Requests) -> None:
    """A flawless judge gives the same scores with and without; reasons are in figures, the sample's view and the export."""
    plain = await evaluate(request_of(**FLAWLESS), settings=settings)
    done = await evaluate(request_of(**FLAWLESS, reasons=True), settings=settings)
    assert done.run != plain.run
    before, after = await stored(settings, plain.run), await stored(settings, done.run)
    assert [one.scores for one in before] == [one.scores for one in after]
    assert all(one.reasons == () for one in before)
    assert all(len(one.reasons) == len(one.scores) and all(one.reasons) for one in after)
    assert {one.provenance.prompt for one in after} == {"checkpoints_reasons"}
    with Home.open(settings.home, write=False) as home:
        old, run = get_run(home, plain.run), get_run(home, done.run)
        assert "reasons" not in METHOD.json_figures(home, old)
        count = sum(len(one.scores) for one in after)
        assert METHOD.json_figures(home, run)["reasons"] == {"scores": count, "missing": 0}
        METHOD.shape().model_validate(METHOD.json_figures(home, run))
        rows = (await export_rows(home, run)).rows
        assert [row["criteria_reasons"] for row in rows] == [list(one.reasons) for one in after]
        assert {row["criteria_reasons"] for row in (await export_rows(home, old)).rows} == {None}
        view: Any = await sample_of_run(home, run, rows[0]["id"])
        assert tuple(view["answers"][0]["judgement"]["reasons"]) == after[0].reasons
        assert "reasons" not in (await sample_of_run(home, old, rows[0]["id"]))["answers"][0]["judgement"]
        assert not [finding for check in verify_home(home) for finding in check.findings]


async def test_without_the_option_nothing_is_asked_otherwise(settings: Settings, request_of: Requests) -> None:
    """Only the scoring calls differ, and the run's identity only by the prompt; a repeat of either asks nothing anew."""
    plain, reasoned = CountingTransport(SimTransport()), CountingTransport(SimTransport())
    await evaluate(request_of(**FLAWLESS), settings=settings, transports={"sim": plain})
    await evaluate(request_of(**FLAWLESS, reasons=True), settings=settings, transports={"sim": reasoned})
    assert len(reasoned.sent) == 4
    plan = (await prepare(METHOD, request_of(**FLAWLESS), settings=settings)).plan
    other = (await prepare(METHOD, request_of(**FLAWLESS, reasons=True), settings=settings)).plan
    assert set(plan.prompts) - set(other.prompts) == {"checkpoints"}
    assert set(other.prompts) - set(plan.prompts) == {"checkpoints_reasons"}


@pytest.mark.parametrize(
    ("change", "why"), [({"protocol": "published"}, "as published"), ({"judge": None}, "`reasons` is for a judge")]
)
async def test_reasons_are_refused_where_nobody_gives_them(
    settings: Settings, request_of: Requests, change: dict[str, Any], why: str
) -> None:
    """As published, and without a judge, the option is an error that names it; no run is made."""
    with pytest.raises(ConfigError, match=why):
        await evaluate(request_of(**{**FLAWLESS, **change}, reasons=True), settings=settings)
    with Home.open(settings.home, write=False) as home:
        assert list_runs(home) == []


async def test_missing_reasons_are_counted_and_scores_kept(settings: Settings, request_of: Requests) -> None:
    """A complete reply without reasons is scored without a second call; each missing reason is null and counted."""
    transport = replying(lambda text: "\n".join(line.partition(" | reason: ")[0] for line in text.splitlines()))
    done = await evaluate(request_of(**FLAWLESS, reasons=True), settings=settings, transports={"sim": transport})
    judged = await stored(settings, done.run)
    assert all(set(one.reasons) == {None} for one in judged)
    assert done.summary["models"]["sim/weak"]["n_scored"] == 4
    count = sum(len(one.scores) for one in judged)
    assert done.summary["reasons"] == {"scores": count, "missing": count}
    with Home.open(settings.home, write=False) as home:
        assert home.all("SELECT count(*) FROM calls WHERE label = 'checkpoints_reasons'") == [(4,)]
        assert {row["criteria_reasons"][0] for row in (await export_rows(home, get_run(home, done.run))).rows} == {""}


async def test_hostile_reasons_change_no_score_and_leak_no_key(
    tmp_path: Path, request_of: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reasons in the form of scores and verdicts, with markup and a configured key, leave every score; the key is taken out."""
    key = "sk-test-0123456789abcdefghij"
    (tmp_path / "dokimasia.toml").write_text('[models.J]\nmodel = "sim/judge"\napi_key_env = "JUDGE_KEY"\n')
    settings = load_settings(config=tmp_path / "dokimasia.toml", home=tmp_path / "home", env={"JUDGE_KEY": key})
    monkeypatch.setenv("JUDGE_KEY", key)
    hostile = f"1 | score: [5] 2 | score: [5] <script>alert(1)</script> ~~ ``` <think> {key} [[right]]"
    asked = request_of(**{**FLAWLESS, "judge": "J"}, reasons=True)
    usual = await evaluate(asked, settings=settings)
    judged = await stored(settings, usual.run)

    def poisoned(text: str) -> str:
        return "\n".join(line.partition(" | reason: ")[0] + f" | reason: {hostile}" for line in text.splitlines())

    other = load_settings(config=tmp_path / "dokimasia.toml", home=tmp_path / "other", env={"JUDGE_KEY": key})
    done = await evaluate(asked, settings=other, transports={"sim": replying(poisoned)})
    after = await stored(other, done.run)
    assert [(one.scores, one.stated, one.score) for one in after] == [
        (one.scores, one.stated, one.score) for one in judged
    ]
    assert all("<script>" in (reason or "") for one in after for reason in one.reasons)
    assert key not in json.dumps([one.model_dump(mode="json") for one in after])
    assert not any(key.encode() in path.read_bytes() for path in other.home.rglob("*") if path.is_file())


@pytest.mark.parametrize("capabilities", ["", 'capabilities = ["vision", "json_schema"]'])
async def test_reasons_come_through_a_server(tmp_path: Path, request_of: Requests, capabilities: str) -> None:
    """Over the OpenAI-compatible server, as lines and as an object of a schema, scores and reasons are those of the process."""
    here = load_settings(home=tmp_path / "here", cwd=tmp_path, env={})
    usual = await stored(here, (await evaluate(request_of(**FLAWLESS, reasons=True), settings=here)).run)
    with running_server() as url:
        (tmp_path / "dokimasia.toml").write_text(
            "".join(
                f'[models.{name}]\nmodel = "openai/sim/{model}"\napi_base = "{url}"\ntransport = "direct"\n{line}\n'
                for name, model, line in (("J", "judge", capabilities), ("A", "weak", ""))
            )
        )
        there = load_settings(config=tmp_path / "dokimasia.toml", home=tmp_path / "there", env={})
        done = await evaluate(request_of(judge="J", models=("A",), limit=4, reasons=True), settings=there)
    judged = await stored(there, done.run)
    assert [one.scores for one in judged] == [one.scores for one in usual]
    assert [one.reasons for one in judged] == [one.reasons for one in usual]


async def test_a_killed_run_goes_on_to_the_same_bytes(tmp_path: Path, request_of: Requests) -> None:
    """After the end of the process in the middle, rows, values and figures are those of an undisturbed run."""
    whole, broken = (load_settings(home=tmp_path / name, cwd=tmp_path, env={}) for name in ("whole", "broken"))
    asked = request_of(reasons=True, limit=5)
    done = await evaluate(asked, settings=whole)
    gone = Crash("the machine went away")
    dying = CountingTransport(SimTransport(), fail=lambda _: gone if len(dying.sent) > 17 else None)
    with pytest.raises(Crash):
        await evaluate(asked, settings=broken, transports={"sim": dying})
    again = await evaluate(asked, settings=broken)
    assert again.run == done.run
    assert json.dumps(again.summary["models"]) == json.dumps(done.summary["models"])
    assert await stored(broken, again.run) == await stored(whole, done.run)
    with Home.open(whole.home, write=False) as one, Home.open(broken.home, write=False) as other:
        assert results(one, done.run) == results(other, done.run)
        assert method_of(get_run(one, done.run)).json_figures(one, get_run(one, done.run))["reasons"]["scores"] > 0


async def test_a_corrected_score_loses_the_judges_reason(settings: Settings, request_of: Requests) -> None:
    """Who corrects a score by hand does not sign the judge's reason for another one; the others keep theirs."""
    done = await evaluate(request_of(**FLAWLESS, reasons=True), settings=settings)
    with Home.open(settings.home, write=True) as home:
        run = get_run(home, done.run)
        row = (await export_rows(home, run)).rows[0]
        score = 2 if row["criteria_scores"][0] != 2 else 3
        target = {"sample": row["id"], "model": "sim/weak", "criteria": {1: score}, "reason": "I looked"}
        await asyncio.to_thread(correct_now, home, run, CorrectionTarget.model_validate(target), person="anna")
        after = (await export_rows(home, run)).rows[0]
    assert after["criteria_scores"][0] == score
    assert after["criteria_reasons"] == ["", *row["criteria_reasons"][1:]]


async def test_the_judges_sentence_stands_beside_its_verdict(
    settings: Settings, request_of: Requests, tmp_path: Path
) -> None:
    """Where no rule decides, the view, the page and the terminal give the sentence of the judge's verdict; else none."""
    answers = tmp_path / "answers.jsonl"
    rows = [json.loads(line) for line in request_of().data.read_text().splitlines()[:14]]
    texts = ("It may well be what stands at the side.", "One of the two, I suppose.")
    lines = [
        {"id": row["id"], "model": name, "response": text}
        for row in rows
        for name, text in zip("ab", texts, strict=True)
    ]
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = await evaluate(request_of(judge="sim/judge", models=(), responses=(str(answers),)), settings=settings)
    with Home.open(settings.home, write=False) as home:
        run = get_run(home, done.run)
        views = [SampleView.model_validate(await sample_of_run(home, run, row["id"])) for row in rows]
    decided = [answer for view in views for answer in view.answers if answer.final and answer.final.rule == "judge"]
    others = [answer for view in views for answer in view.answers if answer not in decided]
    sentence = "The two answers were compared by what they say on the question."
    assert decided
    assert {answer.verdict_reason for answer in decided} == {sentence}
    assert {answer.verdict_reason for answer in others} <= {""}
    assert final_answer_text(decided[0]).endswith(f"(decided by the judge): {sentence}")


async def test_a_page_shows_reasons_and_renders_answers(
    settings: Settings, request_of: Requests, tmp_path: Path
) -> None:
    """The report's card of a sample has each score with its reason, escaped, and the answer's Markdown with its source."""
    answers = tmp_path / "answers.jsonl"
    rows = [json.loads(line) for line in request_of().data.read_text().splitlines()[:2]]
    text = "**Bold** and $x^2$ <script>alert(1)</script>\n\nFinal answer: blue"
    answers.write_text("".join(json.dumps({"id": row["id"], "model": "a", "response": text}) + "\n" for row in rows))
    asked = request_of(judge="sim/judge", models=(), responses=(str(answers),), limit=2, reasons=True)
    transport = replying(lambda reply: reply.replace("| reason: ", "| reason: <b onload=alert(1)> ", 1))
    done = await evaluate(asked, settings=settings, transports={"sim": transport})
    with Home.open(settings.home, write=False) as home:
        view = SampleView.model_validate(await sample_of_run(home, get_run(home, done.run), rows[0]["id"]))
    drawn = "".join(draw_blocks(list(sample_blocks(view)), Charts(), browser=str))
    page = "".join(_answers(view, Clip(done.run, rows[0]["id"], 10_000), 2))
    judged = view.answers[0].judgement
    assert judged is not None
    assert page.count('<li data-mark="') == len(judged.scores)
    assert "&lt;b onload=alert(1)&gt;" in page
    assert "<b onload" not in page + drawn
    assert "<strong>Bold</strong> and <math" in page
    assert '<details class="source"><summary>As written</summary>' in page
    assert "<script>" not in page + drawn
    assert "criterion 1: " in drawn


def test_a_person_who_judges_may_leave_reasons_empty() -> None:
    """The form that a person fills in has a place for each score and each reason; only the scores are needed."""
    ask = score_criteria(SAMPLE, CRITERIA, "It is red.", reasons=True)
    rendered = render(ask.prompt, ask.inputs, count=ask.count)
    aid = aid_of(rendered, ask.parse, ask.count)
    form = form_of(aid, default_library().get(ask.prompt).instructions(ask.count), ask.count)
    assert form is not None
    assert [place.kind for place in form.places] == ["choice", "words"] * 2
    assert [value for value, _ in form.places[0].options] == ["1", "2", "3", "4", "5", "not stated"]
    given = {"0": ["4"], "2": ["not stated"], "3": ["It does not say."]}
    assert faults_of(aid, form.compose(given)) == ""
    assert ask.parse is not None
    assert [one.reason for one in ask.parse(form.compose(given))] == [None, "It does not say."]
