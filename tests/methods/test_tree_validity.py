"""Table 3: a grouping that says something beats chance and the other groupings; one that says nothing does not."""

import random
from io import BytesIO

import pytest
from PIL import Image

from dokimasia.algorithms.taxonomy import validity
from dokimasia.methods.tree.node_scores import MeasuredRun
from dokimasia.methods.tree.validity import CriteriaGrouping, baseline_groupings, picture_features, validity_table

THEMES = {
    "count": "How many apples are there?",
    "colour": "Which colour is the hat?",
    "read": "What does the sign say?",
}


def world(*, effect: float, samples: int = 80, seed: int = 0) -> tuple[dict[str, str], MeasuredRun]:
    """Criteria of three themes; with an effect two models find the themes easy and hard."""
    draw = random.Random(seed)
    theme_of: dict[str, str] = {}
    sample_of: dict[str, str] = {}
    scores: dict[str, dict[str, float]] = {"a": {}, "b": {}}
    for sample in range(samples):
        luck = draw.gauss(0, 15)
        for number in range(3):
            key, theme = f"s{sample}:{number}", draw.choice(list(THEMES))
            theme_of[key], sample_of[key] = theme, f"s{sample}"
            for at, model in enumerate(scores):
                base = 50 + luck + effect * ((list(THEMES).index(theme) + at) % 3 - 1)
                scores[model][key] = min(100.0, max(0.0, base + draw.gauss(0, 12)))
    return theme_of, MeasuredRun(scores, {}, sample_of)


def test_a_grouping_that_speaks_of_scores_beats_chance() -> None:
    """Its figures are those of the validity itself, its delta lies above the null, and the rival's below it."""
    theme_of, measured = world(effect=25.0)
    nonsense = {key: f"{hash_of * hash_of % 7 % 3}" for hash_of, key in enumerate(theme_of)}
    table = validity_table(
        [CriteriaGrouping("tree", "themes", theme_of), CriteriaGrouping("rival", "nonsense", nonsense)],
        measured,
        models=["a", "b"],
        seed=1,
        permutations=100,
        resamples=20,
    )
    tree, rival = table.taxonomies
    plain = validity(measured.scores, theme_of)
    apart = validity(measured.scores, theme_of, measured.sample_of)
    assert tree.published.delta == pytest.approx(plain.delta, abs=1e-5)
    assert (table.direction, list(tree.model_dump()["published"])[:2]) == (
        "second minus first",
        ["mae_intra", "mae_global"],
    )
    first, second = tree.published.mae_intra, tree.published.mae_global
    assert tree.published.delta == pytest.approx(second - first, abs=1e-5)
    assert tree.leave_image_out.delta == pytest.approx(apart.delta, abs=1e-5)
    assert tree.published.n == 480
    for errors, rival_errors in (
        (tree.published, rival.published),
        (tree.leave_image_out, rival.leave_image_out),
    ):
        assert errors.delta > errors.null.p99
        assert errors.null.p_value <= 0.02
        assert errors.stability.positive == 1.0
        assert errors.stability.above_first is None
        assert rival_errors.stability.above_first == 0.0
        assert rival_errors.null.p_value > 0.02
    assert (tree.leaves, tree.grouped, table.criteria) == (3, 240, 240)


def test_in_a_null_world_chance_brings_as_much() -> None:
    """Where themes say nothing about scores, p-values are spread out: few are small over twelve worlds."""
    small = 0
    for seed in range(12):
        theme_of, measured = world(effect=0.0, seed=seed)
        rows = validity_table(
            [CriteriaGrouping("tree", "", theme_of)],
            measured,
            models=["a", "b"],
            seed=seed,
            permutations=60,
            resamples=0,
        ).taxonomies
        assert rows[0].leave_image_out.stability is None
        small += rows[0].leave_image_out.null.p_value <= 0.05
    assert small <= 3


def test_the_same_table_whatever_the_order() -> None:
    """The order in which criteria and models come changes no figure."""
    theme_of, measured = world(effect=10.0, samples=20)
    turned = MeasuredRun(
        {name: dict(reversed(list(each.items()))) for name, each in reversed(list(measured.scores.items()))},
        {},
        dict(reversed(list(measured.sample_of.items()))),
    )
    options = {"models": ["a", "b"], "seed": 3, "permutations": 20, "resamples": 5}
    one = validity_table([CriteriaGrouping("tree", "", theme_of)], measured, **options)
    assert one == validity_table([CriteriaGrouping("tree", "", dict(reversed(theme_of.items())))], turned, **options)


def test_a_grouping_of_nothing_has_no_figures() -> None:
    """Leaves of one criterion each, or none at all, predict nothing; that is said, and is no error."""
    theme_of, measured = world(effect=10.0, samples=5)
    rows = validity_table(
        [CriteriaGrouping("alone", "", {key: key for key in theme_of}), CriteriaGrouping("none", "", {})],
        measured,
        models=["a", "b"],
        seed=0,
        permutations=5,
        resamples=5,
    ).taxonomies
    for row in rows:
        assert (row.published.delta, row.published.null, row.published.stability) == (
            None,
            None,
            None,
        )


def picture(colour: str) -> bytes:
    data = BytesIO()
    Image.new("RGB", (40, 30), colour).save(data, "PNG")
    return data.getvalue()


def test_baselines_need_no_model() -> None:
    """Words find themes, pictures their like, labels their samples; what has no data is left out."""
    theme_of, measured = world(effect=0.0, samples=12)
    texts = {key: THEMES[theme] for key, theme in theme_of.items()}
    looks = {f"s{at}": picture_features(picture("red" if at % 2 else "blue")) for at in range(12)}
    pictures = {sample: look for sample, look in looks.items() if look is not None}
    found = {
        one.name: one.group_of
        for one in baseline_groupings(
            texts, measured.sample_of, leaves=3, seed=0, labels={"s0": "x", "s1": "y"}, pictures=pictures
        )
    }
    assert list(found) == ["hand-made", "generalist", "visual", "data-blind", "labels"]
    assert {found["hand-made"][key] for key, theme in theme_of.items() if theme == "count"} == {"object counting"}
    assert {found["hand-made"][key] for key, theme in theme_of.items() if theme == "colour"} == {"colour recognition"}
    assert len({found["data-blind"][key] for key in theme_of}) == 3
    assert found["visual"]["s0:0"] == found["visual"]["s2:1"] != found["visual"]["s1:0"]
    assert found["labels"] == {key: {"s0": "x", "s1": "y"}[key[:2]] for key in theme_of if key[:3] in {"s0:", "s1:"}}
    assert picture_features(b"no picture") is None
    bare = baseline_groupings(texts, measured.sample_of, leaves=3, seed=0)
    assert [one.name for one in bare] == ["hand-made", "generalist", "data-blind"]
