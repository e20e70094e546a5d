"""Patterns of the names of models and their makers: of given models, and of well-known ones."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from dokimasia.algorithms.text.name_places import judges
from dokimasia.algorithms.text.words import word_set

_VARIANTS = (
    "turbo|mini|nano|micro|pro|flash|lite|ultra|opus|sonnet|haiku|instant|vision|visual|chat|instruct|preview|thinking"
    "|reasoning|max|plus|large|small|medium|tiny|base|coder|math|omni|live|audio|image|latest|exp|experimental|fast|moe"
    "|VL|it|hf"
)
_SIZE = r"\d+(?:\.\d+)?[BbMm]|[AaEe]\d+B"
_VERSION = (
    rf"(?:[-\s_]?v?\d+(?:\.\d+)*[A-Za-z]{{0,3}}(?![\w%]))?"
    rf"(?:[-\s_](?:{_VARIANTS}|{_SIZE}|v?\d+(?:\.\d+)+)(?![\w%])|[-_]\d{{2,8}}(?![\w%]))*"
)

_PLAIN = (
    r"Chat-?GPT|GPT|Open[-\s]?AI|Anthropic|Deep[-\s]?Mind|Mixtral|Pixtral|Qwen|QwQ|QVQ|Intern[-\s]?(?:VL|LM)|LLaVA|Deep[-\s]?Seek|Moonshot[-\s]?AI"
    r"|xAI|ChatGLM|GLM|Zhipu(?:[-\s]?AI)?|Mini[-\s]?CPM|CogVLM|PaliGemma|Hunyuan|Doubao|Molmo|Nemotron|InstructBLIP|Idefics"
    r"|Yi-VL|Alibaba[-\s]Cloud|Tongyi(?:[-\s]?Qianwen)?|Shanghai[-\s]AI[-\s]Lab(?:oratory)?|OpenGVLab|ByteDance|Mistral[-\s]AI"
    r"|Meta[-\s]?AI|Google[-\s](?:Deep[-\s]?Mind|AI)|Ministral|Magistral|Devstral|Internlm-XComposer|Seed-?VL|SmolVLM"
)
_WORDS = (
    "Claude|Gemini|Gemma|Llama|Vicuna|Phi|Nova|Titan|Falcon|Aria|Mistral|Bard|Granite|Kosmos|Grok|Command|Copilot|Ernie"
    "|Kimi|Ovis|Reka|Fuyu|Molmo|BLIP|Opus|Sonnet|Haiku"
)
"""Names that are also ordinary words, persons or stars."""

PLAIN = re.compile(rf"(?<!\w)(?:{_PLAIN}){_VERSION}(?!\w)", re.IGNORECASE)
"""Names that mean nothing else, with any versions, sizes and variants after them, in any letter case."""

BY_VERSION = re.compile(
    rf"(?<!\w)(?:LLaMA|(?i:(?:{_WORDS})"
    rf"(?:-v?\d[\w.]*|[-\s_]?v?\d+\.\d+[a-z]?(?![\w%])|(?:[-\s_]v?\d+(?:\.\d+)*)?[-\s_](?:{_VARIANTS}|{_SIZE})(?![\w%])"
    rf"|-?\d+(?:\.\d+)?(?![\w%]))|Claude\s\d)(?i:{_VERSION}))(?!\w)"
)
"""Names that are also ordinary words, only with a version or variant, so that *Gemini 8* and *opus 27* stay."""

BEHIND_I_AM = re.compile(rf"(?:{_PLAIN}|{_WORDS}){_VERSION}(?!\w)", re.IGNORECASE)
"""Any of these names, for positions where only a name can follow, such as after *I am*."""

CJK = re.compile(r"通义千问|千问|文心一言|豆包|智谱清言|智谱|阿里云|深度求索|月之暗面|书生[·・]?万象|混元")
"""Names of models and makers in Chinese, which is written without spaces between words."""

COMPANIES = (
    r"(?:Google|Meta|Microsoft|Amazon|Apple|NVIDIA|IBM|Baidu|Tencent|Alibaba|Salesforce|Huawei|Mistral|Moonshot|Cohere)"
)
"""Makers whose names also appear on signs and screens: removed only if the text is about their model."""

_ROUTES = word_set(
    """sim openai google meta microsoft amazon nvidia apple ibm baidu tencent salesforce cohere local models model azure
        azure_ai bedrock vertex_ai ollama ollama_chat huggingface hf together_ai together openrouter groq fireworks_ai
        replicate deepinfra hosted_vllm vllm lm_studio text-completion-openai custom_openai litellm_proxy anyscale sambanova"""
)
"""Parts of full names that stand for a route or company rather than a model."""

_GENERIC = frozenset(
    f"{_VARIANTS}|the|and|for|model|models|judge|candidate|test|version|beta|alpha|release|full|long|short|new|old|reward|sim"
    "|image|images|text|video|language|multimodal|local|sft|dpo|rlhf|awq|gptq|gguf|int|bit|quantized".lower().split("|")
) - {"opus", "sonnet", "haiku"}
_PIECE = re.compile(r"[^\W\d_]+|\d+")
_BETWEEN = r"[-_\s./:@·]{0,3}"


def whole_patterns(names: Sequence[str]) -> Iterator[re.Pattern[str]]:
    """Yield patterns of whole names, longest first, in any letter case and with any (or no) signs between their pieces.

    Parameters
    ----------
    names : sequence of str
        Full names such as `openrouter/anthropic/claude-opus-4`; each part between slashes is also a name, except for
        routes and companies (`openrouter`, `google`).
    """
    for pieces in sorted(
        {part for name in names for part in _parts(name)}, key=lambda pieces: (-len("".join(pieces)), pieces)
    ):
        if len(pieces) > 1 or not judges("".join(pieces)):
            yield _pattern(pieces, least=len(pieces))


def family_patterns(names: Sequence[str]) -> Iterator[re.Pattern[str]]:
    """Yield patterns of the beginnings of a name, of any length, and of each further distinctive word in it.

    `claude-opus-4` is written *Claude*, *claude 4*, *Claude Opus*, *Opus*; `pro` and `mini` are not distinctive.
    """
    parts = sorted({part for name in names for part in _parts(name)}, key=lambda pieces: (-len(pieces), pieces))
    for pieces in parts:
        if _is_distinctive(pieces):
            yield _pattern(pieces, least=2)
    words = {piece.casefold(): None for pieces in parts for piece in pieces}
    for word in words:
        distinctive = len(word) > 2 and word.isalpha() and word not in _GENERIC and word not in _ROUTES
        if distinctive and not judges(word):
            yield _family(word)


def spoken_words(names: Sequence[str]) -> tuple[str, ...]:
    """Return names that are judging words, such as *strong*, which name a model only if no verb precedes them."""
    spoken = {part[0] for name in names for part in _parts(name) if len(part) == 1 and judges(part[0])}
    return tuple(sorted({form for word in spoken for form in (word, word.lower(), word.capitalize(), word.upper())}))


@lru_cache(maxsize=1024)
def _parts(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the pieces (words and numbers) of a full name, and of each part that is a name on its own."""
    parts = [part for part in name.split("/") if part]
    named = [name, *(part for part in parts if part.casefold() not in _ROUTES)]
    split_parts = (tuple(_PIECE.findall(part)) for part in named)
    return tuple(dict.fromkeys(pieces for pieces in split_parts if len("".join(pieces)) > 2 or len(pieces) == 2))


def _is_distinctive(pieces: tuple[str, ...]) -> bool:
    """Return whether the first piece is distinctive, so that a beginning of two pieces is, too."""
    return len(pieces) > 2 and pieces[0].casefold() not in (_GENERIC | _ROUTES) and not judges(pieces[0])


@lru_cache(maxsize=1024)
def _pattern(pieces: tuple[str, ...], *, least: int) -> re.Pattern[str]:
    """Return a pattern of the first `least` pieces, and of any further ones that follow."""
    body = _BETWEEN.join(map(re.escape, pieces[:least]))
    tail = ""
    for piece in reversed(pieces[least:]):
        tail = rf"(?:{_BETWEEN}{re.escape(piece)}{tail})?"
    return re.compile(rf"(?<![^\W_]){body}{tail}(?![^\W_])", re.IGNORECASE)


@lru_cache(maxsize=1024)
def _family(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_]){re.escape(word)}{_VERSION}(?![^\W_])", re.IGNORECASE)
