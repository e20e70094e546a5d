"""The configuration file and the environment become one frozen Settings, or an error that names file and key."""

import dataclasses
import tomllib
from pathlib import Path

import pytest

from dokimasia.cli.setting_up import TEMPLATE
from dokimasia.domain.call import ModelRef, Sampling
from dokimasia.errors import ConfigError
from dokimasia.settings import Settings, api_key, load_settings, resolve_model

pytestmark = pytest.mark.quick

FULL = """
home = "kept"
[defaults]
max_concurrency = 4
timeout = 30
[models.judge]
model = "openai/gpt-5"
api_key_env = "MY_VARIABLE"
input_price = 1.25
output_price = 10
capabilities = ["vision", "tools"]
[models.judge.sampling]
temperature = 0
max_tokens = 100
extra = { top_k = 40 }
[models.local]
model = "hosted_vllm/qwen"
api_base = "http://127.0.0.1:8000/v1"
max_concurrency = 32
[models.moved]
model = "hosted_vllm/qwen"
api_base = "http://127.0.0.1:8001/v1"
endpoint = "ours"
[models.planted]
model = "sim/strong"
"""


def loaded(folder: Path, text: str | None = None, **env: str) -> Settings:
    """Return the settings of a working folder with that configuration."""
    if text is not None:
        (folder / "dokimasia.toml").write_text(text)
    return load_settings(env=env, cwd=folder)


def test_models_are_read(tmp_path: Path) -> None:
    """Every key finds its place; an endpoint defaults to the address, then to `default`."""
    settings = loaded(tmp_path, FULL)
    judge, local = settings.models["judge"], settings.models["local"]
    assert judge.ref == ModelRef(name="judge", model="openai/gpt-5", endpoint="default")
    assert judge.sampling == Sampling(temperature=0, max_tokens=100, extra={"top_k": 40})
    assert (judge.input_price, judge.output_price, judge.capabilities) == (1.25, 10, ("vision", "tools"))
    assert (judge.max_concurrency, judge.timeout, local.max_concurrency) == (4, 30, 32)
    assert local.ref.endpoint == "http://127.0.0.1:8000/v1"
    assert settings.models["moved"].ref.endpoint == "ours"
    assert settings.config_path == tmp_path / "dokimasia.toml"
    told = loaded(tmp_path, '[models.a]\nmodel = "x/y"\nweights = "open"\nparameters = "235B-A22B"').models["a"]
    assert (told.weights, told.parameters, judge.weights, judge.parameters) == ("open", "235B-A22B", None, None)


def test_names_are_resolved(tmp_path: Path) -> None:
    """A configured name, a simulated model and any LiteLLM name are models."""
    settings = loaded(tmp_path, FULL)
    assert resolve_model(settings, "judge") is settings.models["judge"]
    simulated = resolve_model(settings, "sim/judge-good")
    assert (simulated.transport, simulated.ref.endpoint) == ("sim", "sim")
    assert (settings.models["planted"].transport, settings.models["planted"].ref.endpoint) == ("sim", "sim")
    other = resolve_model(settings, "anthropic/claude")
    assert other.ref == ModelRef(name="anthropic/claude", model="anthropic/claude")
    assert (other.transport, other.max_concurrency, other.timeout) == ("auto", 4, 30)


@pytest.mark.parametrize("name", ["judg", "gpt-5", "", "/", "a b/c", "a/b,c"])
def test_unknown_names_are_refused(tmp_path: Path, name: str) -> None:
    """A name that is nothing is refused with what was perhaps meant."""
    with pytest.raises(ConfigError, match="there is no model") as caught:
        resolve_model(loaded(tmp_path, FULL), name)
    assert "judge" in str(caught.value)


def test_home_has_an_order(tmp_path: Path) -> None:
    """The option comes before the variable, before the file, before `.dokimasia`; relative paths have their base."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "c.toml").write_text('home = "kept"')
    assert load_settings(env={}, cwd=tmp_path).home == tmp_path / ".dokimasia"
    assert load_settings(env={}, cwd=tmp_path, config=other / "c.toml").home == other / "kept"
    env = {"DOKIMASIA_HOME": "from-env"}
    assert load_settings(env=env, cwd=tmp_path, config=other / "c.toml").home == tmp_path / "from-env"
    assert load_settings(env=env, cwd=tmp_path, home=Path("given")).home == tmp_path / "given"


def test_secrets_are_gathered_and_not_shown(tmp_path: Path) -> None:
    """Values of variables that look like keys, and of those that are named, are secrets; they are in no repr."""
    settings = loaded(
        tmp_path,
        FULL,
        OPENAI_API_KEY="value-of-openai",
        HF_TOKEN="value-of-hf",
        MY_VARIABLE="value-of-mine",
        MAX_TOKENS="100000",
        PATH="/usr/bin",
        SOME_TOKEN="true",
        AWS_ACCESS_KEY_ID="value-of-aws",
        ownKeys="value-of-camel",
    )
    assert settings.secrets == ("value-of-aws", "value-of-camel", "value-of-hf", "value-of-mine", "value-of-openai")
    assert "value-of" not in repr(settings)
    assert api_key(settings, settings.models["judge"]) == "value-of-mine"
    assert api_key(settings, settings.models["local"]) is None
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.home = tmp_path  # pyright: ignore[reportAttributeAccessIssue] freezing is what is tested


@pytest.mark.parametrize("env", [{}, {"MY_VARIABLE": " "}])
def test_a_missing_key_names_its_variable(tmp_path: Path, env: dict[str, str]) -> None:
    """Where the named variable is not set, the error says which."""
    settings = loaded(tmp_path, FULL, **env)
    with pytest.raises(ConfigError, match="MY_VARIABLE is not set"):
        api_key(settings, settings.models["judge"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = ", "not valid TOML"),
        ("modles = {}", "no key modles; did you mean 'models'"),
        ("models = 3", "models is not a table"),
        ("home = 3", "home is not the path"),
        ("[defaults]\ntimeuot = 3", r"\[defaults\]: there is no key timeuot; did you mean 'timeout'"),
        ("[defaults]\ntimeout = 0", r"\[defaults\]: timeout: "),
        ("[models]\na = 3", "a is not a table"),
        ("[models.a]", "the key model is missing"),
        ('[models."a,b"]\nmodel = "x/y"', "no spaces, commas"),
        ('[models.a]\nmodel = "x/y"\napi_bas = "x"', "no key api_bas; did you mean 'api_base'"),
        ('[models.a]\nmodel = "x/y"\napi_key = "sk-123"', "export it and name the variable"),
        ('[models.a]\nmodel = "x/y"\napi_key_env = "sk-proj-123"', "never the key itself"),
        ('[models.a]\nmodel = "x/y"\napi_base = "localhost:80"', "api_base is not an address"),
        ('[models.a]\nmodel = "x/y"\napi_base = "http://u:p@host/v1"', "api_base holds a user name"),
        ('[models.a]\nmodel = "x/y"\napi_base = "http://host/v1#sk-123"', "api_base holds a user name"),
        ('[models.a]\nmodel = "x/y"\napi_base = "http://[host/v1"', "api_base is not an address"),
        ('[models.a]\nmodel = "x/y"\nendpoint = "http://:sk-123@host/v1"', "endpoint holds a user name"),
        ('[models.a]\nmodel = "x/y"\nmax_concurrency = 0', r"\[models.a\]: max_concurrency: "),
        ('[models.a]\nmodel = "x/y"\nmax_concurrency = true', r"\[models.a\]: max_concurrency: "),
        ('[models.a]\nmodel = "x/y"\nrpm = "many"', r"\[models.a\]: rpm: "),
        ('[models.a]\nmodel = "x/y"\ninput_price = -1.0', r"\[models.a\]: input_price: "),
        ('[models.a]\nmodel = "x/y"\ninput_price = inf', "input_price is not a finite number"),
        ('[models.a]\nmodel = "x/y"\ncapabilities = "vision"', "capabilities is not a list"),
        ('[models.a]\nmodel = "x/y"\ncapabilities = ["sight"]', r"capabilities\.0"),
        ('[models.a]\nmodel = "x/y"\nweights = "closed"', "weights"),
        ('[models.a]\nmodel = "x/y"\nparameters = "many"', "parameters"),
        ('[models.a]\nmodel = ""', "model is not a text"),
        ('[models.a]\nmodel = "x/y"\n[models.a.sampling]\ntemprature = 1', "did you mean 'temperature'.*extra"),
        ('[models.a]\nmodel = "x/y"\n[models.a.sampling]\ntop_p = 2.0', r"\[models.a.sampling\]: top_p: "),
        ('[models.a]\nmodel = "x/y"\n[models.a.sampling.extra]\napi_key = "k"', "export it"),
    ],
)
def test_mistakes_are_named_by_file_and_key(tmp_path: Path, text: str, reason: str) -> None:
    """Each mistake is refused with the file, the key and, where one is near, the right word."""
    with pytest.raises(ConfigError, match=rf"dokimasia\.toml(?s:.)*{reason}") as caught:
        loaded(tmp_path, text)
    assert "sk-" not in str(caught.value)


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    """The default file may be missing; one that was asked for may not."""
    assert loaded(tmp_path).config_path is None
    with pytest.raises(ConfigError, match=r"no configuration file .*none\.toml"):
        load_settings(config=Path("none.toml"), env={}, cwd=tmp_path)


def test_template_loads_as_it_is_and_uncommented(tmp_path: Path) -> None:
    """The file that init writes is valid, and so is every line of it that waits behind one #."""
    assert loaded(tmp_path, TEMPLATE).models == {}
    lines = [line[2:] if line.startswith("# ") else line for line in TEMPLATE.splitlines()]
    settings = loaded(tmp_path, "\n".join(lines))
    assert set(settings.models) == {"judge", "local", "expert", "editor"}
    shown = tomllib.loads("\n".join(lines))["models"]
    assert {key for table in shown.values() for key in table} == {
        "model", "endpoint", "api_base", "api_key_env", "transport", "max_concurrency", "start_concurrency", "rpm", "tpm",
        "timeout", "input_price", "output_price", "cached_input_price", "cache_write_price", "image_price", "hourly_rate",
            "capabilities", "max_image_side", "weights", "parameters",
        "sampling",
    }  # fmt: skip
