"""What is planted is marked, what is not is left alone, and every table says how sure it is."""

from collections import Counter
from dataclasses import replace

import pytest

from dokimasia.algorithms.diagnosis.tables import EvidenceTables
from dokimasia.algorithms.taxonomy import add_all, assign, new_tree
from dokimasia.domain.diagnosis.tables import Asset
from dokimasia.methods.diagnosis.answer_tables import answer_tables, reasons
from dokimasia.methods.diagnosis.cells import value_of
from dokimasia.methods.diagnosis.evidence_data import DiagnosedAnswer, DiagnosisMaterial, FinalAnswer, slugs_of
from dokimasia.methods.diagnosis.leaf_tables import contrasts, leaf_tables, verdicts_of
from dokimasia.methods.diagnosis.sample_tables import failures, overall, pairs, ranks, stability, top_ties, win_ties
from dokimasia.methods.diagnosis.tables import assets_of
from dokimasia.methods.tree.node_scores import MeasuredRun
from dokimasia.prompts import default_library
from dokimasia.simulation.lexicon import made_up_capabilities, parent_of
from tests.planted_material import world

WEAK = parent_of(next(iter(made_up_capabilities())))
SURE = {"weak", "strong", "better", "worse"}


def small(*answers: DiagnosedAnswer, repeats: int = 1) -> DiagnosisMaterial:
    """A few answers on a tree of one leaf."""
    samples = list(dict.fromkeys(one.sample_id for one in answers))
    models = tuple(dict.fromkeys(one.model for one in answers))
    tree = assign(add_all(new_tree(["A"]), ["<A><B><C>"]), dict.fromkeys(samples, "<A><B><C>"))
    scores = {
        model: {one.sample_id: (one.score - 1) * 25 for one in answers if one.model == model and one.score is not None}
        for model in models
    }
    return DiagnosisMaterial(
        tree, "tree", MeasuredRun(scores, {}, {id: id for id in samples}), models, answers, repeats
    )


def answer(
    sample: str,
    model: str,
    score: float | None,
    *,
    repeat: int = 0,
    reasons: tuple[int, ...] = (),
    final: FinalAnswer = "right",
) -> DiagnosedAnswer:
    """One answer on an image of its own."""
    failure = None if score is not None else "refused"
    return DiagnosedAnswer(sample, f"image-{sample}", model, repeat, score, failure, reasons, final)


def sure(*tables: Asset) -> list[tuple[str, str]]:
    """What tables mark: model and node."""
    return [(row.model, row.node) for one in tables for row in one.rows if row.mark in SURE]


def test_the_leaves_that_are_planted_weak_are_the_ones_that_are_marked() -> None:
    """In nearly every world the planted leaf of the weak model is marked, and hardly anything else of any model."""
    found = false = 0
    for seed in range(5):
        material = world(seed, {"weak": {WEAK: 0.15}, "even": {}})
        tables = [
            one for one in leaf_tables(material, verdicts_of(material, permutations=4_000)) if one.family == "leaves"
        ]
        marked = sure(*tables)
        found += any(model == "weak" and node.startswith(WEAK) for model, node in marked)
        false += sum(not node.startswith(WEAK) for _, node in marked)
    assert found >= 4
    assert false <= 2


def test_tables_of_leaves_say_how_much_the_test_cannot_move() -> None:
    """Where images have unlike numbers of criteria, both tables of a model name the share that keeps its leaves."""
    material = world(1, {"even": {}}, n=60)
    verdicts = verdicts_of(material, permutations=200)
    assert not any("keep theirs" in one.sentence for one in leaf_tables(material, verdicts))
    held = {
        model: {node: finding._replace(exchanged=0.75, reason="") for node, finding in of_model.items()}
        for model, of_model in verdicts.items()
    }
    tables = leaf_tables(material, held)
    assert {one.family for one in tables} == {"leaves", "nodes"}
    for one in tables:
        assert "25 % of the criteria belong to images whose number of criteria no other image has" in one.sentence


def test_among_equal_models_nothing_is_marked_beyond_the_rule() -> None:
    """Over twelve worlds of equal skill each kind of table raises no more than a few alarms."""
    alarms = {"leaves": 0, "contrasts": 0, "pairs": 0}
    for seed in range(12):
        material = world(100 + seed, {"one": {}, "other": {}}, n=240)
        alarms["leaves"] += bool(sure(*leaf_tables(material, verdicts_of(material, permutations=2_000))))
        alarms["contrasts"] += bool(sure(contrasts(material)))
        alarms["pairs"] += bool(sure(pairs(material)))
    assert max(alarms.values()) <= 3, alarms


def test_a_pair_is_the_second_minus_the_first_in_numbers_words_and_marks() -> None:
    """The difference, its mark and what a report prints of two scores agree; the table and every prompt say the direction."""
    material = world(7, {"low": dict.fromkeys(made_up_capabilities(), 0.3), "high": {}}, n=120)
    (row,) = (table := pairs(material)).rows
    assert [cell.value for cell in row.cells[:2]] == ["low", "high"]
    scores = {str(one.cells[0].value): one.cells[1].value for one in overall(material).rows}
    assert float(str(scores["high"])) - float(str(scores["low"])) == pytest.approx(row.cells[2].value, abs=1e-5)
    assert (row.mark, table.direction) == ("better", "second minus first")
    assert "differences are the second minus first" in table.sentence
    ties = win_ties(material).rows[0].cells
    assert value_of(ties[2], 0.0) < value_of(ties[4], 0.0), "the second scores higher more often"
    for asset, way in ((table, "higher than"), (table.model_copy(update={"direction": None}), "lower than")):
        tables = EvidenceTables({one.id: one for one in (overall(material), asset)}, material.models)
        cells = [tables.cell(f"models:{name}.score") for name in ("high", "low")]
        assert tables.tested(*cells) == (way, "pairs:1"), "tables of older homes have no direction, and the other sign"
    for name in ("report", "across", "salient"):
        assert "a difference is the second minus the first" in default_library().get(f"diagnosis_{name}").system


def test_every_mark_is_borne_out_by_the_interval_beside_it() -> None:
    """A row is marked weak only where its difference's interval lies below 0, and strong only above."""
    for one in assets_of(world(3, {"weak": {WEAK: 0.1}, "even": {}})):
        for row in one.rows:
            gap = next(
                (cell for cell, column in zip(row.cells, one.columns, strict=True) if column.kind == "difference"), None
            )
            if row.mark in ("weak", "worse"):
                assert gap is not None
                assert gap.high is not None
                assert gap.high < 0
            if row.mark in ("strong", "better"):
                assert gap is not None
                assert gap.low is not None
                assert gap.low > 0


def test_all_tables_are_there_and_equal_material_gives_equal_tables() -> None:
    """The ids are those that are documented, with no two alike, and nothing depends on anything but the material."""
    first, again = (assets_of(world(1, {"a/b": {}, "a b": {}}, n=60)) for _ in range(2))
    assert first == again
    ids = [one.id for one in first]
    assert len(set(ids)) == len(ids)
    assert {"models", "pairs", "ties", "ranks", "heatmap", "contrasts", "stability", "failures", "reasons"} <= set(ids)
    assert {one.family for one in first} >= {"radar", "leaves", "nodes", "answers"}
    assert sum(one.family == "radar" for one in first) >= 3


def test_estimates_have_intervals_that_contain_them_and_rows_say_how_much_is_behind_them() -> None:
    """Every difference and share with a value has an interval around it, and says which; n is never more than was asked."""
    methods: Counter[str | None] = Counter()
    for one in assets_of(world(2, {"x": {}, "y": {}}, n=80)):
        for row in one.rows:
            assert 0 <= row.n <= row.held
            for cell, column in zip(row.cells, one.columns, strict=True):
                if column.kind in ("difference", "share") and cell.value is not None:
                    assert isinstance(cell.value, float)
                    assert cell.no_interval is None
                    assert cell.low is not None
                    assert cell.high is not None
                    assert cell.low <= cell.value <= cell.high
                    methods[cell.interval_method] += 1
    assert methods.keys() == {None, "gaffke"}
    assert min(methods.values()) > 10


def test_one_model_has_no_tables_of_comparisons() -> None:
    """Pairs, ties, ranks and contrasts need two; the rest is there."""
    families = {one.family for one in assets_of(world(4, {"alone": {}}, n=60))}
    assert not families & {"pairs", "ties", "ranks", "contrasts"}
    assert families >= {"models", "leaves", "heatmap", "failures", "reasons"}


def test_one_sample_is_shown_and_nothing_is_claimed_of_it() -> None:
    """Intervals are as wide as the scale, and no row is marked."""
    tables = assets_of(small(answer("s", "m", 4.0), answer("s", "n", 2.0)))
    assert not sure(*tables)
    score = next(one for one in tables if one.id == "models").rows[0].cells[1]
    assert (score.low, score.high) == (1.0, 5.0)


def test_models_that_tie_share_their_ranks() -> None:
    """Two that tie for the first have rank 1.5, and half of each of the two ranks."""
    table = ranks(
        small(*(answer(f"s{at}", model, 3.0) for at in range(6) for model in ("a", "b")), answer("x", "a", 5.0))
    )
    assert [[cell.value for cell in row.cells] for row in table.rows] == [["a", 1.5, 0.5, 0.5], ["b", 1.5, 0.5, 0.5]]
    assert table.rows[0].n == 6
    assert table.rows[0].held == 7
    tied = win_ties(small(answer("s", "a", 3.0), answer("s", "b", 3.0)))
    assert tied.rows[0].cells[3].value == 1.0


def test_stability_counts_samples_that_keep_their_score() -> None:
    """The spread over repeats is that of each sample; with one repeat nothing is said."""
    repeated = small(
        *(answer("s", "m", 3.0, repeat=at) for at in range(2)),
        *(answer("t", "m", 1.0 + 2 * at, repeat=at) for at in range(2)),
        repeats=2,
    )
    row = stability(repeated).rows[0]
    assert row.cells[1].value == pytest.approx(2**0.5 / 2, abs=1e-6)
    assert row.cells[2].value == 0.5
    assert row.cells[3].value == 1.0
    widest = stability(small(answer("s", "m", 1.0), answer("s", "m", 5.0, repeat=1), repeats=2)).rows[0]
    assert widest.cells[1].value == pytest.approx(8**0.5, abs=1e-6)
    once = stability(small(answer("s", "m", 3.0)))
    assert not once.rows
    assert "--repeats" in once.sentence


def test_failures_are_counted_by_kind_and_their_absence_is_said() -> None:
    """A model with no failures has a row with 0 and an upper limit above it."""
    table = failures(small(answer("s", "m", None), answer("t", "m", 3.0), answer("s", "n", 2.0), answer("t", "n", 2.0)))
    counts = {(row.cells[0].value, row.cells[1].value): row.cells[2].value for row in table.rows}
    assert counts == {("m", "any"): 1, ("m", "refused"): 1, ("n", "any"): 0}
    assert (table.rows[0].samples, table.rows[1].samples) == (("s",), ("s",))
    upper = table.rows[2].cells[3].high
    assert upper is not None
    assert upper > 0
    assert "no failure" in failures(small(answer("s", "m", 3.0))).sentence


def test_right_answers_for_the_wrong_reason_are_told_from_sound_ones() -> None:
    """A wrong reason under a right answer, and none under a wrong one, are rates of their own and listed."""
    material = small(
        answer("lucky", "m", 3.0, reasons=(5, 2), final="right"),
        answer("sound", "m", 5.0, reasons=(5, 4), final="right"),
        answer("slip", "m", 4.5, reasons=(5, 4), final="wrong"),
        answer("lost", "m", 1.0, reasons=(1, 1), final="wrong"),
        answer("open", "m", 1.0, reasons=(1, 1), final="undecided"),
        answer("bare", "m", 1.0, reasons=(1, 1), final="no reference"),
    )
    table = reasons(material)
    assert [cell.value for cell in table.rows[0].cells] == ["m", 2, 0.5, 2, 0.5, 0]
    assert (table.rows[0].n, table.rows[0].held) == (4, 6)
    assert "Of 4 answers that are right or wrong 4 state reasons" in table.sentence
    assert "1 final answer more: undecided" in table.sentence
    listed = answer_tables(material)[0]
    assert [each.cells[0].value for each in listed.rows] == ["lucky", "slip"]
    nothing = reasons(small(answer("bare", "m", 1.0, reasons=(1,), final="no reference")))
    assert "nothing is said" in nothing.sentence


def test_answers_that_state_no_reason_are_in_neither_rate() -> None:
    """A bare final answer, right or wrong, has no wrong reason and no right one: it is counted apart."""
    bare = [answer(f"{kind}{at}", "m", 1.0, final=kind) for kind in ("right", "wrong") for at in range(12)]
    table = reasons(small(*bare))
    assert [cell.value for cell in table.rows[0].cells] == ["m", 0, None, 0, None, 24]
    assert (table.rows[0].n, table.rows[0].held) == (0, 24)
    assert "none states a reason" in table.sentence
    assert not answer_tables(small(*bare))[0].rows
    spoken = small(*bare, answer("lucky", "m", 3.0, reasons=(1,), final="right"))
    assert [cell.value for cell in reasons(spoken).rows[0].cells] == ["m", 1, 1.0, 0, None, 24]


def test_a_judge_that_was_not_asked_about_silence_is_named_under_the_table() -> None:
    """Where silence could not be told from error, the sentence says what silence counts as."""
    material = small(answer("lucky", "m", 3.0, reasons=(1,), final="right"))
    assert "silence" not in reasons(material).sentence
    assert "silence counts as wrong" in reasons(replace(material, silence_known=False)).sentence


def test_names_of_models_make_ids_that_differ() -> None:
    """What an id cannot hold is replaced, and two names that come to one are told apart."""
    slugs = slugs_of(["sim/a b", "sim/a-b", "x:1"])
    assert list(slugs.values()) == ["sim-a-b", "sim-a-b-2", "x-1"]


def test_failures_open_the_bounds_of_a_mean_and_only_then_are_there_columns_for_them() -> None:
    """Of two answers one failed: the mean is of one, and lies between what the other could have scored."""
    whole = overall(small(answer("s", "m", 4.0), answer("t", "m", 2.0)))
    assert "failures at 1" not in [column.name for column in whole.columns]
    partly = overall(small(answer("s", "m", 4.0), answer("t", "m", None), answer("s", "n", 5.0), answer("t", "n", 3.0)))
    assert [partly.cell(1, name).value for name in ("score", "failures at 1", "failures at 5")] == [4.0, 2.5, 4.5]
    assert [partly.cell(2, name).value for name in ("score", "failures at 1", "failures at 5")] == [4.0, 4.0, 4.0]
    assert (partly.rows[0].n, partly.rows[0].held) == (1, 2)
    assert all(partly.cell(at, name).estimated for at in (1, 2) for name in ("failures at 1", "failures at 5"))


def test_who_shares_the_top_of_a_sample_is_counted_by_group() -> None:
    """Alone or together, each sample counts once; samples without a score of one model are left out and counted."""
    table = top_ties(
        small(
            *(answer(id, "m", 4.0) for id in "abcd"),
            *(answer(id, "n", score) for id, score in zip("abcd", (4.0, 4.0, 3.0, None), strict=True)),
        )
    )
    assert [(row.cells[0].value, row.cells[2].value, row.n, row.held) for row in table.rows] == [
        ("m, n", 2, 3, 4),
        ("m", 1, 3, 4),
    ]
    assert table.rows[0].samples == ("a", "b")
    assert sum(float(row.cells[3].value or 0) for row in table.rows) == pytest.approx(1.0, abs=1e-5)


def test_categories_are_a_table_of_a_tree_alone() -> None:
    """Each category's mean is that of all criteria below it."""
    material = world(7, {"x": {}, "y": {}}, n=80)
    table = next(one for one in assets_of(material) if one.id == "categories")
    total = sum(row.n for row in table.rows)
    mean = sum(float(row.cells[1].value or 0) * row.n for row in table.rows) / total
    scores = material.measured.scores["x"]
    assert mean == pytest.approx(sum(scores.values()) / len(scores), abs=1e-4)


def test_what_a_tree_holds_of_other_runs_was_not_asked_here() -> None:
    """Criteria of the tree that no model of this run was asked about are no gap in its coverage; failures are."""
    scores = {name: dict.fromkeys("abcdefg"[:n], 50.0) for name, n in (("x", 6), ("y", 7))}
    tree = assign(add_all(new_tree(["A"]), ["<A><B><C>"]), dict.fromkeys("abcdefghij", "<A><B><C>"))
    measured = MeasuredRun(scores, {"x": {"g": "refused", "h": "refused"}}, {one: one for one in "abcdefgh"})
    table = contrasts(DiagnosisMaterial(tree, "tree", measured, ("x", "y")))
    assert [(row.n, row.held) for row in table.rows] == [(6, 8), (6, 8)]
