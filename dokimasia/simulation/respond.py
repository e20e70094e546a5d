"""Replies of simulated models: a pure function of the request and its pictures."""

from collections.abc import Mapping

from dokimasia.domain.call import Chat, ChatReply
from dokimasia.domain.review import DESCRIBE_REQUEST
from dokimasia.errors import TransportError
from dokimasia.prompts import PromptLibrary
from dokimasia.simulation.candidates import answer_question, answer_without_image
from dokimasia.simulation.creative import OBSERVE, is_creative, write_creative_answer, write_from_descriptions
from dokimasia.simulation.draws import CHARACTERS_PER_TOKEN, Draws, bare_name, request_hash, text_reply, usage_of
from dokimasia.simulation.image_edits import EDITING_PROMPTS, PlantedEdit, editing_reply, read_edits
from dokimasia.simulation.judging.judges import SceneView, judge_reply
from dokimasia.simulation.judging.probes import DESCRIBING, JudgedImage, answers_probe_prompt, probe_reply
from dokimasia.simulation.judging.rubrics import answers_rubric_prompt, rubric_reply
from dokimasia.simulation.learners import ANSWER_AGAIN_PROMPTS, HINT_PROMPTS, answer_again, general_hints, hint_reply
from dokimasia.simulation.panel import PANEL_PROMPTS, describe_picture, describe_pictures, panel_reply
from dokimasia.simulation.perturber import PERTURBATION_PROMPT, PERTURBER_PROMPTS, perturbation_reply, perturber_reply
from dokimasia.simulation.picture import Sighting, read_scene
from dokimasia.simulation.picture_content import PictureContent, content_of_photograph, content_of_scene
from dokimasia.simulation.profiles import Profile, as_candidate, as_judge, find_profile
from dokimasia.simulation.requests import Inputs, UnderstoodPrompt, read_choices, understand
from dokimasia.simulation.scene import find_question
from dokimasia.simulation.structured import answer_probe
from dokimasia.simulation.unknown_inputs import answer_unknown_question
from dokimasia.simulation.visibility import WHOLE

_CACHE_SIZE = 4096
_scene_cache: dict[str, Sighting | None] = {}
_edit_cache: dict[str, tuple[PlantedEdit, ...]] = {}
"""Caches of scenes and edits by image hash, so that each picture is read once; emptied when full."""


def respond(
    call: Chat,
    images: Mapping[str, bytes],
    *,
    models: Mapping[str, Profile] | None = None,
    library: PromptLibrary | None = None,
) -> ChatReply:
    """Return the reply of the simulated model named in a call.

    Args:
        call: the request; `call.model.model` is the simulated model's name, with or without a provider.
        images: bytes of the images in the messages, by SHA-256; only read for images that are not cached.
        models: the available models; by default the included ones.
        library: the prompts that judges know; by default the included ones.

    Raises:
        NotFound: no simulated model has that name; the message lists all.
    """
    profile = find_profile(bare_name(call.model.model), models=models)
    draws = Draws(request_hash(call))
    understood = understand(call.messages, library=library)
    if understood is None:
        reply = _answer_question(profile, Inputs(question=call.messages[-1].text), call, images, draws)
    else:
        reply = _reply_to_prompt(profile, understood, call, images, draws)
    reply = _cut_to_limit(reply, call.sampling.max_tokens)
    written = reply.text + "".join(tool.name + tool.arguments for tool in reply.tool_calls)
    return reply.model_copy(update={"usage": usage_of(call, written)})


def _reply_to_prompt(
    profile: Profile, understood: UnderstoodPrompt, call: Chat, images: Mapping[str, bytes], draws: Draws
) -> ChatReply:
    """Return the reply to a known prompt."""
    name, inputs = understood.request.name, understood.inputs
    if name == "probe":
        return answer_probe(call, inputs.task, images, draws)
    if name == "observe":
        return text_reply(OBSERVE)
    if name == "candidate_described" and is_creative(inputs.question):
        return write_from_descriptions(as_candidate(profile), inputs.descriptions, draws)
    if name in ("candidate", "candidate_plain", "candidate_described"):
        return _answer_question(profile, inputs, call, images, draws)
    if name in PANEL_PROMPTS:
        return panel_reply(profile, name, inputs, _first_content(call, images), draws)
    if answers_rubric_prompt(name):
        return rubric_reply(profile, name, inputs, _first_content(call, images), draws)
    looked = any(message.role == "tool" for message in call.messages)
    tools = () if looked else call.tools
    as_object = call.output_schema is not None
    if answers_probe_prompt(name):
        return probe_reply(
            profile,
            name,
            inputs,
            _judged_images(call, images),
            draws,
            effort=call.sampling.reasoning_effort or "",
            draw=call.repeat,
            as_object=as_object,
            tools=tools,
        )
    if name in PERTURBER_PROMPTS:
        return perturber_reply(profile, name, inputs, _first_content(call, images), draws)
    if name == PERTURBATION_PROMPT:
        return perturbation_reply(profile, inputs, draws)
    if name in EDITING_PROMPTS:
        pictures = [images[image.sha256] for image in call.images]
        return editing_reply(profile, name, inputs, pictures, draws)
    if name == "describe_images":
        contents = _contents_of_images(call, images)
        if not contents:
            return answer_without_image(as_candidate(profile), (), draws)
        return describe_pictures(profile, contents, draws)
    if name == "describe":
        picture = _first_content(call, images)
        if picture is None:
            return answer_without_image(as_candidate(profile), (), draws)
        return describe_picture(profile, picture, draws)
    view = _find_view(call, images, inputs.question)
    if name in ANSWER_AGAIN_PROMPTS:
        # If the world is not planted, or is not shown, the question is answered anew.
        if view is None:
            return _answer_question(profile, inputs, call, images, draws)
        return answer_again(as_candidate(profile), view.scene, view.question, inputs, draws)
    if name in HINT_PROMPTS:
        if view is None:
            return general_hints(inputs, draws)
        rewriting = name == "hint_rewrite"
        return hint_reply(as_candidate(profile), view.scene, view.question, inputs, draws, rewriting=rewriting)
    picture = _first_content(call, images) if view is None else None
    return judge_reply(as_judge(profile), understood, view, draws, as_object=as_object, tools=tools, picture=picture)


def _answer_question(
    profile: Profile, inputs: Inputs, call: Chat, images: Mapping[str, bytes], draws: Draws
) -> ChatReply:
    candidate = as_candidate(profile)
    question, choices = inputs.question, read_choices(inputs.choices)
    if is_creative(question):
        return write_creative_answer(candidate, _contents_of_images(call, images), draws)
    if not call.images:
        return answer_without_image(candidate, choices, draws)
    view = _find_view(call, images, question)
    if view is None:
        picture = _first_content(call, images)
        planted = picture is not None and picture.planted and not choices and DESCRIBING.search(question)
        if picture is not None and (planted or question.strip() == DESCRIBE_REQUEST):
            return describe_picture(profile, picture, draws)
        return answer_unknown_question(candidate, question, choices, draws)
    return answer_question(candidate, view.scene, view.question, draws)


def _content_of_image(sha256: str, images: Mapping[str, bytes]) -> PictureContent:
    """Return the content of an image; without a scene it is a photograph."""
    sighting = _cached_scene(sha256, images)
    if sighting is None:
        return content_of_photograph(sha256)
    return content_of_scene(sighting[0])


def _contents_of_images(call: Chat, images: Mapping[str, bytes]) -> list[PictureContent]:
    """Return the content of each image of a request, in order."""
    return [_content_of_image(ref.sha256, images) for ref in call.images]


def _first_content(call: Chat, images: Mapping[str, bytes]) -> PictureContent | None:
    """Return the content of the first image with a scene, else of the first image; None without images."""
    hashes = [ref.sha256 for ref in call.images]
    shown = [sha256 for sha256 in hashes if _cached_scene(sha256, images) is not None] or hashes
    if shown:
        return _content_of_image(shown[0], images)
    return None


def _judged_images(call: Chat, images: Mapping[str, bytes]) -> list[JudgedImage]:
    """Return the content of each image of a request, in order, with its displayed part and its edits."""
    judged_images: list[JudgedImage] = []
    for ref in call.images:
        sighting = _cached_scene(ref.sha256, images)
        part = WHOLE if sighting is None else sighting[1]
        content = _content_of_image(ref.sha256, images)
        judged_images.append(JudgedImage(content, part, _cached_edits(ref.sha256, images)))
    return judged_images


def _cached_edits(sha256: str, images: Mapping[str, bytes]) -> tuple[PlantedEdit, ...]:
    if sha256 not in _edit_cache:
        if len(_edit_cache) >= _CACHE_SIZE:
            _edit_cache.clear()
        _edit_cache[sha256] = read_edits(images[sha256])
    return _edit_cache[sha256]


def _find_view(call: Chat, images: Mapping[str, bytes], question: str) -> SceneView | None:
    """Return the first image whose scene has the question, with all displayed parts of that scene.

    Images are numbered over the whole request.
    """
    refs = call.images
    view: SceneView | None = None
    for number, ref in enumerate(refs):
        sighting = _cached_scene(ref.sha256, images)
        if sighting is None:
            continue
        if view is None:
            known_question = find_question(sighting[0], question.strip())
            view = (
                SceneView(sighting[0], known_question, number, sighting[1], (sighting[1],)) if known_question else None
            )
        elif sighting[0].id == view.scene.id:
            view = view._replace(parts=(*view.parts, sighting[1]))
    return view


def _cached_scene(sha256: str, images: Mapping[str, bytes]) -> Sighting | None:
    if sha256 not in _scene_cache:
        try:
            data = images[sha256]
        except KeyError:
            raise TransportError(
                "bad_request", f"the image {sha256[:12]} was not sent along", retryable=False, status=400
            ) from None
        if len(_scene_cache) >= _CACHE_SIZE:
            _scene_cache.clear()
        _scene_cache[sha256] = read_scene(data)
    return _scene_cache.get(sha256)


def _cut_to_limit(reply: ChatReply, max_tokens: int | None) -> ChatReply:
    if max_tokens is None or len(reply.text) <= max_tokens * CHARACTERS_PER_TOKEN:
        return reply
    cut = reply.text[: max_tokens * CHARACTERS_PER_TOKEN]
    return reply.model_copy(update={"text": cut, "finish_reason": "length", "native_finish_reason": "length"})
