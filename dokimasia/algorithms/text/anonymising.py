"""Removal of signs of a text's author: names of models and makers, and a model's statements on itself (ATOM, G.1)."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from dokimasia.algorithms.text.model_names import (
    BEHIND_I_AM,
    BY_VERSION,
    CJK,
    COMPANIES,
    PLAIN,
    family_patterns,
    spoken_words,
    whole_patterns,
)
from dokimasia.algorithms.text.name_places import name_places

NAME = "[model]"
"""The replacement of a name."""

_KIND = (
    r"(?:\bA\.?I\.?(?![-\s]?(?:generated|made|created|produced|designed|drawn)|\w)|\bartificial intelligence\b"
    r"|\blanguage[-\s]model\b|\b(?:L|VL|ML|LV)LM\b|\bVLM\b|\bchat-?bot\b|\bneural network\b"
    r"|\b(?:vision|visual|multi-?modal|virtual|digital|helpful|generative|large)\b[^,.;:\n]{0,30}\b(?:model|assistant)\b)"
)
"""Words that models use for themselves and that do not name anything in an image."""

_MADE = (
    r"\b(?:trained|developed|created|made|built|designed|fine-?tuned|released|provided|powered|programmed|produced)\s+"
    r"(?:and\s\w+\s)?(?:by|at)\b"
)
_START = r"(?:^|(?<=[.!?\n])|(?<=[.!?]\s)|(?<=^[>*-]\s))[ \t]{0,4}"
_REST = r"(?:[^.!?\n]|\.(?=\w)){0,400}(?:[.!?]+|$)"
_ME = r"(?:i am|i'm|i\u2019m|i was|i have been|i've been|i\u2019ve been)"

_WORD = (
    r"(?:an?|the|just|only|also|originally|being|been|actually|proudly|first|recently|kind|of|large|small|open|model|assistant"
    r"|system|bot|program|tool|one|version|\[model\])"
)
_FEW, _FEW_BEFORE = rf"(?:\s{_WORD}){{0,6}}", rf"(?:{_WORD}\s){{0,6}}"
"""Words between "I am" and "trained by"; no others, since many things in an image have been made by somebody."""

_AS = re.compile(
    rf"\b(?:as|being|speaking as|in my (?:role|capacity) as|"
    rf"(?:since|because|given that|though|although|while) (?:i am|i'm|i\u2019m))\s+"
    rf"(?:an?\s|the\s|just an?\s)?[^,.;:\n]{{0,60}}?(?:{_KIND}|(?:\[model\]|\b(?:assistant|model|bot|system)\b)"
    rf"(?=[^,.;:\n]{{0,60}}(?:{_MADE}|\[model\])|,\s*i\b))[^,;:\n.]{{0,160}}?(?:,|;|:|(?=[.!?](?:\s|$))|(?=\bi\b))\s*",
    re.IGNORECASE,
)
_SELF = re.compile(
    rf"{_START}(?:(?:hello|hi|hey|greetings|sure|yes|well)[,!.]{{0,2}}[ \t]{{0,2}})?"
    rf"(?:(?:{_ME}|you are (?:talking|speaking|chatting) (?:to|with)|my (?:maker|creator|developer)s?|my name is|i go by"
    rf"|(?:people|they|you can|just) call me)\b(?=[^.!?\n]{{0,200}}(?:{_KIND}|\[model\])|{_FEW}\s{_MADE})"
    r"|(?:this|it) is \[model\][ \t](?:speaking|here|answering|talking|responding|writing)\b"
    r"|\[model\][ \t](?:speaking|here|answering)\b"
    r"|(?:the )?(?:company|team|lab|people|researchers) (?:that|who) (?:made|trained|built|created|developed) me\b"
    r"|my (?:knowledge|training)(?: data)? (?:cut-?off|ends|stops|goes up|was last|is limited|extends))"
    rf"{_REST}",
    re.IGNORECASE | re.MULTILINE,
)
_CLAUSE = re.compile(
    rf",?\s?\b(?:and |since |because |as |though |although |but |given that |which is why )?{_ME}\s"
    rf"{_FEW_BEFORE}{_MADE}[^,.;!?\n]{{0,120}},?",
    re.IGNORECASE,
)
_BEFORE_A_NAME = ("i am ", "i'm ", "i\u2019m ", "my name is ", "call me ", "ich bin ", "je suis ", "soy ", "sono ")
_I_AM = re.compile(
    "(?:" + "|".join(rf"(?<=\b{words})" for words in _BEFORE_A_NAME) + rf")(?:an? |the )?(?:{BEHIND_I_AM.pattern})"
    rf"|(?<=\bas )(?:{BEHIND_I_AM.pattern})(?=,\s*i\b)",
    re.IGNORECASE,
)
_OF_A_MAKER = re.compile(
    rf"(?<!\w){COMPANIES}(?:'s|\u2019s)?(?=\s(?:own\s|new\s|latest\s)?(?:{_KIND}|\[model\]|A\.?I\.?\s(?:model|assistant)))",
    re.IGNORECASE,
)
_MODEL_BY = re.compile(
    rf"\[model\],?\s(?:(?:an?|the)\s)?[^.,;\n]{{0,60}}?(?:{_MADE}|\bfrom\b|\bby\b)\s(?:{COMPANIES}|[A-Z][\w&'-]*(?:\s[A-Z][\w&'-]*){{0,3}})"
)
_SIGNED = re.compile(
    r"^[ \t]*(?:[-\u2013\u2014~]+|signed|regards|sincerely|yours)[,:]?[ \t]*\[model\][^\n]{0,80}$",
    re.IGNORECASE | re.MULTILINE,
)
_CHINESE = re.compile(
    r"作为(?:一个|一名|一款)?[^\uff0c\u3002,.\n]{0,40}(?:人工智能|AI|语言模型|大模型|助手)[^\uff0c\u3002,.\n]{0,40}[\uff0c,]?"
    r"|我(?:是|叫|名叫)[^\u3002\uff01.!\n]{0,80}(?:人工智能|AI|模型|助手)[^\u3002\uff01.!\n]{0,80}[\u3002\uff01.!]?"
    r"|我是由[^\u3002\uff01.!\n]{0,80}(?:开发|训练|研发)[^\u3002\uff01.!\n]{0,80}[\u3002\uff01.!]?"
)
_SPACES = re.compile(r"[ \t]{2,}")
_BEGINNING = re.compile(r"^[,;:]?[ \t]+|^[,;:]+")


class Anonymised(NamedTuple):
    """A text without signs of its author, and the number of removed pieces."""

    text: str
    removed: int


def anonymise(text: str, names: Sequence[str], *, others: Sequence[str] = ()) -> Anonymised:
    """Return a text without names of models and makers, and without statements of a model about itself.

    Parameters
    ----------
    text : str
        A response, or a report.
    names : sequence of str
        The names and ids of the models that must not be recognised. They are removed in any letter case and with any
        signs between their pieces: as a whole, as beginnings (`claude-opus-4`: *Claude 4*), and by each distinctive
        word (*opus*), even if it means something else: *the twins of Gemini* loses its name if a Gemini is among the
        models.
    others : sequence of str
        Names and ids of further models, removed as a whole in any spelling; ordinary words in them stay.

    Returns
    -------
    Anonymised
        Names are replaced by ``[model]``; a clause such as "As a large language model trained by X," is removed as a whole,
        and so is a sentence such as "I am X, an assistant made by Y." Well-known names of models and makers are always
        removed; those that are also ordinary words only with a version or a variant ("Llama 3.1", "Claude Sonnet").

    Notes
    -----
    Wording and layout are unchanged; a reader who knows a model's style may still recognise it.

    Examples
    --------
    >>> anonymise("As a large language model trained by Acme Labs, I count 3 cups. GPT-4o mini agrees.", [])
    Anonymised(text='I count 3 cups. [model] agrees.', removed=2)
    >>> anonymise("I am Foo 2, made by Acme. It is red.", ["acme/foo-2"]).text
    'It is red.'
    >>> anonymise("A llama looks at the twins of Gemini.", ["acme/foo-2"]).removed
    0
    >>> anonymise("A llama looks at the twins of Gemini.", ["google/gemini-2.5-pro"]).text
    'A llama looks at the twins of [model].'
    """
    removed = 0
    for pattern in (*whole_patterns([*names, *others]), PLAIN, BY_VERSION, *family_patterns(names), CJK, _I_AM):
        text, count = pattern.subn(NAME, text)
        removed += count
    for word in spoken_words(names):
        for start, end in reversed(name_places(word, text)):
            text = text[:start] + NAME + text[end:]
            removed += 1
    for pattern, instead in (
        (_OF_A_MAKER, NAME),
        (_MODEL_BY, NAME),
        (_CHINESE, ""),
        (_SELF, " "),
        (_AS, ""),
        (_CLAUSE, ""),
        (_SIGNED, ""),
    ):
        text, count = pattern.subn(instead, text)
        removed += count
    if not removed:
        return Anonymised(text, 0)
    lines = (_capital(_BEGINNING.sub("", _SPACES.sub(" ", line)).rstrip()) for line in text.strip().splitlines())
    return Anonymised("\n".join(lines).strip(), removed)


def anonymise_report(
    sentences: Sequence[str],
    subject: str,
    names: Sequence[str],
    *,
    ids: Sequence[str] = (),
    others: Sequence[str] = (),
) -> str:
    """Return a report's sentences, one per line, with names replaced by *the model* and *another model*.

    Parameters
    ----------
    sentences : sequence of str
        The verified sentences, with their references replaced.
    subject : str
        The model that the report is about.
    names : sequence of str
        All models, as reports name them.
    ids, others : sequence of str
        Other names of the models: as `names` and `others` of `anonymise`. These become ``[model]``.
    """
    lines: list[str] = []
    for text in sentences:
        for name in sorted({*names, subject}, key=len, reverse=True):
            instead = "the model" if name == subject else "another model"
            for start, end in reversed(name_places(name, text)):
                text = text[:start] + instead + text[end:]
        lines.append(_capital(anonymise(text, ids, others=others).text))
    return "\n".join(lines)


def _capital(line: str) -> str:
    return line[:1].upper() + line[1:]
