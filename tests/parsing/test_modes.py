"""Notes, sortings, merges and assignments of an error analysis are read as far as they state what was asked, and no further."""

import pytest

from dokimasia.domain.failure_modes import ModeKind
from dokimasia.errors import UnparsableReply
from dokimasia.parsing.failure_modes.lists import parse_changes, parse_sorting
from dokimasia.parsing.failure_modes.notes import Noted, SeenMode, parse_assignments, parse_notes
from dokimasia.parsing.phrases import passage

ANSWER = "The **Supreme** row reads\n 3.49, so 50 / 3.49 gives 14.3 gallons.\n\nFinal answer: 14.3"
KNOWN: list[tuple[ModeKind, str]] = [
    ("commission", "reads the neighbouring row"),
    ("omission", "leaves out the unit price"),
]

KINDS: list[ModeKind] = ["commission", "omission"]
BOTH: list[ModeKind] = ["commission", "commission"]


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("The Supreme row reads 3.49", "The **Supreme** row reads 3.49"),
        ("supreme ROW   reads", "Supreme** row reads"),
        ("gives 14.3 gallons", "gives 14.3 gallons"),
        ("14.3 gallons,", "14.3 gallons"),
        ("reads 3.4", None),
        ("The Plus row reads 3.49", None),
        ("", None),
        ("***", None),
    ],
)
def test_a_phrase_is_the_answers_own_words(quote: str, found: str | None) -> None:
    """White space, emphasis and case are overlooked; what is kept stands in the answer, and half a number does not."""
    assert passage(quote, ANSWER) == found
    if found is not None:
        assert found in " ".join(ANSWER.split())


def test_notes_are_read_in_each_form() -> None:
    """A commission has a phrase and a note, an omission a note, and nothing neither; marks and bullets are overlooked."""
    reply = (
        'Here are the notes:\n- **1** | commission | "Supreme row reads 3.49" | takes the price of the row above\n'
        "2 | omission | the price per gallon is not mentioned\n| 3 | Nothing |\n"
        '4 | commission | \u201c50 / 3.49\u201d | divides by the wrong row | twice\n5 | omission | "" | no unit is given'
    )
    assert parse_notes(reply, 5, ANSWER).points == (
        Noted("commission", "takes the price of the row above", "Supreme** row reads 3.49"),
        Noted("omission", "the price per gallon is not mentioned"),
        "nothing",
        Noted("commission", "divides by the wrong row | twice", "50 / 3.49"),
        Noted("omission", "no unit is given"),
    )


def test_all_faults_of_notes_are_named_at_once() -> None:
    """A phrase that does not stand there, a cause nobody can see, a missing line: each is named, with its point."""
    reply = (
        '1 | commission | "reads 3.55" | takes another row\n2 | omission | a hallucination of the model\n4 | nothing'
    )
    with pytest.raises(UnparsableReply) as problem:
        parse_notes(reply, 3, ANSWER)
    for words in (
        "point 1: the phrase 'reads 3.55' does not stand",
        "point 2: 'hallucination'",
        "point 3: there is no line",
        "point 4",
    ):
        assert words in problem.value.reason


def test_what_is_wrong_in_a_second_reply_is_left_out() -> None:
    """Read leniently, a point with a fault has no note and a reason, and the others stand."""
    found = parse_notes('1 | commission | "reads 3.55" | takes another row\n2 | nothing', 2, ANSWER, strict=False)
    assert found.points == (None, "nothing")
    assert found.problems[1].startswith("the phrase")
    with pytest.raises(UnparsableReply):
        parse_notes("I see no failure.", 2, ANSWER, strict=False)


def test_a_silent_point_can_be_an_omission_only() -> None:
    """Where the answer does not speak of a point, a commission is refused, in notes and in assignments."""
    with pytest.raises(UnparsableReply, match="point 1: the answer does not speak of this point"):
        parse_notes('1 | commission | "14.3 gallons" | takes another row', 1, ANSWER, silent={1})
    with pytest.raises(UnparsableReply, match="omission only"):
        parse_assignments('1 | 1 | "14.3 gallons"', 1, KINDS, ANSWER, silent={1})
    assert parse_assignments("1 | 2", 1, KINDS, ANSWER, silent={1}).points == (SeenMode(2),)


def test_assignments_are_read_by_number_or_name() -> None:
    """A mode goes by its number or its name; a phrase is needed for a commission and overlooked for an omission."""
    reply = '<1> | <1> | "3.49"\n2 | mode 2 | "never mind"\n3 | none\n4 | Reads the neighbouring row | 50 / 3.49'
    found = parse_assignments(reply, 4, KINDS, ANSWER, names=[name for _, name in KNOWN])
    assert found.points == (SeenMode(1, "3.49"), SeenMode(2), SeenMode(None), SeenMode(1, "50 / 3.49"))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1 | 3", "neither the number of a mode, 1 to 2, nor none"),
        ("1 | 1", "needs a phrase of the answer"),
        ("1 | hallucination", "neither the number of a mode"),
        ("1 | 1 | 'a price that is not there'", "does not stand in the answer"),
        ("1 | none\n1 | 2", "several lines for it, and they differ"),
    ],
)
def test_an_assignment_that_cannot_be_used_is_refused(line: str, reason: str) -> None:
    """Nothing takes the place of a word that cannot be used: it is no none."""
    with pytest.raises(UnparsableReply, match=reason):
        parse_assignments(line, 1, KINDS, ANSWER)
    lenient = parse_assignments(f"{line}\n2 | none", 2, KINDS, ANSWER, strict=False)
    assert lenient.points == (None, SeenMode(None))


DEFINITION = "The answer takes a value from the row above or below the one that the question names."


def test_notes_are_sorted_under_modes_and_new_ones() -> None:
    """Every note stands in one place; a new mode has a kind, a name, a definition and notes of two samples or more."""
    reply = f"mode 1 | 1, 3\nnew omission | skips the second panel | {DEFINITION} | 2 and 5\nloose | 4"
    kinds: list[ModeKind] = ["commission", "omission", "commission", "commission", "omission"]
    found = parse_sorting(reply, KNOWN, kinds)
    assert found.under == {1: (1, 3)}
    assert [(one.kind, one.name, one.definition, one.of) for one in found.new] == [
        ("omission", "skips the second panel", DEFINITION, (2, 5))
    ]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("mode 1 | 1", "there is no place for note 2"),
        ("mode 1 | 1, 2\nloose | 2", "note 2 stands in more than one place"),
        ("mode 3 | 1\nloose | 2", "there is no mode 3"),
        ("mode 2 | 1\nloose | 2", "mode 2 is a mode of omission, and note 1 is of the other kind"),
        (
            f"new commission | reads the neighbouring row | {DEFINITION} | 1, 2",
            "there is a mode 'reads the neighbouring row' already",
        ),
        (f"new commission | skips the panel | {DEFINITION} | 1\nloose | 2", "two samples or more"),
        (f"new commission | hallucination | {DEFINITION} | 1, 2", "two to eight words"),
        (
            f"new commission | hallucinated details of charts | {DEFINITION} | 1, 2",
            "'hallucinated' is nothing that two readers",
        ),
        (f"new commission | incorrect answer quality | {DEFINITION} | 1, 2", "a verdict or a subject only"),
        (f"new commission | counting errors | {DEFINITION} | 1, 2", "a verdict or a subject only"),
        ("new commission | reads another panel | too short | 1, 2", "a definition has 10 to 60 words, not 2"),
        ("They are all alike.", "there is no line of the form"),
    ],
)
def test_a_sorting_with_faults_is_sent_back(reply: str, reason: str) -> None:
    """What two readers could not apply alike, and what stands nowhere or twice, is named."""
    with pytest.raises(UnparsableReply, match=reason):
        parse_sorting(reply, KNOWN, BOTH)


def test_of_a_second_sorting_the_rest_is_taken() -> None:
    """Read leniently, notes of a line that cannot be used are loose."""
    found = parse_sorting("mode 1 | 1\nmode 9 | 2", KNOWN, BOTH, strict=False)
    assert found.under == {1: (1,)}
    assert any("no mode 9" in one for one in found.problems)


def test_modes_are_merged_and_reworded() -> None:
    """Modes of one kind become one under a new name; a mode alone is reworded; `none` changes nothing."""
    modes: list[tuple[ModeKind, str]] = [*KNOWN, ("commission", "reads the row above")]
    merged, reworded = parse_changes(
        f"merge | 1, 3 | reads a row beside it | {DEFINITION}\nreword | 2 | leaves out a price that is shown | {DEFINITION}",
        modes,
    )
    assert (merged.of, merged.kind, reworded.of, reworded.kind) == ((1, 3), "commission", (2,), "omission")
    assert parse_changes("None.", modes) == ()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f"merge | 1, 2 | reads or leaves out rows | {DEFINITION}", "cannot become one"),
        (f"merge | 1 | reads a row beside it | {DEFINITION}", "two modes or more"),
        (f"reword | 1 | leaves out the unit price | {DEFINITION}", "another mode bears that name"),
        ("Nothing to say.", "not the word none"),
    ],
)
def test_a_merge_that_cannot_be_made_is_sent_back(line: str, reason: str) -> None:
    """A merge across kinds, of one mode, or into a name that is taken is a fault."""
    with pytest.raises(UnparsableReply, match=reason):
        parse_changes(line, KNOWN)
