"""Values of the capability tree: paths, proposals, and versions with their edits (ATOM, section 3.2)."""

import re
import unicodedata
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from dokimasia.domain.identity import Value
from dokimasia.domain.judgement import Provenance

CATEGORIES = ("Perception", "Reasoning", "Knowledge", "Understanding", "Trustworthiness", "Generation")
"""The fixed categories below the root, unless others are configured."""

LAYERS = ("root", "category", "parent", "capability")
"""The names of a node's layer, by its depth: 0 to 3."""

ROOT = "root"
"""The id of the root; every other node's id is its path."""

DEEPEST = len(LAYERS) - 1

MOST_SUPPORT = 2**53 - 1
"""The maximum support of a node in criteria: the largest integer that every JSON reader preserves."""

Level = Literal["capability", "parent"]
"""The layer of a tree's leaves: capabilities or, in a tree of three layers, parents."""

MAX_NAME = 80

_PARTS = re.compile(r"(?:\s{0,9}<[^<>]{1,400}>){1,9}\s{0,9}")
_PART = re.compile(r"<([^<>]{1,400})>")


def plain_name(text: str) -> str:
    """Return a node's name in normal form: NFC, single spaces, no leading or trailing spaces.

    Raises:
        ValueError: the name is empty, longer than 80 characters, or contains an angle bracket or an invisible character.
    """
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not name:
        raise ValueError("a name is empty")
    if len(name) > MAX_NAME:
        raise ValueError(f"the name '{name[:30]}\u2026' has {len(name)} characters, more than {MAX_NAME}")
    if any(sign in "<>" or unicodedata.category(sign)[0] == "C" for sign in name):
        raise ValueError(f"the name {name[:30]!r} holds an angle bracket or a character that does not show")
    return name


def _spelled(name: str) -> str:
    if plain_name(name) != name:
        raise ValueError(f"the name {name!r} is spelled {plain_name(name)!r}")
    return name


Name = Annotated[str, AfterValidator(_spelled)]


class CapabilityPath(Value):
    """A place in the tree below the root: category, parent, capability, or the first one or two of them.

    Its text, `<Perception><Fine-grained Perception><Attribute Recognition>`, is the id of the node.
    """

    names: tuple[Name, ...] = Field(min_length=1, max_length=DEEPEST)

    @classmethod
    def parse(cls, text: str) -> "CapabilityPath":
        """Return the path written as `<A><B><C>`.

        Raises:
            ValueError: the text has another form, more than three names, or an invalid name.
        """
        if _PARTS.fullmatch(text) is None:
            raise ValueError(f"'{text[:60]}' is no path of the form <category><parent><capability>")
        names: list[str] = _PART.findall(text)
        if len(names) > DEEPEST:
            raise ValueError(
                f"'{text[:60]}' has {len(names)} layers below the root, but there are {DEEPEST}: "
                "category, parent, capability"
            )
        return cls(names=tuple(plain_name(name) for name in names))

    def __str__(self) -> str:
        return "".join(f"<{name}>" for name in self.names)

    @property
    def layer(self) -> int:
        """The depth: 1 category, 2 parent, 3 capability."""
        return len(self.names)

    @property
    def name(self) -> str:
        """The last name."""
        return self.names[-1]

    @property
    def category(self) -> str:
        """The category at the start of the path."""
        return self.names[0]

    @property
    def parent(self) -> "CapabilityPath | None":
        """The parent path; None for a category."""
        if self.layer > 1:
            return CapabilityPath(names=self.names[:-1])
        return None

    @property
    def is_leaf(self) -> bool:
        """Whether the path names a capability."""
        return self.layer == DEEPEST

    @property
    def key(self) -> str:
        """The case-folded text: paths that differ only in case share a key."""
        return str(self).casefold()

    def child(self, name: str) -> "CapabilityPath":
        """Return the path of a child.

        Raises:
            ValueError: the path is a capability already, or the name is invalid.
        """
        if self.is_leaf:
            raise ValueError(f"{self} is a capability: the tree has no layer below it")
        return CapabilityPath(names=(*self.names, plain_name(name)))


class Proposal(Value):
    """A judge's proposal to add a node under a category or a parent: `<ADD,path,name>` (ATOM, figure 11)."""

    under: CapabilityPath
    name: Name

    @property
    def path(self) -> CapabilityPath:
        """The path of the proposed node.

        Raises:
            ValueError: the node would lie below a capability.
        """
        return self.under.child(self.name)

    def __str__(self) -> str:
        return f"<ADD,{self.under},{self.name}>"


EditKind = Literal["add", "merge", "move", "rename", "prune"]


class TreeEdit(Value):
    """One change of the tree and its reason.

    `node` is the id of the node that was added, merged away, moved, renamed or pruned; `into` the id that holds its
    members since (None: added). `by` says who decided; `provenance` names the judge's call, model and prompt where it
    was a judge. `criteria` are the criteria behind it.
    """

    kind: EditKind
    node: str = Field(min_length=1)
    into: str | None = None
    reason: str = Field(default="", max_length=500)
    by: Literal["judge", "rule", "person"] = "rule"
    provenance: Provenance | None = None
    criteria: tuple[str, ...] = ()


class StoredNode(Value):
    """A node as it is stored: the criteria that it holds itself, and the ids that were merged or folded into it."""

    stored_as = "TreeNode"

    id: str = Field(min_length=1)
    support: int = Field(default=0, ge=0, le=MOST_SUPPORT)
    members: tuple[str, ...] = ()
    absorbed: tuple[str, ...] = ()


class TreeVersion(Value):
    """A whole tree at one time: its anchors, its nodes sorted by id (the root among them), and how it came about.

    `before` is the id of the version that the edits were made to, None for the first. Two versions with equal nodes and
    another history have other ids. `level` says which nodes are its leaves.
    """

    categories: tuple[Name, ...] = Field(min_length=1)
    level: Level = "capability"
    nodes: tuple[StoredNode, ...]
    before: str | None = None
    edits: tuple[TreeEdit, ...] = ()
