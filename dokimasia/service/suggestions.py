"""Suggestions for the fields of forms: models, runs, files, trees, graphs of plug-ins."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from dokimasia.endpoints.models import chosen_models, list_models
from dokimasia.errors import ConfigError
from dokimasia.plugins import entry_points_of
from dokimasia.prompts import PromptLibrary
from dokimasia.runs.session import Session
from dokimasia.service.state import Service
from dokimasia.service.uploads import RequestFiles
from dokimasia.service.wording import as_on_pages
from dokimasia.storage.naming import Label, labels
from dokimasia.storage.runs import list_runs
from dokimasia.storage.trees.versions import list_trees

SIMULATED_SIGHT = (
    "Simulated models (sim/...) see only pictures of the simulated world; they cannot see any other picture and "
    "answer from the words alone. Try your own pictures with a real model."
)
"""A note on simulated models for people with their own pictures."""

MOST = 300
"""Maximum number of suggestions of each kind."""

DEEP = 2
"""The levels of folders searched below the data root."""


def suggestions_of(service: Service) -> Mapping[str, list[tuple[str, str]]]:
    """Return the suggestions by name of list, each with a value and a description."""
    runs = list(_runs(service))
    files = [*_uploads(service), *_paths_below(service.data_root)]
    return {
        "models": [*models_of(service)],
        "runs": runs,
        "files": files,
        "runs-and-files": [*files, *runs],
        "trees": [(tree.name, tree.source) for tree in list_trees(service.home)],
        "graphs": [(name, "") for name in entry_points_of("graphs")],
    }


def models_of(service: Service) -> Iterator[tuple[str, str]]:
    """Yield the available models: the configured ones, then the simulated."""
    settings = service.settings
    for model in list_models(settings, chosen_models(settings)):
        parts = [] if model.name == model.model else [model.model]
        price = model.price
        if price.source is not None and price.input is not None and price.output is not None:
            parts.append(f"${price.input:g} / ${price.output:g} per million tokens")
        if isinstance(model.key, str):
            parts.append(f"key {model.key}")
        elif model.key is not None:
            parts.append("key set" if model.key.present else f"{model.key.variable} is not set")
        yield model.name, " · ".join(filter(None, (*parts, model.problem)))
    for spec in chosen_models(settings, simulated=True):
        if spec.ref.name not in settings.models:
            yield spec.ref.name, "simulated"


def fault_of_model(service: Service, name: str) -> str:
    """Return why a model name is unknown; empty if the model exists."""
    try:
        Session(service.settings, service.home, PromptLibrary(())).model(name)
    except ConfigError as problem:
        return as_on_pages(str(problem))
    return ""


def _runs(service: Service) -> Iterator[tuple[str, str]]:
    labels_by_run = labels(service.home)
    for run in list_runs(service.home)[:MOST]:
        name = labels_by_run.get(run.id, Label()).name
        yield run.id, " · ".join(filter(None, (name, run.method, run.data_name, run.status)))


def _uploads(service: Service) -> Iterator[tuple[str, str]]:
    for upload in RequestFiles(service.home, service.data_root).uploads.all()[:MOST]:
        yield upload.called, f"{len(upload.files)} files" if len(upload.files) > 1 else "upload"


def _paths_below(root: Path | None) -> Iterator[tuple[str, str]]:
    """Yield the files and folders below the data root, as relative paths, upper levels first."""
    if root is None:
        return
    count = 0
    for folder, folders, files in os.walk(root):
        depth = len(Path(folder).relative_to(root).parts)
        folders[:] = (
            sorted(folder_name for folder_name in folders if not folder_name.startswith(".")) if depth < DEEP else []
        )
        for name in sorted((*folders, *files)):
            if not name.startswith(".") and count < MOST:
                count += 1
                yield str((Path(folder) / name).relative_to(root)), "folder" if name in folders else ""
