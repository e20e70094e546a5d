"""Sentences held against tables: what holds stays, what is wrong is struck, by hundreds of planted ones and by hand."""

from collections import Counter

import pytest

from dokimasia.algorithms.diagnosis.asset_tables import tables_text
from dokimasia.algorithms.diagnosis.claims import check_sentence
from dokimasia.algorithms.diagnosis.evidence import Evidence, evidence_of
from dokimasia.domain.diagnosis import Asset, AssetColumn, AssetRow, Figure
from dokimasia.parsing.citations import parse_report
from dokimasia.simulation.diagnosing import planned
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.profiles import JudgeProfile
from tests.algorithms.claim_tables import MODELS, columns, leaf_row, random_tables


def test_of_hundreds_of_sentences_the_planted_wrong_ones_are_struck_and_no_right_one() -> None:
    """One number in ten is wrong, comparisons are turned round, assets invented: over 99 % struck, and nothing else."""
    profile = JudgeProfile(name="sim/fabulist", misreports=0.1, misdirects=0.05, invents=0.05)
    struck: Counter[str] = Counter()
    held: Counter[str] = Counter()
    for seed in range(40):
        tables = random_tables(seed)
        evidence = evidence_of(tables)
        for subject in ("", *MODELS):
            own = [(one, None) for one in tables if one.model == subject or not one.model]
            for at, one in enumerate(planned(profile, subject, tables_text(own), Draws(f"{seed}/{subject}"))):
                sentences = parse_report(one.text).sentences
                assert len(sentences) == 1, one.text
                strike = check_sentence(sentences[0], evidence)
                held[one.fault] += 1
                struck[one.fault] += strike is not None
                if not one.fault:
                    assert strike is None, (seed, at, one.text, strike)
    assert held["wrong number"] > 200
    assert struck["wrong number"] >= 0.99 * held["wrong number"]
    for fault in ("wrong direction", "no such asset"):
        assert held[fault] > 100
        assert struck[fault] >= 0.99 * held[fault], fault


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    """A small table whose figures are known."""
    rows = (
        leaf_row("Counting", 31.246, -24.5, 6.0, "weak", "weak"),
        leaf_row("Colour Naming", 80.0, 25.2, 4.0, "strong", "weak"),
        leaf_row("Cause", 55.0, 0.3, 9.0, "unclear", "weak"),
        leaf_row("Tone", 58.0, 3.3, 9.0, "unclear", "weak"),
    )
    leaves = Asset(id="leaves/weak", title="weak", sentence="Leaves.", columns=columns("leaf"), rows=rows, model="weak")
    models = Asset(
        id="models",
        title="models",
        sentence="Models.",
        columns=(
            AssetColumn(name="model", kind="name"),
            AssetColumn(name="score", unit="points, 1 to 5", kind="score", better="higher"),
            AssetColumn(name="tied", kind="share"),
            AssetColumn(name="mean rank", kind="rank", better="lower"),
        ),
        rows=tuple(
            AssetRow(
                key=model,
                cells=(
                    Figure(value=model),
                    Figure(value=score, low=score - 0.2, high=score + 0.2),
                    Figure(value=0.375),
                    Figure(value=rank),
                ),
                n=60,
                held=64,
                model=model,
            )
            for model, score, rank in (("gpt-4.1", 4.5, 1.0), ("Intern-VL-3", 4.4, 2.0), ("weak", 2.5, 3.0))
        ),
        counts="samples",
    )
    gap = Figure(value=2.0, low=1.6, high=2.4)
    pairs = Asset(
        id="pairs",
        title="pairs",
        sentence="Pairs.",
        columns=(
            AssetColumn(name="first", kind="name"),
            AssetColumn(name="second", kind="name"),
            AssetColumn(name="difference", kind="difference", better="higher"),
            AssetColumn(name="verdict", kind="mark"),
        ),
        rows=(
            AssetRow(
                key="p",
                cells=(Figure(value="gpt-4.1"), Figure(value="weak"), gap, Figure(value="better")),
                n=60,
                held=60,
                mark="better",
            ),
        ),
    )
    return evidence_of([leaves, models, pairs])


RIGHT = (
    "weak is weak at Counting, at 31.2 (25.2 to 37.2) [leaves/weak:1.score].",
    "weak is weak at Counting, at 31.25 points of 100 [leaves/weak:1.score].",
    "Counting stands at 31 [leaves/weak:<Perception><Things><Counting>.score].",
    "Counting, at 31.2 [leaves/weak:1.score], lies below Colour Naming at 80 [leaves/weak:2.score].",
    "Below the 80.0 [leaves/weak:2.score] of Colour Naming, Counting reaches 31.2 [leaves/weak:1.score].",
    "Cause, at 55.0 [leaves/weak:3.score], is not lower than Tone at 58.0 [leaves/weak:4.score].",
    "Cause at 55.0 [leaves/weak:3.score] cannot be told apart from Tone at 58.0 [leaves/weak:4.score].",
    "The lowest score is 31.2 [leaves/weak:1.score], for Counting.",
    "Its worst capability is Counting at 31.2 [leaves/weak:1.score].",
    "The second lowest is Cause with 55.0 [leaves/weak:3.score].",
    "It lies 24.5 points below its other capabilities at Counting [leaves/weak:1.against the rest].",
    "At Counting the shortfall is -24.5 (-30.5 to -18.5) [leaves/weak:1.against the rest].",
    "gpt-4.1 scores higher than weak, by 2.0 [pairs:1.difference].",
    "weak scores lower than gpt-4.1, by 2.0 points [pairs:1.difference].",
    "weak is worse than gpt-4.1 [pairs:1].",
    "gpt-4.1 with 4.5 [models:1.score] and Intern-VL-3 with 4.4 [models:2.score] are close.",
    "Intern-VL-3 has 4.40 of 5 [models:2.score] on 60 of 64 samples [models:2.score].",
    "gpt-4.1 ties on 37.5 % [models:1.tied] of samples, or 0.375 [models:1.tied].",
    "gpt-4.1 ranks first [models:1.mean rank], weak ranks third [models:3.mean rank].",
    "The best mean rank, 1 [models:1.mean rank], is that of gpt-4.1.",
    "More than 30 points [leaves/weak:1.score] are reached at Counting.",
    "This report speaks of one examination.",
    "The verdict at Counting has p = 0.004 [leaves/weak:1.adjusted p].",
    "The verdict at Counting has p < 0.01 [leaves/weak:1.adjusted p].",
    "weak scores 31.2 [leaves/weak:1.score] (25.2–37.2) at Counting.",
    "With 31.2 [leaves/weak:1.score] (95 % interval 25.2 to 37.2), Counting is what weak finds hardest.",
    "At Counting, weak scores 31.2 points (95% CI: 25.2–37.2) [leaves/weak:1.score].",
    "weak struggles most with Counting, at 31.2 points [leaves/weak:1.score].",
    "gpt-4.1 (4.50 [models:1.score]) and Intern-VL-3 (4.40 [models:2.score]) cannot be told apart.",
    "Of its 42 criteria at Counting, 40 have a score, with a mean of 31.2 [leaves/weak:1.score].",
    "weak drops from 80.0 [leaves/weak:2.score] at Colour Naming to 31.2 [leaves/weak:1.score] at Counting.",
    "gpt-4.1 has a score on 60 of 64 samples [models:1].",
    "weak ranks third, with a mean rank of 3.0 [models:3.mean rank].",
)
WRONG = (
    ("weak has a score of 100 [leaves/weak:1.score] at Counting.", "wrong_number"),
    ("It falls from 100 [leaves/weak:2.score] at Colour Naming to 31.2 [leaves/weak:1.score].", "wrong_number"),
    ("Intern-VL-3 has a mean of 5 [models:2.score].", "wrong_number"),
    ("weak scores 31.2 [leaves/weak:1.score] (25.2 to 38.2) at Counting.", "wrong_number"),
    ("weak scores 31.2 [leaves/weak:1.score] at Tone.", "wrong_subject"),
    ("The 31.2 points [leaves/weak:1.score] of Intern-VL-3 are at Counting.", "wrong_subject"),
    ("gpt-4.1 has a score on 61 of 64 samples [models:1].", "uncited_number"),
    ("Tone is what weak finds hardest, at 58.0 [leaves/weak:4.score].", "wrong_direction"),
    ("weak ranks second, with a mean rank of 3.0 [models:3.mean rank].", "wrong_number"),
    ("weak (2.50 [models:3.score]) and Intern-VL-3 (4.40 [models:2.score]) cannot be told apart.", "denied_difference"),
    ("weak is weak at Counting, at 31.4 [leaves/weak:1.score].", "wrong_number"),
    ("weak is weak at Counting, at 31.26 [leaves/weak:1.score].", "wrong_number"),
    ("weak is weak at Counting, at 31.2 (25.2 to 38.2) [leaves/weak:1.score].", "wrong_number"),
    ("Counting stands at 32 [leaves/weak:1.score].", "wrong_number"),
    ("Counting stands at 31.2.", "uncited_number"),
    ("Counting stands at 31.2 [leaves/weak:1.score], which is 20 points too few.", "uncited_number"),
    ("weak fails at three of its capabilities.", "uncited_number"),
    ("Half of all is wrong.", "uncited_number"),
    ("One in ten answers fails.", "uncited_number"),
    ("Counting stands at 31,2 [leaves/weak:1.score].", "uncited_number"),
    ("Counting stands at 31.2 % [leaves/weak:1.score].", "wrong_unit"),
    ("gpt-4.1 ties on 37.5 [models:1.tied] samples.", "wrong_unit"),
    ("Counting stands at 31.2 [leaves/strong:1.score].", "no_such_asset"),
    ("Counting stands at 31.2 [leaves/weak:9.score].", "no_such_cell"),
    ("Counting stands at 31.2 [leaves/weak:1.mean].", "no_such_cell"),
    ("Tone stands at 31.2 [leaves/weak:1.score].", "wrong_subject"),
    ("Intern-VL-3 has 4.5 [models:1.score].", "wrong_subject"),
    ("Intern-VL-3 scores higher than weak, by 2.0 [pairs:1.difference].", "wrong_subject"),
    ("weak scores higher than gpt-4.1, by 2.0 [pairs:1.difference].", "wrong_direction"),
    ("weak is better than gpt-4.1 [pairs:1].", "wrong_direction"),
    (
        "Counting, at 31.2 [leaves/weak:1.score], lies above Colour Naming at 80 [leaves/weak:2.score].",
        "wrong_direction",
    ),
    (
        "It lies 24.5 points above its other capabilities at Counting [leaves/weak:1.against the rest].",
        "wrong_direction",
    ),
    ("The highest score is 31.2 [leaves/weak:1.score].", "wrong_direction"),
    ("weak is strong at Counting [leaves/weak:1].", "wrong_direction"),
    ("The best mean rank, 3 [models:3.mean rank], is that of weak.", "wrong_direction"),
    ("Cause, at 55.0 [leaves/weak:3.score], is lower than Tone at 58.0 [leaves/weak:4.score].", "no_evidence"),
    ("gpt-4.1 with 4.5 [models:1.score] is ahead of Intern-VL-3 with 4.4 [models:2.score].", "no_evidence"),
    ("weak is weak at Cause [leaves/weak:3].", "no_evidence"),
    (
        "Counting, at 31.2 [leaves/weak:1.score], is similar to Colour Naming at 80 [leaves/weak:2.score].",
        "denied_difference",
    ),
    ("weak is no worse than gpt-4.1 [pairs:1].", "denied_difference"),
    ("weak struggles with Counting.", "uncited_claim"),
    ("gpt-4.1 outperforms all the others.", "uncited_claim"),
    ("Counting at 31.2 [leaves/weak:1.score] is lower than the mean of everyone's at 60 [models:1].", "uncited_number"),
)


@pytest.mark.parametrize("text", RIGHT)
def test_what_the_tables_bear_out_stands(text: str, evidence: Evidence) -> None:
    """A sentence whose numbers, subjects and comparisons hold is not struck."""
    (sentence,) = parse_report(text).sentences
    assert check_sentence(sentence, evidence) is None


@pytest.mark.parametrize(("text", "kind"), WRONG)
def test_what_the_tables_do_not_bear_out_is_struck_for_what_is_wrong(text: str, kind: str, evidence: Evidence) -> None:
    """A wrong value, unit, subject, direction, or a difference within the intervals is struck and the kind is named."""
    (sentence,) = parse_report(text).sentences
    strike = check_sentence(sentence, evidence)
    assert strike is not None, text
    assert strike.kind == kind, strike
