"""The figures of duels from rows written by hand: denominators, orders, what does not apply, lengths."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from dokimasia.domain.duel import Place
from dokimasia.methods.duel.figures import DuelRow, duel_tables
from dokimasia.report.fields import as_json

Scores = tuple[float, float]


def row(case: int, first: int | None, second: int | None, **changes: Any) -> DuelRow:
    fields: dict[str, Any] = {
        "sample_id": f"s{case}",
        "cluster": f"c{case}",
        "model": "m",
        "repeat": 0,
        "category": "writing",
        "task": "poem" if case % 2 else "story",
        "verdicts": {"first": first, "second": second},
        "factuality": {},
        "words": 100,
        "longer": 0,
    }
    return DuelRow(**(fields | changes))


def duel_figures(rows: Iterable[DuelRow], *, seed: int) -> dict[str, Any]:
    """What follows from rows, as JSON."""
    return as_json(duel_tables(rows, seed=seed))


def figures(*rows: DuelRow) -> Mapping[str, Any]:
    return duel_figures(rows, seed=0)["models"]["m"]


def test_counts_give_rewards_and_win_rates() -> None:
    """Reward is 50 times the mean over both orders' verdicts, and a tie is no win."""
    found = duel_figures([row(1, 2, 1), row(2, 0, -1), row(3, 1, 0), row(4, -2, -1)], seed=0)
    one = found["models"]["m"]
    assert one["reward"]["mean"] == pytest.approx(50 * 0 / 8)
    assert one["win_rate"]["mean"] == pytest.approx(100 * 3 / 8)
    wanted = {"much_better": 1, "better": 2, "tie": 2, "worse": 2, "much_worse": 1, "failed": 0, "valid": 8, "open": 0}
    assert one["verdicts"] == wanted | {"one_order": 0}


def test_a_failed_verdict_leaves_the_denominator_and_opens_bounds() -> None:
    """One order that failed is no tie: the other is set aside, and the bounds say what the answer could have been."""
    one = figures(row(1, 1, None, failure="unparsable"), row(2, 1, 1), row(3, None, None, failure="refused"))
    assert one["reward"]["mean"] == 50
    assert (one["verdicts"]["failed"], one["verdicts"]["valid"], one["verdicts"]["one_order"]) == (3, 2, 1)
    assert one["bounds"]["reward"] == {"low": pytest.approx(50 * (3 - 6) / 6), "high": pytest.approx(50 * (3 + 6) / 6)}
    assert one["failures"] == {"refused": 1, "unparsable": 1}
    assert one["places"]["n"] == 1


@pytest.mark.parametrize("failed", [0, 10, 23, 39])
def test_a_favoured_place_counts_nothing_where_verdicts_of_one_order_failed(failed: int) -> None:
    """By a judge that always takes the first place equal models have a reward of 0, however many verdicts failed in one order."""
    one = figures(*(row(case, 2, None if case < failed else -2) for case in range(40)))
    assert (one["reward"]["mean"], one["win_rate"]["mean"]) == (0, 50)
    assert {part["reward"]["mean"] for part in one["by_task"].values() if part["reward"]} == {0}
    assert one["verdicts"]["one_order"] == failed
    assert one["single"]["first"]["reward"]["mean"] == 100
    assert one["bounds"]["reward"]["low"] <= 0 <= one["bounds"]["reward"]["high"]


def test_an_answer_judged_in_one_order_has_no_reward() -> None:
    """Where every answer lacks the verdict of one order there is no reward; lengths and images are compared over both."""
    rows = [row(case, 2, None, longer=case) for case in range(8)]
    found = duel_figures(rows, seed=0)
    assert (found["models"]["m"]["reward"], found["models"]["m"]["win_rate"]) == (None, None)
    assert found["models"]["m"]["verdicts"]["one_order"] == 8
    assert found["length_bias"] == {}
    blind = [
        row(case, 1, 1, model="m#blind", factuality={"first": (1.0, 0.0), "second": (3.0, 0.0)}) for case in range(4)
    ]
    scores: dict[Place, Scores | None] = {"first": (9.0, 9.0), "second": None}
    seeing = [*(row(case, 2, 0, factuality=scores) for case in (0, 1)), *rows[2:4]]
    gap = duel_figures([*blind, *seeing], seed=0)["without_images"]["m#blind"]
    assert (gap["reward"]["n"], gap["reward"]["difference"]["mean"], gap["factuality"]["n"]) == (2, 0, 0)


def test_what_one_order_says_stands_beside_both() -> None:
    """A judge that always takes the first place: consistency 0, bias 100, and 100 apart from each other by one order."""
    found = duel_figures([row(case, 2, -2) for case in range(8)], seed=0)
    one = found["models"]["m"]
    assert one["reward"]["mean"] == 0
    assert one["single"]["first"]["reward"]["mean"] == 100
    assert one["single"]["second"]["reward"]["mean"] == -100
    assert one["places"]["bias"]["mean"] == 100
    assert one["places"]["consistency"]["mean"] == 0
    assert one["places"]["p"] < 0.05


def test_one_order_alone_says_nothing_of_places() -> None:
    """Judged in one order there is neither consistency nor bias, and no reward by the other order."""
    rows = [row(case, 1, 0, verdicts={"first": 1}) for case in range(4)]
    found = duel_figures(rows, seed=0)
    assert found["places"] is None
    assert found["models"]["m"]["single"]["second"] is None
    assert found["models"]["m"]["verdicts"]["valid"] == 4


def test_visual_factuality_is_not_applicable_without_criteria() -> None:
    """A case that it does not apply to is in no denominator and is no failure; answers scored in both orders are averaged."""
    seen: dict[Place, Scores | None] = {"first": (8.0, 6.0), "second": (9.0, 7.0)}
    broken: dict[Place, Scores | None] = {"first": None, "second": (4.0, 5.0)}
    found = figures(row(1, 0, 0, factuality=seen), row(2, 0, 0, factuality=broken), row(3, 0, 0))["factuality"]
    assert (found["n"], found["not_applicable"], found["judged"], found["failed"]) == (2, 1, 2, 1)
    assert found["one_order"] == 1
    assert found["model"]["mean"] == 8.5
    assert found["baseline"]["mean"] == 6.5
    assert found["bounds"] == {"low": pytest.approx(21 / 4), "high": pytest.approx(31 / 4)}
    assert figures(row(1, 0, 0))["factuality"] is None


def test_parts_hold_their_own_cases() -> None:
    """Tasks and categories are figures of their own cases; a case without a task is in none."""
    one = figures(row(1, 1, 1), row(2, -1, -1), row(3, 1, 1, task=""))
    assert one["by_task"]["poem"]["reward"]["mean"] == 50
    assert one["by_task"]["story"]["reward"]["mean"] == -50
    assert set(one["by_task"]) == {"poem", "story"}
    assert one["by_category"]["writing"]["n"] == 3


def test_cases_that_share_an_image_are_one_cluster() -> None:
    """Sixteen cases on four images leave a wider interval than on sixteen."""
    verdicts = [1, 1, 1, 1, 0, 0, 0, 0, -1, -1, -1, -1, 1, 1, 1, 1]
    alone = figures(*(row(case, one, one) for case, one in enumerate(verdicts)))["reward"]
    shared = figures(*(row(case, one, one, cluster=f"c{case // 4}") for case, one in enumerate(verdicts)))["reward"]
    assert shared["low"] is None or shared["high"] - shared["low"] > alone["high"] - alone["low"]


def test_length_goes_with_reward_where_it_does() -> None:
    """Reward that follows length is found and marked; lengths that do not vary have no correlation."""
    rows = [row(case, one := (case % 5) - 2, one, longer=10 * one) for case in range(20)]
    found = duel_figures(rows, seed=0)["length_bias"]["m"]
    assert found["r"] == pytest.approx(1)
    assert found["adjusted"] < 0.05
    assert duel_figures([row(case, case % 2, 0) for case in range(8)], seed=0)["length_bias"]["m"]["r"] is None
