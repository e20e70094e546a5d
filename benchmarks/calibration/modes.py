"""An error analysis over planted failures: how often a mode is seen, how far two coders agree, and models that fail alike."""

from collections.abc import Sequence
from random import Random

from benchmarks.calibration.trials import Seed, Trial
from dokimasia.domain.failure_modes import AnswerAtoms, Coding
from dokimasia.domain.judgement import Provenance
from dokimasia.methods.modes.coded import CodedAtom
from dokimasia.methods.modes.figures import agreement, contrasts, of_answers, of_atoms
from dokimasia.report.fields import as_json

SAMPLES, PER_IMAGE, ATOMS = 48, 2, 4
MODES = ("first", "second")
PLACES = (*MODES, None)
SHARES = (0.3, 0.15)
"""How often each mode is behind a failed atom; the rest has none."""

SPREAD = 4.0
"""How alike atoms of one image are: the two parameters of its own share add up to so much."""

SURE = 0.8
"""How often a coder names what is there; else any mode, or none, each as likely."""

FAILS = 0.4
ORIGIN = Provenance(call="", model="sim/judge", prompt="modes_assign", prompt_version=1, prompt_hash="")


def modes(seed: int) -> Seed:
    """Three models of which each fails alike on the same images, coded by two coders."""
    rng = Random(seed)
    atoms = list(_atoms(rng, ("a", "b", "c")))
    failed = [one for one in atoms if one.failed]
    seen = as_json(of_atoms(failed, MODES[0]))
    own = as_json(of_atoms([one for one in failed if one.answer.model == "a"], MODES[0]))
    answers = as_json(of_answers((one for one in atoms if one.answer.model == "a"), MODES[1]))
    said = as_json(agreement(atoms))
    alarms = [one for one in contrasts(atoms, MODES, ("a", "b", "c"), seed=seed) if one.verdict.endswith("often")]
    ends = (-1.0, 1.0) if said["low"] is None else (said["low"], said["high"])
    whole = [_first(one) for one in _answers(atoms, "a")]
    return Seed(
        {
            "share of failed atoms under a mode": Trial(seen["low"], seen["high"], _coded(SHARES[0])),
            "share of one model's failed atoms": Trial(own["low"], own["high"], _coded(SHARES[0])),
            "share of answers in which a mode is seen": Trial(answers["low"], answers["high"], sum(whole) / len(whole)),
            "kappa of two coders": Trial(*ends, _kappa()),
        },
        {"three models that fail alike, more or less often by any mode": 0.0 if alarms else 1.0},
    )


def _atoms(rng: Random, models: Sequence[str]) -> Sequence[CodedAtom]:
    found: list[CodedAtom] = []
    for image in range(SAMPLES // PER_IMAGE):
        drawn = [rng.gammavariate(SPREAD * share, 1) for share in (*SHARES, 1 - sum(SHARES))]
        weights = [one / sum(drawn) for one in drawn]
        for sample in range(PER_IMAGE):
            for model in models:
                failed = tuple(at for at in range(1, ATOMS + 1) if rng.random() < FAILS)
                answer = AnswerAtoms(
                    sample_id=f"{image}/{sample}",
                    sample_digest="",
                    sample="",
                    cluster=str(image),
                    model=model,
                    repeat=0,
                    criteria="",
                    response="",
                    failed=failed,
                )
                for number in failed:
                    true = rng.choices(PLACES, weights)[0]
                    first, second = (_said(rng, true, number) for _ in range(2))
                    found.append(CodedAtom(answer, number, True, first, second=second, asked_twice=True))
    return found


def _said(rng: Random, true: str | None, number: int) -> Coding:
    mode = true if rng.random() < SURE else rng.choice(PLACES)
    return Coding(response="", criterion=number, mode=mode, provenance=ORIGIN)


def _coded(share: float) -> float:
    """Return how often a coder names what has a share."""
    return SURE * share + (1 - SURE) / len(PLACES)


def _kappa() -> float:
    """Return the kappa of two such coders."""
    whole = (*SHARES, 1 - sum(SHARES))
    chance = (1 - SURE) / len(PLACES)
    agreed = sum(
        share * sum((SURE * (at == other) + chance) ** 2 for other in range(len(whole)))
        for at, share in enumerate(whole)
    )
    expected = sum(_coded(share) ** 2 for share in whole)
    return (agreed - expected) / (1 - expected)


def _answers(atoms: Sequence[CodedAtom], model: str) -> list[list[CodedAtom]]:
    by_answer: dict[str, list[CodedAtom]] = {}
    for one in atoms:
        if one.answer.model == model:
            by_answer.setdefault(one.answer.key, []).append(one)
    return list(by_answer.values())


def _first(atoms: Sequence[CodedAtom]) -> bool:
    return any(one.mode == MODES[1] for one in atoms)
