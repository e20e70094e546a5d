"""Capability paths have one spelling, and what cannot be a path says why."""

import pytest
from pydantic import ValidationError

from dokimasia.domain.capability import CapabilityPath, Proposal, StoredNode, TreeEdit, TreeVersion
from dokimasia.domain.identity import value_id

pytestmark = pytest.mark.quick

PATH = "<Perception><Fine-grained Perception><Attribute Recognition>"


def test_a_path_and_its_text_are_one() -> None:
    """A path is read from its text and written to it again."""
    path = CapabilityPath.parse(PATH)
    assert str(path) == PATH
    assert (path.category, path.name, path.layer, path.is_leaf) == ("Perception", "Attribute Recognition", 3, True)
    assert str(path.parent) == "<Perception><Fine-grained Perception>"
    assert CapabilityPath.parse("<A>").parent is None


def test_spaces_and_composed_letters_are_spelled_one_way() -> None:
    """Spaces around and within names, and letters composed of two signs, do not make another path."""
    assert str(CapabilityPath.parse(" < A > <B  b><Cafe\u0301>\n")) == "<A><B b><Caf\u00e9>"
    assert CapabilityPath.parse("<A><B>").key == CapabilityPath.parse("<a><b>").key


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<A><B><C><D>", "4 layers"),
        ("<A><>", "no path"),
        ("<A>< >", "empty"),
        ("A>B", "no path"),
        ("root", "no path"),
        ("", "no path"),
        ("<A>and<B>", "no path"),
        ("<A><B\x07>", "does not show"),
        (f"<A><{'b' * 81}>", "more than 80"),
    ],
)
def test_what_is_no_path_says_why(text: str, reason: str) -> None:
    """Too many layers, empty names, signs that do not show and other forms are refused with the reason."""
    with pytest.raises(ValueError, match=reason):
        CapabilityPath.parse(text)


def test_values_hold_only_what_is_spelled_right() -> None:
    """A path built from names refuses a name in another spelling, and a capability has no children."""
    with pytest.raises(ValidationError, match="spelled"):
        CapabilityPath(names=(" A",))
    with pytest.raises(ValueError, match="no layer below"):
        CapabilityPath.parse(PATH).child("Deeper")
    assert str(Proposal(under=CapabilityPath.parse("<A><B>"), name="C").path) == "<A><B><C>"


def test_versions_are_known_by_content_and_history() -> None:
    """Equal nodes and edits have one id; another history has another."""
    nodes = (StoredNode(id="<A>", members=("x",), support=1), StoredNode(id="root"))
    edit = TreeEdit(kind="merge", node="<A><B><C>", into="<A><B><D>", reason="the same skill", by="judge")
    one = TreeVersion(categories=("A",), nodes=nodes, edits=(edit,))
    assert value_id(one) == value_id(TreeVersion.model_validate_json(one.model_dump_json()))
    assert value_id(one) != value_id(one.model_copy(update={"before": value_id(one)}))
