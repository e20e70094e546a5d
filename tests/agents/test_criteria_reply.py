"""Criteria as a judge wrote them: what is sent back for mending repeats its reply, and adds nothing."""

import json

from dokimasia.agents.evaluation import criteria_reply
from dokimasia.domain.criterion import Anchor, Box, Criterion


def test_only_an_anchor_that_was_given_is_quoted() -> None:
    """A box is quoted with its image; a criterion on the whole image has no anchor, as the prompt asks."""
    box = Box(x0=0.1, y0=0.2, x1=0.3, y1=0.4)
    whole = Criterion(question="What weather is it?", ground_truth="Fog", weight=6)
    part = Criterion(
        question="Which animal stands there?", ground_truth="A heron", weight=4, anchor=Anchor(image=1, box=box)
    )
    first, second = json.loads(criteria_reply([whole, part]))
    assert "anchor" not in first
    assert second["anchor"] == {"image": 1, "box": [0.1, 0.2, 0.3, 0.4]}
