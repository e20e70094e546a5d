"""The closed loop's choices: reproducible, fair, and blind to what they may not look at."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dokimasia.algorithms.closed_loop import Need, assign_peers, failed_atoms, when_to_stop, withhold


def test_an_atom_fails_below_four() -> None:
    """At 3 and below an atom has failed, at 4 and above it is solved; means of several judgements count alike."""
    assert failed_atoms([3, 4, 5, 1, 3.5, 4.0]) == (1, 4, 5)
    assert failed_atoms([]) == ()


@given(st.sets(st.integers(1, 8)), st.floats(0, 1), st.integers(0, 99))
def test_a_split_loses_nothing_and_shows_something(failed: set[int], share: float, seed: int) -> None:
    """Both parts together are the failed atoms, the share is rounded down, and one atom at least is shown."""
    split = withhold(failed, share, seed, "sample", "model", 0)
    assert sorted(split.shown + split.withheld) == sorted(failed)
    assert len(split.withheld) <= len(failed) * share + 1e-6
    assert bool(split.shown) == bool(failed)
    assert split == withhold(sorted(failed, reverse=True), share, seed, "sample", "model", 0)


def test_every_atom_is_withheld_as_often_as_any_other() -> None:
    """Over many samples half of the atoms are withheld, whichever their place."""
    counts = dict.fromkeys(range(1, 5), 0)
    for number in range(2_000):
        for atom in withhold([1, 2, 3, 4], 0.5, 0, f"sample {number}").withheld:
            counts[atom] += 1
    assert all(abs(count - 1_000) < 100 for count in counts.values())


def test_a_share_beyond_one_is_refused() -> None:
    """A share is a share."""
    with pytest.raises(ValueError, match="not between 0 and 1"):
        withhold([1], 1.5)


def test_the_best_peer_helps_and_equals_take_turns() -> None:
    """A better score wins; among equals it is who has given fewest hints; where none solved it there is none."""
    needs = [Need(f"answer {number}", 1) for number in range(6)]
    equal = assign_peers(needs, {need: {"p": 5, "q": 5, "r": 4} for need in needs}, seed=1)
    first = [order[0] for order in equal.values()]
    assert sorted(first) == ["p", "p", "p", "q", "q", "q"]
    assert all(order[2] == "r" for order in equal.values())
    assert assign_peers(needs[:1], {}, seed=1) == {needs[0]: ()}


def test_chance_decides_by_the_seed() -> None:
    """The same seed chooses the same peers, and over seeds each of two equals is chosen first about half of the time."""
    need = Need("answer", 2)
    solved = {need: {"p": 4.0, "q": 4.0}}
    firsts = [assign_peers([need], solved, seed=seed)[need][0] for seed in range(400)]
    assert firsts[7] == assign_peers([need], solved, seed=7)[need][0]
    assert 150 < firsts.count("p") < 250


def test_stop_rules_see_the_shown_atoms_only() -> None:
    """What becomes of other atoms neither stops an arm nor keeps it going."""
    assert when_to_stop([1, 1], [5, 1], [1], round=1, rounds=3) == "all solved"
    assert when_to_stop([1, 1], [1, 5], [1], round=1, rounds=3) == "nothing improved"
    assert when_to_stop([1, 1, 1], [2, 1, 5], [1, 2], round=1, rounds=3) == ""
    assert when_to_stop([1, 1, 1], [2, 1, 5], [1, 2], round=3, rounds=3) == "rounds"
    assert when_to_stop([5, 5], [5, 5], [], round=1, rounds=3) == "nothing to say"
