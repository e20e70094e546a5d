"""Names of data sets of the Hugging Face Hub, used in place of paths to data files."""

import re
from pathlib import Path
from typing import NamedTuple

from dokimasia.errors import ConfigError

SCHEME = "hf://"
_FORM = f"{SCHEME}ORG/NAME[/CONFIG][:SPLIT][@REVISION]"
_WORD = r"[A-Za-z0-9][\w.-]*"
_NAME = re.compile(
    rf"hf:/{{1,2}}(?P<data>{_WORD}/{_WORD})(?:/(?P<config>[\w.+ -]+))?(?::(?P<split>[\w.-]+))?(?:@(?P<revision>[\w./-]+))?"
)


class HubName(NamedTuple):
    """The parts of the name of a data set of the Hub; an empty part means the only one, or the default."""

    data: str
    config: str = ""
    split: str = ""
    revision: str = ""

    def __str__(self) -> str:
        """Return the name as a user writes it."""
        parts = (("/", self.config), (":", self.split), ("@", self.revision))
        return f"{SCHEME}{self.data}" + "".join(sign + part for sign, part in parts if part)


class HubPath(type(Path())):
    """The name of a data set of the Hub in place of a path to a data file."""

    def __str__(self) -> str:
        """Return the name with both of its slashes, one of which a path drops."""
        return SCHEME + super().__str__().removeprefix("hf:/").lstrip("/")

    def absolute(self) -> "HubPath":
        """Return the name itself, since it is in no folder."""
        return self

    @property
    def name(self) -> str:
        """The name of the data set, without the revision, as in titles of runs."""
        return str(self).removeprefix(SCHEME).partition("@")[0]


def as_data_path(text: str | Path) -> Path:
    """Return the path of a data set, whose name may be one of the Hub."""
    if isinstance(text, str) and text.startswith(SCHEME):
        return HubPath(text)
    return Path(text)


def hub_name(path: Path) -> HubName:
    """Return the parts of a name such as `hf://MMMU/MMMU/Art:validation@main`.

    Raises:
        ConfigError: it is not such a name.

    Examples:
        >>> hub_name(HubPath("hf://MMMU/MMMU/Art:validation@main"))
        HubName(data='MMMU/MMMU', config='Art', split='validation', revision='main')
    """
    match = _NAME.fullmatch(str(path))
    if match is None:
        raise ConfigError(f"{path}: write the name of a data set of the Hugging Face Hub as {_FORM}")
    return HubName(**match.groupdict(default=""))
