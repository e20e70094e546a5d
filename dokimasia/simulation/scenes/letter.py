"""A letter of invitation with its enclosures."""

from random import Random

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import Fact, Question
from dokimasia.simulation.scenes.drawing import FAINT, SHADE, Canvas, box_of
from dokimasia.simulation.scenes.layout import Layout, Plan, Sight, fact
from dokimasia.simulation.scenes.phrasing import (
    ORDINALS,
    Clue,
    counted,
    measured,
    named,
    near,
    others,
    pose,
)
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


def _letter(rng: Random, scene: str) -> Plan:
    sender, guest = rng.sample(PEOPLE, 2)
    month, reply, start, hours = (
        rng.choice(MONTHS),
        rng.randrange(13, 18),
        rng.randrange(14, 19),
        rng.choice((2, 3, 4)),
    )
    day, fee = reply + rng.randrange(4, 12), rng.randrange(13, 48)
    papers = rng.sample(_ENCLOSED, rng.choice((3, 4)))
    values = {
        "event": rng.choice(_EVENTS), "day": f"{day} {month}", "start": f"{start}:00", "hours": f"{hours} hours",
        "hall": rng.choice(_HALLS), "fee": f"${fee}", "bring": rng.choice(_BRING), "reply": f"{reply} {month}",
    }  # fmt: skip
    facts = [
        fact("sender", "letter", "from", sender, (70, 396, 320, 428)),
        fact("guest", "letter", "to", guest, (70, 46, 400, 78)),
    ]
    for row, (id, value) in enumerate(values.items()):
        facts.append(fact(id, "letter", id, value, (70, 92 + row * 33, 590, 122 + row * 33)))
    for n, paper in enumerate(papers):
        facts.append(fact(f"paper{n}", "enclosure", ORDINALS[n], paper, (430, 362 + n * 24, 590, 384 + n * 24)))
    box = {f.id: f.box for f in facts}
    who = named(rng, "Who signed the letter?", "The letter is signed by {}.", sender, PEOPLE, can.TEXT, box["sender"])
    what = named(rng, "To what does the letter invite?", "The letter invites to {}.", values["event"], _EVENTS, can.TOPIC,
                 box["event"])  # fmt: skip
    kind = named(rng, "What sort of letter is this?", "By its sort, the letter is {}.", "an invitation",
                 ("an invitation", "a complaint", "an application", "a reminder"), can.GENRE)  # fmt: skip
    where = named(
        rng, "In which place do they meet?", "They meet in {}.", values["hall"], _HALLS, can.TEXT, box["hall"]
    )
    cost = measured(
        rng, "What is the fee for each guest?", "Each guest pays a fee of {}.", fee, "${}", can.NUMBER, box["fee"]
    )
    begin = measured(rng, "At what time do they begin?", "They begin at {}.", start, "{}:00", can.FIELD, box["start"])
    questions = [
        pose(rng, scene, "recognise", "What sort of letter is this, who signed it, and what is it about?",
             clues=(kind, who, what), answer=f"an invitation by {sender} to {values['event']}",
             wrong=[f"an invitation by {who.wrong[0]} to {values['event']}",
                    f"an invitation by {sender} to {what.wrong[0]}",
                    f"{kind.wrong[0]} by {sender} about {values['event']}"]),
        _papers_count(rng, scene, papers),
        _papers_next(rng, scene, papers, facts[-len(papers) :]),
        pose(rng, scene, "read", "Where do they meet, at what time, and for which fee?", clues=(where, begin, cost),
             answer=f"in {where.truth} at {begin.truth} for {cost.truth}",
             wrong=[f"in {where.wrong[0]} at {begin.truth} for {cost.truth}",
                    f"in {where.truth} at {begin.wrong[0]} for {cost.truth}",
                    f"in {where.truth} at {begin.truth} for {cost.wrong[0]}"]),
        _letter_days(rng, scene, month, (reply, day), facts),
        _letter_infer(rng, scene, begin, cost, (start, hours, fee), facts),
    ]  # fmt: skip
    return Plan(f"a letter of invitation to {values['event']}", facts, questions)


def _papers_count(rng: Random, scene: str, papers: list[str]) -> Question:
    absent = rng.choice([p for p in _ENCLOSED if p not in papers])
    area = box_of((430, 336, 590, 384 + 24 * (len(papers) - 1)))
    clues = [
        named(rng, "Which enclosure is named first?", "The enclosure named first is the {}.", papers[0], papers, can.TEXT, area),
        Clue(f"What does the letter say of a {absent}?", f"As to a {absent}, the letter says {{}}.",
             "nothing of the kind", ("that it is enclosed", "that it follows later"), can.ABSENCE),
        counted(rng, "How many enclosures are named?", "The number of enclosures named is {}.", len(papers), box=area),
    ]  # fmt: skip
    text = "How many enclosures does the letter name?"
    return pose(rng, scene, "count", text, clues=clues, answer=str(len(papers)), wrong=clues[-1].wrong)


def _papers_next(rng: Random, scene: str, papers: list[str], facts: list[Fact]) -> Question:
    place = rng.randrange(len(papers) - 1)
    this, after = papers[place], papers[place + 1]
    clues = [
        named(rng, "Which enclosure stands at the top of the list?", "At the top of the list stands the {}.", papers[0],
              papers, can.TEXT, facts[0].box),
        named(rng, f"At which place in the list does the {this} stand?", f"In the list the {this} comes {{}}.",
              ORDINALS[place], ORDINALS[:4], can.ORDINAL, facts[place].box),
        Clue(f"Which enclosure comes directly below the {this}?", f"Directly below the {this} comes the {{}}.", after,
             others(rng, _ENCLOSED, after, this), can.POSITION, facts[place + 1].box),
    ]  # fmt: skip
    text = f"Which enclosure is listed directly below the {this}?"
    return pose(
        rng, scene, "relate", text, clues=clues, answer=f"the {after}", wrong=[f"the {w}" for w in clues[-1].wrong]
    )


def _letter_days(rng: Random, scene: str, month: str, days: tuple[int, int], facts: list[Fact]) -> Question:
    box = {f.id: f.box for f in facts}
    reply, day = days
    show = "{} " + month
    gap = day - reply
    gaps = [f"{n} days" for n in near(rng, gap, low=2)]
    clues = [
        measured(rng, "By which day is the reply wanted?", "The reply is wanted by {}.", reply, show, can.FIELD, box["reply"]),
        measured(rng, "On which day does the event take place?", "The event takes place on {}.", day, show, can.FIELD,
                 box["day"]),
        Clue("Which of the compared days comes earlier?", "The earlier of the compared days is that of {}.", "the reply",
             ("the event", "neither, since they coincide"), can.MAGNITUDE),
        Clue("How many days lie between them?", "Between them lie {}.", f"{gap} days", tuple(gaps), can.DIFFERENCE),
    ]  # fmt: skip
    text = "Which comes earlier, the day of the event or the last day for the reply, and by how many days?"
    wrong = [f"the event, by {gap} days", f"the reply, by {gaps[0]}", f"the event, by {gaps[1]}"]
    return pose(rng, scene, "compare", text, clues=clues, answer=f"the reply, by {gap} days", wrong=wrong)


def _letter_infer(
    rng: Random, scene: str, begin: Clue, cost: Clue, numbers: tuple[int, int, int], facts: list[Fact]
) -> Question:
    start, hours, fee = numbers
    box = {f.id: f.box for f in facts}
    if rng.random() < 0.5:
        lasts = measured(rng, "How long does the event last?", "The event lasts {}.", hours, "{} hours", can.FIELD,
                         box["hours"])  # fmt: skip
        end = measured(rng, "At what time does the event end?", "The event ends at {}.", start + hours, "{}:00",
                       can.ADDITION)  # fmt: skip
        text = "If it keeps to the plan, at what time does the event end?"
        return pose(rng, scene, "infer", text, clues=(begin, lasts, end), answer=end.truth, wrong=end.wrong)
    party = rng.randrange(3, 7)
    pays = measured(rng, "What does the whole party pay?", "The whole party pays {}.", fee * party, "${}", can.PRODUCT)
    size = counted(rng, "How many people does the question put into the party?", "The party is a group of {}.", party,
                   can.FIELD)  # fmt: skip
    text = f"What would a party of {party} guests pay altogether?"
    return pose(rng, scene, "infer", text, clues=(cost, size, pays), answer=pays.truth, wrong=pays.wrong)


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
