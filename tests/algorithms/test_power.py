"""Sample sizes are those of the paired t test, larger by the design effect, and inverse to the smallest difference."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower

from dokimasia.algorithms.statistics.power import Design, pilot_design, power, samples_needed, smallest_difference


@pytest.mark.parametrize("effect", [0.1, 0.3, 0.8])
@pytest.mark.parametrize("chance", [0.5, 0.8, 0.95])
def test_independent_samples_agree_with_another_implementation(effect: float, chance: float) -> None:
    """The least n reaches the power by statsmodels, and one sample fewer does not."""
    n = samples_needed(effect * 20, Design(sd=20), chance=chance)
    theirs = TTestPower()
    assert theirs.power(effect, n, 0.05) >= chance > theirs.power(effect, n - 1, 0.05)
    assert power(n, -effect * 20, Design(sd=20)) == pytest.approx(theirs.power(effect, n, 0.05), abs=1e-9)


@given(st.floats(0.05, 2), st.floats(1, 6), st.floats(1, 4), st.sampled_from([0.5, 0.8, 0.9]))
def test_the_two_questions_are_inverse(difference: float, size: float, effect: float, chance: float) -> None:
    """So many samples as show d show nothing smaller than what one sample fewer would miss."""
    design = Design(sd=1.0, cluster_size=size, design_effect=effect)
    n = samples_needed(difference, design, chance=chance)
    assert smallest_difference(n, design, chance=chance) <= difference * (1 + 1e-9)
    if n - 1 >= 2 * size:
        assert smallest_difference(n - 1, design, chance=chance) > difference * (1 - 1e-9)


def test_a_pilot_shows_its_design() -> None:
    """Values equal within clusters of four have a design effect of about four; independent ones have one."""
    alone = pilot_design([1.0, -1.0, 2.0, 0.0, 3.0, -2.0])
    assert (alone.cluster_size, alone.design_effect) == (1, 1)
    values = [1.0, -1.0, 2.0, 0.0, 3.0, -2.0, 0.5, 1.5]
    together = pilot_design([v for v in values for _ in range(4)], clusters=[i // 4 for i in range(32)])
    assert together.cluster_size == 4
    assert together.design_effect == pytest.approx(4 * 31 / 28)
    assert samples_needed(0.5, together) > 3 * samples_needed(0.5, Design(sd=together.sd))


def test_what_cannot_be_asked_raises() -> None:
    """No difference, no spread, too few clusters, and impossible designs and levels raise."""
    for ask in (
        lambda: samples_needed(0, Design(1.0)),
        lambda: samples_needed(1e-9, Design(1.0)),
        lambda: samples_needed(1, Design(0.0)),
        lambda: samples_needed(1, Design(1.0, 0.5)),
        lambda: samples_needed(1, Design(1.0), chance=0.01),
        lambda: power(4, 1, Design(1.0, cluster_size=3)),
        lambda: pilot_design([1.0]),
        lambda: pilot_design([1.0, 1.0, 1.0]),
        lambda: pilot_design([1.0, 2.0], clusters="aa"),
    ):
        with pytest.raises(ValueError, match=r"difference|design|level|clusters|vary"):
            ask()
