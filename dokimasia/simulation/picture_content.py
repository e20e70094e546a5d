"""The content of a picture as statements that can be made, recognised in any text, and falsified."""

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import NamedTuple, TypeVar

from pydantic import BaseModel

from dokimasia.domain.criterion import Box
from dokimasia.domain.identity import unit_interval
from dokimasia.simulation.data_files import read_data
from dokimasia.simulation.scene import Domain, Fact, Scene
from dokimasia.simulation.scenes import make_scene

Choice = TypeVar("Choice")

READINGS = 3
"""The number of readings of a disputed fact: its own value and two others, all equally right."""

HARD_SHARE = 0.25
"""The share of facts that most describers get wrong, in the same way."""

PHOTO_DISPUTED = 0.4
"""Share of photographs outside the planted world that have a disputed fact."""

_POOL_SCENES = 24
_CACHE_SIZE = 512
_STATEMENT = re.compile(r'\bThe ([^".\n]{1,60}?) of the ([^"\n]{1,80}?) is "([^"\n]{1,200})"', re.IGNORECASE)
_NUMBER = re.compile(r"\d+")


class _Wording(BaseModel):
    """How pictures are spoken of: names, counts and things among attributes of facts, and what photographs show."""

    names: dict[str, str]
    counts: tuple[str, ...]
    objects: tuple[str, ...]
    photograph: tuple[tuple[str, str, tuple[str, ...]], ...]


_WORDING = read_data("picture_content.yaml", _Wording)

FactKey = tuple[str, str]
"""Attribute and subject of a statement, in lower case."""


class Statement(NamedTuple):
    """A statement in a text: its attribute and subject, and its value."""

    key: FactKey
    value: str

    @property
    def sentence(self) -> str:
        """The statement as a sentence."""
        return f'The {self.key[0]} of the {self.key[1]} is "{self.value}".'


class PictureFact(NamedTuple):
    """A fact of a picture as a statement, with false values of the same form.

    The first false value is the lure, which is in most wrong statements of a hard fact. `readings` is empty except for
    a disputed fact, whose readings are all equally right. `sort` is the kind of mistake if it is stated wrong; `box` is
    its place, None in a photograph.
    """

    attribute: str
    subject: str
    value: str
    false: tuple[str, ...]
    hard: bool = False
    readings: tuple[str, ...] = ()
    sort: str = "attribute"
    box: Box | None = None

    @property
    def key(self) -> FactKey:
        """Attribute and subject, in lower case."""
        return self.attribute.casefold(), self.subject.casefold()

    def sentence(self, value: str | None = None) -> str:
        """Return the statement as a sentence, by default with the true value."""
        return f'The {self.attribute} of the {self.subject} is "{value or self.value}".'


class PictureContent(NamedTuple):
    """All facts of a picture. `planted` is false for a photograph, whose facts are derived from its hash."""

    id: str
    domain: Domain
    points: tuple[PictureFact, ...]
    planted: bool = True

    @property
    def by_key(self) -> Mapping[FactKey, PictureFact]:
        """The facts by attribute and subject."""
        return {point.key: point for point in self.points}

    @property
    def disputed(self) -> tuple[PictureFact, ...]:
        """The facts with several readings."""
        return tuple(point for point in self.points if point.readings)

    @property
    def settled(self) -> tuple[PictureFact, ...]:
        """The facts that are not disputed."""
        return tuple(point for point in self.points if not point.readings)


def read_statements(text: str) -> list[Statement]:
    """Return the statements of a text, in order; of several statements on the same fact, the first counts."""
    statement_by_key: dict[FactKey, Statement] = {}
    for attribute, subject, value in _STATEMENT.findall(text):
        key = (folded(attribute), folded(subject))
        statement_by_key.setdefault(key, Statement(key, " ".join(value.split())))
    return list(statement_by_key.values())


def same_value(first: str, second: str) -> bool:
    """Return whether two values are equal except for case and spaces."""
    return folded(first) == folded(second)


def folded(text: str) -> str:
    """Return a text in lower case with single spaces."""
    return " ".join(text.split()).casefold()


def content_of_scene(scene: Scene) -> PictureContent:
    """Return the content of a scene, without different facts of the same name, since a text cannot distinguish them."""
    return _content_of_facts(scene.id, scene.domain, scene.facts, scene.disputed)


@lru_cache(maxsize=_CACHE_SIZE)
def _content_of_facts(
    id: str, domain: Domain, facts_shown: tuple[Fact, ...], disputed: tuple[str, ...]
) -> PictureContent:
    by_key: defaultdict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in facts_shown:
        by_key[_attribute_name(fact), _plain_text(fact.subject)].append(fact)
    points: list[PictureFact] = []
    for (attribute, subject), facts in by_key.items():
        fact = facts[0]
        if len({_plain_text(fact_of_key.value) for fact_of_key in facts}) > 1:
            continue
        false = _false_values(id, domain, fact)
        is_open = any(fact_of_key.id in disputed for fact_of_key in facts)
        points.append(
            PictureFact(
                attribute=attribute,
                subject=subject,
                value=_plain_text(fact.value),
                false=false,
                hard=unit_interval("hard", id, fact.id) < HARD_SHARE,
                readings=(_plain_text(fact.value), *false)[:READINGS] if is_open else (),
                sort=sort_of(fact.attribute, fact.value),
                box=fact.box,
            )
        )
    return PictureContent(id, domain, tuple(points))


@lru_cache(maxsize=_CACHE_SIZE)
def content_of_photograph(sha256: str) -> PictureContent:
    """Return what simulated models see in a picture without a scene, derived from its hash.

    It has no relation to the real content; it lets simulated panels work on real pictures, with agreement and disagreement.
    """
    points: list[PictureFact] = []
    for number, (subject, attribute, pool) in enumerate(_WORDING.photograph):
        turned = _shuffled(pool, sha256, number)
        points.append(
            PictureFact(
                attribute=attribute,
                subject=subject,
                value=turned[0],
                false=turned[1:4],
                hard=unit_interval("hard", sha256, number) < HARD_SHARE,
                sort=sort_of(attribute, turned[0]),
            )
        )
    if unit_interval("disputed", sha256) < PHOTO_DISPUTED:
        at = int(unit_interval("disputed-point", sha256) * len(points))
        point = points[at]
        points[at] = point._replace(readings=(point.value, *point.false)[:READINGS], hard=False)
    return PictureContent(f"photo-{sha256[:12]}", "natural", tuple(points), planted=False)


def sort_of(attribute: str, value: str) -> str:
    """Return the kind of mistake of a wrong value of an attribute, in the terms of rubrics."""
    if _NUMBER.fullmatch(value):
        if attribute in _WORDING.counts or attribute.startswith("number of"):
            return "count"
        return "value"
    if _NUMBER.search(value):
        return "value"
    if attribute in ("state", "lower side"):
        return "state"
    if "colour" in attribute or attribute in ("shirt", "background", "material", "shape"):
        return "attribute"
    if attribute in ("place", "direction"):
        return "position"
    if attribute in _WORDING.objects:
        return "object"
    return "text"


def fact_to_dispute(scene: Scene) -> str:
    """Return the id of the fact that becomes disputed in an ambiguous scene; its name is unique."""
    keys = {point.key for point in content_of_scene(scene).points}
    usable = [
        fact.id
        for fact in scene.facts
        if (_attribute_name(fact).casefold(), _plain_text(fact.subject).casefold()) in keys
    ]
    return usable[int(unit_interval("dispute", scene.id) * len(usable))]


def _attribute_name(fact: Fact) -> str:
    return _WORDING.names.get(fact.attribute, _plain_text(fact.attribute))


def _plain_text(text: str) -> str:
    return " ".join(text.replace('"', "'").split())


def _false_values(scene: str, domain: Domain, fact: Fact) -> tuple[str, ...]:
    """Return three false values of the same form: numbers nearby, or values from other scenes."""
    true = _plain_text(fact.value)
    number = _NUMBER.search(true)
    if number and len(number[0]) < 7:
        start, end = number.span()
        digits = int(number[0])
        steps = _shuffled((1, 2, 3, -1, -2), scene, fact.id)
        near = [digits + step for step in steps if digits + step >= 0]
        return tuple(f"{true[:start]}{value}{true[end:]}" for value in near[:3])
    pool = [value for value in _value_pool(domain, fact.attribute) if not same_value(value, true)]
    return (*_shuffled(tuple(pool), scene, fact.id), "something else", "not to be seen", "hidden")[:3]


@cache
def _value_pool(domain: Domain, attribute: str) -> tuple[str, ...]:
    """Return the values of an attribute in the first scenes of a domain, without numbers."""
    return tuple(value for value in _value_pools(domain).get(attribute, ()) if not _NUMBER.search(value))


@cache
def _value_pools(domain: Domain) -> Mapping[str, tuple[str, ...]]:
    values: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for seed in range(_POOL_SCENES):
        for fact in make_scene(domain, seed).facts:
            values[fact.attribute][_plain_text(fact.value)] = None
    return {attribute: tuple(values_found) for attribute, values_found in values.items()}


def _shuffled(pool: tuple[Choice, ...], *name: str | int) -> tuple[Choice, ...]:
    """Return the pool in an order that depends on the name."""
    return tuple(sorted(pool, key=lambda value: unit_interval("order", *name, str(value))))
