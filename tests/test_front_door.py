"""The package's front door and its examples."""

import subprocess
import sys
from pathlib import Path

import pytest

import dokimasia
from dokimasia import errors
from tests.processes import run_script

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parent.parent


def test_every_public_name_is_there() -> None:
    """Each name of the front door loads, and nothing else does."""
    for name in dokimasia.__all__:
        assert getattr(dokimasia, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        _ = dokimasia.nothing


def test_every_error_is_at_the_front_door() -> None:
    """What the package raises on purpose can be caught by a name of the front door, and the documentation lists it."""
    public = [kind.__name__ for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    page = (ROOT / "docs" / "reference" / "index.md").read_text()
    assert len(public) > 15
    for name in public:
        assert getattr(dokimasia, name) is getattr(errors, name)
        assert f"`{name}`" in page


def test_importing_the_package_imports_nothing_heavy() -> None:
    """`import dokimasia` loads none of the libraries behind it."""
    code = "import sys, dokimasia; print(sorted({'pydantic', 'litellm', 'langgraph', 'numpy'} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
@pytest.mark.full
def test_examples_run(path: Path, tmp_path: Path) -> None:
    """Every example runs offline as it stands, prints something and leaves nothing open."""
    ran = run_script(path, (tmp_path,), tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()
    assert "ResourceWarning" not in ran.stderr
