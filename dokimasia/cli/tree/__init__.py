"""`dokimasia tree`: grow a capability tree from criteria, view, edit and validate it."""

import importlib

import click

VERBS: dict[str, tuple[str, str]] = {
    "grow": ("", "Grow a tree from a run's criteria or a file of them."),
    "stability": ("versions.stability", "Grow several trees from different samples and measure how far they agree."),
    "list": ("versions.list_", "List the trees of a home, or the versions of one."),
    "show": ("show.show", "Show a tree with its support, and a model's scores."),
    "diff": ("versions.diff", "Compare two versions: what was added, merged, moved."),
    "export": ("versions.export", "Write a tree as YAML, JSON, CSV, GraphML or Mermaid."),
    "import": ("versions.import_", "Import a tree that a person wrote or edited, after checking it."),
    "delete": ("versions.delete", "Delete a tree, its versions and its growths."),
    "restore": ("versions.restore", "Make an earlier version the newest again."),
    "agreement": ("versions.agreement", "Measure how far two mappings of the same criteria agree."),
    "validity": ("scores.validity", "Test whether a tree's leaves predict scores."),
    "weaknesses": ("scores.weaknesses", "Name the capabilities at which a model is weak."),
}
"""The module and function of each verb, empty for the one made from the method's request; and its line of help."""


class TreeVerbs(click.Group):
    """A group whose verbs are imported on use; `VERBS` has their help lines."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs, in the order of use."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the verb's module and return its command."""
        if cmd_name not in VERBS:
            return None
        module, _, function = VERBS[cmd_name][0].partition(".")
        if function:
            return getattr(importlib.import_module(f"{__name__}.{module}"), function)
        from dokimasia.cli.method_verb import verb_of
        from dokimasia.runs.catalogue import method_named

        return verb_of(method_named("tree"))

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
