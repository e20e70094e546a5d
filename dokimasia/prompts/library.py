"""The prompts on disk: Markdown files with a front matter, loaded and checked once."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import Field, ValidationError

from dokimasia.domain.identity import Value
from dokimasia.domain.user_yaml import read_user_yaml
from dokimasia.domain.wording import nearest
from dokimasia.errors import ConfigError, DataError, list_faults
from dokimasia.prompts.composing import LOADER, composed

_FRONT = re.compile(r"\A---\n(.*?)\n---\n(.*)\Z", re.DOTALL)
_SECTION = re.compile(r"^## (system|form|user)\n", re.MULTILINE)
_SLOT = re.compile(r"\{\{([a-z_]+)\}\}")
_NUMBER = "{{n}}"


SHIPPED = Path(__file__).parent
"""The folder with the files of the package's own prompts."""

MOST_BYTES = 256 * 1024
"""The maximum number of bytes of a prompt's file."""

MOST_FRONT = 8 * 1024
"""Characters of a prompt's front matter, at most: YAML is read slowly."""

MOST_FILES = 500
"""The maximum number of prompts in a folder that replaces the package's."""

InputRule = Literal["required", "optional", "plain", "plain optional"]


class Prompt(Value):
    """One prompt: `inputs` says of each input whether it may be missing and whether it is fenced.

    `plain` inputs are the data set's own words put to a candidate as they are; everything that a judge is shown is fenced.
    `form` is the empty form of the reply, which ends the instructions; a line of it that holds `{{n}}` stands there once
    for each of the numbered things that the reply is about. `hash` is the SHA-256 of the file's bytes, shortened to 16
    digits, and stands beside every judgement.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    version: int = Field(ge=1, le=1_000_000)
    output: str
    inputs: dict[str, InputRule]
    source: str
    images: bool = True
    system: str = ""
    form: str = ""
    user: str
    hash: str

    def fenced(self, name: str) -> bool:
        """Return whether the input is fenced."""
        return not self.inputs[name].startswith("plain")

    @property
    def has_fence(self) -> bool:
        """Whether any input is fenced."""
        return any(self.fenced(name) for name in self.inputs)

    def optional(self, name: str) -> bool:
        """Return whether the input may be missing."""
        return self.inputs[name].endswith("optional")

    def form_for(self, count: int) -> str:
        """Return the empty form of a reply about this many things; empty if the prompt has none."""
        return _form(self.form, count)

    def instructions(self, count: int) -> str:
        """Return the system message: the prompt's own words, and the form of a reply about this many things."""
        return "\n\n".join(part for part in (self.system, self.form_for(count)) if part)

    def instructed_by(self, text: str) -> bool:
        """Return whether a text is the prompt's instructions, for any number of things in its form."""
        repeated = sum(_NUMBER in line for line in self.form.splitlines())
        more = text.count("\n") - self.instructions(1).count("\n")
        count = 1 + more // repeated if repeated else 1
        return count > 0 and text == self.instructions(count)


@lru_cache(maxsize=256)  # called for every call, nearly always with the same few numbers
def _form(form: str, count: int) -> str:
    lines: list[str] = []
    for line in form.splitlines():
        if _NUMBER in line:
            lines += (line.replace(_NUMBER, str(number)) for number in range(1, count + 1))
        else:
            lines.append(line)
    return "\n".join(lines)


class PromptLibrary:
    """Prompts by name; later folders override earlier ones."""

    def __init__(self, prompts: Iterable[Prompt]) -> None:
        self._prompts = {prompt.name: prompt for prompt in prompts}

    @classmethod
    def from_folders(cls, *folders: Path) -> "PromptLibrary":
        """Load every `*.md` of the folders, in order.

        Raises:
            ConfigError: a file's front matter or body is invalid; the message names the file.
        """
        return cls(prompt for folder in folders for path in _files(folder) for prompt in _prompts_of(path))

    def overridden(self, *folders: Path, more: bool = False) -> "PromptLibrary":
        """Return the library with every `*.md` of the folders replacing the prompt of its name; later folders win.

        A replacement must take the same inputs in the same way: fenced inputs of a judge stay fenced.

        Args:
            folders: the folders with the replacements.
            more: whether prompts with new names are added, too.

        Raises:
            ConfigError: a folder is missing or has no prompt, or a file is invalid, replaces nothing, or takes other
                inputs than the prompt it replaces; the message names the file.
        """
        prompts = dict(self._prompts)
        for folder in folders:
            if not folder.is_dir():
                raise ConfigError(
                    f"{folder}: there is no such folder of prompts; if it has moved, name it with --prompts"
                )
            files = _files(folder)
            if not files:
                raise ConfigError(
                    f"{folder}: no prompt in it; a prompt is a file such as {sorted(self._prompts)[0]}.md"
                )
            if len(files) > MOST_FILES:
                raise ConfigError(f"{folder}: {len(files):,} prompts are too many; a folder has {MOST_FILES} at most")
            for path in files:
                prompt = load_prompt(path)
                self._check_replacement(path, prompt, more=more)
                prompts[prompt.name] = prompt
        return PromptLibrary(prompts.values())

    def _check_replacement(self, path: Path, prompt: Prompt, *, more: bool) -> None:
        replaced = self._prompts.get(prompt.name)
        if replaced is None:
            if more:
                return
            raise ConfigError(f"{path}: replaces nothing: {self._unknown(prompt.name)}")
        if prompt.inputs != replaced.inputs:
            raise ConfigError(
                f"{path}: takes other inputs than the prompt {prompt.name!r} that it replaces, which takes "
                f"{_inputs_text(replaced)}; it declares {_inputs_text(prompt)}"
            )

    def get(self, name: str) -> Prompt:
        """Return the prompt of that name.

        Raises:
            ConfigError: there is none.
        """
        if name not in self._prompts:
            raise ConfigError(self._unknown(name))
        return self._prompts[name]

    def _unknown(self, name: str) -> str:
        hint = nearest(name, self._prompts) or ";"
        return f"no prompt is called {name!r}{hint} `dokimasia prompts` lists all"

    def names(self) -> list[str]:
        """The prompts' names, sorted."""
        return sorted(self._prompts)

    def with_system(self, text: str) -> Sequence[Prompt]:
        """Return the prompts with these instructions: those with a fence first, then those with more own words."""
        return self._by_system.get(text) or [prompt for prompt in self._with_form if prompt.instructed_by(text)]

    @cached_property
    def _by_system(self) -> dict[str, list[Prompt]]:
        by_system: dict[str, list[Prompt]] = {}
        for prompt in sorted(map(self.get, self.names()), key=lambda prompt: (not prompt.has_fence, -len(prompt.user))):
            if not prompt.form:
                by_system.setdefault(prompt.system, []).append(prompt)
        return by_system

    @cached_property
    def _with_form(self) -> list[Prompt]:
        return [prompt for prompt in map(self.get, self.names()) if prompt.form]

    def identity(self) -> Mapping[str, str]:
        """`version:hash` by name, for a run's identity."""
        return {name: f"{prompt.version}:{prompt.hash}" for name, prompt in sorted(self._prompts.items())}


def load_prompt(path: Path) -> Prompt:
    """Return the prompt in a file, after checking it.

    Raises:
        ConfigError: the message names the file and its fault.
    """
    if not path.is_file():
        raise ConfigError(f"{path}: this is no file (a pipe, a folder or a broken link): take it out of the folder")
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise ConfigError(f"{path}: {size:,} bytes are too many for a prompt, which has {MOST_BYTES:,} at most")
    return _read(path, path.read_bytes(), path.stem)


def shipped_text(name: str) -> str:
    """Return the whole text of a shipped prompt, as a file that could replace it.

    Raises:
        ConfigError: there is none of that name.
    """
    default_library().get(name)
    path = next(SHIPPED.rglob(f"{name}.md"), None)
    if path is not None:
        return path.read_text(encoding="utf-8")
    texts = (composed(file, file.read_text(encoding="utf-8")) or {} for file in _files(SHIPPED))
    return next(prompts[name] for prompts in texts if name in prompts)


def _prompts_of(path: Path) -> Iterable[Prompt]:
    """Return the prompt in a file, or those composed from it."""
    if not path.is_file():
        return [load_prompt(path)]
    data = path.read_bytes()
    parts = composed(path, data.decode("utf-8", errors="replace")) if b"\nstrategies: " in data[:2000] else None
    if parts is None:
        return [load_prompt(path)]
    return [_read(path, text.encode(), name) for name, text in parts.items()]


def _read(path: Path, data: bytes, name: str) -> Prompt:
    """Return the prompt in a text, after checking it."""
    try:
        matched = _FRONT.match(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8") from None
    if matched is None:
        raise ConfigError(f"{path}: a prompt begins with a front matter between two lines of ---")
    if len(matched[1]) > MOST_FRONT:
        raise ConfigError(
            f"{path}: {len(matched[1]):,} characters are too many for a front matter, which has {MOST_FRONT:,} at most"
        )
    try:
        # The package's own files need no check, which would double the time.
        shipped = path.is_relative_to(SHIPPED)
        head = yaml.load(matched[1], LOADER) if shipped else read_user_yaml(matched[1], "the front matter")
    except DataError as error:
        raise ConfigError(f"{path}: {error}") from None
    if not isinstance(head, dict):
        raise ConfigError(f"{path}: the front matter is not a mapping of name, version, output, inputs, source")
    pieces = _SECTION.split(matched[2])
    sections = {pieces[i]: pieces[i + 1].strip() for i in range(1, len(pieces) - 1, 2)}
    try:
        prompt = Prompt.model_validate({**head, **sections, "hash": hashlib.sha256(data).hexdigest()[:16]})
    except ValidationError as error:
        raise ConfigError(f"{path}: {list_faults(error)[0]}") from None
    if prompt.name != name:
        raise ConfigError(f"{path}: the prompt is called {prompt.name!r}; a prompt's name is its file's")
    slots = _SLOT.findall(prompt.user)
    if sorted(slots) != sorted(prompt.inputs) or _SLOT.search(prompt.system) or set(_SLOT.findall(prompt.form)) - {"n"}:
        raise ConfigError(
            f"{path}: the user part must use each of the inputs {sorted(prompt.inputs)} once as {{{{name}}}}, the system "
            f"part none, and the form none but {_NUMBER}; it uses {sorted(slots)}"
        )
    return prompt


def _files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.md"), key=lambda path: path.name)


def _inputs_text(prompt: Prompt) -> str:
    return ", ".join(f"{name} ({rule})" for name, rule in prompt.inputs.items())


@cache
def default_library() -> PromptLibrary:
    """Return the package's own prompts."""
    return PromptLibrary.from_folders(SHIPPED)
