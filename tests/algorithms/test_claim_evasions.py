"""Sentences that get round a check by their form: other scales, counts of others, who wins, words for a difference."""

import pytest

from dokimasia.algorithms.diagnosis.claims import check_sentence
from dokimasia.algorithms.diagnosis.evidence import Evidence, evidence_of
from dokimasia.domain.diagnosis import Asset, AssetColumn, AssetRow, Figure, Mark
from dokimasia.parsing.citations import parse_report

NAME, FIRST, SECOND = (AssetColumn(name=one, kind="name") for one in ("model", "first", "second"))
STEPS = AssetColumn(name="score", unit="points, 1 to 5", kind="score", better="higher")
POINTS = AssetColumn(name="criteria score", unit="points of 100", kind="score", better="higher")


def row(*cells: str | int | tuple[float, float], model: str = "", mark: Mark = "", node: str = "") -> AssetRow:
    """A row whose numbers are counts, or a value with half the width of its interval; on 84 of 84."""
    figures = [
        Figure(value=one[0], low=one[0] - one[1], high=one[0] + one[1]) if isinstance(one, tuple) else Figure(value=one)
        for one in cells
    ]
    return AssetRow(key=str(cells[:2]), cells=tuple(figures), n=84, held=84, model=model, mark=mark, node=node)


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    """Three models: Alma above the others, Bruno and Cleo not told apart."""
    tables = [
        ("models", (NAME, STEPS, POINTS), [("Alma", (4.3, 0.1), (82.4, 4.0)), ("Bruno", (3.5, 0.2), (62.5, 5.0))]),
        ("ranks", (NAME, AssetColumn(name="mean rank", kind="rank", better="lower")), [("Alma", (1.8, 0.2))]),
        ("reasons", (NAME, AssetColumn(name="undecided", kind="count")), [("Alma", 4), ("Bruno", 16)]),
    ]
    tables[1][2].append(("Bruno", (2.6, 0.2)))
    made = [
        Asset(
            id=id,
            title=id,
            sentence=id,
            columns=columns,
            rows=tuple(row(*cells, model=str(cells[0])) for cells in rows),
        )
        for id, columns, rows in tables
    ]
    gap = AssetColumn(name="difference", unit="points, 1 to 5", kind="difference", better="higher")
    pairs = Asset(
        id="pairs",
        title="pairs",
        sentence="Pairs.",
        columns=(FIRST, SECOND, gap, AssetColumn(name="verdict", kind="mark")),
        rows=(
            row("Alma", "Bruno", (0.8, 0.2), "better", mark="better"),
            row("Bruno", "Cleo", (0.3, 0.4), "unclear", mark="unclear"),
        ),
    )
    sides = (AssetColumn(name=one, kind="share") for one in ("first higher", "tied", "second higher"))
    ties = Asset(
        id="ties",
        title="ties",
        sentence="Ties.",
        columns=(FIRST, SECOND, *sides),
        rows=(row("Alma", "Bruno", (0.65, 0.1), (0.11, 0.05), (0.24, 0.1)),),
    )
    leaf = "<Perception><Things><Counting>"
    grid = Asset(
        id="heatmap",
        title="heatmap",
        sentence="Leaves.",
        columns=(AssetColumn(name="leaf", kind="name"), POINTS.model_copy(update={"name": "Bruno"})),
        rows=(row("Counting", (23.0, 9.0), node=leaf), row("Tone", (50.0, 9.0), node="<Perception><Things><Tone>")),
    )
    return evidence_of([*made, pairs, ties, grid], models=("Alma", "Bruno", "Cleo"))


RIGHT = (
    "Alma scores 82.4 of 100 [models:1.criteria score].",
    "Alma scores 4.3 of 5 [models:1.score].",
    "Bruno scores lower than Alma: 3.5 [models:2.score] against 4.3 [models:1.score].",
    "Alma and Bruno tie on 11 % [ties:1.tied] of the 84 samples.",
    "Alma scores higher than Bruno on 65 % [ties:1.first higher] of the samples.",
    "Bruno scores higher than Alma on 24 % [ties:1.second higher] of the samples.",
    "Bruno scores lower than Alma on 65 % [ties:1.first higher] of the samples.",
    "On 65 % [ties:1.first higher] of the samples Alma scores higher than Bruno.",
    "Alma wins against Bruno on 65 % [ties:1.first higher] of the samples.",
    "Alma leads Bruno by 0.8 points [pairs:1.difference].",
    "Bruno loses to Alma [pairs:1].",
    "Bruno is not as good as Alma [pairs:1].",
    "Bruno does not beat Cleo [pairs:2].",
    "Alma ranks first, with a mean rank of 1.8 [ranks:1.mean rank].",
    "Bruno ranks second, with a mean rank of 2.6 [ranks:2.mean rank].",
    "Alma tops the table with 82.4 points [models:1.criteria score].",
    "Bruno cannot be told from Cleo [pairs:2].",
    "Bruno has more undecided answers, 16 [reasons:2.undecided], than Alma with 4 [reasons:1.undecided].",
)
WRONG = (
    ("Alma scores 82.4 of 5 [models:1.criteria score].", "wrong_unit"),
    ("Alma scores 4.3 points of 100 [models:1.score].", "wrong_unit"),
    ("Bruno, at 3.5 [models:2.score], lies below Alma at 82.4 [models:1.criteria score].", "wrong_unit"),
    ("Bruno, at 62.5 [models:2.criteria score], lies above Alma at 4.3 [models:1.score].", "wrong_unit"),
    ("Alma scores lower than Bruno: 4.3 [models:1.score] against 3.5 [models:2.score].", "wrong_direction"),
    ("Alma is better than Bruno, with 4 [reasons:1.undecided] against 16 [reasons:2.undecided].", "no_evidence"),
    ("There is a clear difference between 4 [reasons:1.undecided] and 16 [reasons:2.undecided].", "no_evidence"),
    ("Bruno scores higher than Alma on 65 % [ties:1.first higher] of the samples.", "wrong_subject"),
    ("Bruno wins on 65 % [ties:1.first higher] of the samples against Alma.", "wrong_subject"),
    ("On 24 % [ties:1.second higher] of the samples Alma scores higher than Bruno.", "wrong_subject"),
    ("Alma scores lower than Bruno on 65 % [ties:1.first higher] of the samples.", "wrong_subject"),
    ("Bruno reaches 23.0 points over 84 criteria at Counting [heatmap:1.Bruno].", "wrong_number"),
    ("Bruno is weak at Counting, with 23.0 points [heatmap:1.Bruno].", "no_evidence"),
    ("Bruno fails at Counting, with 23.0 points [heatmap:1.Bruno].", "no_evidence"),
    ("Bruno leads Cleo by 0.3 points [pairs:2.difference].", "no_evidence"),
    ("Bruno has a clear lead over Cleo [pairs:2].", "no_evidence"),
    ("Alma does not beat Bruno [pairs:1].", "denied_difference"),
    ("Alma and Bruno perform the same [pairs:1].", "denied_difference"),
    ("Bruno is as good as Alma [pairs:1].", "denied_difference"),
    ("Bruno ranks first, with a mean rank of 2.6 [ranks:2.mean rank].", "wrong_number"),
    ("Bruno tops the table with 62.5 points [models:2.criteria score].", "wrong_direction"),
    ("Alma ranks last.", "uncited_claim"),
    ("Cleo is the winner.", "uncited_claim"),
    ("Alma dominates the others.", "uncited_claim"),
    ("Bruno cannot count.", "uncited_claim"),
    ("Bruno never succeeds at Counting.", "uncited_claim"),
    ("Nearly all answers of Alma are right.", "uncited_number"),
    ("All but one of the models do well.", "uncited_number"),
    ("Both Alma and Bruno have 82.4 points [models:1.criteria score].", "wrong_subject"),
    ("Alma has 82.4 points [models:1.criteria score], and so has Cleo.", "wrong_subject"),
    ("Bruno is at Counting and at Tone at 23.0 points [heatmap:1.Bruno].", "wrong_subject"),
    ("The errors of Alma are halved.", "uncited_number"),
    ("Alma scores in the eighties [models:1.criteria score].", "uncited_number"),
    ("Alma solves ½ of it.", "uncited_number"),
    ("Alma scores 九十 points.", "uncited_number"),
    ("Bruno 比 Alma 更好。", "uncited_claim"),
)


@pytest.mark.parametrize("text", RIGHT)
def test_a_sentence_in_another_form_stands_where_it_holds(text: str, evidence: Evidence) -> None:
    """Scales that are named rightly, lists behind a colon, places in a column and counts behind a reference are read."""
    (sentence,) = parse_report(text).sentences
    assert check_sentence(sentence, evidence) is None


@pytest.mark.parametrize(("text", "kind"), WRONG)
def test_a_form_that_would_get_round_the_check_is_struck(text: str, kind: str, evidence: Evidence) -> None:
    """A wrong scale, unlike figures, another's count, the wrong winner, and words for a difference are struck."""
    (sentence,) = parse_report(text).sentences
    strike = check_sentence(sentence, evidence)
    assert strike is not None, text
    assert strike.kind == kind, strike
