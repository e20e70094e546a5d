"""Interfaces: a settings window, a folder of files and a music player."""

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import Question
from dokimasia.simulation.scenes.draft import Clue, Draft
from dokimasia.simulation.scenes.drawing import FAINT, INK, SHADE, Canvas, tint
from dokimasia.simulation.scenes.layout import Composed, Layout, Sight, spread
from dokimasia.simulation.scenes.phrasing import Item, Wording, compare_pair, count_above, infer_sum, relate_next
from dokimasia.simulation.scenes.settings import SETTINGS, WINDOW_TONES, window
from dokimasia.simulation.scenes.stock import WHITE, describe

# --- files -----------------------------------------------------------------------------------------------------------

_STEMS: tuple[str, ...] = (
    "budget",
    "holiday",
    "minutes",
    "draft",
    "survey",
    "garden",
    "recipes",
    "lecture",
    "archive",
    "portrait",
)
_ENDS = {"pdf": "document", "png": "picture", "mp3": "sound", "zip": "archive", "csv": "table", "mp4": "film"}
_FOLDERS: tuple[str, ...] = ("Projects", "Family", "Harvest", "Studio", "Travel", "Workshop")
_SIZES = Wording(
    single="file",
    ask="What is the size of {}?",
    say="The size of {name} is {value}.",
    show="{} MB".format,
    read=can.FIELD,
    degrees=("largest", "smallest", "larger"),
    first="at the top of the list",
    after="directly below",
)


def _files(d: Draft) -> Composed:
    rng = d.rng
    n = rng.choice((5, 6))
    names = [f"{stem}.{rng.choice(list(_ENDS))}" for stem in rng.sample(_STEMS, n)]
    kinds = [_ENDS[name.split(".")[1]] for name in names]
    sizes, folder = spread(rng, n, 15, 900), rng.choice(_FOLDERS)
    chosen, free = rng.randrange(n), rng.randrange(30, 99) * 100
    d.fact("title", "window", "folder", folder, (32, 16, 400, 48))
    d.fact("chosen", "selection", "file", names[chosen], (28, 116 + chosen * 50, 612, 160 + chosen * 50))
    d.fact("free", "disk", "free", f"{free} MB", (360, 428, 600, 460))
    for row, (name, kind, size) in enumerate(zip(names, kinds, sizes, strict=True)):
        top = 116 + row * 50
        d.fact(f"file{row}.name", "file", "name", name, (84, top, 300, top + 44))
        d.fact(f"file{row}.kind", name, "kind", kind, (320, top, 460, top + 44))
        d.fact(f"file{row}.size", name, "size", f"{size} MB", (480, top, 600, top + 44))
    items = [Item(names[row], sizes[row], f"file{row}.size") for row in range(n)]
    name = d.word("title", "Which folder does the window show?", "The window shows the folder {}.", _FOLDERS, can.TEXT)
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
        describe(d, "window", "file list", "which folder does it show, and which file is selected?", name, pick),
        count_above(d, _SIZES, items),
        relate_next(d, _SIZES, items),
        d.read_out("Of what kind and size is the selected file, and how much space is free?", sort, size, space),
        compare_pair(d, _SIZES, items),
        infer if rng.random() < 0.5 else infer_sum(d, _SIZES, items),
    ]  # fmt: skip
    return f"the folder {folder} with {n} files", questions


def _paint_files(c: Canvas, s: Sight) -> None:
    tone = s.rng.choice(WINDOW_TONES)
    window(c, s.value("title"), s.at("title"), tone)
    for x0, x1, head in ((84, 300, "Name"), (320, 460, "Kind"), (480, 600, "Size")):
        c.text((x0, 66, x1, 102), head, size=16, line=SHADE)
    c.line([(28, 106), (612, 106)], line=SHADE)
    c.rect(s.at("chosen"), tint(tone, 0.6), line=tone)
    for id in s.under("file"):
        x0, y0, _, _ = s.at(id)
        c.text(s.at(id), s.value(id), size=18)
        if id.endswith("name"):
            c.poly(
                [(x0 - 42, y0 + 6), (x0 - 26, y0 + 6), (x0 - 16, y0 + 16), (x0 - 16, y0 + 38), (x0 - 42, y0 + 38)],
                WHITE,
            )
    c.line([(28, 424), (612, 424)], line=SHADE)
    c.text(s.at("free"), f"{s.value('free')} free", size=18, align="right")


# --- the player ------------------------------------------------------------------------------------------------------

_SONGS: tuple[str, ...] = (
    "Lanterns",
    "Northbound",
    "Paper Moon",
    "Silver Pine",
    "Undertow",
    "Wild Thyme",
    "Harbour",
    "Echoes",
    "Amber",
)
_BANDS: tuple[str, ...] = ("The Larks", "Juno Vale", "Oslo Trio", "Mira Sand", "Blue Ferry", "Kites")
_MODES: tuple[str, ...] = ("on", "off")


_LENGTHS = Wording(
    single="song",
    ask="How long is {}?",
    say="The length of {name} is {value}.",
    show="{} s".format,
    read=can.FIELD,
    degrees=("longest", "shortest", "longer"),
    first="at the top of the playlist",
    after="directly below",
)


def _player(d: Draft) -> Composed:
    rng = d.rng
    n = rng.choice((4, 5))
    songs, bands, lengths = rng.sample(_SONGS, n), rng.sample(_BANDS, n), spread(rng, n, 95, 330)
    now, volume, modes = rng.randrange(n), rng.randrange(15, 96), [rng.choice(_MODES) for _ in range(2)]
    d.fact("now", "player", "now playing", songs[now], (40, 66, 430, 112))
    d.fact("shuffle", "shuffle", "state", modes[0], (450, 62, 600, 86))
    d.fact("repeat", "repeat", "state", modes[1], (450, 92, 600, 116))
    d.fact("volume", "volume", "value", f"{volume}%", (340, 424, 600, 458))
    for row in range(n):
        top = 136 + row * 54
        d.fact(f"song{row}.title", "song", "title", songs[row], (76, top, 290, top + 46))
        d.fact(f"song{row}.band", songs[row], "artist", bands[row], (300, top, 480, top + 46))
        d.fact(f"song{row}.length", songs[row], "length", f"{lengths[row]} s", (500, top, 600, top + 46))
    items = [Item(songs[row], lengths[row], f"song{row}.length") for row in range(n)]
    song = d.word("now", "Which song is being played?", "The song being played is {}.", songs, can.STATE)
    band = d.word(f"song{now}.band", "Whose song is being played?", "The song being played is by {}.", _BANDS,
                  can.FIELD)  # fmt: skip
    loud = d.number("volume", "At which value stands the volume?", "The volume stands at {}.", can.GAUGE)
    mix = Clue("In which state is the shuffle control?", "The shuffle control is {}.", modes[0],
               ("off" if modes[0] == "on" else "on", "missing"), can.STATE, "shuffle")  # fmt: skip
    questions = [
        describe(d, "window", "music player", "which song is being played, and by whom?", song, band),
        count_above(d, _LENGTHS, items),
        relate_next(d, _LENGTHS, items),
        d.read_out("Who plays the current song, how high is the volume, and is shuffle on or off?", band, loud, mix),
        compare_pair(d, _LENGTHS, items),
        _quieter(d, volume, loud) if rng.random() < 0.4 else infer_sum(d, _LENGTHS, items),
    ]  # fmt: skip
    return f"a music player with {n} songs", questions


def _quieter(d: Draft, volume: int, loud: Clue) -> Question:
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


def _paint_player(c: Canvas, s: Sight) -> None:
    tone = s.rng.choice(WINDOW_TONES)
    window(c, "Music", (32, 16, 400, 48), tone)
    c.poly([(40, 72), (40, 106), (68, 89)], tone)
    x0, y0, x1, y1 = s.at("now")
    c.text((x0 + 40, y0, x1, y1), f"Now playing: {s.value('now')}", size=22)
    for id in ("shuffle", "repeat"):
        x0, y0, x1, y1 = s.at(id)
        on = s.value(id) == "on"
        c.text((x0, y0, x1, y1), id.capitalize(), size=17)
        c.rect((x1 - 52, y0, x1, y1), tone if on else FAINT, line=SHADE, width=1, radius=6)
        c.text((x1 - 52, y0, x1, y1), "ON" if on else "OFF", size=15, line=WHITE if on else INK, align="centre")
    c.line([(28, 124), (612, 124)], line=SHADE)
    for id in s.under("song"):
        row = s.at(id)
        playing = s.value(id.split(".")[0] + ".title") == s.value("now")
        c.text(row, s.value(id), size=20, line=tone if playing else INK)
        if id.endswith("title"):
            if playing:
                c.poly([(46, row[1] + 14), (46, row[1] + 32), (62, row[1] + 23)], tone, line=None)
            c.line([(40, row[3] + 4), (600, row[3] + 4)], line=FAINT, width=1)
    x0, y0, x1, y1 = s.at("volume")
    c.text((x0, y0, x0 + 80, y1), "Volume", size=17)
    c.text((x1 - 52, y0, x1, y1), s.value("volume"), size=17, align="right")
    c.rect((x0 + 86, y0 + 13, x1 - 62, y0 + 21), FAINT, line=SHADE, width=1)
    at = x0 + 86 + s.number("volume") / 100 * (x1 - x0 - 148)
    c.rect((x0 + 86, y0 + 13, at, y0 + 21), tone, line=SHADE, width=1)


LAYOUTS: tuple[Layout, ...] = (
    SETTINGS,
    Layout("files", _files, _paint_files),
    Layout("player", _player, _paint_player),
)
"""The layouts of interfaces."""
