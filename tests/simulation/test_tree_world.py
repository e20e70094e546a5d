"""The planted world of the tree: names that share nothing, texts that are known, scores that follow from what is planted."""

from itertools import combinations, pairwise
from statistics import fmean

import pytest

from dokimasia.domain.capability import CapabilityPath
from dokimasia.simulation.capabilities import CAPABILITIES
from dokimasia.simulation.lexicon import (
    Sense,
    all_capabilities,
    made_up_capabilities,
    scene_capabilities,
    sense_of_criterion,
    sense_of_name,
    unknown_path,
)
from dokimasia.simulation.scene import DOMAINS
from dokimasia.simulation.scenes import make_scene
from dokimasia.simulation.tree_world import categories_of, planted_criteria, planted_scores


def trigrams(text: str) -> set[str]:
    """All runs of three characters."""
    plain = text.casefold()
    return {plain[at : at + 3] for at in range(len(plain) - 2)}


@pytest.mark.parametrize("part", [scene_capabilities, made_up_capabilities])
def test_many_names_of_one_capability_share_nothing(part) -> None:
    """Of all pairs of names of one capability at least 30 % have no word and no run of three characters in common."""
    pairs = [pair for one in part().values() for pair in combinations(one.names, 2)]
    apart = [
        pair
        for pair in pairs
        if not set(pair[0].casefold().split()) & set(pair[1].casefold().split())
        and not trigrams(pair[0]) & trigrams(pair[1])
    ]
    assert len(apart) / len(pairs) >= 0.3


def test_names_and_paths_tell_capabilities_apart() -> None:
    """No name stands for two capabilities, every path is one, and cues are in no name."""
    every = all_capabilities()
    names = [name.casefold() for one in every.values() for name in one.names]
    assert len(names) == len(set(names)) == 31 * 4 + 72 * 6
    assert all(CapabilityPath.parse(path).is_leaf for path in every)
    assert set(scene_capabilities()) == set(CAPABILITIES)
    cues = [cue for one in every.values() for cue in one.cues]
    assert len(cues) == len(set(cues)) == 720
    assert not set(cues) & {word for name in names for word in name.split()}


def test_planted_criteria_are_reproducible_and_known_by_their_words() -> None:
    """Equal seeds give equal criteria, a longer list begins with the shorter; texts differ and betray their capability."""
    some = list(planted_criteria(2_000, 3))
    assert some[:500] == list(planted_criteria(500, 3))
    assert some != list(planted_criteria(2_000, 4))
    assert len({(one.question, one.ground_truth) for one in some}) == len({one.id for one in some}) == 2_000
    assert {one.capability for one in some} == set(made_up_capabilities())
    assert all(sense_of_criterion(one.question, one.ground_truth) == Sense(one.capability) for one in some)
    assert all(sense_of_criterion(one.question).planted == one.capability for one in some)
    sizes = [sum(one.sample == sample for one in some) for sample in list(categories_of(some))[:-1]]
    assert set(sizes) == {3, 4, 5}


def test_questions_of_scenes_are_known_by_their_wording() -> None:
    """Steps of scenes that nobody has seen are recognised by how they are worded, all of them."""
    steps = [
        step
        for domain in DOMAINS
        for seed in range(7_000_000, 7_000_012)
        for question in make_scene(domain, seed).questions
        for step in question.steps
    ]
    assert len({step.question for step in steps}) > 300
    assert [sense_of_criterion(step.question, step.statement).planted for step in steps] == [
        step.capability for step in steps
    ]


def test_other_words_have_a_plain_meaning() -> None:
    """What is not planted is told by everyday words or by a word of content; a text without one means nothing."""
    assert (
        sense_of_criterion("How many doughnuts are in the box?").planted == "<Perception><Enumeration><Object Counting>"
    )
    assert sense_of_criterion("Shuffling DataFrame rows using an index.") == Sense(None, "shuffling")
    assert unknown_path("shuffling") == "<Reasoning><Working Steps><Shuffling>"
    assert sense_of_name("Shuffling").word == "shuffling"
    assert unknown_path("zebra") == "<Understanding><Subject Understanding><Understanding of Zebra>"
    assert sense_of_name("Understanding of Zebra").word == "zebra"
    assert sense_of_criterion("What is it?") == Sense(None)
    hollow = sense_of_criterion("What has to be noticed before anything else?", "A zebra drinks.")
    assert hollow == Sense(None, "zebra")


def test_planted_scores_follow_from_what_is_planted() -> None:
    """A weak branch scores as low as planted, the rest as high, and criteria of one sample go together."""
    criteria = list(planted_criteria(20_000, 0))
    weak = "<Reasoning>"
    scores = planted_scores(criteria, 1, base=0.8, weak={weak: 0.3}, shared_rate=0.5)
    assert scores == planted_scores(criteria, 1, base=0.8, weak={weak: 0.3}, shared_rate=0.5)
    assert fmean(scores[one.id] for one in criteria if one.capability.startswith(weak)) == pytest.approx(41.25, abs=2)
    others = [one for one in criteria if not one.capability.startswith(weak)]
    assert fmean(scores[one.id] for one in others) == pytest.approx(78.75, abs=1)
    met = {one.id: scores[one.id] >= 75 for one in others}
    pairs = [(a, b) for a, b in pairwise(others) if a.sample == b.sample]
    assert fmean(met[a.id] == met[b.id] for a, b in pairs) > 0.72
    assert set(scores.values()) == {0.0, 25.0, 50.0, 75.0, 100.0}
