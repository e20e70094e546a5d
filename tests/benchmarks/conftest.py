"""The benchmarks lie beside the program and not in it: here they can be imported."""

import sys
from pathlib import Path

ROOT = str(Path(__file__).parents[2])

if ROOT not in sys.path:
    sys.path.append(ROOT)
