"""The turns of speech of hints: to what class of words a word belongs, so that one author's wording tells of another's."""

import re
from collections.abc import Sequence

# fmt: off
_CLASSES = {
    "POS": "first second third fourth fifth sixth last former latter penultimate final topmost "
           "bottommost uppermost middle top bottom initial opening closing 1st 2nd 3rd 4th 5th next "
           "preceding previous following",
    "LIST": "list listed lists option options choice choices entry entries offer offered offers "
            "alternative alternatives candidate candidates reply replies statement statements answers "
            "menu line-up lineup given possibilities possibility item items proposals multiple "
            "suggestions",
    "ANSW": "answer correct solution right result verdict winner truth final total reply response "
            "conclusion",
    "MISS": "missed overlooked forgot counted mistook confused skipped assumed mixed misread took named "
            "picked read ignored answered wrote described guessed gave chose treated looked inferred "
            "judged swapped multiplied added thought started saw ended included",
    "PICK": "choose pick select take tick mark go opt circle write say call put give state settle vote "
            "plump want type enter submit bet stick trust report should must jot commit chose chosen "
            "picked named note",
    "COMP": "same like equal equals similar match matches matching shares alike identical twin resembles "
            "resemble than opposite reverse contrary exactly just equivalent sibling cousin counterpart "
            "comparable corresponds rival",
    "AS": "as many much",
    "MORE": "more less fewer greater smaller larger bigger higher lower older younger taller shorter "
            "above below under over beyond between before after halfway midway within exceeds almost "
            "nearly shy short",
    "LET": "letter letters spell spelled spelt spells spelling backwards backward reverse reversed "
           "reversing shuffle shuffled anagram rearrange rearranged rhyme rhymes rhyming alphabet "
           "alphabetical initial initials starts begins ends begin start end syllable syllables vowel "
           "vowels consonant consonants acrostic sounds nato phonetic capital letter-by-letter digit "
           "digits scramble scrambled unscramble mirrored mirror jumble jumbled characters beginning "
           "ending starting followed prefix suffix read missing swap",
    "SUM": "add adds added adding plus sum minus subtract subtracting subtracted multiply multiplied "
           "times double doubled twice half halve halved triple divide divided product dozen pair "
           "remainder makes together altogether combined quarter thirds square squared",
    "NEG": "not no nor neither never none nothing without cannot isn't aren't wasn't weren't can't don't "
           "doesn't didn't won't wouldn't couldn't hasn't haven't nobody hardly barely",
    "ELIM": "rule ruled rules exclude excluded excludes eliminate eliminated eliminates discard discarded "
            "strike struck cross crossed dismiss dismissed leaves remaining remains remain left wrong "
            "drop dropped reject rejected out other others else rest false impossible except but only "
            "single incorrect fails fail throw",
    "LANG": "spanish french german italian latin greek japanese dutch british american english britain "
            "america word words term synonym called calls named name names translation translate "
            "translated translates language say speaker known dictionary fancy technical scientific "
            "poetic another spaniard frenchman",
    "GUIDE": "look check count compare read find consider trace follow focus think ask see make try notice "
             "examine observe use identify determine locate remember pay verify zoom revisit reconsider "
             "inspect keep watch ignore scan measure decide recall review estimate treat separate imagine "
             "study concentrate search begin work let's careful carefully double-check recount recheck "
             "reread judge mind beware distinguish confirm hold",
    "IFWH": "if whether when how what which where who why whose whichever whatever unless",
    "GEN": "any every usually often tend tends can may might some such example general normally "
           "typically sometimes each always many most several both all either could depends vary differ",
    "BE": "is are was were it's that's there's he's she's they're be being",
    "HAVE": "has have shows show reads says gives stands wears sits lies hangs carries holds appears "
            "seems looks comes goes means",
    "YOU": "you your you've you're yourself you'll",
    "PRON": "it he she they this that these those her his its their him them",
    "QUANT": "number amount count figure value year time hour day date price colour color shape material "
             "side place direction kind type animal digit",
    "THE": "the a an",
}
# fmt: on
CLASS = {word: name for name, listed in reversed(_CLASSES.items()) for word in listed.split()}
"""The class of each word of guidance; where two claim a word, the one that stands first has it."""

_NAMED_LAST = frozenset(("last", "bottom", "final", "bottommost", "closing", "end"))
_NAMED_FIRST = frozenset(
    ("first", "top", "initial", "opening", "topmost", "uppermost", "former", "head", "start", "1st")
)
_PLACES = {"second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3, "4th": 3, "fifth": 4, "5th": 4, "latter": 1}
_COUNTED = {"1": 0, "one": 0, "2": 1, "two": 1, "3": 2, "three": 2, "4": 3, "four": 3, "5": 4, "five": 4}
_LISTING = frozenset(("latter", "former", "penultimate", "choose", "listed", "available"))
_NUMBERED = re.compile(
    r"\b(?:options?|choices?|entry|answer|item|alternative|possibility|reply)(?: (?:number|no|#))?(?: \.)? "
    r"(1|2|3|4|5|one|two|three|four|five)\b"
    r"(?! (?:of|more|that))"
)

_IN_THE_LIST = re.compile(
    r"\b(?:number|no(?: \.)?|nr) (1|2|3|4|5|one|two|three|four|five) (?:in|on|of|from) (?:the|your|this) "
    r"(?:list|choices|options|offered|entries|answers|row)"
)


def classed(word: str) -> str:
    """Return the class of a word in lower case, or the mark for an unknown one; other tokens as they are.

    Examples
    --------
    >>> classed("penultimate"), classed("gargoyle"), classed("#=")
    ('POS', '~', '#=')
    """
    if not word or not word[0].islower():
        return word
    return CLASS.get(word, "~")


def places_named(low: Sequence[str], count: int) -> set[int]:
    """Return the places of a list of choices that tokens in lower case name as such.

    Examples
    --------
    >>> places_named("take the last but one of the options".split(), 4), places_named("the second floor".split(), 4)
    ({2}, set())
    """
    if not count:
        return set()
    found: set[int] = set()
    text = " ".join(low)
    if re.search(r"\b(?:opens|begins|starts|heads|leads) (?:the|your) (?:list|choices|options|row)", text):
        found.add(0)
    if re.search(r"\b(?:closes|ends|concludes) (?:the|your) (?:list|choices|options|row)", text):
        found.add(count - 1)
    if re.search(r"\b(?:before|ahead of|precedes) all (?:the |of the )?(?:others|other|rest)\b", text):
        found.add(0)
    if re.search(r"\b(?:after|behind|follows) all (?:the |of the )?(?:others|other|rest)\b", text):
        found.add(count - 1)
    for named in _IN_THE_LIST.finditer(text):
        found.add(_COUNTED[named[1]])
    for named in _NUMBERED.finditer(text):
        found.add(_COUNTED[named[1]])
    if not any(CLASS.get(one) == "LIST" or one in _LISTING for one in low):
        return {place for place in found if 0 <= place < count}
    for at, one in enumerate(low):
        ahead = low[at + 1 : at + 5]
        listed = any(
            CLASS.get(word) == "LIST" or word in _LISTING for word in (*low[max(0, at - 6) : at], *low[at + 1 : at + 9])
        )
        if one == "penultimate" or (one in ("last", "final") and ahead[:2] == ["but", "one"]):
            found.add(count - 2)
        elif (one in ("second", "third") and ahead[:2] == ["to", "last"]) or ahead[:3] == ["from", "the", "end"]:
            found.add(count - 2 if one == "second" else count - 3)
        elif one in ("former", "latter"):
            found.add(1 if one == "latter" else 0)
        elif not listed:
            continue
        elif one in _NAMED_LAST:
            found.add(count - 1)
        elif one in _NAMED_FIRST:
            found.add(0)
        elif one in _PLACES:
            found.add(_PLACES[one])
        elif one in ("middle", "centre", "center", "central") and count % 2:
            found.add(count // 2)
    return {place for place in found if 0 <= place < count}
