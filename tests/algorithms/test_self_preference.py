"""Self-preference and vain votes against planted voters, and places against planted preference."""

import random

import pytest

from dokimasia.algorithms.self_preference import Round, own_votes, place_rates, self_preference

VOTERS = "ABC"
AUTHORS = {"a": ["A"], "b": ["B"], "c": ["C"]}


def planted(seed: int, vanity: tuple[float, ...], *, images: int = 60) -> list[Round]:
    """Votes of members who choose their own text at a planted rate, else what the image makes the best, or nearly so."""
    draws = random.Random(seed)
    rounds: list[Round] = []
    for image in range(images):
        best = draws.choices("abc", [5, 3, 2])[0]
        for _ in range(draws.choice([1, 2])):
            choices = {
                voter: voter.lower()
                if draws.random() < vain
                else (best if draws.random() < 0.8 else draws.choice("abc"))
                for voter, vain in zip(VOTERS, vanity, strict=True)
            }
            rounds.append(Round(choices, AUTHORS, image))
    return rounds


@pytest.mark.parametrize(
    "vanity",
    [(0.2, 0.1, 0.0), *(pytest.param((share,) * 3, marks=pytest.mark.full) for share in (0.0, 0.4))],
)
def test_vain_votes_cover_what_is_planted(vanity: tuple[float, ...]) -> None:
    """Over a few planted worlds the intervals hold the planted share of each member, also 0 beside vain ones."""
    covered = 0
    for seed in range(12):
        found = own_votes(planted(seed, vanity), VOTERS)
        for voter, truth in zip(VOTERS, vanity, strict=True):
            interval = found[voter].interval
            assert interval is not None
            covered += interval.low <= truth <= interval.high
    assert covered >= 31, "of 36; a true 95 % fails this once in ten thousand times"


def test_the_difference_covers_one_rate() -> None:
    """Where all are vain at one rate, the panel's difference is that rate."""
    for seed in range(6):
        found = self_preference(planted(seed, (0.3, 0.3, 0.3), images=300), seed=0)
        assert found.difference is not None
        assert abs(found.difference - 0.3) < 0.1


def test_quality_is_no_vanity() -> None:
    """Votes that all go to one member's texts tell nothing of its vanity."""
    rounds = [Round(dict.fromkeys(VOTERS, "a"), AUTHORS, image) for image in range(20)]
    assert self_preference(rounds, "A", seed=0).difference == 0
    assert own_votes(rounds, VOTERS)["A"].share is None


def test_too_few_to_tell() -> None:
    """Two voters determine no vain votes, and no vote gives no figure."""
    rounds = [Round({"A": "a", "B": "b"}, {"a": ["A"], "b": ["B"]}, 0)]
    assert own_votes(rounds, "AB")["A"].share is None
    assert self_preference([], seed=0) == (None, None, None, None, 0)
    assert self_preference(rounds, "Z", seed=0).n == 0


def test_order_does_not_matter() -> None:
    """The same rounds in another order give the same figures."""
    rounds = planted(3, (0.2, 0.0, 0.1))
    mixed = random.Random(1).sample(rounds, len(rounds))
    assert self_preference(rounds, seed=0) == self_preference(mixed, seed=0)
    before, after = own_votes(rounds, VOTERS)["A"], own_votes(mixed, VOTERS)["A"]
    assert before.share == pytest.approx(after.share)


def test_places() -> None:
    """A voter who takes what comes first is found out; a place that was not shown is a mistake."""
    first, second, _ = place_rates([1] * 40, [3] * 40)
    assert (first.chosen, second.chosen) == (1.0, 0.0)
    assert first.interval.low > first.expected > second.interval.high
    assert place_rates([], []) == []
    with pytest.raises(ValueError, match="not among"):
        place_rates([4], [3])
