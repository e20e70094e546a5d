"""Figures of labels: agreement against values worked out by hand, fit by dimension, and why there is none."""

import pytest

from dokimasia.domain.blindspots import LABELS, Label, Perturbed
from dokimasia.people.checks import LabelFigures, label_blocks, label_figures
from dokimasia.people.checks.labels import LabelledPerturbation
from dokimasia.report.blocks import Paragraph, Table, plain
from dokimasia.report.fields import as_json

V, S, X, U = "valid", "score_invariant", "incorrect", "not_sure"


def _item(number: int, dimension: str = "tone_mismatch", **said: Label) -> LabelledPerturbation:
    item = Perturbed(
        sample=f"d{number}",
        sample_id=f"s{number}",
        task="image-to-text",
        dimension=dimension,
        gold="A calm picture.",
        perturbed="A ghastly picture.",
    )
    return LabelledPerturbation(item, f"image{number}", next(iter(said.values()), None), said)


def test_agreement_is_what_a_hand_works_out() -> None:
    """Of six items two people label four alike: kappa 1/2, alpha 50/94, and every meeting of labels is counted both ways."""
    pairs: list[tuple[Label, Label]] = [(V, V), (V, V), (V, S), (S, S), (X, X), (U, V)]
    found = label_figures([_item(at, anna=one, ben=other) for at, (one, other) in enumerate(pairs)]).agreement
    (pair,) = found.pairs
    assert found.alpha is not None
    assert (pair.people, pair.n, pair.same.k) == (("anna", "ben"), 6, 4)
    assert pair.kappa.value == pytest.approx(0.5)
    assert found.alpha.value == pytest.approx(50 / 94, abs=1e-6)
    assert pair.kappa.low < 0.5 < pair.kappa.high
    assert found.alpha.low < 50 / 94 < found.alpha.high
    rows = {row.label: row for row in found.confusion}
    assert rows[V].beside == {V: 4, S: 1, X: 0, "not_relevant": 0, "gold_wrong": 0, U: 1}
    assert rows[S].beside[V] == 1
    assert {label: row.n for label, row in rows.items()} == {V: 6, S: 3, X: 2, "not_relevant": 0, "gold_wrong": 0, U: 1}


def test_three_people_have_three_pairs_and_one_alpha() -> None:
    """Where not everybody labelled everything each two have what both labelled."""
    items = [_item(0, a=V, b=V, c=V), _item(1, a=S, b=S), _item(2, b=X, c=V), _item(3, a=V)]
    found = label_figures(items).agreement
    assert found.n == 3
    assert {pair.people: pair.n for pair in found.pairs} == {
        ("a", "b"): 2,
        ("a", "c"): 1,
        ("b", "c"): 2,
    }
    assert sum(row.n for row in found.confusion) == 6 + 2 + 2


@pytest.mark.parametrize(
    ("items", "why"),
    [
        ([_item(0)], "nobody"),
        ([_item(0, anna=V)], "one annotator"),
        ([_item(0, anna=V), _item(1, ben=V)], "no two annotators"),
    ],
)
def test_where_there_is_no_agreement_it_says_why(items: list[LabelledPerturbation], why: str) -> None:
    """No labels, one person, and people who labelled different things are three reasons."""
    found = label_figures(items).agreement
    assert why in found.absent
    assert (found.alpha, found.pairs) == (None, ())


def test_one_and_the_same_label_for_all_has_no_value() -> None:
    """Where chance explains full agreement there is a share, and a reason in place of kappa and alpha."""
    found = label_figures([_item(at, anna=V, ben=V) for at in range(4)]).agreement
    assert found.pairs[0].same.share == 1
    assert found.alpha is not None
    assert found.alpha.value is None
    assert "no value" in found.alpha.no_value


def test_fit_is_counted_by_dimension() -> None:
    """An error is fit as valid, a harmless change as score-invariant; what waits leaves the share open."""
    items = [
        _item(0, a=V),
        _item(1, a=X),
        _item(2),
        _item(3, "score_neutral", a=S),
        _item(4, "score_neutral", a=V),
        _item(5, "entity_substitution", a=S),
    ]
    figures = label_figures(items)
    rows = {row.dimension: row for row in figures.by_dimension}
    assert list(rows) == ["entity_substitution", "tone_mismatch", "score_neutral"]
    assert (rows["tone_mismatch"].made, rows["tone_mismatch"].labelled) == (3, 2)
    assert (rows["tone_mismatch"].fit.k, rows["tone_mismatch"].fit.n) == (1, 2)
    bounds = rows["tone_mismatch"].fit.bounds
    assert bounds is not None
    assert (bounds.low, bounds.high) == pytest.approx((1 / 3, 2 / 3), abs=1e-6)
    assert (rows["score_neutral"].fit.k, rows["score_neutral"].meant) == (1, S)
    assert rows["entity_substitution"].fit.k == 0
    assert (figures.made, figures.labelled, figures.enter) == (6, 5, 3)
    assert figures.labels == {**dict.fromkeys(LABELS, 0), V: 2, X: 1, S: 2}


def test_figures_have_the_published_shape_and_are_drawn() -> None:
    """The figures read as their model, and the blocks say how many wait, what they came to and how far people agree."""
    items = [_item(at, **({"anna": V, "ben": V if at else X} if at < 5 else {})) for at in range(6)]
    figures = label_figures(items)
    assert LabelFigures.model_validate(as_json(figures)) == figures
    blocks = label_blocks(figures, "r1")
    texts = " ".join(plain(block.text) for block in blocks if isinstance(block, Paragraph))
    assert "1 of 6 perturbations wait for a person to label them: dokimasia decide r1" in texts
    assert "Krippendorff's alpha (nominal)" in texts
    assert "Labelled by anna 5, ben 5" in texts
    assert sum(isinstance(block, Table) for block in blocks) == 3
    assert label_blocks(label_figures([]), "r1") == []


def test_a_wrong_gold_answer_says_nothing_of_the_changes() -> None:
    """Its perturbations are labelled and counted, and neither for nor against the share that is fit; its bounds neither."""
    items = [_item(0, anna=V), _item(1, anna=X), _item(2, anna="gold_wrong"), _item(3)]
    found = label_figures(items)
    assert (found.made, found.labelled, found.enter) == (4, 3, 1)
    assert found.labels["gold_wrong"] == 1
    assert found.fit.n == 2
    assert found.fit.share == 0.5
    assert found.fit.bounds == label_figures([*items[:2], items[3]]).fit.bounds
    alone = label_figures([_item(0, anna="gold_wrong")])
    assert alone.fit.share is None
