"""A test of fingerprints as files: its figures as tables and pictures, and its trials for a reader."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dokimasia.domain.diagnosis.tables import Asset
from dokimasia.methods.diagnosis import write_tables
from dokimasia.methods.fingerprints.by_hand import write_bundle
from dokimasia.methods.fingerprints.results import fingerprint_summary
from dokimasia.report.figures import several
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run


def write_all(home: Home, run: Run, folder: Path) -> Iterator[str]:
    """Write a test's trials for a reader and its figures into a folder, and yield what to tell the user.

    Raises:
        InputError: there are no reports to match, or the folder cannot be used.
    """
    bundle = write_bundle(home, run, folder)
    written = export_figures(fingerprint_summary(home, run), folder)
    yield f"wrote {several(len(written), 'file')} with figures, and {several(bundle.trials, 'trial')} for a reader, to {folder}"
    if bundle.kept:
        yield f"{bundle.sheet} was there and is left as it is"
    yield (
        f"To match them by hand, save {bundle.sheet} under the reader's name, put A or B into report_1_is, and: "
        f"dokimasia diagnose {run.id} --fingerprint --matches NAME.csv --home {home.path}"
    )


def export_figures(summary: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write a test's tables as CSV and PNG, and its summary as JSON, into a folder; equal summaries give equal bytes.

    Raises:
        InputError: the folder cannot be written.
    """
    assets = map(Asset.model_validate, summary["assets"])
    return write_tables(folder, "fingerprints", summary, assets, simulated=bool(summary["simulated"]))
