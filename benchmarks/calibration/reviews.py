"""Self-preference of a panel's votes: worlds in which it is planted, and null worlds in which nobody is vain."""

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod

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

KEEPS, LOSES = 0.15, 0.1
"""How often a member keeps somebody else's text, and has then none of its own, and how often its vote cannot be used."""


def reviews(seed: int) -> Seed:
    """Votes of panels whose members are vain at different rates, at one rate, and not at all, whole or with gaps."""
    intervals: dict[str, Trial] = {}
    worlds = (
        ("vain", VAIN, 0.0, 0.0),
        ("equally vain", EQUAL, 0.0, 0.0),
        ("not vain", MODEST, 0.0, 0.0),
        ("vain, keeping and losing", VAIN, KEEPS, LOSES),
        ("not vain, keeping and losing", MODEST, KEEPS, LOSES),
    )
    for name, vanity, keeps, loses in worlds:
        rounds = draw_rounds(np.random.default_rng(seed), vanity, keeps=keeps, loses=loses)
        panel = self_preference(rounds, seed=seed).interval
        if panel is not None:
            # the chance that its text is among the candidates is the same for every member, and so is its weight
            expected = sum(expected_difference(member, vanity, keeps) for member in PANEL) / len(PANEL)
            intervals[f"self-preference, {name} panel, over all members"] = trial(panel, expected)
        told_apart = own_votes(rounds, PANEL)
        for member in PANEL:
            found = self_preference(rounds, member, seed=seed).interval
            if found is not None:
                planted = expected_difference(member, vanity, keeps)
                intervals[f"self-preference, {name} panel, member {member}"] = trial(found, planted)
            own = told_apart[member].interval
            if own is not None:
                intervals[f"own votes, {name} panel, member {member}"] = trial(own, vanity[member])
    return Seed(intervals, {})


def expected_difference(member: str, vanity: Mapping[str, float], keeps: float = 0.0) -> float:
    """Return the planted self-preference of a member: its chance to vote for its text less the others' chance to do so.

    Over all ways in which members may have kept each other's texts, as far as the member's own is a candidate: an honest
    vote falls on it with probability q, the same for every voter: own + (1 - own) q for itself, and (1 - own) q for each
    other one, with that one's own vanity where it has a text.
    """
    weight = difference = 0.0
    for held, chance in _holdings(keeps):
        pool = set(held)
        if member not in pool or len(pool) == 1:
            continue
        share = QUALITY[PANEL.index(member)] / sum(QUALITY[PANEL.index(one)] for one in pool)
        honest = ATTENTION * float(share) + (1 - ATTENTION) / len(pool)
        others = [(1 - vanity[other] * (other in pool)) * honest for other in PANEL if other != member]
        weight += chance
        difference += chance * (vanity[member] + (1 - vanity[member]) * honest - sum(others) / len(others))
    return difference / weight


def _holdings(keeps: float) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yield whose text each member may hold after a cycle, with its probability."""
    for held in product(PANEL, repeat=len(PANEL)):
        yield (
            held,
            prod(
                1 - keeps if text == member else keeps / (len(PANEL) - 1)
                for text, member in zip(held, PANEL, strict=True)
            ),
        )


def draw_rounds(
    generator: np.random.Generator, vanity: Mapping[str, float], *, keeps: float = 0.0, loses: float = 0.0
) -> list[Round]:
    """Draw the votes of a panel on all samples: whose texts are better is a sample's, who looks is a vote's."""
    rounds: list[Round] = []
    for sample in range(SAMPLES):
        merit: dict[str, float] = dict(zip(PANEL, np.log(QUALITY) + generator.gumbel(size=len(PANEL)), strict=True))
        for cycle in range(1 + (sample % 3 == 0)):
            held = [
                PANEL[(at + (generator.random() < keeps) * (1 + generator.integers(len(PANEL) - 1))) % len(PANEL)]
                for at in range(len(PANEL))
            ]
            texts: dict[str, str] = {member: f"{sample}/{cycle}/{member}" for member in PANEL if member in held}
            best = max(texts, key=lambda member: merit[member])
            choices: dict[str, str] = {}
            for voter in PANEL:
                looks = generator.random() < ATTENTION
                honest = best if looks else list(texts)[generator.integers(len(texts))]
                vain = generator.random() < vanity[voter] and voter in texts
                if generator.random() >= loses:
                    choices[voter] = texts[voter if vain else honest]
            if len(choices) > 1 and len(texts) > 1:
                rounds.append(Round(choices, {text: [member] for member, text in texts.items()}, sample))
    return rounds
