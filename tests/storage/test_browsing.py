"""Samples of a run found by the database: filtered, ordered, paged, with their neighbours."""

from collections.abc import Iterator

import pytest

from dokimasia.storage.home import Home
from dokimasia.storage.reading.browsing import ANY, SampleQuery, facets, find_samples, sample_around
from dokimasia.storage.results import ResultRow, results
from dokimasia.storage.runs import load_samples
from tests.report import conftest as reports
from tests.report.conftest import Finished

full = reports.full
MODEL = "sim/weak"


@pytest.fixture
def home(full: Finished) -> Iterator[Home]:
    """A home with an evaluation that has repeats, a blind arm and failures."""
    with Home.open(full.home, write=False) as home:
        yield home


def found(home: Home, run: str, wanted: SampleQuery) -> list[str]:
    """The names of all wanted samples, a page at a time; places and the total must fit."""
    names: list[str] = []
    while page := find_samples(home, run, "score", wanted, limit=4, offset=len(names)):
        if not page.samples:
            assert page.total == len(names)
            return names
        assert [place for place, _ in page.samples] == list(range(len(names) + 1, len(names) + len(page.samples) + 1))
        names += [id for _, id in page.samples]
    return names


def answers(home: Home, run: str, model: str = "", arm: str = "") -> dict[str, list[ResultRow]]:
    """The scored rows of a run by sample, of one model where it is named."""
    by_sample: dict[str, list[ResultRow]] = {}
    for row in results(home, run):
        if row.kind == "score" and row.arm == arm and model in ("", row.model):
            by_sample.setdefault(row.sample_id, []).append(row)
    return by_sample


def means(home: Home, run: str, model: str = "") -> dict[str, float]:
    """The mean score of each sample that has one."""
    scores = {
        id: [row.score for row in rows if row.score is not None] for id, rows in answers(home, run, model).items()
    }
    return {id: sum(values) / len(values) for id, values in scores.items() if values}


def test_without_a_filter_all_samples_come_in_their_order(full: Finished, home: Home) -> None:
    """Nothing asked for is every sample, in the order of the data, each once over all pages."""
    assert found(home, full.run, SampleQuery()) == [sample.id for sample in load_samples(home, full.run)]


@pytest.mark.parametrize("model", ["", MODEL])
def test_scores_bound_and_order(full: Finished, home: Home, model: str) -> None:
    """Bounds go by the mean of the sample's scores, of the model that is named; arms without the image do not count."""
    expected = means(home, full.run, model)
    low = found(home, full.run, SampleQuery(model=model, order="low"))
    assert [id for id in low if id in expected] == sorted(
        expected, key=lambda id: (round(expected[id], 9), low.index(id))
    )
    assert set(low[len(expected) :]).isdisjoint(expected)
    inside = found(home, full.run, SampleQuery(model=model, low=2.0, high=3.0))
    assert set(inside) == {id for id, mean in expected.items() if 2.0 <= round(mean, 6) <= 3.0}
    assert inside


def test_failures_are_found_by_kind_and_model(full: Finished, home: Home) -> None:
    """A kind of failure finds the samples that have it; with a model, those where it, or what comes before it, failed."""
    rows = results(home, full.run)
    failed = {row.sample_id for row in rows if row.failure}
    assert failed
    assert set(found(home, full.run, SampleQuery(failure=ANY))) == failed
    for kind in facets(home, full.run, "score").failures:
        own = {row.sample_id for row in rows if row.failure == kind and row.model in ("", MODEL) and not row.arm}
        assert set(found(home, full.run, SampleQuery(failure=kind, model=MODEL))) == own


def test_words_are_found_in_questions_or_in_answers(full: Finished, home: Home) -> None:
    """All words have to stand in the sample's own texts, in any case; or with `answers` in one answer of it."""
    samples = {sample.id: sample for sample in load_samples(home, full.run)}
    word = max(samples.values(), key=lambda one: len(one.prompt)).prompt.split()[1]
    expected = {
        id
        for id, one in samples.items()
        if word.lower() in f"{id} {one.category or ''} {one.prompt} {one.reference_text or ''}".lower()
    }
    assert set(found(home, full.run, SampleQuery(search=word.upper()))) == expected
    assert found(home, full.run, SampleQuery(search="final answer")) == []
    assert found(home, full.run, SampleQuery(search="final answer", answers=True))


def test_signs_of_the_database_are_only_signs(full: Finished, home: Home) -> None:
    """A quote, a percent sign or an underscore asks for itself."""
    for text in ("%", "_______", "' OR 1=1 --", "\\", '"'):
        samples = [one for one in load_samples(home, full.run) if text in f"{one.id} {one.category} {one.prompt}"]
        assert len(found(home, full.run, SampleQuery(search=text))) == len(samples)


def test_verdict_category_and_names(full: Finished, home: Home) -> None:
    """Verdicts go by the model, categories by the sample, and names that are given leave no other."""
    wrong = {id for id, rows in answers(home, full.run, MODEL).items() if any(row.verdict == "wrong" for row in rows)}
    assert set(found(home, full.run, SampleQuery(verdict="wrong", model=MODEL))) == wrong
    samples = list(load_samples(home, full.run))
    category = next(one.category for one in samples if one.category)
    assert found(home, full.run, SampleQuery(category=category)) == [
        one.id for one in samples if one.category == category
    ]
    names = [samples[3].id, samples[1].id]
    assert found(home, full.run, SampleQuery(among=names)) == [samples[1].id, samples[3].id]
    assert found(home, full.run, SampleQuery(among=())) == []


@pytest.mark.parametrize(
    "wanted",
    [SampleQuery(), SampleQuery(order="high"), SampleQuery(failure=ANY), SampleQuery(order="apart", model=MODEL)],
)
def test_neighbours_are_those_of_the_list(full: Finished, home: Home, wanted: SampleQuery) -> None:
    """Before and after a sample stand those that do so in the list of the same filter."""
    names = found(home, full.run, wanted)
    for place, id in enumerate(names):
        around = sample_around(home, full.run, "score", wanted, id)
        assert around is not None
        assert (around.place, around.total) == (place + 1, len(names))
        assert around.before == (names[place - 1] if place else None)
        assert around.after == (names[place + 1] if place + 1 < len(names) else None)
    assert sample_around(home, full.run, "score", wanted, "no such sample") is None


def test_what_can_be_asked_for(full: Finished, home: Home) -> None:
    """Facets are the models with their arms, failures, verdicts and categories that occur."""
    rows, told = results(home, full.run), facets(home, full.run, "score")
    assert set(told.models) == {(row.model, row.arm) for row in rows if row.kind == "score"}
    assert set(told.failures) == {row.failure for row in rows if row.failure}
    assert set(told.verdicts) == {row.verdict for row in rows if row.verdict}
    assert set(told.categories) == {one.category for one in load_samples(home, full.run) if one.category}
