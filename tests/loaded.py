"""What a forked process finds loaded: the whole package, and the libraries that it loads late."""

import importlib
import pkgutil

import dokimasia
from dokimasia.gateway.litellm.transport import load_litellm

LATE = (
    *("sqlite_utils", "scipy.special", "scipy.stats", "networkx", "sklearn.feature_extraction.text"),
    *("openai.resources.chat", "openai.resources.embeddings"),
)

for name in (*(module.name for module in pkgutil.walk_packages(dokimasia.__path__, "dokimasia.")), *LATE):
    if not name.endswith("__main__"):
        importlib.import_module(name)
load_litellm()
