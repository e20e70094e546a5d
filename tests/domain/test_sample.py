"""A sample's accepted answers: one, several, or several parts that all have to be there."""

import pytest

from dokimasia.domain.sample import Sample

pytestmark = pytest.mark.quick


def sample(**fields: object) -> Sample:
    return Sample.model_validate({"id": "one", "prompt": "Which?", **fields})


@pytest.mark.parametrize(
    ("fields", "accepted", "text"),
    [
        ({"reference_answer": "13.6"}, (("13.6",),), "13.6"),
        ({"reference_answer": "13.6<OR>13.7"}, (("13.6",), ("13.7",)), "Any one of these is accepted: 13.6; 13.7"),
        ({"reference_answer": "eggs <AND> flour"}, (("eggs", "flour"),), "eggs and flour"),
        (
            {"reference_answer": "eggs<AND>flour<OR>batter"},
            (("eggs", "flour"), ("batter",)),
            "Any one of these is accepted: eggs and flour; batter",
        ),
        (
            {"reference_answer": "no", "reference_answers": ("no", "empty")},
            (("no",), ("empty",)),
            "Any one of these is accepted: no; empty",
        ),
        (
            {"reference_answers": ("no<OR>none", "empty", "no")},
            (("no",), ("none",), ("empty",)),
            "Any one of these is accepted: no; none; empty",
        ),
        ({"reference_answers": ("2000<AND>2012",)}, (("2000", "2012"),), "2000 and 2012"),
        ({"reference_answer": "<OR>"}, (), None),
        ({}, (), None),
    ],
)
def test_accepted_answers(fields: dict[str, object], accepted: tuple[tuple[str, ...], ...], text: str | None) -> None:
    """Alternatives and their parts are read, each alternative once, and a model is told of them in words."""
    found = sample(**fields)
    assert (found.accepted, found.reference_text) == (accepted, text)


def test_accepted_answers_are_part_of_a_samples_content() -> None:
    """Another list of accepted answers is another sample; without one the digest is what it always was."""
    one = sample(reference_answer="no")
    assert one.digest == sample(reference_answer="no", reference_answers=()).digest
    assert (
        len({one.digest, *(sample(reference_answer="no", reference_answers=more).digest for more in (("no",), ("x",)))})
        == 3
    )


def test_a_request_of_its_own_has_no_reference() -> None:
    """Asked by one request alone, whatever its own question is, a sample has no accepted answer."""
    found = sample(reference_answer="no", reference_answers=("no", "empty"), choices=("no", "yes")).asked(
        "Describe it."
    )
    assert (found.accepted, found.choices, found.prompt) == ((), (), "Describe it.")
