"""What a simulated model replies to a request: a pure function of the request and of the pictures in it."""

import re
from collections.abc import Mapping

from dokimasia.domain.call import Chat, ChatReply
from dokimasia.domain.review import DESCRIBE_REQUEST
from dokimasia.errors import TransportError
from dokimasia.prompts import PromptLibrary
from dokimasia.simulation import candidates, creating, describing, foreign, hinting, panel, perturbing, refining
from dokimasia.simulation.blindspots import editing, perturber
from dokimasia.simulation.blindspots.images import Edit, edits_of
from dokimasia.simulation.depicted import Depicted, depicted, photograph
from dokimasia.simulation.draws import CHARACTERS_PER_TOKEN, Draws, bare_name, request_hash, usage_of
from dokimasia.simulation.judging import blindspots as probed
from dokimasia.simulation.judging import judges
from dokimasia.simulation.judging import rubrics as rubric_judging
from dokimasia.simulation.judging.judges import View
from dokimasia.simulation.picture import Sighting, read_scene
from dokimasia.simulation.probing import answer_probe
from dokimasia.simulation.profiles import Profile, as_candidate, as_judge, find_profile
from dokimasia.simulation.reading import Understood, read_choices, understand
from dokimasia.simulation.sight import WHOLE
from dokimasia.simulation.world import find_question

_DESCRIBING = re.compile(r"\b(?:describe|description|caption)\b", re.IGNORECASE)
_MEMORY = 4096
_seen: dict[str, Sighting | None] = {}
_edited: dict[str, tuple[Edit, ...]] = {}
"""Scenes and edits by image hash, so that a picture which is asked about many times is read once; emptied when it is full."""


def respond(
    call: Chat,
    images: Mapping[str, bytes],
    *,
    known: Mapping[str, Profile] | None = None,
    library: PromptLibrary | None = None,
) -> ChatReply:
    """Return the reply of the simulated model that the call names.

    Args:
        call: the request; `call.model.model` is the simulated model's name, with or without a provider before it.
        images: bytes by SHA-256 of the images that the messages name; asked only for images that were not seen before.
        known: the models there are; by default those that ship.
        library: the prompts that judges know; by default those that ship.

    Raises:
        NotFound: no simulated model has that name; the message lists those there are.
    """
    profile = find_profile(bare_name(call.model.model), known=known)
    draws = Draws(request_hash(call))
    understood = understand(call.messages, library=library)
    if understood is None:
        reply = _answer(profile, {"question": call.messages[-1].text}, call, images, draws)
    else:
        reply = _asked(profile, understood, call, images, draws)
    reply = _limited(reply, call.sampling.max_tokens)
    written = reply.text + "".join(tool.name + tool.arguments for tool in reply.tool_calls)
    return reply.model_copy(update={"usage": usage_of(call, written)})


def _asked(
    profile: Profile, understood: Understood, call: Chat, images: Mapping[str, bytes], draws: Draws
) -> ChatReply:
    """The reply to a prompt that is known."""
    name, inputs = understood.request.name, understood.request.inputs
    if name == "probe":
        return answer_probe(call, inputs["task"], images, draws)
    if name == "observe":
        return ChatReply(text=creating.OBSERVE, finish_reason="stop", native_finish_reason="stop")
    if name == "candidate_described" and creating.is_creative(inputs["question"]):
        return creating.write_described(as_candidate(profile), inputs["descriptions"], draws)
    if name in ("candidate", "candidate_plain", "candidate_described"):
        return _answer(profile, inputs, call, images, draws)
    if name in panel.PROMPTS:
        return panel.reply(profile, name, inputs, _depicted(call, images), draws)
    if rubric_judging.answers(name):
        return rubric_judging.reply(profile, name, inputs, _depicted(call, images), draws)
    looked = any(message.role == "tool" for message in call.messages)
    tools = () if looked else call.tools
    held = call.output_schema is not None
    if probed.answers(name):
        effort, shown = call.sampling.reasoning_effort or "", _shown(call, images)
        how = {"effort": effort, "draw": call.repeat, "held": held, "tools": tools}
        return probed.reply(profile, name, inputs, shown, draws, **how)
    if name in perturber.PROMPTS:
        return perturber.reply(profile, name, inputs, _depicted(call, images), draws)
    if name == perturbing.PROMPT:
        return perturbing.reply(profile, inputs, draws)
    if name in editing.PROMPTS:
        shown = [images[image.sha256] for message in call.messages for image in message.images]
        return editing.reply(profile, name, inputs, shown, draws)
    if name == "describe":
        picture = _depicted(call, images)
        if picture is None:
            return candidates.answer_blind(as_candidate(profile), (), draws)
        return describing.describe(profile, picture, draws)
    view = _look(call, images, inputs.get("question", ""))
    if name in refining.PROMPTS:
        # Where the world is not planted, or is not shown, the question is answered anew.
        if view is None:
            return _answer(profile, inputs, call, images, draws)
        return refining.answer(as_candidate(profile), view.scene, view.question, inputs, draws)
    if name in hinting.PROMPTS:
        if view is None:
            return hinting.general(inputs, draws)
        rewriting = name == "hint_rewrite"
        return hinting.reply(as_candidate(profile), view.scene, view.question, inputs, draws, rewriting=rewriting)
    return judges.reply(as_judge(profile), understood, view, draws, held=held, tools=tools)


def _answer(
    profile: Profile, inputs: Mapping[str, str], call: Chat, images: Mapping[str, bytes], draws: Draws
) -> ChatReply:
    candidate = as_candidate(profile)
    question, choices = inputs["question"], read_choices(inputs.get("choices", ""))
    if creating.is_creative(question):
        return creating.write(candidate, _pictures(call, images), draws)
    if not any(message.images for message in call.messages):
        return candidates.answer_blind(candidate, choices, draws)
    view = _look(call, images, question)
    if view is None:
        picture = _depicted(call, images)
        planted = picture is not None and picture.planted and not choices and _DESCRIBING.search(question)
        if picture is not None and (planted or question.strip() == DESCRIBE_REQUEST):
            return describing.describe(profile, picture, draws)
        return foreign.answer(candidate, question, choices, draws)
    return candidates.answer(candidate, view.scene, view.question, draws)


def _pictures(call: Chat, images: Mapping[str, bytes]) -> list[Depicted]:
    """What every image of the request shows, in order; one without a scene is a photograph."""
    refs = [image for message in call.messages for image in message.images]
    scenes = [_scene(ref.sha256, images) for ref in refs]
    return [
        photograph(ref.sha256) if scene is None else depicted(scene[0]) for ref, scene in zip(refs, scenes, strict=True)
    ]


def _depicted(call: Chat, images: Mapping[str, bytes]) -> Depicted | None:
    """What the first image of the request shows, with a scene or without; None where there is no image."""
    refs = [image for message in call.messages for image in message.images]
    found = [scene for ref in refs if (scene := _scene(ref.sha256, images)) is not None]
    if found:
        return depicted(found[0][0])
    return photograph(refs[0].sha256) if refs else None


def _shown(call: Chat, images: Mapping[str, bytes]) -> list[probed.Shown]:
    """What every image of the request shows, in order: the scene or a photograph, which part of it, and its edits."""
    found: list[probed.Shown] = []
    for ref in (image for message in call.messages for image in message.images):
        scene = _scene(ref.sha256, images)
        picture, part = (photograph(ref.sha256), WHOLE) if scene is None else (depicted(scene[0]), scene[1])
        found.append(probed.Shown(picture, part, _edits(ref.sha256, images)))
    return found


def _edits(sha256: str, images: Mapping[str, bytes]) -> tuple[Edit, ...]:
    if sha256 not in _edited:
        if len(_edited) >= _MEMORY:
            _edited.clear()
        _edited[sha256] = edits_of(images[sha256])
    return _edited[sha256]


def _look(call: Chat, images: Mapping[str, bytes], question: str) -> View | None:
    """The first image of the planted world whose scene knows the question, and all parts of that scene that are shown.

    Images count over the whole request.
    """
    refs = [image for message in call.messages for image in message.images]
    view: View | None = None
    for number, ref in enumerate(refs):
        found = _scene(ref.sha256, images)
        if found is None:
            continue
        if view is None:
            known = find_question(found[0], question.strip())
            view = View(found[0], known, number, found[1], (found[1],)) if known else None
        elif found[0].id == view.scene.id:
            view = view._replace(parts=(*view.parts, found[1]))
    return view


def _scene(sha256: str, images: Mapping[str, bytes]) -> Sighting | None:
    if sha256 not in _seen:
        try:
            data = images[sha256]
        except KeyError:
            raise TransportError(
                "bad_request", f"the image {sha256[:12]} was not sent along", retryable=False, status=400
            ) from None
        if len(_seen) >= _MEMORY:
            _seen.clear()
        _seen[sha256] = read_scene(data)
    return _seen.get(sha256)


def _limited(reply: ChatReply, max_tokens: int | None) -> ChatReply:
    if max_tokens is None or len(reply.text) <= max_tokens * CHARACTERS_PER_TOKEN:
        return reply
    cut = reply.text[: max_tokens * CHARACTERS_PER_TOKEN]
    return reply.model_copy(update={"text": cut, "finish_reason": "length", "native_finish_reason": "length"})
