"""The best of several against the next best: on samples that all have, with what undecided answers could change."""

import pytest

from dokimasia.domain.ports import Spending
from dokimasia.report.blocks import plain
from dokimasia.report.conclusions import lead_sentences, used_sentence
from dokimasia.report.fields import Interval, Lead, Used
from dokimasia.runs.measures import lead_of


def of(
    values: dict[str, list[float]], *, highest: dict[str, list[float]] | None = None, widest: float = 1.0
) -> Lead | None:
    """The lead over samples numbered from 0, each with an image of its own."""

    def numbered(lists: dict[str, list[float]]) -> dict[str, dict[str, float]]:
        return {name: {str(number): value for number, value in enumerate(each)} for name, each in lists.items()}

    clusters = {str(number): number for number in range(max(map(len, values.values())))}
    bounds = None if highest is None else numbered(highest)
    return lead_of(numbered(values), clusters, widest=widest, seed=0, highest=bounds)


def said(lead: Lead | None) -> str:
    """The sentences on a lead."""
    return " ".join(map(plain, lead_sentences(lead, unit="points", measure="strict accuracy")))


def test_a_model_with_few_samples_hides_no_contest() -> None:
    """A model with one right sample takes no part; the others are compared on all of theirs."""
    lead = of({"a": [1.0], "b": [1.0] * 54 + [0.0] * 6, "c": [1.0] * 30 + [0.0] * 30})
    assert lead is not None
    assert (lead.best, lead.next_best, lead.n) == ("b", "c", 60)
    assert "b is better than c by 0.4 points" in said(lead)


def test_the_best_is_the_best_on_the_samples_of_all() -> None:
    """Samples that one model lacks count for none, so that no lead contradicts its own difference."""
    lead = of({"a": [1.0] * 6, "b": [0.0] * 2 + [1.0] * 4 + [1.0] * 4})
    assert lead is not None
    assert (lead.best, lead.n, round(lead.difference.mean, 3)) == ("a", 6, 0.333)


def test_undecided_answers_can_reverse_a_lead() -> None:
    """A difference that the next best's undecided answers could turn around is no proof of being better."""
    answers = {"a": [1.0, 0.0] * 20, "b": [0.0] * 40}
    lead = of(answers, highest={"a": [1.0, 0.0] * 20, "b": [1.0] * 40})
    assert lead is not None
    assert lead.reversible
    assert "but undecided answers could reverse this" in said(lead)
    assert "is better than" not in said(lead)
    settled = of(answers, highest=answers)
    assert settled is not None
    assert not settled.reversible
    assert "a is better than b" in said(settled)


def test_an_interval_with_zero_is_no_better() -> None:
    """A small p-value beside an interval that holds 0, and the reverse, is inconclusive; a tie is called a tie."""
    interval = Interval(mean=0.001, low=-0.01, high=0.1)
    lead = Lead(best="a", next_best="b", n=300, difference=interval, p_value=0.0001, samples_needed=None)
    assert said(lead).startswith("It is not clear whether a is better than b: the difference is 0.0 points")
    assert said(lead).endswith("The interval and the p-value disagree (p < 0.001): this is inconclusive.")
    reverse = lead.model_copy(
        update={"difference": Interval(mean=0.2, low=0.1, high=0.3), "p_value": 0.06, "samples_needed": 900}
    )
    assert said(reverse).startswith("It is not clear whether a is better than b: the difference is +0.2 points")
    assert said(reverse).endswith(
        "on 300 samples. The interval and the p-value disagree (p = 0.060): this is inconclusive."
    )
    assert said(of({"a": [1.0, 0.0], "b": [0.0, 1.0]})) == "a and b are equal in strict accuracy on 2 samples."
    assert of({"a": [1.0]}) is None


@pytest.mark.parametrize(
    ("paid", "end"),
    [
        (None, "."),
        (Spending(160, 9_000, 0.25), "."),
        (Spending(152, 9_000, 0.2427), "."),
        (Spending(40, 2_000, 0.0475), ", of which this run paid $0.0475."),
        (Spending(), ", all from the ledger."),
    ],
)
def test_what_a_run_paid_is_said_where_the_ledger_had_replies(paid: Spending | None, end: str) -> None:
    """What the results rest on may have been paid for by earlier runs."""
    assert used_sentence(Used(calls=152, cost=0.2427), paid) == f"152 calls, cost $0.2427{end}"
