"""Which transport a model goes by."""

from typing import Any

import pytest

from dokimasia.errors import ConfigError
from dokimasia.gateway.routes import chosen_transport_name

ALL = ("direct", "litellm", "sim")
LOCAL = "http://127.0.0.1:8000/v1"


@pytest.mark.parametrize(
    ("model", "api_base", "name"),
    [
        ("sim/judge", None, "sim"),
        ("sim/judge", LOCAL, "sim"),
        ("openai/clear", LOCAL, "direct"),
        ("openai/gpt-4o", None, "litellm"),
        ("openai/gpt-4o", "https://api.openai.com/v1", "litellm"),
        ("openai/gpt-4o", "https://us.openai.azure.com/openai/v1", "litellm"),
        ("openai/gpt-4o", "https://notopenai.com.example/v1", "direct"),
        ("openai/gpt-4o", "https://notopenai.com/v1", "direct"),
        ("openai/gpt-5-mini", "https://gateway.example/v1", "litellm"),
        ("openai/o3", "https://gateway.example/v1", "litellm"),
        ("openai/olmo-2", "https://gateway.example/v1", "direct"),
        ("hosted_vllm/openai/gpt-oss-20b", LOCAL, "direct"),
        ("hosted_vllm/m", None, "litellm"),
        ("vllm/m", LOCAL, "direct"),
        ("sglang/m", LOCAL, "direct"),
        ("lm_studio/m", LOCAL, "direct"),
        ("llamafile/m", LOCAL, "direct"),
        ("ollama/llava", "http://127.0.0.1:11434/v1/", "direct"),
        ("ollama_chat/llava", "http://127.0.0.1:11434/v1", "direct"),
        ("ollama/llava", "http://127.0.0.1:11434", "litellm"),
        ("anthropic/claude-sonnet-4-5", "https://proxy.example", "litellm"),
        ("openrouter/openai/gpt-4o", "https://openrouter.ai/api/v1", "litellm"),
        ("m", LOCAL, "litellm"),
    ],
)
def test_auto_goes_straight_to_servers_of_the_format(acts: Any, model: str, api_base: str | None, name: str) -> None:
    """A server of one's own that speaks the OpenAI format is asked directly, everything else through LiteLLM."""
    assert chosen_transport_name(acts.spec(model=model, api_base=api_base, transport="auto"), ALL) == name


@pytest.mark.parametrize("name", ["litellm", "direct"])
def test_named_transport_is_taken_as_it_stands(acts: Any, name: str) -> None:
    """What the configuration names is not second-guessed."""
    assert chosen_transport_name(acts.spec(model="openai/m", api_base=LOCAL, transport=name), ALL) == name


def test_auto_makes_do_with_what_there_is(acts: Any) -> None:
    """Without the direct transport LiteLLM goes everywhere; a single transport of any name takes all."""
    spec = acts.spec(model="openai/m", api_base=LOCAL, transport="auto")
    assert chosen_transport_name(spec, ("litellm", "sim")) == "litellm"
    assert chosen_transport_name(spec, ("other",)) == "other"
    with pytest.raises(ConfigError, match="no transport 'litellm'; there are: a, b"):
        chosen_transport_name(spec, ("b", "a"))


def test_direct_without_an_address_is_a_mistake_of_the_configuration(acts: Any) -> None:
    """Naming the direct transport for a model without `api_base` is refused before anything is sent."""
    with pytest.raises(ConfigError, match="needs api_base"):
        chosen_transport_name(acts.spec(transport="direct"), ALL)
