"""Each model against the others: equal models, none of which may be marked, and a model that is worse at a leaf or by a mode.

Scores near the end of their scale are what makes this hard: of equal models each is, on an image, either a little above
the mean of the others or far below it.
"""

from collections.abc import Sequence

import numpy as np

from benchmarks.calibration.diagnoses import alarm
from benchmarks.calibration.trials import Seed
from dokimasia.algorithms.taxonomy import add_all, assign, new_tree
from dokimasia.domain.failure_modes import AnswerAtoms, Coding
from dokimasia.domain.judgement import Provenance
from dokimasia.methods.diagnosis.evidence_data import DiagnosisMaterial
from dokimasia.methods.diagnosis.leaf_tables import contrasts
from dokimasia.methods.modes.coded import CodedAtom
from dokimasia.methods.modes.figures import contrasts as mode_contrasts
from dokimasia.methods.tree import MeasuredRun

LEAVES, IMAGES, SAMPLES, CRITERIA = 6, 48, 2, 3
"""Leaves of the tree; images, samples of each, criteria of each sample."""

FEWER = 30
"""Images of the world of modes."""

SETTINGS = ((3, 0.1), (5, 0.1), (10, 0.1), (20, 0.1), (5, 0.4), (20, 0.4))
"""Models, and the share of their scores that is below full."""

SPREAD = 4.0
"""How alike criteria of one image are: the two parameters of its own share below full add up to so much."""

WORSE = 0.4
"""How much more of its scores is below full at the leaf where a model is worse."""

FAILED = 0.03
"""How many of a model's criteria have no score."""

MODELS, ENDS = (3, 5, 10, 20), (3, 20)
"""How many models fail alike, and of how many one differs."""

MODES, RARE, BEHIND = 4, 0.1, 0.45
"""Modes, the share of failed atoms under each, and under the first of them for a model that fails by it."""

LOST, SELDOM = 0.7, 0.2
"""How often an atom is failed in the world of modes, and by a model that fails seldom."""

ORIGIN = Provenance(call="", model="sim/judge", prompt="modes_assign", prompt_version=1, prompt_hash="")
PATHS = [f"<{'AB'[leaf % 2]}><Parent {leaf % 3}><Leaf {leaf}>" for leaf in range(LEAVES)]


def equal_models(seed: int) -> Seed:
    """Models of equal skill, by how many they are and how often they fall short; and one that is worse at one leaf."""
    p_values: dict[str, float] = {}
    for number, (models, below) in enumerate(SETTINGS):
        generator = np.random.default_rng([seed, 50, number])
        table = contrasts(_material(generator, models, below, seed=seed))
        p_values[f"{models} equal models, {below:.0%} below full, any node"] = alarm(table)
    return Seed({}, p_values)


def worse_model(seed: int) -> Seed:
    """Models of which the first is worse at the first leaf: whether that row is marked."""
    p_values: dict[str, float] = {}
    for number, (models, below) in enumerate(SETTINGS):
        generator = np.random.default_rng([seed, 51, number])
        table = contrasts(_material(generator, models, below, seed=seed, worse=WORSE))
        found = any(row.mark == "worse" and row.model == "m00" and row.node == PATHS[0] for row in table.rows)
        p_values[f"{models} models, {below:.0%} below full, one worse at a leaf, found"] = 0.0 if found else 1.0
    return Seed({}, p_values)


def equal_modes(seed: int) -> Seed:
    """Models that fail by the same modes, one of them seldom or as often as the rest; and one that fails more by the first."""
    p_values: dict[str, float] = {}
    for number, models in enumerate(MODELS):
        generator = np.random.default_rng([seed, 52, number])
        found = mode_contrasts(_atoms(generator, models), _modes(), _names(models), seed=seed)
        marked = any(one.verdict.endswith("often") for one in found)
        p_values[f"{models} models that fail alike by {MODES} modes, any mode"] = 0.0 if marked else 1.0
        if models not in ENDS:
            continue
        drawn = _atoms(generator, models, behind=BEHIND)
        found = mode_contrasts(drawn, _modes(), _names(models), seed=seed)
        named = any((one.model, one.mode, one.verdict) == ("m00", "mode 0", "more often") for one in found)
        p_values[f"{models} models, one fails by the first mode, found"] = 0.0 if named else 1.0
        drawn = _atoms(generator, models, lost=SELDOM)
        found = mode_contrasts(drawn, _modes(), _names(models), seed=seed)
        marked = any(one.verdict.endswith("often") for one in found)
        p_values[f"{models} models of which one fails seldom, and alike, any mode"] = 0.0 if marked else 1.0
    return Seed({}, p_values)


def _names(models: int) -> tuple[str, ...]:
    return tuple(f"m{at:02d}" for at in range(models))


def _modes() -> list[str]:
    return [f"mode {at}" for at in range(MODES)]


def _material(
    generator: np.random.Generator, models: int, below: float, *, seed: int, worse: float = 0.0
) -> DiagnosisMaterial:
    """Return scores of equal models on images that are hard or easy as a whole, under a tree; some criteria failed."""
    names = _names(models)
    scores: dict[str, dict[str, float]] = {name: {} for name in names}
    failures: dict[str, dict[str, str]] = {name: {} for name in names}
    leaf_of: dict[str, str] = {}
    sample_of: dict[str, str] = {}
    image_of: dict[str, str] = {}
    for image in range(IMAGES):
        share = generator.beta(SPREAD * below, SPREAD * (1 - below))
        fate = generator.random((models, SAMPLES))
        for sample in range(SAMPLES):
            for number in range(CRITERIA):
                key = f"{image:02d}/{sample}#{number}"
                leaf = int(generator.integers(LEAVES))
                leaf_of[key], sample_of[key], image_of[key] = PATHS[leaf], f"{image:02d}/{sample}", f"{image:02d}"
                own = np.where(generator.random(models) < 0.3, fate[:, sample], generator.random(models))
                short = own < share + worse * ((np.arange(models) == 0) & (leaf == 0))
                value = np.where(short, generator.choice((0.0, 25.0, 50.0, 75.0), models), 100.0)
                failed = generator.random(models) < FAILED / models
                for at, name in enumerate(names):
                    if failed[at]:
                        failures[name][key] = "unparsable"
                    else:
                        scores[name][key] = float(value[at])
    return DiagnosisMaterial(
        tree=assign(add_all(new_tree("AB"), PATHS), leaf_of),
        grouping="tree",
        measured=MeasuredRun(scores=scores, failures=failures, sample_of=sample_of, cluster_of=image_of),
        models=names,
        seed=seed,
    )


def _atoms(
    generator: np.random.Generator, models: int, *, behind: float = RARE, lost: float = LOST
) -> Sequence[CodedAtom]:
    """Return failed atoms of models that fail on atoms at random, each by a mode that its image makes likely.

    The first model fails on as many as `lost` says, and by the first mode more often where `behind` is higher.
    """
    found: list[CodedAtom] = []
    for image in range(FEWER):
        weights = generator.dirichlet(SPREAD * np.array([*[RARE] * MODES, 1 - RARE * MODES]))
        for sample in range(SAMPLES):
            for at, name in enumerate(_names(models)):
                failed = tuple((np.flatnonzero(generator.random(CRITERIA) < (LOST if at else lost)) + 1).tolist())
                answer = AnswerAtoms(
                    sample_id=f"{image}/{sample}",
                    sample_digest="",
                    sample="",
                    cluster=str(image),
                    model=name,
                    repeat=0,
                    criteria="",
                    response="",
                    failed=failed,
                )
                for number in failed:
                    drawn = int(generator.choice(MODES + 1, p=weights))
                    if at == 0 and generator.random() < behind - RARE:
                        drawn = 0
                    mode = f"mode {drawn}" if drawn < MODES else None
                    coding = Coding(response="", criterion=number, mode=mode, provenance=ORIGIN)
                    found.append(CodedAtom(answer, number, True, coding, second=None, asked_twice=False))
    return found
