"""The browser of samples as HTML: a list for navigation, and a card with all data of each sample."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from dokimasia.domain.criterion import Criterion
from dokimasia.domain.judgement import Response
from dokimasia.domain.look import Look
from dokimasia.domain.sample import Sample
from dokimasia.report.data import Clip, Picture, ReportData
from dokimasia.report.drawing import escape, heat_class
from dokimasia.report.figures import several
from dokimasia.report.overlay import (
    colour,
    definitions,
    draw_picture,
    look_text,
    looks_at,
    region_text,
    regions_of,
)
from dokimasia.report.prose import with_source
from dokimasia.report.sample_view import AnswerView, SampleView
from dokimasia.report.verdicts import (
    NO_REASON,
    NOT_STATED,
    addressed_scores,
    correction_text,
    exclusion_text,
    final_answer_text,
    reasons_of,
    verdict_tone,
)

MOST_TEXT, LEAST_TEXT = 6_000, 800
"""The maximum number of characters of a text, if few are shown, and if many are; a longer text is cut, with a note."""

ALL_TEXTS = 4_000_000
"""The maximum number of characters of all texts of a report, within the limits on one text."""

MOST_SEARCHED = 400
"""The number of characters of a question that the filter searches."""

OPEN_TEXT, MOST_OPEN = 700, 8
"""The most characters of an unfolded answer, and the most answers of a sample for any to be unfolded."""

KEYS = (
    "<kbd>↑</kbd> <kbd>↓</kbd> other sample · <kbd>/</kbd> filter · <kbd>Esc</kbd> clear · "
    "<kbd>Tab</kbd> through the criteria shows their regions"
)


def draw_browser(data: ReportData, note: str) -> str:
    """Return the samples of the report as HTML; without scripts, all cards are shown one below the other."""
    views, blind = sample_views(data), data.blind_arms
    items = "\n".join(_item(number, view, blind) for number, view in enumerate(views, start=1))
    most = most_text(views)
    cards = "\n".join(_card(number, view, data, most) for number, view in enumerate(views, start=1))
    return f"""<p class="note" id="samples-note">{escape(note)}</p>
<p class="keys">{KEYS}</p>
{definitions(data.pictures)}
<div class="browser">
<div class="chooser">
<div class="controls"><label class="unseen" for="filter">Filter the samples</label>
<input id="filter" type="search" placeholder="Filter ( / )" autocomplete="off" spellcheck="false">
<label class="unseen" for="order">Order</label>
<select id="order"><option value="report">as reported</option><option value="low">lowest score first</option>
<option value="high">highest score first</option><option value="apart">models most apart</option></select>
<p id="found" role="status" aria-live="polite">{several(len(views), "sample")}</p></div>
<ol class="list" aria-label="Samples">
{items}
</ol>
</div>
<div class="cards">
{cards}
</div></div>"""


def sample_views(data: ReportData) -> list[SampleView]:
    """Return the samples that a report of an evaluation shows."""
    return [SampleView.model_validate(view) for view in data.samples]


def most_text(views: Iterable[SampleView]) -> int:
    """Return the maximum number of characters of a text in a report; the more answers, the fewer characters."""
    answers = sum(len(view.answers) for view in views)
    return max(LEAST_TEXT, min(MOST_TEXT, ALL_TEXTS // max(1, answers)))


def _item(number: int, view: SampleView, blind: Collection[str]) -> str:
    sample, kinds = view.sample, view.failures
    scores = [score for model, score in view.mean_scores.items() if model not in blind]
    decided = [answer.verdict for answer in view.answers if answer.verdict and answer.model not in blind]
    mean = f"{sum(scores) / len(scores):.2f}" if scores else "–"
    heat = f' class="{heat_class((sum(scores) / len(scores) - 1) / 4)}"' if scores else ""
    about = "mean over models"
    if decided and not scores:
        mean, about = f"{decided.count('right')}/{len(decided)}", "right answers"
    searched = [sample.id, sample.category or "", sample.prompt[:MOST_SEARCHED]]
    search = " ".join([*searched, *(["failed", *kinds] if kinds else [])])
    order = (
        f'data-score="{sum(scores) / len(scores):.6f}" data-apart="{max(scores) - min(scores):.6f}"' if scores else ""
    )
    bad = f' <span class="bad" title="{escape(", ".join(kinds))}">failed</span>' if kinds else ""
    return (
        f'<li data-search="{escape(search.lower())}" {order}><a href="#s-{number}">'
        f'<span class="name">{escape(sample.id)}</span>{bad}<b{heat} title="{about}">{mean}</b></a></li>'
    )


def _card(number: int, view: SampleView, data: ReportData, most: int) -> str:
    sample = view.sample
    clip = Clip(data.facts.run, sample.id, most)
    chips = [f'<span class="chip">{escape(sample.category)}</span>'] if sample.category else []
    chips += [f'<span class="chip bad">{escape(kind)}</span>' for kind in view.failures]
    return f"""<article class="card" id="s-{number}" tabindex="-1" aria-labelledby="s-{number}-title">
<header><h3 id="s-{number}-title">{escape(sample.id)}</h3>{"".join(chips)}
<span class="place">{number} of {len(data.samples)}</span></header>
{draw_sample(view, data.pictures, clip, level=4)}
</article>"""


def draw_sample(view: SampleView, pictures: Mapping[str, Picture], clip: Clip, *, level: int = 2) -> str:
    """Return a sample as HTML: images with the regions of its criteria, question and answers.

    `level` is the level of its headings.
    """
    looks = [look for _, look in view.looks]
    halves = _halves(
        _pictures(view.sample, view.criteria, looks, pictures),
        (*_question_html(view.sample, view.accepted, clip), *_words(view, clip, level)),
    )
    return "\n".join((halves, *_answers(view, clip, level)))


def draw_question(
    sample: Sample,
    pictures: Mapping[str, Picture],
    clip: Clip,
    *,
    accepted: str | None,
    criteria: Sequence[Criterion],
    looks: Sequence[Look],
    rest: str,
    words: bool = True,
) -> str:
    """Return a sample's images, with the regions of criteria and looks, next to its question.

    Args:
        sample: the sample.
        pictures: its images, by hash.
        clip: cuts long texts.
        accepted: the reference answer.
        criteria: the sample's criteria, if known.
        looks: the judges' looks, if known.
        rest: HTML to place below the question.
        words: whether to draw the question itself.
    """
    drawn_pictures = _pictures(sample, criteria, looks, pictures)
    return _halves(drawn_pictures, (*(_question_html(sample, accepted, clip) if words else ()), rest), kind=" beside")


def _halves(pictures: Iterable[str], words: Iterable[str], *, kind: str = "") -> str:
    picture_html, word_html = "".join(pictures), "\n".join(words)
    picture_part = f'<div class="pictures">{picture_html}</div>' if picture_html else ""
    word_part = f'<div class="words">\n{word_html}\n</div>' if word_html else ""
    return f'<div class="halves{kind if picture_html and word_html else " alone"}">\n{picture_part}\n{word_part}</div>'


def _pictures(
    sample: Sample, criteria: Sequence[Criterion], looked: Sequence[Look], pictures: Mapping[str, Picture]
) -> Iterator[str]:
    images = [image.sha256 for image in sample.images]
    regions, looks = regions_of(criteria, images), looks_at(looked)
    for number, sha256 in enumerate(images, start=1):
        name = f"image {number}" if len(images) > 1 else "image"
        yield draw_picture(pictures[sha256], [*regions.get(sha256, []), *looks.get(sha256, [])], name)


def _question_html(sample: Sample, accepted: str | None, clip: Clip) -> Iterator[str]:
    """Yield the question with its options and the reference."""
    yield f'<div class="text prompt">{_text(sample.prompt, clip)}</div>'
    if sample.choices:
        options = "".join(
            f'<li><span class="letter">{chr(ord("A") + place)}.</span> {_text(choice, clip)}</li>'
            for place, choice in enumerate(sample.choices)
        )
        yield f'<ul class="choices">{options}</ul>'
    if accepted is not None:
        yield f'<div class="text reference"><b>Reference</b> {_text(accepted, clip)}</div>'


def _words(view: SampleView, clip: Clip, level: int) -> Iterator[str]:
    """Yield the criteria, the reference chain, and where the judge looked closer."""
    replay, images = view.replay, view.images
    if replay is None and not view.judge:
        pass
    elif replay is None:
        yield '<p class="warning">No criteria yet.</p>'
    elif replay.failure:
        yield f'<p class="warning">No criteria: {escape(replay.failure)}: {escape(replay.reason or "")}</p>'
    if replay and replay.criteria:
        repaired = " (weights rescaled)" if replay.criteria.repaired else ""
        lines = "\n".join(
            _criterion(number, criterion, len(images), clip)
            for number, criterion in enumerate(replay.criteria.criteria, start=1)
        )
        yield f'<h{level}>Atomic criteria{repaired}</h{level}>\n<ol class="criteria">\n{lines}\n</ol>'
    if replay and replay.chain:
        chain = replay.chain
        yield (
            f'<details class="chain"><summary>Reference chain · {escape(_first(chain.answer))}</summary>'
            f"{_prose(chain.reasoning, clip)}"
            f'<div class="text reference"><b>Answer</b> {_text(chain.answer, clip)}</div></details>'
        )
    if view.looks:
        yield _looks(view.looks, images)
    if view.coverage and view.coverage.uncovered:
        missed = view.coverage.uncovered
        sentences = "".join(f"<li>{escape(sentence)}</li>" for sentence in missed)
        yield (
            f"<details><summary>{len(missed)} of {view.coverage.sentences} sentences of the reference are touched by "
            f"no criterion (by shared words)</summary><ul>{sentences}</ul></details>"
        )


def _looks(looks: Sequence[tuple[str, Look]], images: Sequence[str]) -> str:
    lines = "".join(
        f'<li tabindex="0" data-mark="look-{number}"><b{" class=bad" if look.failed else ""}>'
        f'{escape(look_text(look, images))}</b> <span class="muted">for {escape(purpose)}</span>'
        f'<div class="text">{escape(_first(look.text, 400))}</div></li>'
        for number, (purpose, look) in enumerate(looks, start=1)
    )
    count = "once" if len(looks) == 1 else f"{len(looks)} times"
    return f'<details class="looks"><summary>The judge looked closer {count}</summary><ol>{lines}</ol></details>'


def _criterion(number: int, criterion: Criterion, images: int, clip: Clip) -> str:
    return (
        f'<li class="criterion {colour(number)}" tabindex="0" data-mark="{number}"><span class="number">{number}</span>'
        f'<div><p class="q">{_text(criterion.question, clip)}</p><p class="g">{_text(criterion.ground_truth, clip)}</p>'
        f'<p class="muted">weight {criterion.weight} · {escape(region_text(criterion, images))}</p></div></li>'
    )


def _answers(view: SampleView, clip: Clip, level: int) -> Iterator[str]:
    answers, criteria = view.answers, view.criteria
    if left_out := exclusion_text(view):
        yield f'<p class="warning" dir="auto">{escape(left_out)}</p>'
    if not answers:
        yield '<p class="warning">No answers yet.</p>'
        return
    head = "".join(
        f'<th scope="col" class="number" data-mark="{number}" title="{escape(_first(criterion.question, 200))}">'
        f'<span class="number {colour(number)}">{number}</span> <span class="muted">w {criterion.weight}</span></th>'
        for number, criterion in enumerate(criteria, start=1)
    )
    rows = "\n".join(_row(answer, len(criteria)) for answer in answers)
    title = "Answers, and their scores by criterion" if view.judge else "Answers"
    last = f'<th scope="col"{" class=number" if view.judge else ""}>{"score" if view.judge else "failure"}</th>'
    yield (
        f'<h{level}>{title}</h{level}>\n<div class="scroll" tabindex="0" role="group" '
        'aria-label="Scores by criterion"><table class="matrix"><thead><tr><th scope="col">model</th>'
        f'<th scope="col">answer</th>{head}{last}</tr></thead>\n<tbody>\n{rows}\n'
        "</tbody></table></div>"
    )
    most = OPEN_TEXT if len(answers) <= MOST_OPEN else 0
    texts = "\n".join(_answer(answer, answer.response, clip, most) for answer in answers if answer.response)
    yield f'<div class="answers">{texts}</div>'
    if view.earlier:
        lines = "".join(
            f"<li>{escape(attempt.item)}: before attempt {attempt.next_attempt}: {escape(attempt.failure or '')}: "
            f"{escape(attempt.reason or '')}</li>"
            for attempt in view.earlier
        )
        yield f"<details><summary>Asked anew</summary><ul>{lines}</ul></details>"


def _row(answer: AnswerView, criteria: int) -> str:
    name = f'<th scope="row">{escape(answer.name)}</th>'
    name += f'<td class="{verdict_tone(answer.verdict)}">{escape(answer.verdict or "–")}</td>'
    if answer.score is None:
        reason = f"{answer.failure}: {answer.reason or ''}" if answer.failure else ""
        return f'<tr>{name}<td colspan="{criteria + 1}" class="bad">{escape(reason)}</td></tr>'
    cells = "".join(
        f'<td class="number muted" data-mark="{number}">{NOT_STATED}</td>'
        if score is None
        else f'<td class="number {heat_class((score - 1) / 4)}" data-mark="{number}">{score}</td>'
        for number, score in enumerate(addressed_scores(answer), start=1)
    )
    total = answer.score
    return f'<tr>{name}{cells}<td class="number {heat_class((total - 1) / 4)}"><b>{total:.2f}</b></td></tr>'


def _answer(answer: AnswerView, response: Response, clip: Clip, most_open: int) -> str:
    flags = "".join(f' <span class="chip bad">{escape(flag)}</span>' for flag in response.flags)
    score = answer.failure if answer.score is None else f"{answer.score:.2f}"
    summary = escape("".join(f" · {part}" for part in (answer.verdict, score) if part))
    final = final_answer_text(answer)
    decided = (
        f'<div class="note {verdict_tone(answer.verdict)}">{escape(answer.verdict or "")}: {escape(final)}</div>'
        if final
        else ""
    )
    decided += _reasons(answer)
    corrected = correction_text(answer)
    decided += f'<p class="warning corrected" dir="auto">{escape(corrected)}</p>' if corrected else ""
    opened = " open" if len(response.text) <= most_open else ""
    return (
        f'<details class="answer"{opened}><summary><b>{escape(answer.name)}</b>{summary}{flags}'
        f'<span class="preview"> {escape(_first(response.text))}</span></summary>'
        f"{_prose(response.text, clip)}{decided}</details>"
    )


def _reasons(answer: AnswerView) -> str:
    """Return the judge's reasons as a list of criterion, score and reason; empty if the judge gave none."""
    lines = "".join(
        f'<li data-mark="{number}"><span class="number {colour(number)}">{number}</span> '
        + (
            f'<b class="muted">{NOT_STATED}</b> '
            if score is None
            else f'<b class="{heat_class((score - 1) / 4)}">{score}</b> '
        )
        + (
            f'<span dir="auto">{escape(reason)}</span></li>'
            if reason
            else f'<span class="muted">{NO_REASON}</span></li>'
        )
        for number, score, reason in reasons_of(answer)
    )
    name = escape(answer.name)
    if lines:
        return f'<ul class="reasons" aria-label="The judge\'s reasons, {name}">{lines}</ul>'
    return ""


def _first(text: str, most: int = 90) -> str:
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    return f"{line[: most - 1]}…"


def _text(text: str, clip: Clip) -> str:
    visible, omitted = clip.cut(text)
    return f'<span dir="auto">{escape(visible)}</span>{_hint(omitted)}'


def _prose(text: str, clip: Clip) -> str:
    """Return a model's text, rendered if it has Markdown or LaTeX."""
    visible, omitted = clip.cut(text)
    return with_source(visible, f'<div class="text">{_text(text, clip)}</div>', rest=_hint(omitted))


def _hint(omitted: str) -> str:
    if omitted:
        return f' <span class="muted">{escape(omitted)}</span>'
    return ""
