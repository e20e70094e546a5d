"""Draws: all pairs once, and Swiss rounds in which nobody meets twice and models of like points meet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dokimasia.algorithms.pairwise import all_pairs, most_rounds, swiss_round


@given(st.integers(2, 9), st.integers(0, 1000), st.data())
def test_swiss_rounds_pair_as_many_as_can_be_and_none_twice(number: int, seed: int, data: st.DataObject) -> None:
    """In each round a model meets one at most, never again the same, and equal points, pairs and seed give the same draw."""
    models = [f"m{at}" for at in range(number)]
    met: list[tuple[str, str]] = []
    for _ in range(most_rounds(number) + 1):
        points = {name: data.draw(st.sampled_from([0.0, 0.25, 0.5, 1.0])) for name in models}
        drawn = swiss_round(models, points, met, seed=seed)
        assert drawn == swiss_round(models, points, list(reversed(met)), seed=seed)
        assert len({name for pair in drawn for name in pair}) == 2 * len(drawn)
        assert not {*drawn} & {*met}
        assert {*drawn} <= {*all_pairs(models)}
        met += drawn
    assert len(met) == len({*met})


@pytest.mark.parametrize("number", [4, 5, 8, 9])
def test_the_first_rounds_leave_nobody_out_twice(number: int) -> None:
    """All take part in the first two rounds but for one that rests where they are odd in number, another one each time."""
    models = [f"m{at}" for at in range(number)]
    met: list[tuple[str, str]] = []
    resting: list[str] = []
    for _ in range(2):
        drawn = swiss_round(models, {name: at / 10 for at, name in enumerate(models)}, met, seed=5)
        assert len(drawn) == number // 2
        resting += [name for name in models if not any(name in pair for pair in drawn)]
        met += drawn
    assert len(resting) == len({*resting}) == 2 * (number % 2)


def test_models_of_like_points_meet_and_the_first_round_is_the_seeds() -> None:
    """With points all different, neighbours meet; without any, another seed draws other pairs."""
    models = list("abcdef")
    points = {name: 1 - at / 10 for at, name in enumerate(models)}
    assert swiss_round(models, points, [], seed=1) == [("a", "b"), ("c", "d"), ("e", "f")]
    assert swiss_round(models, points, [("a", "b")], seed=1) == [("a", "c"), ("b", "d"), ("e", "f")]
    assert len({tuple(swiss_round(models, {}, [], seed=seed)) for seed in range(20)}) > 5
    assert swiss_round(["a", "b"], {}, [("b", "a")], seed=0) == []
