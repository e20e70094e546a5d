"""Texts of the command line worded for pages: options by the labels of fields, commands by the equivalent pages."""

import re
from collections.abc import Mapping

from dokimasia.runs.catalogue import OWN
from dokimasia.runs.wording import reword_options

_BY_ARGUMENT: Mapping[str, str] = {"--retry": "“Retry” on the page of the run", "--sample": "the page of its samples"}
"""The page equivalents of commands with an option."""

PAGES: Mapping[str, str] = {
    "data check": "“Look at the data”",
    "decide": "the page Review",
    "diff": "the page Compare",
    "models": "the page Models",
    "passport": "the page Judges",
    "resume": "“Resume” on the page of the run",
    "runs delete": "“Delete” on the page of the run",
    "runs name": "“Rename” on the page of the run",
    "show": "the page of the run",
    **dict.fromkeys(("tree agreement", "tree diff", "tree list", "tree show", "tree weaknesses"), "the page Trees"),
    **{entry.verb: f"a new run of {name}" for name, entry in OWN.items() if "--" not in entry.verb},
}
"""The page equivalents of commands, by verb; other commands have no page."""

_VERBS = "|".join(sorted(PAGES, key=len, reverse=True))
_COMMAND = re.compile(
    rf"""
    (?P<quote>`)?\bdokimasia\ (?P<verb> {_VERBS.replace(" ", chr(92) + " ")})\b(?!-)
    (?P<arguments>
      (?(quote) [^`\n]*` | (?: [ ] (?: --?[a-z][a-z-]* | [A-Z][A-Z0-9=.,]*\b | [^\s;,)`]*[\d_=./][^\s;,)`]*(?<!\.) ) )* )
    )
    """,
    re.VERBOSE,
)
_QUOTED_OPTION = re.compile(r"`(?=(--[a-z-]+))([^`]*)`")
_FOR_PROGRAMS: Mapping[str, str] = {
    r"(['\"])(.*)\1 is no upload \(upload:NAME\): upload it with .*": (
        r"No uploaded file is called \2: choose one from the list, or press Upload"
    ),
    r"there is no (['\"])(.*)\1 below the folder of --data-root|(['\"])(.*)\3 is no upload \(upload:NAME\), nor a path .*": (
        r"No uploaded file and no path below the data root is called \2\4: choose a file from the list, or press Upload"
    ),
    r" with POST /api/uploads": "",
    r", or start the service with --data-root": "",
    r" \(POST /api/[^)]*\)": "",
    r", or allow it with --allow-(fetch|outside)": "",
    r"GET /api/uploads lists them": "the page Data lists them",
    r"a name from dokimasia\.toml": "a name from Models",
    r"give the command again with": "duplicate the run with",
    r"\b([Tt])he\s+same\s+command(?=\s+[a-z])": r"\1he same form",
    r"whether JUDGE is": "whether a judge is",
    r"; import one: dokimasia criteria import FILE": "; leave the field empty to have criteria made",
    r": dokimasia annotate draw RUN, then dokimasia correct RUN --human FILE": "",
    r"; `dokimasia annotate draw RUN --criteria` hands\s+the\s+same\s+ones\s+out\s+to\s+people": "",
    r" \(see docs/[a-z]+\.md\)|; docs/data\.md shows what a row has| \(exit code 3\)": "",
    r"; --samples N takes in more| \(the default of --blind-below\)": "",
    r"\(--dry-run says what it costs\)": "(“Estimate” says what it costs)",
    r"Raise it by a larger (--max-[a-z]+), or lift it by \1 none": (
        "To continue, raise or lift the limit under “Resume with other limits or prompts” in the menu Manage."
    ),
    r"^Exit with 5 if": "Warn at the end if",
    r"(?<=among its )--dimensions|(?<=with other )--dimensions": "“Dimensions”",
    r"(?<=another )--perturber": "“Perturber”",
    r" \(dokimasia plugins lists them\)": "",
    r" With --export alone \(no “Judge”\), SOURCE is a run that made rubrics[^.]*\.": "",
    r" With `?--battles FILE`? in place of all else[^.]*?(?:a call|without a call): see [^.]*\.": "",
    r"\(YAML or JSON, see --export\)": "(YAML or JSON)",
    r"^--fingerprint: the judge only writes; a person matches what --export wrote": (
        "The judge only writes; a person matches its trials"
    ),
    r" (?:that )?(a trial|a pair) of --fingerprint": r" \1",
    r"`dokimasia models --check`": "the page Models",
}
"""Parts of texts meant for programs, and their replacements on pages."""


def as_on_pages(text: str, labels: Mapping[str, str] = {}) -> str:
    """Return a text of the command line worded for pages.

    Args:
        text: the text.
        labels: the label of each field by its option and by its name.

    Examples:
        >>> as_on_pages("name a judge with --judge J, or finish it first (dokimasia resume RUN)", {"--judge": "Judge"})
        'name a judge with “Judge”, or finish it first (“Resume” on the page of the run)'
        >>> labels = {"--map": "Columns", "--limit": "Limit"}
        >>> as_on_pages("--map id=COLUMN takes another; --limit 5 takes fewer", labels)
        'id=COLUMN in “Columns” takes another; “Limit” 5 takes fewer'
    """

    def page(command: re.Match[str]) -> str:
        special = (words for option, words in _BY_ARGUMENT.items() if option in command["arguments"])
        words = next(special, PAGES[command["verb"]])
        begins = re.search(r"(^|[.?!] )$", text[: command.start()])
        if begins:
            return f"{words[0].upper()}{words[1:]}"
        return words

    def label(flag: str, value: str) -> str:
        if flag not in labels:
            switched_off = flag.replace("--no-", "--", 1)
            if switched_off in labels:
                return f"“{labels[switched_off]}” switched off"
            return ""
        if value.isupper():  # it represents a value
            return f"“{labels[flag]}”"
        if "=" in value:
            return f"{value} in “{labels[flag]}”"
        return f"“{labels[flag]}” {value}".rstrip()

    def unquoted(option: re.Match[str]) -> str:
        if option[1] in labels:
            return option[2]
        return option[0]

    def field(name: re.Match[str]) -> str:
        if name["first"]:
            return labels[name[0]]
        return f"“{labels[name[0]]}”"

    text = _QUOTED_OPTION.sub(unquoted, text)
    sentence = reword_options(_COMMAND.sub(page, text), label)
    names = "|".join(re.escape(name) for name in labels if not name.startswith("-"))
    if names:
        sentence = re.sub(rf"(?P<first>(?:(?<=^)|(?<=; ))(?:{names})(?=: ))|\b(?=\w+_)(?:{names})\b", field, sentence)
    for pattern, words in _FOR_PROGRAMS.items():
        sentence = re.sub(pattern, words, sentence)
    return sentence


def paragraphs_on_page(text: str, labels: Mapping[str, str] = {}) -> list[str]:
    """Return the paragraphs of a text of several lines, each on one line and worded for pages."""
    return [as_on_pages(" ".join(paragraph.split()), labels) for paragraph in text.strip().split("\n\n")]
