"""Runs and models compared on pages: the figures of `diff`, where sides differ, which samples, and both answers in words."""

import asyncio
import re
import shutil
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from dokimasia.domain.wording import percentage
from dokimasia.report.blocks import Paragraph, Span, Table, plain, spans
from dokimasia.report.comparison import comparison_blocks
from dokimasia.report.fields import Interval, as_json
from dokimasia.runs.reading.comparison import (
    ATOMS,
    SamplePart,
    category_parts,
    compare_parts,
    compare_runs,
    criteria_apart,
    match_samples,
    sides_of,
)
from dokimasia.storage.home import Home
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import Run, get_run, load_samples, response_texts
from dokimasia.storage.trees.lookup import criterion_key
from tests.report.conftest import Finished, run_on
from tests.runs import conftest as runs
from tests.runs.kinds import KINDS, make
from tests.service.conftest import asking, service_over
from tests.service.test_samples_page import HTML, body, listed

world, homes = runs.world, runs.homes
MODELS = ("sim/strong", "sim/weak")


def shown(text: str) -> list[str]:
    """The names of the samples that a comparison lists, in order."""
    return [unescape(name) for name in re.findall(r'class="what"><b>([^<]*)</b>', text)]


@pytest.fixture(scope="module")
def two(small: Finished, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A home with two evaluations of the same data under two judges."""
    home = tmp_path_factory.mktemp("two") / "home"
    shutil.copytree(small.home, home)
    other = run_on(small.home.parent / "world.jsonl", home, seed=1, judge="sim/judge")
    return home, small.run, other.run


def compared(home: Path, first: str, second: str, **more: Any) -> dict[str, Any]:
    """What `diff` computes."""
    with Home.open(home, write=False) as opened:
        return as_json(compare_runs(opened, get_run(opened, first), get_run(opened, second), **more))


async def test_two_runs_have_the_figures_of_diff(two: tuple[Path, str, str]) -> None:
    """The page prints what the command prints: what differs between the runs, and each pair's paired difference."""
    home, first, second = two
    found = compared(home, first, second)
    with service_over(home) as service:
        async with asking(service) as client:
            text = await body(client, f"/compare?runs={first},{second}")
    assert text.count("differs: judge.name: sim/judge-noisy → sim/judge") == 1
    for one in found["pairs"]:
        assert one["first_model"] in text
        assert f"{one['first']:.2f} → {one['second']:.2f}</td>" in text
        assert f"{one['difference']['mean']:+.2f}".replace("-", "\N{MINUS SIGN}") in text
    assert "Where they differ most" in text


async def test_ticked_runs_are_compared_from_the_older_to_the_newer(two: tuple[Path, str, str]) -> None:
    """A list ticks the newest first, an address keeps its order, and a link exchanges both sides."""
    home, older, newer = two
    with service_over(home) as service:
        async with asking(service) as client:
            ticked = await body(client, f"/compare?runs={newer}&runs={older}")
            named = await body(client, f"/compare?runs={newer},{older}")
    assert "differs: judge.name: sim/judge-noisy → sim/judge" in ticked
    assert "differs: judge.name: sim/judge → sim/judge-noisy" in named
    swap = re.search(r'href="([^"]*)">Swap sides', ticked)
    assert swap is not None
    assert unescape(swap[1]) == f"/compare?runs={newer}%2C{older}"


@pytest.mark.parametrize(
    ("kind", "chosen"),
    [
        ("", lambda one: True),
        ("right-wrong", lambda one: one.right == (1.0, 0.0)),
        ("wrong-right", lambda one: one.right == (0.0, 1.0)),
        ("higher", lambda one: one.gap > 0),
        ("lower", lambda one: one.gap < 0),
        ("failed", lambda one: any(one.failures)),
    ],
)
async def test_samples_are_listed_by_what_sets_them_apart(
    client: httpx.AsyncClient, small: Finished, kind: str, chosen: Callable[[object], bool]
) -> None:
    """A filter leaves the samples that it says, the largest differences first."""
    with Home.open(small.home, write=False) as home:
        sides = sides_of(home, get_run(home, small.run))
    expected = [one for one in match_samples(sides[MODELS[0]], sides[MODELS[1]]) if chosen(one)]
    names = shown(await body(client, f"/compare?runs={small.run}&models={','.join(MODELS)}&show={kind}"))
    assert set(names) == {one.first for one in expected}
    gaps = {one.first: abs(one.gap or 0) for one in expected}
    assert [gaps[name] for name in names] == sorted(gaps.values(), reverse=True)


async def test_both_answers_stand_beside_each_other_with_what_changed(
    client: httpx.AsyncClient, small: Finished
) -> None:
    """Words of one answer alone are marked on its side, all others stand as they were written, and points are by criterion."""
    with Home.open(small.home, write=False) as home:
        name = next(load_samples(home, small.run)).id
        texts = dict(response_texts(home, small.run))
        rows = {row.model: row for row in results(home, small.run) if row.sample_id == name and row.kind == "score"}
    text = await body(client, f"/compare/sample?runs={small.run}&models={','.join(MODELS)}&sample={name}")
    sides = re.findall(r'<div class="text" dir="auto">(.*?)</div>', text, re.DOTALL)
    for side, model, own, other in zip(sides, MODELS, ("del", "ins"), ("ins", "del"), strict=True):
        assert unescape(re.sub(r"<[^>]+>", "", side)) == texts[rows[model].response_id or ""]
        assert f"<{own}>" in side
        assert f"<{other}>" not in side
    assert "Points by criterion" in text
    assert f"{rows[MODELS[0]].score:.2f}" in text


async def test_runs_without_answers_stand_side_by_side_as_they_are_drawn(homes: runs.Homes, tmp_path: Path) -> None:
    """Two models of duels have no answers in their rows: the sample is drawn for both sides."""
    settings, made = homes.finished(KINDS["duel"], tmp_path / "home")
    with service_over(settings.home) as service:
        async with asking(service) as client:
            text = await body(client, f"/compare?runs={made.run}&models={','.join(MODELS)}")
            href = unescape(re.findall(r'hx-get="(/compare/sample[^"]+)"', text)[0])
            reply = await client.get(href, headers={"hx-request": "true"})
    assert reply.status_code == 200
    assert reply.text.lstrip().startswith('<div class="sides-head">')


async def test_what_cannot_be_compared_is_said_as_the_command_says_it(homes: runs.Homes, tmp_path: Path) -> None:
    """Runs of two methods, of a method that is not compared, its sentence, and the runs to choose from."""
    settings, made = homes.finished(KINDS["audit"], tmp_path / "home")
    tree, grown = homes.finished(KINDS["tree"], tmp_path / "tree")
    with Home.open(settings.home, write=False) as home:
        review = home.all("SELECT id FROM runs WHERE method = 'review'")[0][0]
    with Home.open(tree.home, write=False) as home:
        evaluation = home.all("SELECT id FROM runs WHERE method = 'evaluate'")[0][0]
    for path, asked, said in (
        (settings.home, f"{made.run},{review}", "compare two of one kind"),
        (tree.home, f"{grown.run},{evaluation}", "is not compared so"),
    ):
        with service_over(path) as service:
            async with asking(service) as client:
                text = await body(client, f"/compare?runs={asked}", 422)
                assert said in text
                assert 'name="runs"' in text


async def test_models_are_chosen_without_a_script(client: httpx.AsyncClient, small: Finished) -> None:
    """One run leads to a form for two of its models, whose fields an address may hold apart; the same twice is refused."""
    text = await body(client, f"/compare?runs={small.run}")
    assert "Two models of" in text
    chosen = f"/compare?runs={small.run}&models-first=sim/strong&models-second="
    assert "Samples, the largest differences first" in await body(client, f"{chosen}sim/weak")
    assert "does not differ from itself" in await body(client, f"{chosen}sim/strong", 422)


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("runs=none", 404),
        ("runs={run}&models=a", 422),
        ("runs={run}&models=a,b", 422),
        ("runs={run}&models=sim/strong,sim/weak&show=x", 422),
        ("runs={run}&models=sim/strong,sim/weak&page=0", 422),
    ],
)
async def test_an_address_that_makes_no_sense(
    client: httpx.AsyncClient, small: Finished, asked: str, status: int
) -> None:
    """It is answered by a sentence and never by an error of ours."""
    assert "notice bad" in await body(client, f"/compare?{asked.format(run=small.run)}", status)


async def test_several_runs_stand_side_by_side(homes: runs.Homes, tmp_path: Path) -> None:
    """Of more than two runs the headline figures are shown, with a link for every two of one kind that are compared."""
    settings, refined = homes.finished(KINDS["audit"], tmp_path / "home")
    with Home.open(settings.home, write=False) as home:
        every = [id for (id,) in home.all("SELECT id FROM runs")]
    assert len(every) == 3
    with service_over(settings.home) as service:
        async with asking(service) as client:
            text = await body(client, "/compare?" + "&".join(f"runs={id}" for id in every))
    assert "3 runs side by side" in text
    assert "Headline figures" in text
    assert "No two of these runs" in text
    assert refined.run in text


async def test_figures_on_different_scales_have_rows_of_their_own(
    homes: runs.Homes, world: Path, tmp_path: Path
) -> None:
    """Scores of an evaluation and rewards of a duel stand in rows that name their scales, with intervals around them."""
    settings, first = homes.finished(KINDS["evaluate"], tmp_path / "home")
    second = await make(settings, world, KINDS["duel"])
    third = await make(settings, world, KINDS["duel"], judge="sim/judge-noisy")
    with service_over(settings.home) as service:
        async with asking(service) as client:
            text = plain_text(await body(client, f"/compare?runs={first.run},{second.run},{third.run}"))
            listed_as = [plain_text(await body(client, f"/runs/{one.run}/row")) for one in (first, second)]
    for row in ("score, 1 to 5", "reward, −100 to 100"):
        assert row in text
    assert re.search(r"score \d\.\d\d \(1 to 5\)", listed_as[0])
    assert re.search(r"reward −?[\d.]+ \(−100 to 100\)", listed_as[1])
    number = "−?\\d+\\.\\d\\d"
    found = re.findall(rf"({number}) \[({number}), ({number})\]", text)
    assert found
    for mean, low, high in (map(read_number, one) for one in found):
        assert low <= mean <= high
    assert not re.search(r"(?<![\w-])-\d", text.partition("Headline figures")[2])


def plain_text(page: str) -> str:
    """A page without its markup."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def read_number(text: str) -> float:
    """A printed number."""
    return float(text.replace("−", "-"))


async def test_without_a_run_there_is_what_to_choose_from(client: httpx.AsyncClient, small: Finished) -> None:
    """The menu's entry shows the runs that can be compared."""
    reply = await client.get("/compare", headers=HTML)
    assert f'value="{small.run}"' in reply.text


def of(home: Home, run: str) -> tuple[Run, dict[str, object]]:
    """A run and its sides."""
    found = get_run(home, run)
    return found, dict(sides_of(home, found))


async def test_a_long_table_of_parts_shows_its_first_rows(
    client: httpx.AsyncClient, small: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a table of parts has a fold, its first rows stand above it and the fold says how many others it holds."""
    address = f"/compare?runs={small.run}&models=sim/strong,sim/weak"
    whole = await body(client, address)
    monkeypatch.setattr("dokimasia.service.pages.compare.UNFOLDED", 3)
    monkeypatch.setattr("dokimasia.service.pages.compare.SHOWN", 2)
    folded = await body(client, f"{address}&page=1")  # what was answered before is kept
    by_category = folded.partition("By category")[2]
    above, _, below = by_category.partition("<details>")
    assert above.count('<th scope="row">') == 2
    others = whole.partition("By category")[2].partition("</table>")[0].count('<th scope="row">') - 2
    assert below.startswith(f"<summary>The other {others}</summary>")
    assert "<summary>The other" not in whole


def test_parts_are_compared_by_their_own_samples_and_criteria(small: Finished) -> None:
    """A part of all samples has the whole comparison's figures; one of criteria goes by these alone; p-values are adjusted."""
    with Home.open(small.home, write=False) as home:
        run, sides = of(home, small.run)
        names = [(sample.id, sample.category or "") for sample in load_samples(home, small.run)]
        whole = as_json(compare_runs(home, run, run, models=MODELS))["pairs"][0]
    first, second = sides[MODELS[0]], sides[MODELS[1]]
    every = frozenset(name for name, _ in names)
    (one,) = compare_parts(first, second, [SamplePart("all", 0, every)], seed=run.seed, scale=ATOMS)  # type: ignore[arg-type]
    for field in ("first", "second", "difference", "p_value", "changed"):
        assert as_json(one)[field] == whole[field]
    categories = compare_parts(first, second, category_parts(names), seed=run.seed, scale=ATOMS)  # type: ignore[arg-type]
    assert sum(part.n for part in categories) == len(names)
    assert all(part.p_value is not None and part.adjusted >= part.p_value for part in categories)
    top = criteria_apart(first, second, top=1)[0]  # type: ignore[arg-type]
    part = SamplePart("one", 0, every, frozenset({criterion_key(top.criteria, top.number)}))
    (alone,) = compare_parts(first, second, [part], seed=run.seed, scale=ATOMS)  # type: ignore[arg-type]
    assert (alone.first, alone.second) == (top.first, top.second)


async def test_parts_of_large_comparisons_come_one_after_the_other(
    client: httpx.AsyncClient, small: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is much to compute the page opens at once, and asks for its parts."""
    monkeypatch.setattr("dokimasia.service.pages.compare.AT_ONCE", 10)
    path = f"/compare?runs={small.run}&models={','.join(MODELS)}"
    text = await body(client, path)
    assert "largest differences" not in text
    parts = [unescape(href) for href in re.findall(r'hx-get="([^"]+part=[^"]+)"', text)]
    assert len(parts) == 3
    whole = "".join([await body(client, href) for href in parts])
    for title in ("Figures", "Where they differ most", "Samples, the largest differences first"):
        assert title in whole
    assert "<html" not in whole
    assert listed(whole) == []


async def test_results_lead_to_two_models_of_the_run(client: httpx.AsyncClient, small: Finished) -> None:
    """The page of results offers its models in two fields, and where its report names the command there is a link."""
    text = await body(client, f"/runs/{small.run}?wait=true")
    for place, chosen in zip(("first", "second"), MODELS, strict=True):
        field = text.split(f'name="models-{place}"')[1].split("</select>")[0]
        assert f"selected>{chosen}" in field
    assert "dokimasia diff" not in text
    asked = f"/compare?runs={small.run}&models-first={MODELS[0]}&models-second={MODELS[1]}"
    assert "Two models of" in await body(client, asked)


async def test_runs_without_a_common_model_offer_one_of_each(small: Finished, tmp_path: Path) -> None:
    """Of two runs that share no model the page offers the models of each, and compares those that are chosen."""
    home = tmp_path / "home"
    shutil.copytree(small.home, home)
    other = await asyncio.to_thread(run_on, small.home.parent / "world.jsonl", home, seed=1, models=("sim/steady",))
    with service_over(home) as service:
        async with asking(service) as client:
            text = await body(client, f"/compare?runs={small.run},{other.run}")
            assert "No model is in both runs" in text
            assert "--models" not in text
            sides = [text.split(f'name="models-{place}"')[1].split("</select>")[0] for place in ("first", "second")]
            assert ["sim/steady" in side for side in sides] == [False, True]
            asked = f"runs={small.run},{other.run}&models-first=sim/weak&models-second=sim/steady"
            assert shown(await body(client, f"/compare?{asked}"))


async def test_two_models_differ_in_the_direction_of_the_json(client: httpx.AsyncClient, small: Finished) -> None:
    """Second minus first, in the figures, by category and sample by sample, as `diff --json` has it and says."""
    comparison = compared(small.home, small.run, small.run, models=MODELS)
    mean = comparison["pairs"][0]["difference"]["mean"]
    assert comparison["direction"] == "second minus first"
    assert mean < 0
    text = await body(client, f"/compare?runs={small.run}&models={','.join(MODELS)}")
    said = plain_text(text)
    assert f"{mean:+.2f}".replace("-", "−") in said
    assert f"{MODELS[0]} → {MODELS[1]}" in said
    assert f"{MODELS[0]} right, {MODELS[1]} wrong" in said
    assert said.count(f"(evaluate {small.run[:8]}) compared") == 1
    assert f"first {MODELS[0]}, second {MODELS[1]}" in said
    assert "difference: second minus first" in said
    assert "first minus second" not in said
    gaps = [read_number(gap) for gap in re.findall(r'class="gap \w*">([^<–]+)<', text)]
    assert max(gaps, key=abs) < 0
    assert "Paired differences" in await body(client, f"/runs/{small.run}?wait=true")


@pytest.mark.parametrize(
    ("low", "p_value", "sentence", "tone"),
    [
        (0.1, 0.01, "This is beyond chance (p = 0.010).", "higher"),
        (-0.1, 0.2, "This may be chance (p = 0.200).", "strong"),
        (0.1, 0.06, "The interval and the p-value disagree (p = 0.060): this is inconclusive.", "strong"),
        (-0.1, 0.04, "The interval and the p-value disagree (p = 0.040): this is inconclusive.", "strong"),
    ],
)
def test_the_sentence_and_the_table_say_the_same(
    small: Finished, low: float, p_value: float, sentence: str, tone: str
) -> None:
    """A difference is marked in the table where the sentence calls it beyond chance, and in the same unit."""
    with Home.open(small.home, write=False) as opened:
        run = get_run(opened, small.run)
        found = compare_runs(opened, run, run, models=("sim/weak", "sim/strong"))
    (pair,) = found.scores
    difference = Interval(mean=0.3, low=low, high=0.5)
    figures = {
        "strict_accuracy": None,
        "stated": None,
        "both_stated": None,
        "difference": difference,
        "p_value": p_value,
    }
    changed = pair.model_copy(update=figures)
    blocks = list(comparison_blocks(found.model_copy(update={"pairs": (changed,)})))
    (lead,) = [block for block in blocks if isinstance(block, Paragraph) and block.kind == "lead"]
    said = plain(lead.text)
    assert said.endswith(sentence)
    assert "a difference of +0.30 points of the scale from 1 to 5" in said
    table = next(block for block in blocks if isinstance(block, Table))
    tones = [span.tone for span in spans(table.rows[-1][-3]) if isinstance(span, Span)]
    assert tones[0] == tone


async def test_rows_are_read_once_for_a_comparison(two: tuple[Path, str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures, parts and samples of a comparison share one reading of each run, and of its rows only those that count."""
    home, first, second = two
    read: list[tuple[str, str | None]] = []

    def counted(home: Home, run: str, *, kind: str | None = None) -> list[ResultRow]:
        read.append((run, kind))
        return results(home, run, kind=kind)

    monkeypatch.setattr("dokimasia.runs.reading.comparison.results", counted)
    with service_over(home) as service:
        async with asking(service) as client:
            assert shown(await body(client, f"/compare?runs={first},{second}&show=higher"))
    assert sorted(read) == sorted((run, "score") for run in (first, second))


async def test_a_list_names_the_best_strict_accuracy(homes: runs.Homes, world: Path, tmp_path: Path) -> None:
    """A run's line has its best model by strict accuracy, up to what it is if undecided answers are right, and no bound."""
    settings, _ = homes.finished(KINDS["evaluate"], tmp_path / "home")
    rules = await make(settings, world, KINDS["evaluate"], judge=None)
    found = {name: one["strict_accuracy"] for name, one in rules.summary["models"].items()}
    best = max(sorted(found), key=lambda name: found[name]["share"])
    share, upper = found[best]["share"], found[best]["upper"]
    with service_over(settings.home) as service:
        async with asking(service) as client:
            line = plain_text(await body(client, f"/runs/{rules.run}/row"))
    assert upper > share, "rules leave answers undecided in this world"
    assert f"{best}: strict accuracy {percentage(share, 1)}, up to {percentage(upper, 1)}" in line


async def test_differences_are_told_without_colours(client: httpx.AsyncClient, small: Finished) -> None:
    """What differs beyond chance has a class with a sign of its own, which the page explains; nothing is only red or green."""
    query = {"runs": small.run, "models-first": "sim/weak", "models-second": "sim/strong"}
    page = (await client.get("/compare", params=query, headers={"accept": "text/html"})).text
    assert re.search(r'<span class="higher"[^>]*>\+', page)
    assert 'class="gap higher"' in page
    assert not re.search(r'class="(?:gap )?(?:good|bad)"', page)
    assert "▲ sim/strong is higher and ▼ lower, beyond chance" in page
    style = (await client.get("/static/report/page.css")).text
    for name, sign in (("higher", "25B2"), ("lower", "25BC")):
        assert re.search(rf"\.{name}::before {{ content: \"\\{sign}", style)
