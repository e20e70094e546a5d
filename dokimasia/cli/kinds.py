"""The kinds of run beside evaluations, each with the verb that goes on with it."""

import importlib
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from dokimasia.settings import Settings
    from dokimasia.storage.runs import Run

VERB_OF_KIND: dict[str, str] = {
    "filter": "dokimasia.cli.filter",
    "refine": "dokimasia.cli.refine",
    "review": "dokimasia.cli.review",
    "rubrics": "dokimasia.cli.rubrics",
    "audit": "dokimasia.cli.audit",
    "tree": "dokimasia.cli.tree_grow",
    "diagnosis": "dokimasia.cli.diagnose_words",
    "fingerprint": "dokimasia.cli.diagnose_fingerprint",
}
"""By the word under `kind` in a run's options: the module of the verb that made the run."""


class KindOfRun(Protocol):
    """What such a module offers beside its `command`."""

    def resume_run(self, settings: "Settings", run: "Run", changes: dict[str, Any], *, as_json: bool) -> None:
        """Go on with a run under other limits, and print what came of it."""
        ...


def verb_of(run: "Run") -> KindOfRun | None:
    """Return the module of the verb that made a run, or None where that is none of these."""
    kind = run.options.get("kind")
    module = VERB_OF_KIND.get(kind) if isinstance(kind, str) else None
    return None if module is None else cast("KindOfRun", importlib.import_module(module))
