"""Interfaces: a settings window, a folder of files and a music player."""

from collections.abc import Mapping

from dokimasia.simulation.scene import SceneQuestion
from dokimasia.simulation.scenes.draft import Clue, Compose, Composition, SceneDraft, by_how_much, spread
from dokimasia.simulation.scenes.sorts import ORDINALS


def _settings(d: SceneDraft) -> Composition:
    rng = d.rng
    app, tabs, user = rng.choice(d.words("apps")), rng.sample(d.words("tabs"), 4), rng.choice(d.words("users"))
    switches, boxes = rng.sample(d.words("switches"), rng.choice((4, 5))), rng.sample(d.words("boxes"), 3)
    states = [rng.choice(("on", "off")) for _ in switches]
    ticks = [rng.choice(("ticked", "empty")) for _ in boxes]
    slider, task = rng.choice(d.words("sliders")), rng.choice(d.words("tasks"))
    level, progress = spread(rng, 2, 15, 95)
    buttons, selected = rng.sample(d.words("buttons"), 2), rng.randrange(4)
    d.state(title=app)
    for n, name in enumerate(tabs):
        d.fact(f"tab{n}", "open" if n == selected else "closed", name)
    for n, (name, state) in enumerate(zip(switches, states, strict=True)):
        d.fact(f"switch{n}", state, name)
    for n, (name, tick) in enumerate(zip(boxes, ticks, strict=True)):
        d.fact(f"box{n}", tick, name)
    d.state(user=user)
    d.fact("slider", f"{level}%", slider)
    d.fact("progress", f"{progress}%", task)
    d.state(button0=buttons[0], button1=buttons[1])
    tab = d.named("tab", tabs[selected], tabs, f"tab{selected}")
    title, login, right = d.word("title"), d.word("user"), d.word("button1")
    marks = [d.number("slider", gauge=slider), d.number("progress", gauge=task)]
    questions = [
        d.ask_kind("what is its title, and which tab is open?", title, tab),
        _switch_count(d, switches, states),
        _switch_below(d, switches, states),
        d.read_out(f"What stands in the user name field, what does {slider} show, and what is on the right button?",
                   login, marks[0], right),
        _gauges(d, (slider, level), (task, progress), marks),
        _after_click(d, switches, states, ticks),
    ]  # fmt: skip
    return f"the settings of {app}", questions


def _switch_count(d: SceneDraft, switches: list[str], states: list[str]) -> SceneQuestion:
    absent = d.absent(d.words("switches"), switches)
    area = d.box(*(f"switch{n}" for n in range(len(switches))))
    clues = [
        d.counted("switches", len(switches), area),
        d.clue("absent", "nowhere in the window", ("at the top of the window", "among the tabs"), absent=absent),
        d.counted("turned_on", states.count("on"), area),
    ]
    return d.pose("count", "How many of the switches are on?", clues)


def _switch_below(d: SceneDraft, switches: list[str], states: list[str]) -> SceneQuestion:
    at = d.rng.randrange(len(switches) - 1)
    this, below = switches[at], switches[at + 1]
    flipped = _flipped(states[at + 1])
    where = f"switch{at + 1}"
    clues = [
        d.named("position", ORDINALS[at], ORDINALS[: len(switches)], f"switch{at}", this=this),
        d.clue("below", below, d.others(d.words("switches"), below, this), where, this=this),
        d.clue("state_below", states[at + 1], (flipped, "greyed out"), where, this=this),
    ]
    text = f"Which switch is directly below {this}, and is it on or off?"
    wrong = [f"{below}, {flipped}", f"{clues[1].wrong[0]}, {states[at + 1]}", f"{clues[1].wrong[1]}, {flipped}"]
    return d.pose("relate", text, clues, f"{below}, {states[at + 1]}", wrong)


def _flipped(state: str) -> str:
    return "off" if state == "on" else "on"


def _gauges(d: SceneDraft, slider: tuple[str, int], progress: tuple[str, int], marks: list[Clue]) -> SceneQuestion:
    high, low = (slider, progress) if slider[1] > progress[1] else (progress, slider)
    gap = d.measured("gap", high[1] - low[1])
    more = d.clue("higher", high[0], (low[0], "neither, since they are equal"))
    text = f"Which stands higher, {slider[0]} or {progress[0]}, and by how many points?"
    answers = by_how_much("{}, by {}".format, high[0], low[0], gap.truth, gap.wrong)
    return d.pose("compare", text, (*marks, gap, more), *answers)


def _after_click(d: SceneDraft, switches: list[str], states: list[str], ticks: list[str]) -> SceneQuestion:
    at = d.rng.randrange(len(switches))
    this, flipped = switches[at], _flipped(states[at])
    after = states.count("on") + (1 if flipped == "on" else -1)
    ticked = ticks.count("ticked")
    clues = [
        d.clue("clicked", flipped, (states[at], "greyed out"), f"switch{at}", this=this),
        d.counted("active", after),
        d.counted("ticked", ticked, d.box("box0", "box1", "box2")),
        d.counted("all_active", after + ticked),
    ]
    text = f"After a click on the switch {this}, how many switches are on and boxes ticked altogether?"
    return d.pose("infer", text, clues)


_ENDS = {"pdf": "document", "png": "picture", "mp3": "sound", "zip": "archive", "csv": "table", "mp4": "film"}


def _files(d: SceneDraft) -> Composition:
    rng = d.rng
    n = rng.choice((5, 6))
    names = [f"{stem}.{rng.choice(list(_ENDS))}" for stem in rng.sample(d.words("stems"), n)]
    kinds = [_ENDS[name.split(".")[1]] for name in names]
    sizes, folder = spread(rng, n, 15, 900), rng.choice(d.words("folders"))
    chosen, free = rng.randrange(n), rng.randrange(30, 99) * 100
    d.state(title=folder)
    d.fact("chosen", names[chosen], at=(28, 116 + chosen * 50, 612, 160 + chosen * 50))
    d.state(free=f"{free} MB")
    for row, (name, kind, size) in enumerate(zip(names, kinds, sizes, strict=True)):
        d.row(f"file{row}", name, name=name, kind=kind, size=f"{size} MB")
    m = d.measures(names, sizes, "file{}.size")
    title, pick = d.word("title"), d.word("chosen", names)
    sort, size = d.word(f"file{chosen}.kind", list(_ENDS.values())), d.number(f"file{chosen}.size")
    space, after = d.number("free"), d.measured("freed", free + sizes[chosen])
    infer = d.pose("infer", "If the selected file were deleted for good, how much space would be free?",
                   (pick, size, space, after))  # fmt: skip
    questions = [
        d.ask_kind("which folder does it show, and which file is selected?", title, pick),
        m.count_above(),
        m.relate_next(),
        d.read_out("Of what kind and size is the selected file, and how much space is free?", sort, size, space),
        m.compare_pair(),
        infer if rng.random() < 0.5 else m.infer_sum(),
    ]
    return f"the folder {folder} with {n} files", questions


def _player(d: SceneDraft) -> Composition:
    rng = d.rng
    n = rng.choice((4, 5))
    songs, bands, lengths = rng.sample(d.words("songs"), n), rng.sample(d.words("bands"), n), spread(rng, n, 95, 330)
    now, volume, modes = rng.randrange(n), rng.randrange(15, 96), [rng.choice(("on", "off")) for _ in range(2)]
    d.state(now=songs[now], shuffle=modes[0], repeat=modes[1], volume=f"{volume}%")
    for row, song in enumerate(songs):
        d.row(f"song{row}", song, title=song, band=bands[row], length=f"{lengths[row]} s")
    m = d.measures(songs, lengths, "song{}.length")
    song, band, loud = d.word("now", songs), d.word(f"song{now}.band"), d.number("volume")
    mix = d.clue("shuffle", modes[0], (_flipped(modes[0]), "missing"), "shuffle")
    questions = [
        d.ask_kind("which song is being played, and by whom?", song, band),
        m.count_above(),
        m.relate_next(),
        d.read_out("Who plays the current song, how high is the volume, and is shuffle on or off?", band, loud, mix),
        m.compare_pair(),
        _quieter(d, volume, loud) if rng.random() < 0.4 else m.infer_sum(),
    ]
    return f"a music player with {n} songs", questions


def _quieter(d: SceneDraft, volume: int, loud: Clue) -> SceneQuestion:
    down, up = d.rng.randrange(3, 13), d.rng.randrange(14, 25)
    low = volume - down
    up = min(up, 98 - low)
    end = low + up
    wrong = [f"{n}%" for n in d.rng.sample([n for n in range(end - 9, min(end + 10, 100)) if n != end], 3)]
    clues = [loud, d.measured("lowered", low), d.clue("raised", f"{end}%", wrong)]
    text = f"The volume is lowered by {down} points and then raised by {up}. Where does it stand?"
    return d.pose("infer", text, clues)


LAYOUTS: Mapping[str, Compose] = {"settings": _settings, "files": _files, "player": _player}
"""The composers of interfaces, by sort."""
