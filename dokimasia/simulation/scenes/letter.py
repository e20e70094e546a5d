"""A letter of invitation with its enclosures."""

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import Question
from dokimasia.simulation.scenes.draft import Clue, Draft, by_how_much, in_words
from dokimasia.simulation.scenes.drawing import FAINT, SHADE, Canvas, box_of
from dokimasia.simulation.scenes.layout import Composed, Layout, Sight
from dokimasia.simulation.scenes.phrasing import ORDINALS
from dokimasia.simulation.scenes.stock import MONTHS, PEOPLE

_EVENTS: tuple[str, ...] = (
    "the harvest supper",
    "the garden party",
    "the chess evening",
    "the book fair",
    "the choir concert",
)
_HALLS: tuple[str, ...] = ("Mason Hall", "the Old Mill", "Ferry House", "the Town Library", "Saint Anne School")
_ENCLOSED: tuple[str, ...] = ("map", "menu", "ticket", "photograph", "poster", "timetable", "badge", "leaflet")
_BRING: tuple[str, ...] = ("a warm coat", "a folding chair", "a lantern", "a picnic basket", "a notebook")
_LINES = {
    "event": "We have the pleasure to invite you to {}.",
    "day": "It takes place on {}.",
    "start": "Doors open and we begin at {}.",
    "hours": "The event lasts {}.",
    "hall": "We shall meet in {}.",
    "fee": "The fee for each guest is {}.",
    "bring": "Please bring {} with you.",
    "reply": "Please reply by {}.",
}


def _letter(d: Draft) -> Composed:
    rng = d.rng
    sender, guest = rng.sample(PEOPLE, 2)
    month, reply = rng.choice(MONTHS), rng.randrange(13, 18)
    start, hours = rng.randrange(14, 19), rng.choice((2, 3, 4))
    day, fee = reply + rng.randrange(4, 12), rng.randrange(13, 48)
    papers = rng.sample(_ENCLOSED, rng.choice((3, 4)))
    values = {
        "event": rng.choice(_EVENTS), "day": f"{day} {month}", "start": f"{start}:00", "hours": f"{hours} hours",
        "hall": rng.choice(_HALLS), "fee": f"${fee}", "bring": rng.choice(_BRING), "reply": f"{reply} {month}",
    }  # fmt: skip
    d.fact("sender", "letter", "from", sender, (70, 396, 320, 428))
    d.fact("guest", "letter", "to", guest, (70, 46, 400, 78))
    for row, (id, value) in enumerate(values.items()):
        d.fact(id, "letter", id, value, (70, 92 + row * 33, 590, 122 + row * 33))
    for n, paper in enumerate(papers):
        d.fact(f"paper{n}", "enclosure", ORDINALS[n], paper, (430, 362 + n * 24, 590, 384 + n * 24))
    who = d.word("sender", "Who signed the letter?", "The letter is signed by {}.", PEOPLE, can.TEXT)
    what = d.word("event", "To what does the letter invite?", "The letter invites to {}.", _EVENTS, can.TOPIC)
    kind = d.named("What sort of letter is this?", "By its sort, the letter is {}.", "an invitation",
                   ("an invitation", "a complaint", "an application", "a reminder"), can.GENRE)  # fmt: skip
    where = d.word("hall", "In which place do they meet?", "They meet in {}.", _HALLS, can.TEXT)
    cost = d.number("fee", "What is the fee for each guest?", "Each guest pays a fee of {}.", can.NUMBER)
    begin = d.number("start", "At what time do they begin?", "They begin at {}.", can.FIELD)
    questions = [
        d.pose("recognise", "What sort of letter is this, who signed it, and what is it about?", (kind, who, what),
               answer=f"an invitation by {sender} to {values['event']}",
               wrong=[f"an invitation by {who.wrong[0]} to {values['event']}",
                      f"an invitation by {sender} to {what.wrong[0]}",
                      f"{kind.wrong[0]} by {sender} about {values['event']}"]),
        _papers_count(d, papers),
        _papers_next(d, papers),
        d.pose("read", "Where do they meet, at what time, and for which fee?", (where, begin, cost),
               *in_words("in {} at {} for {}".format, where, begin, cost)),
        _letter_days(d, day - reply),
        _letter_infer(d, begin, cost, (start, hours, fee)),
    ]  # fmt: skip
    return f"a letter of invitation to {values['event']}", questions


def _papers_count(d: Draft, papers: list[str]) -> Question:
    absent = d.rng.choice([p for p in _ENCLOSED if p not in papers])
    area = box_of((430, 336, 590, 384 + 24 * (len(papers) - 1)))
    clues = [
        d.named("Which enclosure is named first?", "The enclosure named first is the {}.", papers[0], papers, can.TEXT,
                area),
        Clue(f"What does the letter say of a {absent}?", f"As to a {absent}, the letter says {{}}.",
             "nothing of the kind", ("that it is enclosed", "that it follows later"), can.ABSENCE),
        d.counted("How many enclosures are named?", "The number of enclosures named is {}.", len(papers), at=area),
    ]  # fmt: skip
    return d.pose("count", "How many enclosures does the letter name?", clues)


def _papers_next(d: Draft, papers: list[str]) -> Question:
    place = d.rng.randrange(len(papers) - 1)
    this, after = papers[place], papers[place + 1]
    clues = [
        d.word("paper0", "Which enclosure stands at the top of the list?", "At the top of the list stands the {}.",
               papers, can.TEXT),
        d.named(f"At which place in the list does the {this} stand?", f"In the list the {this} comes {{}}.",
                ORDINALS[place], ORDINALS[:4], can.ORDINAL, f"paper{place}"),
        Clue(f"Which enclosure comes directly below the {this}?", f"Directly below the {this} comes the {{}}.", after,
             d.others(_ENCLOSED, after, this), can.POSITION, f"paper{place + 1}"),
    ]  # fmt: skip
    text = f"Which enclosure is listed directly below the {this}?"
    return d.pose("relate", text, clues, f"the {after}", [f"the {w}" for w in clues[-1].wrong])


def _letter_days(d: Draft, gap: int) -> Question:
    gaps = [f"{n} days" for n in d.near(gap, low=2)]
    clues = [
        d.number("reply", "By which day is the reply wanted?", "The reply is wanted by {}.", can.FIELD),
        d.number("day", "On which day does the event take place?", "The event takes place on {}.", can.FIELD),
        Clue("Which of the compared days comes earlier?", "The earlier of the compared days is that of {}.",
             "the reply", ("the event", "neither, since they coincide"), can.MAGNITUDE),
        Clue("How many days lie between them?", "Between them lie {}.", f"{gap} days", tuple(gaps), can.DIFFERENCE),
    ]  # fmt: skip
    text = "Which comes earlier, the day of the event or the last day for the reply, and by how many days?"
    said = by_how_much("{}, by {}".format, "the reply", "the event", f"{gap} days", gaps)
    return d.pose("compare", text, clues, *said)


def _letter_infer(d: Draft, begin: Clue, cost: Clue, numbers: tuple[int, int, int]) -> Question:
    start, hours, fee = numbers
    if d.rng.random() < 0.5:
        lasts = d.number("hours", "How long does the event last?", "The event lasts {}.", can.FIELD)
        end = d.measured("At what time does the event end?", "The event ends at {}.", start + hours, "{}:00",
                         can.ADDITION)  # fmt: skip
        return d.pose("infer", "If it keeps to the plan, at what time does the event end?", (begin, lasts, end))
    party = d.rng.randrange(3, 7)
    pays = d.measured("What does the whole party pay?", "The whole party pays {}.", fee * party, "${}", can.PRODUCT)
    size = d.counted("How many people does the question put into the party?", "The party is a group of {}.", party,
                     can.FIELD)  # fmt: skip
    return d.pose("infer", f"What would a party of {party} guests pay altogether?", (cost, size, pays))


def _paint_letter(c: Canvas, s: Sight) -> None:
    c.rect((0, 0, 640, 480), s.rng.choice(((222, 214, 200), (206, 214, 222), (214, 220, 206))), line=None)
    c.rect((36, 14, 606, 470), (255, 254, 248), line=FAINT)
    c.text(s.at("guest"), f"Dear {s.value('guest')},", size=21)
    for id, form in _LINES.items():
        c.text(s.at(id), form.format(s.value(id)), size=18)
    c.text((70, 362, 320, 394), "With kind regards,", size=18)
    c.text(s.at("sender"), s.value("sender"), size=24, line=(36, 60, 140))
    x0, y0, _, _ = s.at("paper0")
    c.text((x0, y0 - 26, x0 + 160, y0 - 2), "Enclosures:", size=16, line=SHADE)
    for id in s.under("paper"):
        c.text(s.at(id), f"- {s.value(id)}", size=17)


LETTER = Layout("letter", _letter, _paint_letter)
"""The layout."""
