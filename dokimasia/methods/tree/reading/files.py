"""Capability trees as files: exported for other programs, edited by hand, checked and taken back; versions restored."""

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, Literal

from dokimasia.algorithms.trees.changes import edits_by_hand, with_absorbed
from dokimasia.algorithms.trees.checks import check_tree
from dokimasia.algorithms.trees.formats import (
    from_csv,
    from_graphml,
    from_json,
    from_yaml,
    to_csv,
    to_graphml,
    to_json,
    to_mermaid,
    to_version,
    to_yaml,
)
from dokimasia.algorithms.trees.places import leaf_mapping
from dokimasia.domain.capability import TreeEdit
from dokimasia.domain.growth import Phase, Placement, TreeCriterion
from dokimasia.errors import DataError, InputError
from dokimasia.methods.tree.reading.trees import LoadedTree, edit_row, load_tree
from dokimasia.report.figures import several
from dokimasia.storage.home import Home
from dokimasia.storage.trees.versions import (
    StoredVersion,
    create_tree,
    keep_criteria,
    list_trees,
    put_version,
    tree_criteria,
    versions,
)

Format = Literal["yaml", "json", "csv", "graphml", "mermaid"]
ENDINGS: Mapping[str, Format] = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".csv": "csv",
    ".graphml": "graphml",
    ".mmd": "mermaid",
    ".mermaid": "mermaid",
}
_WRITERS = {"json": to_json, "csv": to_csv, "graphml": to_graphml, "mermaid": to_mermaid}
_READERS = {"yaml": from_yaml, "json": from_json, "csv": from_csv, "graphml": from_graphml}
MOST_BYTES = 256 * 1024 * 1024
MOST_NAMED = 6
UNPLACED = frozenset({"", "-", "none", "unplaced"})


def export_tree(loaded: LoadedTree, format: Format) -> str:
    """Return a version of a tree as text of a format; equal versions give equal text."""
    if format == "yaml":
        texts = {key: one.text for key, one in loaded.criteria.items()}
        return to_yaml(loaded.tree, name=loaded.stored.tree, version=loaded.stored.position, texts=texts)
    return _WRITERS[format](loaded.tree)


def format_of(path: Path | None, named: Format | None) -> Format:
    """Return the format that is asked for: by name, else by the file's ending, else YAML."""
    return named or ENDINGS.get(path.suffix.lower() if path else "", "yaml")


async def import_tree(home: Home, path: Path, *, tree: str | None = None, new: bool = False) -> dict[str, Any]:
    """Take in a tree that a person wrote or edited, as the newest version of a tree; what it changes becomes edits.

    A tree that exists keeps its anchors, its criteria's texts, and every criterion that it had mapped. What a criterion's
    leaf is where the file leaves it in place stays the judge's word; elsewhere it is the person's.

    Args:
        home: open for writing.
        path: YAML, JSON, CSV or GraphML, by the file's ending.
        tree: the tree that it is a version of; by default the one that the file names (YAML), else the file's name.
        new: begin a new tree with it, which no other way does.

    Returns:
        tree, position, version, new (whether it differs from the newest version), edits.

    Raises:
        InputError: there is no such tree, or with `new` there is one; or the file is of a version that is not the newest.
        DataError: the file cannot be read, or holds no valid tree; the message says what is wrong.
    """
    graph = _read(path)
    said, version, texts = (
        graph.graph.pop(field, empty) for field, empty in (("name", ""), ("version", 0), ("texts", {}))
    )
    name = tree or said or path.stem
    _check_name(home, path, name, new=new)
    base = None if new else load_tree(home, name)
    members = leaf_mapping(graph)
    known = base.criteria if base else _known_elsewhere(home, members)
    problems = check_tree(
        graph,
        categories=base.version.categories if base else None,
        criteria=leaf_mapping(base.tree) if base else {},
    )
    if base is not None:
        strange = sorted(one for one in members if one not in known)
        if strange:
            problems.append(
                f"{several(len(strange), 'criterion', 'criteria')} not of the tree {name!r}: "
                f"{', '.join(strange[:MOST_NAMED])}"
            )
    changed = sorted(one for one, text in texts.items() if one in known and known[one].text != text)
    if changed:
        problems.append(
            f"{several(len(changed), 'criterion', 'criteria')} with another text than was asked: "
            f"{', '.join(changed[:MOST_NAMED])}"
        )
    refuse(str(path), problems)
    if base is None:
        await create_tree(home, name, source="")
        own = (known.get(one) or TreeCriterion(one, texts.get(one, ""), one) for one in sorted(members))
        await keep_criteria(home, name, own)
        return await keep_tree(home, name, graph, base, (), phase="import")
    edits = edits_by_hand(base.tree, graph, reason=f"edited by hand in {path.name}")
    newest = base.stored.position
    if edits and name == said and version not in (0, newest):
        raise InputError(
            f"{path} is an edit of {name}@{version}, but {base.name} is newer, and would be undone: export that and edit "
            f"it, or write `version: {newest}` in the file if it is to stand in its place. Nothing was changed."
        )
    return await keep_tree(home, name, with_absorbed(graph, edits, base.tree), base, edits, phase="import")


def refuse(source: str, problems: Sequence[str]) -> None:
    """Raise if a tree has problems; the message says where it is from and what is wrong with it."""
    if problems:
        more = f"; and {len(problems) - MOST_NAMED} more" if len(problems) > MOST_NAMED else ""
        raise DataError(f"{source} holds no valid tree: {'; '.join(problems[:MOST_NAMED])}{more}. Nothing was changed.")


def _check_name(home: Home, path: Path, name: str, *, new: bool) -> None:
    """Raise if a file cannot be taken in under a name, since a tree is there, or none is."""
    there = bool(versions(home, name))
    if there and new:
        raise InputError(
            f"{path}: there is a tree {name!r} already; name the new one with --tree NAME, or leave out --new"
        )
    if not there and not new:
        known = ", ".join(one.name for one in list_trees(home)[:MOST_NAMED]) or "none"
        raise InputError(
            f"{path}: there is no tree {name!r} to take it in as a version of; name one with --tree (there are: {known}), "
            "or begin a new tree with --new"
        )


async def restore_version(home: Home, text: str, *, who: str = "person") -> dict[str, Any]:
    """Make an earlier version the newest of its tree again, by a person; what lies between stays in the history.

    Returns:
        tree, position, version, new, edits, and restored (the version that was restored).

    Raises:
        NotFound: there is no such version.
        InputError: it is the newest already.
    """
    wanted = load_tree(home, text)
    newest = load_tree(home, wanted.stored.tree)
    if newest.stored.id == wanted.stored.id:
        raise InputError(
            f"{wanted.name} is the newest version already; dokimasia tree list {wanted.stored.tree} lists them, and "
            f"{wanted.stored.tree}@1 names the first"
        )
    edits = edits_by_hand(newest.tree, wanted.tree, reason=f"restored version {wanted.stored.position}")
    kept = await keep_tree(
        home,
        wanted.stored.tree,
        wanted.tree,
        newest,
        edits,
        phase="restore",
        made_by=who,
        placements=wanted.placements,
    )
    return {**kept, "restored": wanted.stored.position}


def read_mapping(path: Path) -> dict[str, str | None]:
    """Return a person's mapping from a CSV file with the columns `criterion` and `leaf`; an empty leaf is unplaced.

    Raises:
        DataError: the file cannot be read, a column is missing, or a criterion stands twice; the message names the line.
    """
    reader = csv.DictReader(StringIO(_text(path), newline=""))
    names = [name.strip().casefold() for name in reader.fieldnames or ()]
    leaf = next((one for one in ("leaf", "group", "capability") if one in names), None)
    if "criterion" not in names or leaf is None:
        raise DataError(f"{path}: the first line has to name the columns 'criterion' and 'leaf'; it has {names}")
    reader.fieldnames = names
    mapping: dict[str, str | None] = {}
    try:
        for row in reader:
            key, value = (row.get("criterion") or "").strip(), (row.get(leaf) or "").strip()
            if not key:
                raise DataError(f"{path}, line {reader.line_num}: there is no criterion")
            if key in mapping:
                raise DataError(f"{path}, line {reader.line_num}: the criterion {key} stands twice")
            mapping[key] = None if value.casefold() in UNPLACED else value
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: {error}") from error
    if not mapping:
        raise DataError(f"{path} maps no criterion")
    return mapping


def mapping_from(home: Home, text: str) -> tuple[str, dict[str, str | None], dict[str, str]]:
    """Return a mapping that a version's name or a CSV file means: what it is called, criterion to leaf, and to cluster.

    Raises:
        NotFound, DataError: there is no such version or file.
    """
    path = Path(text)
    if path.suffix.lower() == ".csv" and path.is_file():
        return path.name, read_mapping(path), {}
    loaded = load_tree(home, text)
    mapping: dict[str, str | None] = {one.criterion: one.leaf for one in loaded.placements}
    mapping |= leaf_mapping(loaded.tree)
    return loaded.name, mapping, {key: one.cluster or one.sample_id for key, one in loaded.criteria.items()}


async def keep_tree(
    home: Home,
    name: str,
    graph: Any,
    base: LoadedTree | None,
    edits: Sequence[TreeEdit],
    *,
    phase: Phase,
    made_by: str = "person",
    placements: Sequence[Placement] | None = None,
) -> dict[str, Any]:
    """Keep a tree as a version, with its placements: those of the base where they are the same, else a person's."""
    if base is not None and not edits:
        return _kept(base.stored, new=False)
    version = to_version(graph, before=base.stored.id if base else None, edits=edits)
    said = {one.criterion: one for one in (base.placements if base and placements is None else placements or ())}
    held = leaf_mapping(graph)
    rows = [
        known if (known := said.get(one)) is not None and known.leaf == leaf else Placement(one, leaf)
        for one, leaf in held.items()
    ]
    rows += [known for one, known in said.items() if one not in held and known.leaf is None]
    after = base.stored.position if base else None
    stored = await put_version(home, name, version, phase=phase, made_by=made_by, placements=sorted(rows), after=after)
    return _kept(stored, edits, new=True)


def _kept(stored: StoredVersion, edits: Sequence[TreeEdit] = (), *, new: bool) -> dict[str, Any]:
    place = {"tree": stored.tree, "position": stored.position, "version": stored.id}
    return {**place, "new": new, "edits": [edit_row(edit) for edit in edits]}


def _known_elsewhere(home: Home, members: Mapping[str, str]) -> dict[str, TreeCriterion]:
    """Return what other trees of the home know of criteria."""
    found: dict[str, TreeCriterion] = {}
    for tree in list_trees(home):
        missing = members.keys() - found.keys()
        if not missing:
            break
        found |= {one.key: one for one in tree_criteria(home, tree.name) if one.key in missing}
    return found


def _read(path: Path) -> Any:
    format = ENDINGS.get(path.suffix.lower())
    if format is None or format not in _READERS:
        readable = ", ".join(sorted(ending for ending, name in ENDINGS.items() if name in _READERS))
        raise InputError(f"{path}: a tree is read from {readable}, by the file's ending")
    try:
        return _READERS[format](_text(path))
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise DataError(f"{path} is larger than {MOST_BYTES // 2**20} MiB: that is no file of a tree")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is no UTF-8 text (byte {error.start})") from error
