"""Log lines carry who speaks and no secret, whichever way it comes in."""

import base64
import io
import json
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
import structlog

from dokimasia.errors import ConfigError
from dokimasia.log import REDACTED, Redactor, bound, configure, logger, names_secret, quieten_third_parties

SECRET = 'p@ss/"word"\\x+ü?'


@pytest.fixture(autouse=True)
def put_back() -> Iterator[None]:
    """Leave logging as it was found."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    for handler in root.handlers:
        if handler not in handlers:
            handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.mark.parametrize(
    "text",
    [
        f"the key is {SECRET}.",
        json.dumps({"key": SECRET}),
        json.dumps({"key": SECRET}, ensure_ascii=False),
        json.dumps({"body": json.dumps({"key": SECRET})}),
        f"https://x.example/?a={quote(SECRET, safe='')}&b=1",
        f"https://x.example/?a={quote(SECRET, safe='').lower()}&b=1",
        repr({"key": SECRET}),
        base64.b64encode(SECRET.encode()).decode(),
        base64.b64encode(b"ab" + SECRET.encode() + b"c").decode(),
        SECRET.encode().hex(),
        "".join(f"%{byte:02X}" for byte in SECRET.encode()),
        SECRET[::-1],
    ],
)
def test_known_secrets_are_redacted_in_every_form(text: str) -> None:
    """As it stands, escaped for JSON once or twice, for an address or by Python, coded or backwards: no form passes."""
    redacted = Redactor([SECRET])(text)
    assert REDACTED in redacted
    assert "word" not in redacted
    assert len(redacted) < len(text)


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-abcdefghijkl****mnop.",
        "sk-ant-api03-AbCdEfGhIjKlMnOp",
        "AIzaSyA1234567890abcdefghijk",
        "Authorization: Bearer abc.DEF-123456",
        "authorization: Basic dXNlcjpwYXNzd29yZA==",
        "https://user:hunter22@example.org/",
        "redis://:hunter22@example.org/",
        "https://example.org/?key=abcdef123456",
        "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefgh",
    ],
)
def test_key_like_text_is_redacted(text: str) -> None:
    """What looks like a key is hidden even if nobody told of it."""
    assert REDACTED in Redactor()(text)


@pytest.mark.parametrize(
    "text",
    ["a task-based score of 4", "sample sk-1 of 3", "the bearer of news", "id=coco30-000 tokens=4096", "models/qwen"],
)
def test_ordinary_text_passes(text: str) -> None:
    """Ordinary words, ids and figures stay as they are."""
    assert Redactor(["secret-value"])(text) == text


def test_short_values_are_counted_not_hidden() -> None:
    """A value under six characters would hide ordinary text: it is passed over and counted."""
    redactor = Redactor(["abc", "", "  ", "abcdef"])
    assert redactor.ignored == 1
    assert redactor("abc abcdef") == f"abc {REDACTED}"


def test_longer_secrets_go_first_and_lines_count() -> None:
    """A secret inside another leaves nothing over, and a line of a multi-line secret is one too."""
    key = "-----BEGIN KEY-----\nMIIBVgIBADANBgkqhkiG\n-----END KEY-----"
    redactor = Redactor(["abcdef", "abcdefgh", key])
    assert redactor("abcdefgh") == REDACTED
    assert redactor("read MIIBVgIBADANBgkqhkiG here") == f"read {REDACTED} here"


def test_lines_carry_bound_names_and_no_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Bound names are in every line of the file, secrets in none, exceptions and their causes included."""
    file = tmp_path / "run.log"
    configure(level="debug", file=file, redact=Redactor([SECRET]))
    with bound(run_id="r1", sample_id="s1", role="scorer"):
        logger("ours").info("asked", header=SECRET, nested={"deep": [SECRET]})
        try:
            try:
                raise ValueError(f"401: {SECRET}")
            except ValueError as error:
                raise RuntimeError("call failed") from error
        except RuntimeError:
            logger().exception("failed")
    logging.getLogger("somebody").warning("theirs %s", SECRET)
    terminal = capsys.readouterr()
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [line["event"] for line in lines] == ["asked", "failed", f"theirs {REDACTED}"]
    assert [line.get("sample_id") for line in lines] == ["s1", "s1", None]
    assert lines[0]["logger"] == "ours"
    assert "RuntimeError: call failed" in lines[1]["exception"]
    assert terminal.out == ""
    assert "asked" in terminal.err
    for text in (terminal.err, file.read_text(encoding="utf-8")):
        assert REDACTED in text
        assert "word" not in text


def test_configuring_again_replaces(tmp_path: Path) -> None:
    """A second set-up leaves no handler of the first behind, and the level holds."""
    configure(file=tmp_path / "first.log")
    configure(level="warning", file=tmp_path / "second.log")
    logger().info("quiet")
    logger().warning("loud")
    assert (tmp_path / "first.log").read_text() == ""
    assert len((tmp_path / "second.log").read_text().splitlines()) == 1


def test_json_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """With json, standard error takes JSON lines."""
    configure(json=True)
    logger().warning("done", n=3)
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["n"], line["level"]) == ("done", 3, "warning")


def test_handlers_of_other_libraries_are_taken_off() -> None:
    """A library that logs by itself loses its handler, since that would write unredacted lines."""
    theirs = logging.getLogger("LiteLLM")
    theirs.addHandler(logging.NullHandler())
    theirs.propagate = False
    quieten_third_parties()
    assert (theirs.handlers, theirs.propagate, theirs.level) == ([], True, logging.WARNING)


def test_wrong_options_are_named(tmp_path: Path) -> None:
    """An unknown level and a file that cannot be written are the user's mistakes."""
    with pytest.raises(ConfigError, match="'loud' is none of debug"):
        configure(level="loud")
    with pytest.raises(ConfigError, match="cannot be written"):
        configure(file=tmp_path / "none" / "x.log")


@pytest.mark.parametrize(
    "name",
    [
        "X-Api-Key",
        "apiKey",
        "APIKEY",
        "api_keys",
        "access_key_id",
        "passwd",
        "dbPassword",
        "HF_TOKEN",
        "Authorization",
        "accessTokens",
        "Cookie",
        "helicone-auth",
        "SECRET_2",
        "GOOGLE_CREDENTIALS",
        "ApikEY",
    ],
)
def test_a_secret_is_known_by_its_name(name: str) -> None:
    """Names of secrets are known in any spelling."""
    assert names_secret(name)


@pytest.mark.parametrize("name", ["max_tokens", "maxTokens", "model", "author", "keyword", "tokenizer", "temperature"])
def test_an_ordinary_name_is_no_secret(name: str) -> None:
    """Names of ordinary parameters are none, `max_tokens` among them."""
    assert not names_secret(name)


@pytest.mark.parametrize("echo", ["sk%2Dproj%5Fabc123def456ghi789", "sk%2dproj%5fabc123def456ghi789", "{a} and {b}"])
def test_signs_in_codes_and_halves_are_redacted(echo: str) -> None:
    """A long key is not shown with its signs percent-encoded, nor in two halves."""
    key = "sk-proj_abc123def456ghi789"
    text = echo.format(a=key[:13], b=key[13:])
    shown = Redactor([key], patterns=False)(f"wrong key {text}.")
    assert "abc123" not in shown
    assert "ghi789" not in shown


KEY = "sk-proj_abc123def456ghi789"


def respellings() -> dict[str, str]:
    """The key in other cases, and with some or all of its characters escaped."""
    return {
        "upper case": KEY.upper(),
        "title": KEY.title(),
        "half in upper case": KEY[:13].upper(),
        "entities": "".join(f"&#{ord(letter)};" for letter in KEY),
        "entities without ends": "".join(f"&#{ord(letter):07}" for letter in KEY),
        "entities in hex": "".join(f"&#X{ord(letter):x};" for letter in KEY),
        "entities escaped again": "".join(f"&amp;#{ord(letter)};" for letter in KEY),
        "signs as entities": KEY.replace("-", "&#45;").replace("_", "&lowbar;"),
        "escapes": "".join(f"\\u{ord(letter):04x}" for letter in KEY),
        "escapes of JSON in JSON": "".join(f"\\\\u{ord(letter):04X}" for letter in KEY),
        "escapes with braces": "".join(f"\\u{{{ord(letter):x}}}" for letter in KEY),
        "escapes of bytes": "".join(f"\\x{ord(letter):02x}" for letter in KEY),
        "upper case with escaped signs": KEY.upper().replace("-", "\\u002d").replace("_", "%5F"),
        "addresses escaped again": "".join(f"%25{ord(letter):02x}" for letter in KEY),
        "a mixture": "".join((f"&#{ord(a)};", f"\\u{ord(a):04x}", a.upper())[i % 3] for i, a in enumerate(KEY)),
    }


@pytest.mark.parametrize("spelling", list(respellings()))
def test_a_key_in_another_case_or_escaped_is_redacted(spelling: str) -> None:
    """Nothing of the key is left, everything around it is, and both of two keys go."""
    redact = Redactor([KEY], patterns=False)
    echo = respellings()[spelling]
    shown = redact(f"\u0130: your key {echo}, \u00fc &amp; 5 % \\ {echo}!")
    assert shown.replace(2 * REDACTED, REDACTED) == (f"\u0130: your key {REDACTED}, \u00fc &amp; 5 % \\ {REDACTED}!")


@pytest.mark.parametrize(
    "text",
    [
        "&#45; 50 % of &lt;b&gt; \\u00e4 \\x",
        "&#9999999; &nothing; \\u{fffffff} %zz %",
        "sk-proj_abc",
        "\\" * 50,
        "&" * 50,
    ],
)
def test_escapes_of_other_things_are_left(text: str) -> None:
    """A text without the key is the same text, whatever it escapes."""
    assert Redactor([KEY], patterns=False)(text) == text


HOSTILE = {
    "backslashes": "\\",
    "ampersands": "&",
    "zeros": "&#0",
    "amps": "&amp;",
    "percent": "%25",
    "braces": "\\u{0",
    "zeros of an open brace": "0",
    "the beginning of the key": KEY[:-1],
    "its first letter": "s",
    "escapes": "\\u0073",
    "entities": "&#115;",
    "letters that grow": "\u0130",
}


@pytest.mark.parametrize("part", list(HOSTILE))
def test_redacting_takes_time_by_the_length_of_the_text(part: str) -> None:
    """Twenty times the text takes far less than the hundred times of a search that is quadratic."""
    redact = Redactor([KEY], patterns=False)

    def seconds(length: int) -> float:
        text = "&#" + HOSTILE[part] * (length // len(HOSTILE[part])) + KEY.upper()
        times: list[float] = []
        for _ in range(3):
            start = time.process_time()
            assert redact(text).endswith(REDACTED)
            times.append(time.process_time() - start)
        return min(times)

    assert seconds(1_000_000) < 100 * max(seconds(50_000), 0.001)


def test_a_library_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """Until the program sets logging up nothing is printed; then lines go its way, without what looks like a key."""
    structlog.reset_defaults()
    logging.getLogger().handlers.clear()
    logger("dokimasia.runs").warning("a judge is slow")
    assert capfd.readouterr() == ("", "")
    lines = io.StringIO()
    logging.getLogger().addHandler(logging.StreamHandler(lines))
    with bound(run_id="r1"):
        logger("dokimasia.runs").warning("a judge is %s", "slow", key="sk-proj-abcdefghijklmnop")
        logger("dokimasia.runs").debug("nothing of importance")
    assert lines.getvalue() == f"a judge is slow key={REDACTED} run_id=r1\n"
    assert capfd.readouterr() == ("", "")
