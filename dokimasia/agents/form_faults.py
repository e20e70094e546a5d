"""Faults of a form that is filled in field by field, worded in terms of its fields."""

import re
from collections.abc import Mapping

from dokimasia.agents.readers import faults_of
from dokimasia.agents.reply_form import FormField, Given, ReplyForm, spoken_name
from dokimasia.domain.question import Aid

_SAID: Mapping[str, str] = {
    "text": "write something here",
    "words": "write something here",
    "string": "write something here",
    "list": "write something here",
    "choice": "choose one",
    "truth": "choose one",
}
_TAG = re.compile(r"</?(\w+)>")


def place_faults(form: ReplyForm, aid: Aid, given: Given) -> dict[str, str]:
    """Return what remains to be done in empty places that the reply needs, all at once, by the place's name.

    The role's reader determines the needed places: a place is needed if a reply with all other places filled in is
    unusable without it.
    """
    if not faults_of(aid, form.compose(given)):
        return {}
    faults: dict[str, str] = {}
    for field in form.places:
        values = [entry.strip() for entry in given.get(field.name, ())]
        filled = [value for value in values if value]
        if field.kind == "order":
            faults |= _order_faults(field, filled)
        elif field.kind == "first":
            faults |= {} if filled else _choice_faults(form, field, given, rewrite=bool(values))
        elif not filled and not field.otherwise and _is_needed(form, aid, field):
            faults[field.name] = _SAID.get(field.kind, "")
    return {name: fault for name, fault in faults.items() if fault}


def faults_in_words(form: ReplyForm, aid: Aid, given: Given) -> str:
    """Return one sentence on what is wrong with a form, with its places named as on the page; empty if it is usable."""
    labels = {field.name: field.label for field in form.places}
    open_places = place_faults(form, aid, given)
    if open_places:
        return "; ".join(f"{labels[name]}: {field}" for name, field in open_places.items())
    return _TAG.sub(lambda tag: f"“{spoken_name(tag[1])}”", faults_of(aid, form.compose(given)))


def _order_faults(place: FormField, filled: list[str]) -> dict[str, str]:
    name = place.label.lower()
    if not filled:
        return {place.name: f"choose a {name}"}
    if len(set(filled)) < len(filled):
        return {place.name: f"each number stands once in the {name}"}
    missing = [value for value, _ in place.options if value not in filled]
    if missing:
        return {place.name: f"the {name} has no place for {', '.join(missing)} yet"}
    return {}


def _choice_faults(form: ReplyForm, place: FormField, given: Given, *, rewrite: bool) -> dict[str, str]:
    """Return what is missing if the first of an order is to be kept or a better text written."""
    other = next((field for field in form.places if field.otherwise), None)
    if other is None:
        return {place.name: "choose one"}
    if any(value.strip() for value in given.get(other.name, ())):
        return {}
    if rewrite:
        return {other.name: "write something here"}
    return {place.name: "choose one of the two"}


def _is_needed(form: ReplyForm, aid: Aid, place: FormField) -> bool:
    """Return whether a reply is unusable without a place, when all others are filled in."""
    others = {
        field.name: _sample_contents(field) for field in form.places if field.name != place.name and not field.otherwise
    }
    return faults_of(aid, form.compose(others)) != ""


def _sample_contents(place: FormField) -> list[str]:
    """Return an ordinary content of a place, for testing the other places."""
    if place.kind == "order":
        return [value for value, _ in place.options]
    if place.options:
        return [place.options[0][0]]
    return ["1" if "number" in place.hint.lower() or place.kind == "first" else "words of one's own"]
