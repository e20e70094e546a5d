"""What an error analysis reads is drawn as it says: half against half, whole samples, and as many met atoms as failed ones."""

from dokimasia.algorithms.halving import halves
from dokimasia.algorithms.modes import TWICE, changed, drawn, kappa_of, second_sample, sorted_under, with_met
from dokimasia.domain.failure_modes import AnswerAtoms, Mode, NotedMode


def answer(sample: int, model: str, failed: int, met: int, *, silent: tuple[int, ...] = ()) -> AnswerAtoms:
    """An answer with so many failed atoms, which come first, and so many that were met."""
    return AnswerAtoms(
        sample_id=f"s{sample}",
        sample_digest="",
        sample=f"s{sample}",
        cluster=f"image {sample // 2}",
        model=model,
        repeat=0,
        criteria=f"c{sample}",
        response=f"{model} {sample}",
        failed=tuple(range(1, failed + 1)),
        met=tuple(range(failed + 1, failed + met + 1)),
        silent=silent,
    )


ANSWERS = [answer(at, model, *sizes) for at in range(30) for model, sizes in (("a", (1, 3)), ("b", (3, 1)))]


def test_samples_of_one_image_stay_in_one_half() -> None:
    """Both halves are as large as whole images let them be, and another seed halves otherwise."""
    clusters = {f"s{at}": f"image {at // 2}" for at in range(30)}
    categories = {f"s{at}": "xy"[at % 4 // 2] for at in range(30)}
    first, second = halves(clusters, categories, seed=1)
    assert abs(len(first) - len(second)) <= 2
    assert not {clusters[one] for one in first} & {clusters[one] for one in second}
    assert halves(clusters, categories, seed=1) == (first, second)
    assert halves(clusters, categories, seed=2) != (first, second)


def test_whole_samples_are_drawn_until_there_are_enough() -> None:
    """All answers to a drawn question are read, so that models can be compared; without a limit all are."""
    taken = drawn(ANSWERS, 20, seed=0, half="counting")
    assert {one.sample_id for one in taken if one.model == "a"} == {one.sample_id for one in taken if one.model == "b"}
    assert 20 <= sum(len(one.failed) for one in taken) <= 23
    assert len(drawn(ANSWERS, None, seed=0, half="counting")) == 60
    assert drawn(ANSWERS, 20, seed=0, half="making") != taken


def test_as_many_met_atoms_of_each_model_are_drawn_as_failed_ones() -> None:
    """They are of any answer of the half; a model that met fewer gives all that it met."""
    taken = drawn(ANSWERS, 20, seed=0, half="counting")
    read = with_met(taken, ANSWERS, seed=0)
    for model in "ab":
        failed = sum(len(one.failed) for one in read if one.model == model)
        met = sum(len(one.met) for one in read if one.model == model)
        assert failed == sum(len(one.failed) for one in taken if one.model == model)
        assert met == min(failed, sum(len(one.met) for one in ANSWERS if one.model == model))
    assert {one.key for one in taken} < {one.key for one in read}
    assert with_met([answer(0, "a", 2, 1)], [answer(0, "a", 2, 1)], seed=0)[0].met == (3,)


def test_silence_is_kept_for_atoms_that_are_read() -> None:
    """An atom that is not drawn has no place among the silent ones."""
    one = answer(0, "a", 3, 0, silent=(2,))
    other = answer(1, "a", 0, 3)
    assert with_met([one], [one, other], seed=0)[0].silent == (2,)


def test_a_second_coder_gets_whole_answers_until_there_are_enough() -> None:
    """At least sixty atoms where there are so many, all where there are not."""
    twice = second_sample(ANSWERS, seed=0)
    assert TWICE <= sum(len(one.numbers) for one in twice) < TWICE + 4
    assert second_sample(ANSWERS[:3], seed=0) != []
    assert len(second_sample(ANSWERS[:3], seed=0)) == 3


def test_notes_go_under_modes_and_modes_into_one_another() -> None:
    """Notes keep their places in the book, and the first of merged modes has all of them under new words."""
    x, y = (Mode(name=name, kind="omission", definition="d") for name in "xy")
    modes = sorted_under((), [4, 5, 6, 7], {}, [(x, (1, 3)), (y, (2,))])
    modes = sorted_under(modes, [7, 8], {2: (2,)}, [])
    assert [one.notes for one in modes] == [(4, 6), (5, 8)]
    (one,) = changed(modes, [("z", "both", (2, 1))])
    assert one == NotedMode(mode=Mode(name="z", kind="omission", definition="both"), notes=(4, 5, 6, 8))


def test_agreement_by_chance_has_a_kappa_whose_interval_holds_zero() -> None:
    """Perfect agreement on few images is no certainty, and one image says nothing of the interval."""
    first = ["x", "y", "x", "y", "x", "y", "x", "y"]
    second = ["x", "x", "y", "y", "x", "x", "y", "y"]
    chance = kappa_of(first, second, "aabbccdd")
    assert chance.value == 0
    assert chance.interval is not None
    assert chance.interval.low < 0 < chance.interval.high
    same = kappa_of(first, first, "aabbccdd")
    assert (same.value, same.agreed) == (1, 8)
    assert same.interval is not None
    assert same.interval.low < 0.5
    assert kappa_of(first, first, "aaaaaaaa").interval is None
    assert kappa_of([], [], []).value is None
