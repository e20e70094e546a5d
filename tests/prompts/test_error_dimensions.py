"""The dimensions that judges are probed with: as many as published, in their groups, each with all that a prompt needs."""

from collections import Counter

import pytest

from dokimasia.domain.blindspots import AXES, NEUTRAL, OVERALL, Task
from dokimasia.prompts.dimensions import error_dimensions, error_dimensions_id, error_groups

TASKS: tuple[Task, ...] = ("image-to-text", "text-to-image")


def test_there_are_as_many_dimensions_in_each_group_as_are_published() -> None:
    """Image-to-text has 6, 3, 6 and 3 dimensions, text-to-image 6, 6, 5 and 4, and each task has its neutral changes last."""
    counted = {task: Counter(one.group for one in error_dimensions(task).values() if one.group) for task in TASKS}
    assert counted["image-to-text"] == {"VG": 6, "SI": 3, "VR": 6, "LG": 3}
    assert counted["text-to-image"] == {"VF": 6, "SC": 6, "PP": 5, "TR": 4}
    assert all(list(error_dimensions(task))[-1] == NEUTRAL for task in TASKS)
    assert all(set(error_groups(task)) == set(counted[task]) for task in TASKS)


@pytest.mark.parametrize("task", TASKS)
def test_dimensions_of_a_group_share_their_relevant_axes(task: Task) -> None:
    """The relevant axes are those of the group, the overall one always among them; neutral changes concern all axes."""
    of_group: dict[str, set[tuple[str, ...]]] = {}
    for one in error_dimensions(task).values():
        of_group.setdefault(one.group, set()).add(one.axes)
        assert OVERALL in one.axes
        assert one.task == task
    assert all(len(axes) == 1 for axes in of_group.values())
    assert of_group[""] == {AXES[task]}


@pytest.mark.parametrize("task", TASKS)
def test_no_two_dimensions_share_a_definition_a_title_or_an_example(task: Task) -> None:
    """Each dimension can be told from every other by its words, and its example differs from itself made wrong."""
    found = list(error_dimensions(task).values())
    for field in ("title", "definition", "right", "wrong"):
        assert len({getattr(one, field) for one in found}) == len(found)
    assert all(one.right != one.wrong for one in found)
    assert len({error_dimensions_id(task) for task in TASKS}) == len(TASKS)


def test_definitions_say_what_is_not_of_their_kind() -> None:
    """What was taken for one another, or planted in name only, is ruled out where the kind is defined."""
    known = error_dimensions("image-to-text")
    ruled_out = {
        "factual_perturbation": "Where nothing is explained or concluded",
        "narrative_visual_conflict": "nothing is argued by it",
        "logical_inconsistency": "without the image, prove",
        "cultural_misalignment": "is no counterpart",
        "numerical_errors": "changes along",
        "contextual_depth_reduction": "every visible detail stays",
    }
    assert {name: words for name, words in ruled_out.items() if words not in known[name].definition} == {}
