"""Self-preference of a panel's votes: worlds in which it is planted, and null worlds in which nobody is vain."""

from collections.abc import Mapping

import numpy as np

from benchmarks.calibration.trials import Seed, Trial, trial
from dokimasia.algorithms.self_preference import Round, own_votes, self_preference

SAMPLES = 60
"""Samples that a panel votes on; a third of them twice, since they are divided after the first cycle."""

PANEL = ("a", "b", "c")
QUALITY = np.array([0.5, 0.3, 0.2])
"""How often each member's text is the best one, so that quality may be taken for vanity."""

ATTENTION = 0.9
"""How often a vote goes to the best text; else to any of them, as they happen to read."""

VAIN: Mapping[str, float] = {"a": 0.25, "b": 0.1, "c": 0.0}
EQUAL: Mapping[str, float] = dict.fromkeys(PANEL, 0.15)
MODEST: Mapping[str, float] = dict.fromkeys(PANEL, 0.0)


def reviews(seed: int) -> Seed:
    """Votes of panels whose members are vain at different rates, at one rate, and not at all."""
    intervals: dict[str, Trial] = {}
    for name, vanity in (("vain", VAIN), ("equally vain", EQUAL), ("not vain", MODEST)):
        rounds = draw_rounds(np.random.default_rng(seed), vanity)
        panel = self_preference(rounds, seed=seed).interval
        if panel is not None:
            expected = sum(expected_difference(member, vanity) for member in PANEL) / len(PANEL)
            intervals[f"self-preference, {name} panel, over all members"] = trial(panel, expected)
        told_apart = own_votes(rounds, PANEL)
        for member in PANEL:
            found = self_preference(rounds, member, seed=seed).interval
            if found is not None:
                planted = expected_difference(member, vanity)
                intervals[f"self-preference, {name} panel, member {member}"] = trial(found, planted)
            own = told_apart[member].interval
            if own is not None:
                intervals[f"own votes, {name} panel, member {member}"] = trial(own, vanity[member])
    return Seed(intervals, {})


def expected_difference(member: str, vanity: Mapping[str, float]) -> float:
    """Return the planted self-preference of a member: its chance to vote for its text less the others' chance to do so.

    An honest vote falls on a member's text with probability q, the same for every voter: own + (1 - own) q for itself,
    and (1 - own) q for each other one, with that one's own vanity.
    """
    honest = ATTENTION * float(QUALITY[PANEL.index(member)]) + (1 - ATTENTION) / len(PANEL)
    others = [(1 - vanity[other]) * honest for other in PANEL if other != member]
    return vanity[member] + (1 - vanity[member]) * honest - sum(others) / len(others)


def draw_rounds(generator: np.random.Generator, vanity: Mapping[str, float]) -> list[Round]:
    """Draw the votes of a panel on all samples: who has the best text is a sample's, who looks is a vote's."""
    rounds: list[Round] = []
    for sample in range(SAMPLES):
        best = PANEL[generator.choice(len(PANEL), p=QUALITY)]
        for cycle in range(1 + (sample % 3 == 0)):
            texts = {member: f"{sample}/{cycle}/{member}" for member in PANEL}
            choices: dict[str, str] = {}
            for voter in PANEL:
                looks = generator.random() < ATTENTION
                honest = best if looks else PANEL[generator.integers(len(PANEL))]
                choices[voter] = texts[voter if generator.random() < vanity[voter] else honest]
            authors = {text: [member] for member, text in texts.items()}
            rounds.append(Round(choices, authors, sample))
    return rounds
