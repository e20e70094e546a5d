"""Documents: an invoice, a letter of invitation and the programme of a conference."""

from collections.abc import Mapping

from dokimasia.simulation.scene import SceneQuestion
from dokimasia.simulation.scenes.draft import (
    MONTHS,
    PEOPLE_NAMES,
    Clue,
    Compose,
    Composition,
    Measures,
    SceneDraft,
    article,
    by_how_much,
    say_all,
    say_both,
    spread,
)
from dokimasia.simulation.scenes.drawing import box_of
from dokimasia.simulation.scenes.sorts import ORDINALS


def _invoice(d: SceneDraft) -> Composition:
    rng = d.rng
    n = rng.choice((4, 5))
    goods = rng.sample(d.words("goods"), n)
    lines: list[tuple[int, int]] = []
    while len(lines) < n:
        qty, price = rng.randrange(2, 10), rng.randrange(8, 49)
        if all(abs(qty * price - q * p) >= 4 for q, p in lines):
            lines.append((qty, price))
    seller, buyer = rng.choice(d.words("firms")), rng.choice(PEOPLE_NAMES)
    number, month, day = rng.randrange(2100, 9900), rng.choice(MONTHS), rng.randrange(13, 17)
    due = day + rng.choice((7, 10, 12))
    d.state(seller=seller, kind="invoice", number=number, date=f"{day} {month}", due=f"{due} {month}", buyer=buyer)
    amounts = [qty * price for qty, price in lines]
    for row, (name, (qty, price)) in enumerate(zip(goods, lines, strict=True)):
        d.row(f"line{row}", name, item=name, qty=qty, price=f"${price}", amount=f"${qty * price}")
    d.state(total=f"${sum(amounts)}")
    m = d.measures(goods, amounts, "line{}.amount")
    kind = d.genre()._replace(at="kind")
    sold = d.word("seller")
    bought = d.word("buyer", PEOPLE_NAMES)
    bears, till, since = d.number("number"), d.number("due"), d.number("date")
    questions = [
        d.pose("recognise", "What kind of document is this, who issued it, and to whom?", (kind, sold, bought),
               *say_all(lambda firm, what, whom: f"{article(what)} from {firm} to {whom}", sold, kind, bought)),
        m.count_above(),
        m.relate_next(),
        d.pose("read", "Which number does the document bear, and by which day must it be paid?", (bears, since, till),
               *say_both("number {}, by {}".format, bears, till)),
        m.compare_pair(),
        _strike(d, m, sum(amounts)) if rng.random() < 0.6 else m.infer_sum(),
    ]  # fmt: skip
    return f"an invoice of {n} items", questions


def _strike(d: SceneDraft, m: Measures, total: int) -> SceneQuestion:
    gone = d.rng.choice(m.items)
    clues = [
        d.counted("items", len(m.items)),
        d.number("total"),
        d.measured("charged", gone.value, gone.at, item=gone.label),
        d.measured("remaining", total - gone.value, item=gone.label),
    ]
    return d.pose("infer", f"If the item {gone.label} were struck out, what would the total be?", clues)


def _programme(d: SceneDraft) -> Composition:
    rng = d.rng
    n = rng.choice((4, 5))
    talks, rooms = rng.sample(d.words("talks"), n), rng.sample(d.words("rooms"), n)
    speakers, seats = rng.sample([p.split()[1] for p in PEOPLE_NAMES], n), spread(rng, n, 20, 180, step=5)
    hours = sorted(rng.sample(range(9, 20), n))
    title, month, day = rng.choice(d.words("meetings")), rng.choice(MONTHS), rng.randrange(13, 29)
    d.state(title=title, date=f"{day} {month}")
    for row, talk in enumerate(talks):
        time = f"{hours[row]}:00"
        d.row(f"row{row}", talk, time=time, talk=talk, room=rooms[row], speaker=speakers[row], seats=seats[row])
    m = d.measures(talks, seats, "row{}.seats")
    name, kind, when = d.word("title"), d.genre(), d.number("date")
    at = rng.randrange(n)
    talk = f"the talk on {talks[at]}"
    who = d.word(f"row{at}.speaker", speakers, talk=talk)
    room = d.word(f"row{at}.room", rooms, talk=talk)
    time = d.number(f"row{at}.time", talk=talk)
    questions = [
        d.pose("recognise", "What kind of document is this, what is its title, and for which day is it?",
               (kind, name, when), answer=f"the event programme {title} of {when.truth}",
               wrong=[f"the event programme {name.wrong[0]} of {when.truth}",
                      f"the event programme {title} of {when.wrong[0]}",
                      f"the {kind.wrong[0]} {title} of {when.wrong[1]}"]),
        m.count_above(),
        m.relate_next(),
        d.pose("read", f"Who gives {talk}, in which room, and at what time?", (who, room, time),
               *say_all("{}, {}, {}".format, who, room, time)),
        m.compare_pair(),
        m.infer_sum(),
    ]  # fmt: skip
    return f"the programme of {title} with {n} talks", questions


def _letter(d: SceneDraft) -> Composition:
    rng = d.rng
    sender, guest = rng.sample(PEOPLE_NAMES, 2)
    month, reply = rng.choice(MONTHS), rng.randrange(13, 18)
    start, hours = rng.randrange(14, 19), rng.choice((2, 3, 4))
    day, fee = reply + rng.randrange(4, 12), rng.randrange(13, 48)
    papers = rng.sample(d.words("enclosed"), rng.choice((3, 4)))
    event = rng.choice(d.words("events"))
    d.state(
        sender=sender,
        guest=guest,
        event=event,
        day=f"{day} {month}",
        start=f"{start}:00",
        hours=f"{hours} hours",
        hall=rng.choice(d.words("halls")),
        fee=f"${fee}",
        bring=rng.choice(d.words("bring")),
        reply=f"{reply} {month}",
    )
    for n, paper in enumerate(papers):
        d.fact(f"paper{n}", paper)
    who = d.word("sender", PEOPLE_NAMES)
    what = d.word("event")
    kind = d.named("sort", "an invitation", ("an invitation", "a complaint", "an application", "a reminder"))
    where, cost, begin = d.word("hall"), d.number("fee"), d.number("start")
    questions = [
        d.pose("recognise", "What sort of letter is this, who signed it, and what is it about?", (kind, who, what),
               answer=f"an invitation by {sender} to {event}",
               wrong=[f"an invitation by {who.wrong[0]} to {event}",
                      f"an invitation by {sender} to {what.wrong[0]}",
                      f"{kind.wrong[0]} by {sender} about {event}"]),
        _papers_count(d, papers),
        _papers_next(d, papers),
        d.pose("read", "Where do they meet, at what time, and for which fee?", (where, begin, cost),
               *say_all("in {} at {} for {}".format, where, begin, cost)),
        _letter_days(d, day - reply),
        _letter_infer(d, begin, cost, (start, hours, fee)),
    ]  # fmt: skip
    return f"a letter of invitation to {event}", questions


def _papers_count(d: SceneDraft, papers: list[str]) -> SceneQuestion:
    absent = d.absent(d.words("enclosed"), papers)
    area = box_of((430, 336, 590, 384 + 24 * (len(papers) - 1)))
    clues = [
        d.named("first_named", papers[0], papers, area),
        d.clue("absent", "nothing of the kind", ("that it is enclosed", "that it follows later"), absent=absent),
        d.counted("enclosures", len(papers), area),
    ]
    return d.pose("count", "How many enclosures does the letter name?", clues)


def _papers_next(d: SceneDraft, papers: list[str]) -> SceneQuestion:
    position = d.rng.randrange(len(papers) - 1)
    this, after = papers[position], papers[position + 1]
    clues = [
        d.word("paper0", papers),
        d.named("position", ORDINALS[position], ORDINALS[:4], f"paper{position}", this=this),
        d.clue("below", after, d.others(d.words("enclosed"), after, this), f"paper{position + 1}", this=this),
    ]
    text = f"Which enclosure is listed directly below the {this}?"
    return d.pose("relate", text, clues, f"the {after}", [f"the {w}" for w in clues[-1].wrong])


def _letter_days(d: SceneDraft, gap: int) -> SceneQuestion:
    gaps = [f"{n} days" for n in d.near(gap, low=2)]
    clues = [
        d.number("reply"),
        d.number("day"),
        d.clue("earlier", "the reply", ("the event", "neither, since they coincide")),
        d.clue("between", f"{gap} days", gaps),
    ]
    text = "Which comes earlier, the day of the event or the last day for the reply, and by how many days?"
    answers = by_how_much("{}, by {}".format, "the reply", "the event", f"{gap} days", gaps)
    return d.pose("compare", text, clues, *answers)


def _letter_infer(d: SceneDraft, begin: Clue, cost: Clue, numbers: tuple[int, int, int]) -> SceneQuestion:
    start, hours, fee = numbers
    if d.rng.random() < 0.5:
        clues = (begin, d.number("hours"), d.measured("finish", start + hours))
        return d.pose("infer", "If it keeps to the plan, at what time does the event end?", clues)
    party = d.rng.randrange(3, 7)
    pays, size = d.measured("payment", fee * party), d.counted("party", party)
    return d.pose("infer", f"What would a party of {party} guests pay altogether?", (cost, size, pays))


LAYOUTS: Mapping[str, Compose] = {"invoice": _invoice, "letter": _letter, "programme": _programme}
"""The composers of documents, by sort."""
