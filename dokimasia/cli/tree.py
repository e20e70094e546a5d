"""`dokimasia tree`: grow a capability tree from criteria, look at it, edit it, and prove it."""

import importlib

import click

VERBS: dict[str, tuple[str, str]] = {
    "grow": ("dokimasia.cli.tree_grow", "Grow a tree from a run's criteria or a file of them."),
    "list": ("dokimasia.cli.tree_list", "List the trees of a home, or the versions of one."),
    "show": ("dokimasia.cli.tree_show", "Show a tree with its support, and a model's scores."),
    "diff": ("dokimasia.cli.tree_diff", "Compare two versions: what was added, merged, moved."),
    "export": ("dokimasia.cli.tree_export", "Write a tree as YAML, JSON, CSV, GraphML or Mermaid."),
    "import": ("dokimasia.cli.tree_import", "Take in a tree that a person wrote or edited, checked."),
    "restore": ("dokimasia.cli.tree_restore", "Make an earlier version the newest again."),
    "agreement": ("dokimasia.cli.tree_agreement", "Say how far two mappings of the same criteria agree."),
    "validity": ("dokimasia.cli.tree_validity", "Test whether a tree's leaves predict scores."),
    "weaknesses": ("dokimasia.cli.tree_weaknesses", "Name the capabilities at which a model is weak."),
}


class TreeVerbs(click.Group):
    """A group whose verbs are modules with a `command`, loaded when they are called; their help lines are known."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, in the order of use."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the verb's module and return its command."""
        if cmd_name not in VERBS:
            return None
        return importlib.import_module(VERBS[cmd_name][0]).command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of verbs without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in VERBS.items()])


@click.group(cls=TreeVerbs)
def command() -> None:
    """Grow a tree of the capabilities that criteria really probe, and see where a model is weak.

    A judge proposes capabilities for a part of the criteria, equal ones are merged and rare ones folded, and then every
    criterion is mapped to exactly one leaf. A tree has a name and versions; every change is kept with its reason.
    """
