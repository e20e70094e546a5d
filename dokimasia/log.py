"""Logging with structlog to standard error and, optionally, a file, with bound context and without secrets.

As a library, the package prints nothing: until `configure` is called, or the program has set structlog up, lines go to
the loggers of the standard library below `dokimasia`, which show them if the program has configured those.
"""

import base64
import html
import json
import logging
import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from html.entities import html5
from pathlib import Path
from string import ascii_uppercase
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus

import structlog

from dokimasia.errors import ConfigError

REDACTED = "[redacted]"

_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Control characters (C0 and C1 except tab and line feed), marks of writing direction, invisible tags, and lone surrogates,
which cannot be encoded."""
SHORTEST_SECRET = 6
"""The minimum length of a known secret; a shorter value is redacted only if it looks like a key."""

SHORTEST_RESPELLED = 8
"""The minimum length of a secret that is found in other cases and with its characters escaped."""

LONG_SECRET = 20
"""The length of a known secret from which each half of it is a secret too."""

_KEY_LIKE = re.compile(
    r"""
    \b(?:sk|pk|rk|gsk|hf|xai|ghp|gho|ghs|glpat|r8|pplx|nvapi|fw|tgp|csk|esecret)[-_][A-Za-z0-9_*-]{12,}
  | \bAIza[A-Za-z0-9_*-]{16,}
  | \b(?:AKIA|ASIA)[A-Z0-9]{12,}
  | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?
  | (?<=\bbearer\s)\s{0,3}[A-Za-z0-9._~+/=-]{6,}
  | (?<=\bbasic\s)\s{0,3}[A-Za-z0-9+/=]{12,}
  | (?<=[?&]key=)[^&\s"'<>]{6,}
  | (?<=api[-_]key=)[^&\s"'<>]{6,}
  | (?<=token=)[^&\s"'<>]{6,}
  | (?<=://)[^/\s:@"']{0,200}:[^/\s:@"']{1,200}(?=@)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SECRET_NAME = re.compile(
    r"(?:key|secret|password|passphrase|credential|authorization)s?(?:$|_)"
    r"|(?:token|passwd)(?:$|_)"
    r"|(?:api|auth|access|bearer|refresh)_?tokens(?:$|_)"
    r"|(?:^|_)(?:auth|cookies?)$"
)
"""Names of secrets in lower case, their words joined by underscores. `max_tokens` is not one."""

_WORD_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""The beginning of a word of a name in camel case."""

_THIRD_PARTIES = (
    "LiteLLM",
    "LiteLLM Router",
    "LiteLLM Proxy",
    "litellm",
    "openai",
    "httpx",
    "httpcore",
    "aiohttp",
    "PIL",
)


def printable(text: str) -> str:
    """Return text safe for a terminal: control characters are replaced by their escapes, such as `\\x1b` or `\\u202e`."""
    return _CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def names_secret(name: str) -> bool:
    """Return whether a parameter, header or variable of this name may contain a secret, in any spelling.

    Example:
        >>> [names_secret(name) for name in ("X-Api-Key", "apiKey", "api_keys", "AWS_ACCESS_KEY_ID", "passwd")]
        [True, True, True, True, True]
        >>> names_secret("max_tokens")
        False
    """
    spellings = (name, _WORD_BORDER.sub("_", name))
    return any(_SECRET_NAME.search(re.sub(r"[^a-z0-9]+", "_", spelling.lower())) for spelling in spellings)


def unguarded(stream: Any) -> Any:
    """Return the stream behind one that escapes its input, for callers that escape texts themselves."""
    return getattr(stream, "unguarded", stream)


class Redactor:
    """Replaces secrets in text: known values in all forms used by logs and providers, and key-like strings.

    Args:
        secrets: known values. Those under six characters are ignored, and counted in `ignored`.
        patterns: also replace strings that only look like keys. Not for a model's reply, which may mention bearers and
            tokens, and in which only known values are replaced.
    """

    def __init__(self, secrets: Iterable[str] = (), *, patterns: bool = True) -> None:
        self._patterns = patterns
        self._values: frozenset[str] = frozenset()
        self.add(secrets)

    def add(self, secrets: Iterable[str]) -> None:
        """Replace further known values from now on."""
        self._values |= {secret.strip() for secret in secrets}
        self.ignored = sum(1 for secret in self._values if 0 < len(secret) < SHORTEST_SECRET)
        forms = {form for secret in self._values if len(secret) >= SHORTEST_SECRET for form in forms_of(secret)}
        self._known = sorted(forms, key=lambda form: (-len(form), form))
        self._respelled = RespelledSecrets(self._values)

    def __call__(self, text: str) -> str:
        """Return the text with every secret replaced by `[redacted]`."""
        for (
            form
        ) in self._known:  # one search per form: many times faster on long replies than one expression of all forms
            text = text.replace(form, REDACTED)
        text = self._respelled.replaced(text, REDACTED)
        if self._patterns:
            return _KEY_LIKE.sub(REDACTED, text)
        return text


def forms_of(secret: str) -> set[str]:
    """Return the forms in which a secret may appear in a text.

    These are the secret itself, escaped for JSON, Python, HTML and URLs, and line by line; and the forms in which an
    endpoint may echo it: in base64 (also inside a longer text), in hexadecimal digits, with every character or every
    sign percent-encoded, reversed, and, if it is long, each half.
    """
    texts = {secret} | {line.strip() for line in secret.splitlines() if len(line.strip()) >= 16}
    forms: set[str] = set()
    for text in texts:
        in_json = {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
        in_address = {quote(text, safe=""), quote(text), quote_plus(text)}
        in_address |= {_lower_codes(form) for form in in_address}
        twice = {json.dumps(form)[1:-1] for form in in_json}
        forms |= {text, repr(text)[1:-1], html.escape(text)} | in_json | in_address | twice | _echoes(text)
    return forms


class RespelledSecrets:
    """Finds secrets in any case, whose characters may be escaped in any mixture.

    Escapes are those of HTML (`&#45;`, `&#x2d;`, `&amp;`), of JSON and Python (`\\u002d`, `\\x2d`), and of addresses (`%2d`).
    The time is linear in the length of a text.

    Args:
        secrets: the secrets; those under eight characters are ordinary words in other cases, and are not searched for.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        spellings: set[str] = set()
        for secret in secrets:
            if len(secret) < SHORTEST_RESPELLED:
                continue
            spellings |= {part.lower() for part in (secret, secret[::-1], *_halves(secret))}
        self._spellings = sorted(spellings, key=lambda spelling: (-len(spelling), spelling))

    def replaced(self, text: str, replacement: str) -> str:
        """Return a text with the secrets replaced; the same text if there is none."""
        if not self._spellings:
            return text
        spans = self._spans(_same_length_lower(text))
        if any(sign in text for sign in "\\&%"):
            plain, sources = _without_escapes(text)
            starts = [source.plain for source in sources]
            for start, end in self._spans(_same_length_lower(plain)):
                first = sources[bisect_right(starts, start) - 1]
                last = sources[bisect_right(starts, end - 1) - 1]
                spans.append((first.place_of(start), last.end_of(end)))
        if not spans:
            return text
        pieces: list[str] = []
        position = 0
        for start, end in sorted(spans):
            if start >= position:
                pieces += [text[position:start], replacement]
            position = max(position, end)
        return "".join((*pieces, text[position:]))

    def _spans(self, lower: str) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        for spelling in self._spellings:
            start = lower.find(spelling)
            while start >= 0:
                spans.append((start, start + len(spelling)))
                start = lower.find(spelling, start + len(spelling))
        return spans


class _Source(NamedTuple):
    """A part of a text without escapes: where it begins there and in the text, and the length of its escape; 0 for none."""

    plain: int
    text: int
    escape: int

    def place_of(self, plain: int) -> int:
        """Return the place in the text of a place in this part."""
        if self.escape:
            return self.text
        return self.text + plain - self.plain

    def end_of(self, plain: int) -> int:
        """Return the place in the text at which a stretch ends that ends at a place in this part."""
        return self.text + (self.escape or plain - self.plain)


_ESCAPE = re.compile(
    r"""
    (?<!\\) \\+ (?: u ([0-9a-f]{4}) | u \{ 0{0,8} ([0-9a-f]{1,6}) \} | x ([0-9a-f]{2}) )
    | & (?: amp; ){0,4} \# 0* ([0-9]{1,7}) ;?
    | & (?: amp; ){0,4} \#x 0* ([0-9a-f]{1,6}) ;?
    | % (?: 25 ){0,4} ([0-9a-f]{2})
    | & ([a-z]{2,24}) ;
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""An escaped character: its code in one of the groups 1 to 6, the fourth of which is decimal, or its name in HTML."""

_DECIMAL, _NAME = 4, 7


def _without_escapes(text: str) -> tuple[str, list[_Source]]:
    """Return a text with its escaped characters in plain, and the parts that it is made of."""
    pieces: list[str] = []
    sources: list[_Source] = []
    plain = position = 0
    for match in _ESCAPE.finditer(text):
        character = _character(match)
        if not character:
            continue
        before = text[position : match.start()]
        if before:
            sources.append(_Source(plain, position, 0))
        plain += len(before)
        sources.append(_Source(plain, match.start(), len(match[0])))
        plain += len(character)
        pieces += [before, character]
        position = match.end()
    if position < len(text) or not sources:
        sources.append(_Source(plain, position, 0))
    pieces.append(text[position:])
    return "".join(pieces), sources


def _character(escape: re.Match[str]) -> str:
    """Return the character that an escape stands for; empty if it stands for none."""
    group = escape.lastindex or _NAME
    if group == _NAME:
        return html5.get(f"{escape[_NAME]};", "")
    code = int(escape[group], 10 if group == _DECIMAL else 16)
    if code <= sys.maxunicode:
        return chr(code)
    return ""


_LOWER = {ord(letter): letter.lower() for letter in ascii_uppercase}


def _same_length_lower(text: str) -> str:
    """Return a text in lower case, with every character in its place."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return text.translate(_LOWER)


def _halves(secret: str) -> tuple[str, ...]:
    """Return the halves of a long secret; none of a short one."""
    middle = len(secret) // 2
    if len(secret) >= LONG_SECRET:
        return (secret[:middle], secret[middle:])
    return ()


def _lower_codes(text: str) -> str:
    return re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), text)


def _echoes(text: str) -> set[str]:
    data = text.encode("utf-8", "surrogatepass")
    coded = "".join(f"%{byte:02x}" for byte in data)
    named = "".join(chr(byte) if chr(byte).isalnum() and byte < 128 else f"%{byte:02X}" for byte in data)
    forms = {*_halves(text), named, _lower_codes(named)}
    forms |= {text[::-1], data.hex(), data.hex().upper(), coded, coded.upper(), data.hex(":"), data.hex(" ")}
    for before in range(3):  # its offset within base64's groups of three bytes
        encoded = base64.b64encode(b"\0" * before + data).decode("ascii")
        inner = encoded[
            -(-before * 4 // 3) : (before + len(data)) * 4 // 3
        ]  # without the characters that depend on adjacent ones
        forms |= {inner, inner.replace("+", "-").replace("/", "_"), inner[::-1]}
    return forms


def configure(
    *,
    level: str = "info",
    json: bool = False,
    file: Path | None = None,
    redact: Redactor | None = None,
) -> None:
    """Set up logging for the whole process, replacing an earlier set-up.

    Lines go to standard error, for people or, with `json`, as JSON; `file` also gets JSON lines. Warnings and errors of
    other libraries' loggers are handled alike, so that their lines are redacted too.

    Args:
        level: debug, info, warning or error.
        json: whether standard error receives JSON.
        file: the file to append to; its folder must exist.
        redact: applied to each finished line, exceptions included.

    Raises:
        ConfigError: the level is unknown or the file cannot be written.
    """
    number = logging.getLevelNamesMapping().get(level.upper())
    if number is None:
        raise ConfigError(f"the log level {level!r} is none of debug, info, warning, error")
    redact = redact or Redactor()
    handlers: list[logging.Handler] = [logging.StreamHandler(unguarded(sys.stderr))]
    handlers[0].setFormatter(_formatter(redact, as_json=json, colors=sys.stderr.isatty()))
    if file is not None:
        try:
            handlers.append(logging.FileHandler(file, encoding="utf-8"))
        except OSError as error:
            raise ConfigError(f"the log file {file} cannot be written: {error.strerror or error}") from error
        handlers[-1].setFormatter(_formatter(redact, as_json=True, colors=False))
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if isinstance(handler.formatter, _Formatter)]:
        root.removeHandler(handler)
        if isinstance(handler, logging.FileHandler):
            handler.close()
    for handler in handlers:
        root.addHandler(handler)
    root.setLevel(number)
    quieten_third_parties()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.filter_by_level,
            *_shared(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def quieten_third_parties() -> None:
    """Route other libraries' warnings and errors through this package's handlers; call again after importing a library.

    On import, LiteLLM adds handlers to its loggers that would write unredacted lines.
    """
    for name in _THIRD_PARTIES:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.setLevel(logging.WARNING)
        logger.propagate = True


logging.getLogger("dokimasia").addHandler(logging.NullHandler())  # otherwise Python prints warnings to standard error


def logger(name: str = "dokimasia") -> structlog.stdlib.BoundLogger:
    """Return a logger; its lines carry its name."""
    if structlog.is_configured():
        return structlog.stdlib.get_logger(name)
    return structlog.wrap_logger(
        logging.getLogger(name),
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.filter_by_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.processors.format_exc_info,
            _plain_line,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
    )


_KEYS = Redactor()
"""Replaces key-like strings in the lines of a program that has not called `configure`."""


def _plain_line(logger: object, method: str, event: Mapping[str, object]) -> str:
    """Return a line for a logger of the standard library: the event, and the values bound to it."""
    fields = dict(event)
    words = [str(fields.pop("event", "")), *(f"{name}={value}" for name, value in sorted(fields.items()))]
    return _KEYS(printable(" ".join(words)))


def bound(**names: str) -> AbstractContextManager[None]:
    """Bind values (`run_id`, `sample_id`, `role`) to every line that this task and its children write in the block."""
    return structlog.contextvars.bound_contextvars(**names)


class _Formatter(structlog.stdlib.ProcessorFormatter):
    """A separate formatter class, so that a second set-up finds the handlers of the first."""


def _formatter(redact: Redactor, *, as_json: bool, colors: bool) -> _Formatter:
    renderer: Any
    if as_json:
        renderer = structlog.processors.JSONRenderer(sort_keys=True, default=str, ensure_ascii=False)
    else:
        renderer = structlog.dev.ConsoleRenderer(
            colors=colors, exception_formatter=structlog.dev.plain_traceback, sort_keys=True
        )

    def rendered(logger: Any, method: str, event: Mapping[str, Any]) -> str:
        fields = event if as_json else {name: _printable_value(value) for name, value in event.items()}
        return redact(str(renderer(logger, method, dict(fields))))

    return _Formatter(
        foreign_pre_chain=[structlog.contextvars.merge_contextvars, *_shared()],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            rendered,
        ],
    )


def _printable_value(value: Any) -> Any:
    """Return a value for a person's log line: unprintable texts escaped, other values unchanged if their form is printable."""
    form = value if isinstance(value, str) else repr(value)
    if printable(form) == form:
        return value
    return printable(form)


def _shared() -> list[Any]:
    return [
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
