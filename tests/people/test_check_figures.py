"""Figures of verification by people."""

from dokimasia.domain.decision import CheckItem, Decision, Standing
from dokimasia.people.checks.figures import check_figures


def _standing(number: int, *decisions: tuple[str, str]) -> Standing:
    item = CheckItem(run="r", kind="caption", sample_id=f"s{number}", subject=f"v{number}", text="A cat.")
    made = tuple(
        Decision.model_validate(
            {
                "item": item.id,
                "number": at,
                "who": who,
                "at": "t",
                "action": action,
                "text": "A dog." if action == "edit" else "A cat.",
                "difference": "x" if action == "edit" else "",
            }
        )
        for at, (who, action) in enumerate(decisions, 1)
    )
    return Standing(item=item, decisions=made)


def test_states_people_and_agreement_are_counted() -> None:
    """Each two people with common items have their share alike, its interval, kappa and the same texts."""
    standings = [
        _standing(0, ("anna", "accept"), ("bert", "accept")),
        _standing(1, ("anna", "edit"), ("bert", "accept")),
        _standing(2, ("anna", "reject"), ("bert", "reject")),
        _standing(3, ("carl", "accept")),
        _standing(4),
    ]
    figures = check_figures(standings)
    assert figures.states == {"waiting": 1, "accepted": 2, "edited": 1, "rejected": 1}
    assert figures.people == {"anna": 3, "bert": 3, "carl": 1}
    (pair,) = figures.agreement
    assert (pair.people, pair.n, pair.same_text) == (("anna", "bert"), 3, 2)
    assert abs(pair.share - 2 / 3) < 1e-9
    assert abs(pair.kappa - 0.5) < 1e-9
    assert 0 < pair.low < pair.share < pair.high < 1


def test_kappa_of_people_who_always_accept_is_not_a_number() -> None:
    """Where chance explains full agreement there is a share, and no kappa."""
    (pair,) = check_figures([_standing(n, ("a", "accept"), ("b", "accept")) for n in range(4)]).agreement
    assert (pair.share, pair.kappa) == (1.0, None)


def test_nothing_to_check_is_counted_too() -> None:
    """No items make zero everywhere."""
    assert check_figures([]).items == 0
