"""What an evaluation says of answers that leave things unsaid: figures by hand, and what stands before a difference."""

from collections.abc import Iterable, Sequence
from random import Random
from statistics import correlation
from types import SimpleNamespace
from typing import Any

import pytest

from dokimasia.methods.evaluation import METHOD, differences
from dokimasia.methods.evaluation.figures import collect, summarise
from dokimasia.methods.evaluation.report import conclusion, overview
from dokimasia.report import figures
from dokimasia.report.blocks import Bullets, Paragraph, plain
from dokimasia.report.data import ReportData
from dokimasia.report.fields import as_json
from dokimasia.storage.usage import ScoredAnswer
from tests.drawn import FACTS

STATED = (("a", 4.0, 1.0), ("b", 3.0, 0.7))


def row(sample: int, model: str = "m", **fields: Any) -> ScoredAnswer:
    known = {"score": 3.0, "failure": None, "referenced": True, "verdict": "right", "length": 64}
    return ScoredAnswer(f"s{sample}", f"i{sample}", "count", model, **{"repeat": 0, **known, **fields})


def test_right_answers_and_what_is_spoken_to() -> None:
    """Strict accuracy leaves out a verdict that failed, shares and scores of what is said over samples, each by its repeats."""
    rows = [
        row(0, stated=1.0, stated_score=4.0),
        row(0, repeat=1, stated=0.5, stated_score=2.0, verdict="wrong"),
        row(1, stated=0.0, stated_score=None, verdict="unknown"),
        row(2, score=None, failure="refused", verdict="wrong"),
        row(3, stated=0.25, stated_score=5.0, referenced=False, verdict=None),
    ]
    model = figures_of(rows)["models"]["m"]
    for found in (model, model["by_category"]["count"]):
        accuracy = found["strict_accuracy"]
        assert (accuracy["k"], accuracy["n"], accuracy["answers"], accuracy["coverage"]) == (1, 3, 4, 0.75)
        assert accuracy["bounds"] == {"low": 0.25, "high": 0.5}
        assert (found["stated"]["n"], found["stated"]["mean"]) == (3, pytest.approx((0.75 + 0 + 0.25) / 3, abs=1e-6))
        assert (found["stated_score"]["n"], found["stated_score"]["mean"]) == (2, 4.0)
    assert model["length"]["correlation"] is None, "four images bound nothing"


def figures_of(rows: Iterable[ScoredAnswer], *, judged: bool = True) -> dict[str, Any]:
    """The figures of answers as JSON."""
    return as_json(summarise(collect(rows), seed=0, judged=judged))


def strict(*answers: tuple[str | None, str | None]) -> dict[str, Any]:
    """Return the strict accuracy of answers to questions on different images, each given by its verdict and failure."""
    rows = [row(at, score=None, verdict=verdict, failure=failure) for at, (verdict, failure) in enumerate(answers)]
    return figures_of(rows, judged=False)["models"]["m"]["strict_accuracy"]


RIGHT, WRONG, UNDECIDED = ("right", None), ("wrong", None), ("unknown", "undecided")


def test_undecided_answers_count_as_not_right() -> None:
    """14 right and 6 undecided answers are 70 % with the interval of 14 of 20, and up to 100.0 %."""
    found = strict(*[RIGHT] * 14, *[UNDECIDED] * 6)
    assert (found["k"], found["n"], found["n_undecided"], found["answers"]) == (14, 20, 6, 20)
    assert (found["share"], found["upper"], found["coverage"]) == (0.7, 1.0, 1.0)
    assert found["bounds"] == {"low": 0.7, "high": 1.0}
    assert found["outer"] == {"low": found["low"], "high": 1.0}
    assert found["outer"]["low"] < 0.7
    some = strict(*[RIGHT] * 10, *[UNDECIDED] * 4, *[WRONG] * 6)
    assert some["outer"]["high"] == strict(*[RIGHT] * 14, *[WRONG] * 6)["high"] > some["upper"]
    wrong = strict(*[RIGHT] * 14, *[WRONG] * 6)
    assert [found[name] for name in ("share", "low", "high")] == [wrong[name] for name in ("share", "low", "high")]
    assert (wrong["n_undecided"], wrong["upper"], wrong["bounds"]) == (0, 0.7, {"low": 0.7, "high": 0.7})
    assert "outer" not in wrong


@pytest.mark.parametrize(
    "failed",
    [(None, "api_error"), ("unknown", None), ("unknown", "budget"), (None, "refused"), ("unknown", "unparsable")],
)
def test_a_failed_decision_is_never_a_wrong_answer(failed: tuple[str | None, str | None]) -> None:
    """What failed, at the model or at the judge, leaves the strict accuracy and opens its bounds."""
    found = strict(*[RIGHT] * 6, *[WRONG] * 2, *[UNDECIDED] * 2, *[failed] * 10)
    assert (found["k"], found["n"], found["n_undecided"], found["answers"]) == (6, 10, 2, 20)
    assert (found["share"], found["upper"], found["coverage"]) == (0.6, 0.8, 0.5)
    assert found["bounds"] == {"low": 0.3, "high": 0.9}


def test_where_all_failed_there_is_no_strict_accuracy() -> None:
    """Without an answer that can be counted there is no share, and all is open."""
    found = strict((None, "api_error"), ("unknown", None))
    assert (found["n"], found["share"], found["upper"], found["coverage"]) == (0, None, None, 0.0)
    assert found["bounds"] == {"low": 0.0, "high": 1.0}


def test_the_verdict_on_strict_accuracy_says_what_is_open() -> None:
    """The first sentence has the interval, and apart from it what undecided and failed answers leave open."""
    rows = [row(at, score=None, verdict="right") for at in range(14)]
    rows += [row(at, score=None, verdict="unknown", failure="undecided") for at in range(14, 20)]
    said = findings(summary_of(rows))
    assert "m: strict accuracy 70.0 %" in said
    assert (
        "of 20 answers, up to 100.0 % if the 6 undecided answers are right (46 to 100 % with sampling error)." in said
    )
    rows += [row(at, score=None, verdict=None, failure="api_error") for at in range(20, 24)]
    rows += [row(at, model="other", score=None, verdict="right" if at < 15 else "wrong") for at in range(20)]
    said = findings(summary_of(rows))
    assert "other has the highest strict accuracy: 75.0 %" in said
    assert "Undecided answers could put m ahead, if they are right." in said
    assert "4 of 24 answers have no verdict" in findings(summary_of([one for one in rows if one.model == "m"]))


def test_failed_repeats_are_seen_in_coverage_and_bounds() -> None:
    """Ten samples of three repeats each, of which two failed: a third is covered, and bounds are as wide as that leaves."""
    rows = [row(at, repeat=repeat, score=None, failure="unparsable") for at in range(10) for repeat in (1, 2)]
    model = figures_of([*(row(at, score=5.0) for at in range(10)), *rows])["models"]["m"]
    assert (model["n"], model["n_scored"], model["answers"], model["answers_scored"]) == (10, 10, 30, 10)
    assert model["coverage"] == pytest.approx(1 / 3, abs=1e-6)
    assert model["bounds"] == {"low": pytest.approx(7 / 3, abs=1e-6), "high": 5.0}


def test_the_spread_over_two_repeats_is_that_of_their_values() -> None:
    """Of normal values of standard deviation 0.5 two repeats of 400 samples bring 0.5, where a mean of deviations brings 0.4."""
    draw = Random(5)
    scores = [[draw.gauss(3, 0.5) for _ in range(2)] for _ in range(400)]
    rows = [row(at, repeat=repeat, score=score) for at, each in enumerate(scores) for repeat, score in enumerate(each)]
    assert figures_of(rows)["models"]["m"]["spread"] == pytest.approx(0.5, abs=0.04)


def test_equal_gaps_without_the_image_keep_an_interval() -> None:
    """Eight equal gaps are no proof that the next one is the same: the interval has a width, within the scale."""
    rows = [row(at, model=name, score=score) for at in range(8) for name, score in (("m", 5.0), ("m#blind", 3.0))]
    difference = figures_of(rows)["blind"]["m"]["difference"]
    assert difference["mean"] == 2.0
    assert difference.get("low") is None or -4 <= difference["low"] < 2.0 < difference["high"] <= 4


def test_longer_answers_that_score_higher_are_named() -> None:
    """The correlation is of the logarithm of the length, so that doubling every answer's length leaves it as it is."""
    scores = [1.0, 2.0, 2.5, 2.0, 3.0, 3.5, 3.0, 4.0, 4.5, 5.0, 4.0, 5.0]
    found = [
        figures_of(row(at, score=score, length=times * 2**at) for at, score in enumerate(scores)) for times in (8, 16)
    ]
    first, second = (one["models"]["m"]["length"] for one in found)
    assert first["correlation"] == second["correlation"] == pytest.approx(correlation(range(12), scores), abs=1e-6)
    assert 0 < first["low"] < first["correlation"] < first["high"] <= 1
    assert found[0]["length"] == first, "one model is all models"


def test_a_comparison_says_before_any_score_who_says_more() -> None:
    """Where one of two models speaks to less than 80 %, that comes first, and the table says what it takes for granted."""
    gap = {"difference": {"mean": 0.5, "low": 0.1, "high": 0.9}, "p_value": 0.01, "adjusted": 0.01}
    pair = {
        "better": "talkative",
        "worse": "terse",
        "stated": {"n": 9, "first": 0.4, "second": 0.95, **gap},
        "both_stated": {"n": 9, "criteria": 20, "first": 4.0, "second": 4.0, **gap},
        "n_shared": 9,
        "n_paired": 9,
        "changed": {"higher": 5, "equal": 4, "lower": 0},
        **gap,
    }
    data: Any = SimpleNamespace(differences=[pair], ranked=lambda: ["talkative", "terse"])
    found = differences.section(data)
    assert found is not None
    first = str(found.blocks[0])
    assert "talkative 95 %, terse 40 %" in first
    assert "silent just where it errs" in str(found.blocks[1])


def test_pairs_that_say_little_are_listed_and_those_that_say_much_are_a_note() -> None:
    """A pair with one below 80 % stands out, one a line, the rest counted in the singular or plural; others are a note."""
    gap = {"difference": {"mean": 0.5, "low": 0.1, "high": 0.9}, "p_value": 0.01, "adjusted": 0.01}

    def drawn(many: int, least: float) -> list[Any]:
        one = {
            "n_shared": 9,
            "n_paired": 9,
            "changed": {"higher": 5, "equal": 4, "lower": 0},
            "stated": {"n": 9, "first": least, "second": 0.99, **gap},
            **gap,
        }
        pairs = [{"better": f"a{at}", "worse": f"b{at}", **one} for at in range(many)]
        data: Any = SimpleNamespace(
            differences=pairs, ranked=lambda: [name for at in range(many) for name in (f"a{at}", f"b{at}")]
        )
        found = differences.section(data)
        assert found is not None
        return list(found.blocks)

    first = drawn(7, 0.5)[0]
    assert isinstance(first, Bullets)
    assert list(first.items)[-1] == "and 1 more pair"
    assert list(drawn(8, 0.5)[0].items)[-1] == "and 2 more pairs"
    (note,) = [
        one
        for one in drawn(2, 0.96)
        if isinstance(one, Paragraph) and "different, though large, shares" in str(one.text)
    ]
    assert note.kind == "note"
    assert "a0 99 %, b0 96 %" in str(note.text)


def findings(summary: dict[str, Any], pairs: Sequence[dict[str, Any]] = ()) -> str:
    """What the conclusion and the overview say of figures."""
    data = ReportData(METHOD.report.drawing(), FACTS, summary, differences=pairs)
    more = [cell for block in overview(data).blocks if isinstance(block, Bullets) for cell in block.items]
    return "\n".join(map(plain, (*conclusion(data), *more)))


def summary_of(rows: Sequence[ScoredAnswer]) -> dict[str, Any]:
    run = {"run": "r", "status": "done", "simulated": (), "seed": 0, "skipped": (), "open_items": 0}
    asked = {"samples": 8, "forked_from": None, "judge": "J", "ask": "show", "protocol": "default"}
    return {**run, **asked, **figures_of(rows)}


def test_a_tie_is_said_as_one() -> None:
    """Models with equal shares of right answers, equal means or equal coverage are named together, and not the first alone."""
    rows = [
        row(at, model=name, verdict="right" if at == 0 else "wrong", score=None if at == 7 else 3.0, failure=failure)
        for name in ("a", "b")
        for at in range(8)
        for failure in ("refused" if at == 7 else None,)
    ]
    said = findings(summary_of(rows))
    assert "a and b have the same strict accuracy: 12.5 %" in said
    assert "a and b score highest, and alike: 3.00 of 5" in said
    assert "the least covered models are a and b: 7/8 scored" in said
    third = [row(at, model="c", verdict="wrong", score=2.0) for at in range(8)]
    said = findings(summary_of([*rows, *third]))
    assert "a and b share the highest strict accuracy: 12.5 %" in said
    alone = [row(at, model="a", verdict="right" if at < 2 else "wrong") for at in range(8)]
    assert "a has the highest strict accuracy: 25.0 %" in findings(summary_of([*alone, *third]))


def test_what_is_below_a_limit_is_never_rounded_to_it() -> None:
    """A share of 79.6 % stands in the warning about less than 80 % with the digits that it takes."""
    assert [figures.spoken(value).text for value in (0.79, 0.796, 0.7996, 0.799999, 0.8, 0.804)] == [
        *("79 %", "79.6 %", "79.96 %", "< 80 %"),
        *("80 %", "80 %"),
    ]


def test_the_overview_says_over_which_samples_models_speak() -> None:
    """The shares of weight beside a difference are of the samples scored for both, and said to be."""
    rows = [row(at, model=name, score=score, stated=stated) for name, score, stated in STATED for at in range(8)]
    gap = {"difference": {"mean": 1.0, "low": 0.5, "high": 1.5}, "p_value": 0.5, "adjusted": 0.5}
    stated = {"n": 5, "first": 0.6, "second": 0.98, **gap}
    changed = {"higher": 5, "equal": 0, "lower": 0}
    pair = {"better": "a", "worse": "b", "n_shared": 5, "n_paired": 5, "changed": changed, "stated": stated, **gap}
    said = findings(summary_of(rows), [pair])
    assert "On the 5 samples scored for both, a addresses 98 % of the criteria's weight and b 60 %" in said
