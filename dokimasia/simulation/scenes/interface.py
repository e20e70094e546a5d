"""Interfaces: a settings window, a folder of files and a music player."""

from collections.abc import Mapping

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import SceneQuestion
from dokimasia.simulation.scenes.draft import (
    Clue,
    Compose,
    Composition,
    MeasureWording,
    SceneDraft,
    ask_kind,
    by_how_much,
    compare_pair,
    count_above,
    infer_sum,
    measured_items,
    relate_next,
    spread,
)
from dokimasia.simulation.scenes.sorts import ORDINALS


def _settings(d: SceneDraft) -> Composition:
    rng = d.rng
    app, tabs, user = rng.choice(d.words("apps")), rng.sample(d.words("tabs"), 4), rng.choice(d.words("users"))
    switches, boxes = rng.sample(d.words("switches"), rng.choice((4, 5))), rng.sample(d.words("boxes"), 3)
    states = [rng.choice(("on", "off")) for _ in switches]
    ticks = [rng.choice(("ticked", "empty")) for _ in boxes]
    slider, task, (level, progress) = (
        rng.choice(d.words("sliders")),
        rng.choice(d.words("tasks")),
        spread(rng, 2, 15, 95),
    )
    buttons, selected = rng.sample(d.words("buttons"), 2), rng.randrange(4)
    d.fact("title", app)
    for n, tab in enumerate(tabs):
        d.fact(f"tab{n}", "open" if n == selected else "closed", tab)
    for n, (name, state) in enumerate(zip(switches, states, strict=True)):
        d.fact(f"switch{n}", state, name)
    for n, (name, tick) in enumerate(zip(boxes, ticks, strict=True)):
        d.fact(f"box{n}", tick, name)
    d.fact("user", user)
    d.fact("slider", f"{level}%", slider)
    d.fact("progress", f"{progress}%", task)
    d.fact("button0", buttons[0])
    d.fact("button1", buttons[1])
    tab = d.named("Which tab is open?", "The open tab is {}.", tabs[selected], tabs, can.STATE, f"tab{selected}")
    name = d.word(
        "title", "What is the title of the window?", "The title of the window is {}.", d.words("apps"), can.TEXT
    )
    login = d.word("user", "What is written in the field for the user name?",
                   "In the field for the user name stands {}.", d.words("users"), can.TEXT)  # fmt: skip
    right = d.word("button1", "What is the label of the button at the right?",
                   "The button at the right is labelled {}.", d.words("buttons"), can.TEXT)  # fmt: skip
    marks = [
        d.number(id, f"Which value has {name}?", f"The value of {name} is {{}}.", can.GAUGE)
        for id, name in (("slider", slider), ("progress", task))
    ]
    questions = [
        ask_kind(d, "window", "settings window", "what is its title, and which tab is open?", name, tab),
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
        d.counted("How many switches does the window have?", "The window has {} switches.", len(switches), at=area),
        Clue(f"Where does the window have a switch for {absent}?", f"A switch for {absent} is {{}}.",
             "nowhere in the window", ("at the top of the window", "among the tabs"), can.ABSENCE),
        d.counted("How many switches are turned on?", "The number of switches turned on is {}.", states.count("on"),
                  can.COUNTING_SELECTED, area),
    ]  # fmt: skip
    return d.pose("count", "How many of the switches are on?", clues)


def _switch_below(d: SceneDraft, switches: list[str], states: list[str]) -> SceneQuestion:
    at = d.rng.randrange(len(switches) - 1)
    this, below = switches[at], switches[at + 1]
    flipped = "off" if states[at + 1] == "on" else "on"
    clues = [
        d.named(f"At which place from the top does the switch {this} stand?",
                f"From the top, the switch {this} comes {{}}.", ORDINALS[at], ORDINALS[: len(switches)], can.ORDINAL,
                f"switch{at}"),
        Clue(f"Which switch stands directly below {this}?", f"Directly below {this} stands the switch {{}}.", below,
             d.others(d.words("switches"), below, this), can.POSITION, f"switch{at + 1}"),
        Clue(f"In which state is the switch directly below {this}?", "The state of the lower switch is {}.",
             states[at + 1], (flipped, "greyed out"), can.STATE, f"switch{at + 1}"),
    ]  # fmt: skip
    text = f"Which switch is directly below {this}, and is it on or off?"
    wrong = [f"{below}, {flipped}", f"{clues[1].wrong[0]}, {states[at + 1]}", f"{clues[1].wrong[1]}, {flipped}"]
    return d.pose("relate", text, clues, f"{below}, {states[at + 1]}", wrong)


def _gauges(d: SceneDraft, slider: tuple[str, int], progress: tuple[str, int], marks: list[Clue]) -> SceneQuestion:
    high, low = (slider, progress) if slider[1] > progress[1] else (progress, slider)
    gap = d.measured("How many points lie between the compared values?", "Between the compared values lie {}.",
                     high[1] - low[1], "{} points", can.DIFFERENCE)  # fmt: skip
    more = Clue("Which of the compared values is the greater?", "The greater of the compared values is that of {}.",
                high[0], (low[0], "neither, since they are equal"), can.MAGNITUDE)  # fmt: skip
    text = f"Which stands higher, {slider[0]} or {progress[0]}, and by how many points?"
    answers = by_how_much("{}, by {}".format, high[0], low[0], gap.truth, gap.wrong)
    return d.pose("compare", text, (*marks, gap, more), *answers)


def _after_click(d: SceneDraft, switches: list[str], states: list[str], ticks: list[str]) -> SceneQuestion:
    at = d.rng.randrange(len(switches))
    flipped = "off" if states[at] == "on" else "on"
    after = states.count("on") + (1 if flipped == "on" else -1)
    ticked = ticks.count("ticked")
    clues = [
        Clue(f"In which state will a click leave the switch {switches[at]}?", f"A click leaves {switches[at]} {{}}.",
             flipped, (states[at], "greyed out"), can.CONVENTION, f"switch{at}"),
        d.counted("How many switches are active after the click?",
                  "After the click the number of active switches is {}.", after, can.DEDUCTION),
        d.counted("How many boxes bear a tick?", "The number of boxes that bear a tick is {}.", ticked,
                  can.COUNTING_SELECTED, d.box("box0", "box1", "box2")),
        d.counted("How many switches and boxes are active together after the click?",
                  "Together, the active switches and boxes number {}.", after + ticked, can.ADDITION),
    ]  # fmt: skip
    text = f"After a click on the switch {switches[at]}, how many switches are on and boxes ticked altogether?"
    return d.pose("infer", text, clues)


_ENDS = {"pdf": "document", "png": "picture", "mp3": "sound", "zip": "archive", "csv": "table", "mp4": "film"}
_SIZES = MeasureWording(
    single="file",
    ask="What is the size of {}?",
    say="The size of {name} is {value}.",
    show="{} MB".format,
    read=can.FIELD,
    degrees=("largest", "smallest", "larger"),
    first="at the top of the list",
    after="directly below",
)


def _files(d: SceneDraft) -> Composition:
    rng = d.rng
    n = rng.choice((5, 6))
    names = [f"{stem}.{rng.choice(list(_ENDS))}" for stem in rng.sample(d.words("stems"), n)]
    kinds = [_ENDS[name.split(".")[1]] for name in names]
    sizes, folder = spread(rng, n, 15, 900), rng.choice(d.words("folders"))
    chosen, free = rng.randrange(n), rng.randrange(30, 99) * 100
    d.fact("title", folder)
    d.fact("chosen", names[chosen], at=(28, 116 + chosen * 50, 612, 160 + chosen * 50))
    d.fact("free", f"{free} MB")
    for row, (name, kind, size) in enumerate(zip(names, kinds, sizes, strict=True)):
        d.fact(f"file{row}.name", name)
        d.fact(f"file{row}.kind", kind, name)
        d.fact(f"file{row}.size", f"{size} MB", name)
    items = measured_items(names, sizes, "file{}.size")
    name = d.word(
        "title", "Which folder does the window show?", "The window shows the folder {}.", d.words("folders"), can.TEXT
    )
    pick = d.word("chosen", "Which file is selected?", "The selected file is {}.", names, can.STATE)
    sort = d.word(f"file{chosen}.kind", "Of what kind is the selected file?", "The selected file is of the kind {}.",
                  list(_ENDS.values()), can.FIELD)  # fmt: skip
    size = d.number(f"file{chosen}.size", "What is the size of the selected file?",
                    "The selected file has a size of {}.", can.FIELD)  # fmt: skip
    space = d.number("free", "How much space is free?", "The free space is {}.", can.NUMBER, step=100)
    after = d.measured("How much space is free once the selected file is gone?",
                       "Once the selected file is gone, the free space grows to {}.", free + sizes[chosen], "{} MB",
                       can.ADDITION)  # fmt: skip
    infer = d.pose("infer", "If the selected file were deleted for good, how much space would be free?",
                   (pick, size, space, after))  # fmt: skip
    questions = [
        ask_kind(d, "window", "file list", "which folder does it show, and which file is selected?", name, pick),
        count_above(d, _SIZES, items),
        relate_next(d, _SIZES, items),
        d.read_out("Of what kind and size is the selected file, and how much space is free?", sort, size, space),
        compare_pair(d, _SIZES, items),
        infer if rng.random() < 0.5 else infer_sum(d, _SIZES, items),
    ]  # fmt: skip
    return f"the folder {folder} with {n} files", questions


_MODES: tuple[str, ...] = ("on", "off")


_LENGTHS = MeasureWording(
    single="song",
    ask="How long is {}?",
    say="The length of {name} is {value}.",
    show="{} s".format,
    read=can.FIELD,
    degrees=("longest", "shortest", "longer"),
    first="at the top of the playlist",
    after="directly below",
)


def _player(d: SceneDraft) -> Composition:
    rng = d.rng
    n = rng.choice((4, 5))
    songs, bands, lengths = rng.sample(d.words("songs"), n), rng.sample(d.words("bands"), n), spread(rng, n, 95, 330)
    now, volume, modes = rng.randrange(n), rng.randrange(15, 96), [rng.choice(_MODES) for _ in range(2)]
    d.fact("now", songs[now])
    d.fact("shuffle", modes[0])
    d.fact("repeat", modes[1])
    d.fact("volume", f"{volume}%")
    for row, song in enumerate(songs):
        d.fact(f"song{row}.title", song)
        d.fact(f"song{row}.band", bands[row], song)
        d.fact(f"song{row}.length", f"{lengths[row]} s", song)
    items = measured_items(songs, lengths, "song{}.length")
    song = d.word("now", "Which song is being played?", "The song being played is {}.", songs, can.STATE)
    band = d.word(f"song{now}.band", "Whose song is being played?", "The song being played is by {}.", d.words("bands"),
                  can.FIELD)  # fmt: skip
    loud = d.number("volume", "At which value stands the volume?", "The volume stands at {}.", can.GAUGE)
    mix = Clue("In which state is the shuffle control?", "The shuffle control is {}.", modes[0],
               ("off" if modes[0] == "on" else "on", "missing"), can.STATE, "shuffle")  # fmt: skip
    questions = [
        ask_kind(d, "window", "music player", "which song is being played, and by whom?", song, band),
        count_above(d, _LENGTHS, items),
        relate_next(d, _LENGTHS, items),
        d.read_out("Who plays the current song, how high is the volume, and is shuffle on or off?", band, loud, mix),
        compare_pair(d, _LENGTHS, items),
        _quieter(d, volume, loud) if rng.random() < 0.4 else infer_sum(d, _LENGTHS, items),
    ]  # fmt: skip
    return f"a music player with {n} songs", questions


def _quieter(d: SceneDraft, volume: int, loud: Clue) -> SceneQuestion:
    down, up = d.rng.randrange(3, 13), d.rng.randrange(14, 25)
    low = volume - down
    up = min(up, 98 - low)
    end = low + up
    wrong = tuple(f"{n}%" for n in d.rng.sample([n for n in range(end - 9, min(end + 10, 100)) if n != end], 3))
    clues = [
        loud,
        d.measured("At which value does the volume stand after it is lowered?", "Lowered, it stands at {}.", low, "{}%",
                   can.DIFFERENCE),
        Clue("At which value does the volume stand in the end?", "In the end it has come to {}.", f"{end}%", wrong,
             can.ADDITION),
    ]  # fmt: skip
    text = f"The volume is lowered by {down} points and then raised by {up}. Where does it stand?"
    return d.pose("infer", text, clues)


LAYOUTS: Mapping[str, Compose] = {"settings": _settings, "files": _files, "player": _player}
"""How interfaces are composed, by their sort."""
