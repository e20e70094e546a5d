"""Places printed from tables: every figure is the cell's, every comparison a test's, and every fault is named."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dokimasia.algorithms.diagnosis.asset_tables import tables_text
from dokimasia.algorithms.diagnosis.places import expand
from dokimasia.algorithms.diagnosis.tables import EvidenceTables, tables_of
from dokimasia.domain.diagnosis.report import Sentence, WrittenSentence
from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow, Figure, Mark
from dokimasia.parsing.reports import parse_report
from dokimasia.simulation.draws import Draws
from dokimasia.simulation.judging.diagnosing import plan_report
from dokimasia.simulation.profiles import JudgeProfile
from tests.algorithms.report_tables import MODELS, columns, leaf_row, random_tables

FAULTS = {"literal digit": "literal_digit", "no test": "no_test", "no such place": "no_such_place"}
LEAF = "<Perception><Things><Counting>"
NAME, MARK = AssetColumn(name="model", kind="name"), AssetColumn(name="verdict", kind="mark")
SCORE = AssetColumn(name="score", unit="points, 1 to 5", kind="score", better="higher")
GAP = AssetColumn(name="difference", unit="points, 1 to 5", kind="difference", better="higher")


def line(key: str, *cells: Figure, n: int = 10, held: int = 10, mark: Mark = "", model: str = "") -> AssetRow:
    """A row of a table of samples."""
    return AssetRow(key=key, cells=cells, n=n, held=held, mark=mark, model=model)


def table(id: str, columns: tuple[AssetColumn, ...], *rows: AssetRow, model: str = "") -> Asset:
    """A table whose sentence holds a digit."""
    return Asset(
        id=id, title=id, sentence=f"{len(rows)} rows.", columns=columns, rows=rows, model=model, counts="samples"
    )


def scored(model: str, score: float) -> AssetRow:
    """A model's overall results."""
    cells = (
        Figure(value=model),
        Figure(value=score, low=score - 0.5, high=score + 0.5),
        Figure(value=1250),
        Figure(value=0.0004),
    )
    return line(model, *cells, n=60, held=64, model=model)


def pair(first: str, second: str, gap: float, mark: Mark) -> AssetRow:
    """Two models compared sample by sample."""
    cells = (Figure(value=first), Figure(value=second), Figure(value=gap, low=gap - 0.2, high=gap + 0.2))
    return line(f"{first} {second}", *cells, Figure(value=mark), mark=mark)


def contrast(model: str, mark: Mark) -> AssetRow:
    """A model against the other at one leaf."""
    row = line(
        f"{model} {LEAF}", Figure(value=model), Figure(value="Counting"), Figure(value=mark), mark=mark, model=model
    )
    return row.model_copy(update={"node": LEAF})


def leaf_grid(id: str) -> Asset:
    """A table of leaves with a model a column."""
    names = tuple(AssetColumn(name=one, unit="points of 100", kind="score") for one in ("a", "gpt-4.1"))
    row = line(LEAF, Figure(value="Counting"), Figure(value=80.9), Figure(value=0.0)).model_copy(update={"node": LEAF})
    return table(id, (AssetColumn(name="leaf", kind="name"), *names), row)


@pytest.fixture(scope="module")
def tables() -> EvidenceTables:
    """Tables of two models, one of which has a digit in its name, whose figures are known."""
    made = [
        table("models", (NAME, SCORE, AssetColumn(name="criteria", kind="count"), AssetColumn(name="p", kind="p_value")),
              scored("a", 4.357), scored("gpt-4.1", 2.4)),
        table("pairs", (NAME, NAME.model_copy(update={"name": "second"}), GAP, MARK), pair("a", "gpt-4.1", 1.957, "better")),
        table("contrasts", (NAME, AssetColumn(name="leaf", kind="name"), MARK), contrast("a", "unclear"),
              contrast("gpt-4.1", "unclear")),
        table("ranks", (NAME, AssetColumn(name="mean rank", kind="rank"), AssetColumn(name="rank 1", kind="share")),
              line("a", Figure(value="a"), Figure(value=1.1), Figure(value=0.9, low=0.632, high=1.0), model="a"),
              line("gpt-4.1", Figure(value="gpt-4.1"), Figure(value=1.9), Figure(value=0.1), model="gpt-4.1")),
        Asset(id="leaves/a", title="a", sentence="Leaves.", columns=columns("leaf"), model="a", rows=(
            leaf_row("Counting", 31.246, -24.52, 6.0, "weak", "a"),
            leaf_row("Position 3D", 55.0, 0.01, 9.0, "", "a"))),
        leaf_grid("heatmap"),
        table("answers/a", (AssetColumn(name="sample", kind="name"),), line("s-17/0", Figure(value="s-17")), model="a"),
    ]  # fmt: skip
    return tables_of(made, models=("a", "gpt-4.1"))


def printed(text: str, tables: EvidenceTables) -> Sentence:
    """A sentence with its places printed."""
    return expand(WrittenSentence(written=text), tables)


@pytest.mark.parametrize(
    ("place", "text", "row"),
    [
        ("{models:1.score}", "4.36 points [scale 1 to 5; 95 % interval 3.86 to 4.86]", "models:1"),
        ("{models:gpt-4.1.score}", "2.40 points [scale 1 to 5; 95 % interval 1.90 to 2.90]", "models:2"),
        ("{models:1.criteria}", "1,250", "models:1"),
        ("{models:1.p}", "< 0.001", "models:1"),
        ("{models:1.n}", "60 of 64 samples", "models:1"),
        ("{models:1.score (points, 1 to 5)}", "4.36 points [scale 1 to 5; 95 % interval 3.86 to 4.86]", "models:1"),
        ("{models:1.n (samples)}", "60 of 64 samples", "models:1"),
        ("{pairs:1.n}", "10 samples", "pairs:1"),
        ("{ranks:a.mean rank}", "1.10", "ranks:1"),
        ("{ ranks:1.rank 1 }", "90.0 % [95 % interval 63.2 % to 100.0 %]", "ranks:1"),
        (f"{{leaves/a:{LEAF}.score}}", "31.2 points of 100 [95 % interval 25.2 to 37.2]", "leaves/a:1"),
        ("{leaves/a:Counting.against the rest}", "−24.5 points of 100 [95 % interval −30.5 to −18.5]", "leaves/a:1"),
        ("{leaves/a:2.against the rest}", "0.0 points of 100 [95 % interval −9.0 to +9.0]", "leaves/a:2"),
        ("{leaves/a:1.verdict}", "weak", "leaves/a:1"),
        ("{answers/a:1.sample}", "s-17", "answers/a:1"),
        ("{quote answers/a:1.sample}", "“s-17”", "answers/a:1"),
        ("{quote pairs}", "“1 rows.”", ""),
        ("{compare models:1.score models:2.score}", "higher than", "pairs:1"),
        ("{compare models:gpt-4.1.score models:a.score}", "lower than", "pairs:1"),
        ("{compare models:1.score and models:2.score}", "higher than", "pairs:1"),
        ("{compare models:1.score, models:2.score}", "higher than", "pairs:1"),
        ("{compare models:1.score (points, 1 to 5) models:2.score (points, 1 to 5)}", "higher than", "pairs:1"),
        ("{compare heatmap:1.a heatmap:1.gpt-4.1}", "not distinguishable from", "contrasts:1"),
        ("{compare leaves/a:1.score heatmap:1.gpt-4.1}", "not distinguishable from", "contrasts:1"),
    ],
)
def test_a_place_prints_what_the_table_holds(place: str, text: str, row: str, tables: EvidenceTables) -> None:
    """Figure, unit and interval; a text; a comparison by the paired test; and the row that it leads to."""
    found = printed(f"It is {place} here.", tables)
    assert found.text == f"It is {text} here."
    assert found.faults == ()
    (one,) = found.places
    assert (one.written, found.text[one.start : one.end], one.row) == (place, text, row)


@pytest.mark.parametrize(
    ("place", "kind", "told"),
    [
        ("{atlantis:1.score}", "no_such_place", "no table 'atlantis'"),
        ("{models:77.score}", "no_such_place", "no row '77'"),
        ("{models:1.skore}", "no_such_place", "no column 'skore'; it has: model, score, criteria, p, n"),
        ("{models:1}", "no_such_place", "whole row"),
        ("{models}", "no_such_place", "no row"),
        ("{leaves/a:2.verdict}", "no_such_place", "has nothing under 'verdict' in row 2"),
        ("{quote atlantis}", "no_such_place", "no table"),
        ("{quote models:1.score}", "no_such_place", "without the word quote"),
        ("{compare models:1.score}", "no_such_place", "names two cells"),
        ("{compare models:1.score models:77.score}", "no_such_place", "no row '77'"),
        ("{compare models:1.criteria models:2.criteria}", "no_test", "no paired test"),
        ("{compare models:1.score models:1.score}", "no_test", "no paired test"),
        ("{compare ranks:1.mean rank ranks:2.mean rank}", "no_test", "no paired test"),
        ("{compare leaves/a:1.score leaves/a:2.score}", "no_test", "no paired test"),
        ("{compare leaves/a:2.score heatmap:1.gpt-4.1}", "no_test", "no paired test"),
    ],
)
def test_a_place_that_cannot_be_printed_stays_as_it_is_and_is_named(
    place: str, kind: str, told: str, tables: EvidenceTables
) -> None:
    """Nothing is printed there, and intervals never stand in for a test."""
    found = printed(f"It is {place} here.", tables)
    assert found.text == f"It is {place} here."
    assert found.places == ()
    assert [fault.kind for fault in found.faults] == [kind]
    assert told in found.faults[0].reason


def test_a_node_that_was_not_tested_is_compared_by_nothing(tables: EvidenceTables) -> None:
    """A contrast without a verdict is no test, and with three models a contrast with the others' mean is none of two."""
    cells = "heatmap:1.a heatmap:1.gpt-4.1"
    three = EvidenceTables(tables.assets, (*tables.models, "third"))
    untested = table("contrasts", tables.assets["contrasts"].columns, contrast("a", ""))
    for one in (three, EvidenceTables({**tables.assets, "contrasts": untested}, tables.models)):
        assert [fault.kind for fault in printed(f"It is {{compare {cells}}} that.", one).faults] == ["no_test"]


TRUE = (
    "b has a mean rank of {ranks:2.mean rank}.",
    "a has a mean rank of {ranks:1.mean rank} and is at rank 1 in {ranks:1.rank 1} of the samples.",
    "gpt-4.1 comes first in {ranks:2.rank 1} of the samples, counting ties as shared.",
    "The two cannot be told apart, since their intervals overlap.",
    "The row carries no verdict, and with so few criteria this cannot be called surely weak.",
    "a is better than gpt-4.1 in most leaves; half of the rest is unclear, and the two tie in one.",
    "At Position 3D, where nothing was tested, a stands at {leaves/a:2.score}.",
    "The right answer to s-17 rests on a failed atom, as leaves/a shows.",
    "The interval is wide, because there are few samples.",
    "Counting is the lowest, but the 95 % intervals overlap, and so does each 95% interval of the rest.",
    "一致しない。",
)


@pytest.mark.parametrize("text", TRUE)
def test_true_sentences_of_real_writers_pass_untouched(text: str, tables: EvidenceTables) -> None:
    """An article, an idiom, a column's name with a digit, one and two in words: nothing of it is a fault."""
    found = printed(text, tables)
    assert found.faults == ()
    assert found.written == text


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("a scores 4.36 points.", "4.36"),
        ("It fails on 73 % of all questions, and on 95 % of the rest.", "73, 95"),
        ("gpt-4.15 is no model, nor is gpt-4.1.2.", "gpt-4.15, 2"),
        ("½ of it is wrong.", "½"),
        ("In ٣ leaves it is weak.", "٣"),
        ("It scores {models:1.score}, of 100.", "100"),
        ("1 2 3 4 5 6 7", "1, 2, 3, 4, 5, ..."),
    ],
)
def test_a_digit_outside_of_a_place_and_a_name_is_named(text: str, named: str, tables: EvidenceTables) -> None:
    """Whatever stands around it; the reason names the numbers."""
    (fault,) = printed(text, tables).faults
    assert fault.kind == "literal_digit"
    assert f"of a place: {named};" in fault.reason


def test_all_faults_of_a_sentence_are_named(tables: EvidenceTables) -> None:
    """A sentence with three faults tells of three, and what can be printed is printed."""
    text = "a has 3 leaves, {models:1.score}, {atlantis:1.x}, and {compare ranks:1.mean rank ranks:2.mean rank} rank{s."
    found = printed(text, tables)
    assert [one.kind for one in found.faults] == ["no_such_place", "no_test", "no_such_place", "literal_digit"]
    assert len(found.places) == 1


@pytest.mark.parametrize(
    ("text", "kind", "named"),
    [
        ("It is weak at eight capabilities.", "literal_digit", "eight"),
        ("a is better than gpt-4.1 in three of four leaves.", "literal_digit", "three, four"),
        ("a is the best of all models.", "no_test", "best of all models"),
        ("It has the lowest score among the models here.", "no_test", "lowest score among the models"),
    ],
)
def test_figures_and_ranks_in_words_are_the_writers_own(
    text: str, kind: str, named: str, tables: EvidenceTables
) -> None:
    """A count in words, and a first place that no figure of the sentence shows, are faults like a digit."""
    (fault,) = printed(text, tables).faults
    assert fault.kind == kind
    assert named in fault.reason


def test_a_count_of_the_models_and_a_rank_that_is_printed_are_no_faults(tables: EvidenceTables) -> None:
    """How many models there are the program knows, and names may hold figures in words."""
    five = EvidenceTables(tables.assets, (*tables.models, "c", "d", "Three Kings"))
    assert printed("All five models, and the other four, agree with Three Kings.", five).faults == ()
    assert printed("With a mean rank of {ranks:1.mean rank} a is the best of the five.", five).faults == ()
    assert [fault.kind for fault in printed("a is the best of the five.", five).faults] == ["no_test"]


def test_of_hundreds_of_sentences_the_planted_faults_are_named_and_no_other() -> None:
    """A digit in ten, an untested comparison and an invented place in twenty: each is named, and nothing else is."""
    profile = JudgeProfile(name="sim/fabulist", misreports=0.1, untested=0.05, invents=0.05)
    held: Counter[str] = Counter()
    for seed in range(20):
        assets = random_tables(seed)
        tables = tables_of(assets, models=MODELS)
        for subject in ("", *MODELS):
            own = [(one, None) for one in assets if one.model == subject or not one.model]
            for one in plan_report(profile, subject, tables_text(own), Draws(f"{seed}/{subject}")):
                (sentence,) = parse_report(one.text).sentences
                found = expand(sentence, tables)
                assert [fault.kind for fault in found.faults] == ([FAULTS[one.fault]] if one.fault else []), one
                held[one.fault] += 1
                for place in found.places:
                    shown = found.text[place.start : place.end]
                    assert shown == told(place.written, {asset.id: asset for asset in assets}), place
    assert held[""] > 1_000
    assert min(held[fault] for fault in FAULTS) > 50


def told(place: str, assets: dict[str, Asset]) -> str:
    """What a place has to print, read from the tables by this test's own means."""
    ref = place.strip("{}")
    if ref.startswith("compare "):
        one, other = (int(part.split(":")[1].split(".")[0]) - 1 for part in ref.split()[1:])
        rows = assets["pairs"].rows
        mark = next(row.mark for row in rows if {row.key} & {f"{MODELS[other]} {MODELS[one]}"})
        return {"better": "higher than", "worse": "lower than"}.get(mark, "not distinguishable from")
    id, _, rest = ref.partition(":")
    number, _, column = rest.partition(".")
    at = [one.name for one in assets[id].columns].index(column)
    cell, of = assets[id].rows[int(number) - 1].cells[at], assets[id].columns[at]
    if isinstance(cell.value, str) or cell.value is None or cell.low is None or cell.high is None:
        return str(cell.value)
    numbers = [one * (100 if of.kind == "share" else 1) for one in (cell.value, cell.low, cell.high)]
    digits = 2 if "5" in of.unit else 1
    form = "{:+.{}f}" if of.kind == "difference" else "{:.{}f}"
    value, low, high = (form.format(one, digits).replace("-", "−") for one in numbers)
    value, low, high = (one.lstrip("+−") if not one.strip("+−0.") else one for one in (value, low, high))
    percent = " %" if of.kind == "share" else ""
    unit = {"points of 100": " points of 100", "points, 1 to 5": " points"}.get(of.unit, "")
    scale = "scale 1 to 5; " if "5" in of.unit else ""
    return f"{value}{percent}{unit} [{scale}95 % interval {low}{percent} to {high}{percent}]"


@given(st.text(alphabet=st.sampled_from("{}{} :.,ab17compare quotemodels½\n"), max_size=120))
def test_any_sentence_is_printed_or_faulted(text: str) -> None:
    """Nothing is raised; what stands outside of places stays as it was written, and every digit there is a fault."""
    row = line("a", Figure(value="a"), Figure(value=4.0), model="a")
    tables = tables_of([table("models", (NAME, SCORE), row)], models=("a",))
    found = printed(text, tables)
    rest, at = "", 0
    for place in found.places:
        rest += found.text[at : place.start] + place.written
        at = place.end
    assert rest + found.text[at:] == text
    outside = re.sub(r"\{[^{}\n]*\}", " ", text)
    if any(sign.isnumeric() for sign in outside):
        assert "literal_digit" in [fault.kind for fault in found.faults]
