"""`dokimasia models`: list the configured models, check what each can do, add models to the home and remove them."""

import json
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from dokimasia.cli.backend import Backend, with_backend
from dokimasia.cli.shared import console, grid, json_option, print_json
from dokimasia.report.figures import several

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from dokimasia.domain.call import Capability
    from dokimasia.domain.identity import JsonObject
    from dokimasia.endpoints.discovery import Discovery
    from dokimasia.endpoints.models import KeyListed, ModelListed, PriceListed
    from dokimasia.endpoints.probing import ModelCheck
    from dokimasia.settings import Settings

SOURCES = {"configuration": "configured", "list": "LiteLLM list", "simulated": "simulated", "person": "a person"}
_ASKED: "tuple[Capability, ...]" = ("vision", "json_schema", "tools", "image_edit")
_CHECKED = (
    "transport", "reached", "sees\nimage", "JSON\nschema", "tools", "edits\nimages", "usage", "finish\nreason", "latency",
)  # fmt: skip
"""Column titles of a model's checks; none of their words is broken at 100 columns."""
KEYS = {True: "[green]set[/green]", False: "[red]not set[/red]"}
MARKS = {"yes": "[green]yes[/green]", "no": "[red]no[/red]", "unknown": "[yellow]?[/yellow]"}


@click.command()
@click.argument("names", nargs=-1)
@click.option("--check", is_flag=True, help="Send small paid requests to each model and store what they show.")
@click.option(
    "--discover",
    "discovering",
    is_flag=True,
    help="List the models of local servers (vLLM, Ollama, llama.cpp, LM Studio) with their lines for dokimasia.toml. NAMES are "
    "then addresses; by default the servers' usual ports of this machine.",
)
@click.option("--write", is_flag=True, help="With --discover: add the lines to dokimasia.toml.")
@click.option("--simulated", is_flag=True, help="Also list the simulated models that ship with the package.")
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="KEY=VALUE",
    help="Add the model to the home, or replace it: a setting as in dokimasia.toml; may be repeated.",
)
@click.option("--remove", is_flag=True, help="Remove models that were added to the home.")
@json_option
@with_backend
def command(
    backend: Backend,
    names: tuple[str, ...],
    check: bool,
    discovering: bool,
    write: bool,
    simulated: bool,
    assignments: tuple[str, ...],
    remove: bool,
    as_json: bool,
) -> None:
    """List the configured models, or NAMES only: transport, key, limits, prices and capabilities.

    --check asks each model to name colours in a picture, to keep to a JSON schema and to call a tool, and an image model
    to edit a picture. What is seen is kept as the endpoint's profile; the requests are paid for and stand in the ledger.
    Exit code 1 if a model cannot be reached.

    --set model=openai/gpt-5 --set api_key_env=OPENAI_API_KEY keeps a model in the home, beside those of dokimasia.toml,
    for this command line, Python and the service alike; settings that are not named have their defaults.

    --discover sends nothing to a model: it asks local servers for their lists.
    """
    if write and not discovering:
        raise click.UsageError("--write goes with --discover")
    if discovering:
        if check or simulated or assignments or remove:
            raise click.UsageError("--discover goes with --write and --json alone")
        backend.only_here("dokimasia models --discover")
        _discover(backend.settings, names, write=write, as_json=as_json)
        return
    if assignments or remove:
        _change(backend, names, assignments, remove=remove, check=check, as_json=as_json)
        return
    if check:
        import asyncio

        from dokimasia.endpoints.models import chosen_models
        from dokimasia.endpoints.probing import check_models
        from dokimasia.errors import ConfigError

        backend.only_here("dokimasia models --check")
        specs = chosen_models(backend.settings, names, simulated=simulated)
        if not specs:
            raise ConfigError(
                "no model is configured; name one, write [models.NAME] into dokimasia.toml, or add --simulated"
            )
        checks = asyncio.run(check_models(specs, settings=backend.settings))
        _print_checked(checks, as_json=as_json)
        if not all(result.reachable for result in checks):
            raise click.exceptions.Exit(1)
        return
    models = backend.models(names, simulated=simulated)
    if as_json:
        print_json([model.as_json() for model in models])
    elif not models and backend.remote:
        click.echo(f"no model is configured in {backend.named}; --simulated lists the simulated ones")
    elif not models:
        click.echo(
            "no model is configured: `dokimasia init` writes a commented dokimasia.toml; --simulated lists the simulated ones"
        )
    else:
        _print_listed(models)


def _change(
    backend: Backend, names: tuple[str, ...], assignments: tuple[str, ...], *, remove: bool, check: bool, as_json: bool
) -> None:
    """Add a model to the home, or remove models from it."""
    from dokimasia.operations import knowledge

    if (assignments and remove) or check:
        raise click.UsageError("--set, --remove and --check are three things to do: name one")
    if remove:
        if not names:
            raise click.UsageError("--remove needs the names of models that were added")
        for name in names:
            backend.call(knowledge.delete_model, name=name)
            if not as_json:
                click.echo(f"removed {name}")
        if as_json:
            print_json({"removed": list(names)})
        return
    if len(names) != 1:
        raise click.UsageError("--set needs the NAME of one model")
    table = _table(assignments, knowledge.ModelSent.model_fields)
    verb = "added"
    if any(model.name == names[0] and model.added for model in backend.models((), simulated=False)):
        verb = "replaced"
    added = backend.call(knowledge.put_model, name=names[0], body=table)
    if as_json:
        print_json(added.model_dump(mode="json"))
        return
    place = {"added": "to", "replaced": "in"}[verb]
    click.echo(
        f"{verb} {added.name} ({added.model}) {place} {backend.named}; `dokimasia models {added.name} --check` asks it"
    )
    if added.key == "not set":
        click.echo(f"its key is not set yet: export {table['api_key_env']}")


def _table(assignments: tuple[str, ...], settings: "Collection[str]") -> "JsonObject":
    """Return settings of the form KEY=VALUE as a table; a value is TOML, or a text.

    Raises:
        click.BadParameter: one has no value, there is no such setting, two have the same key, or `model` is missing.
    """
    import tomllib

    from dokimasia.domain.wording import nearest

    lines: list[str] = []
    table: JsonObject = {}
    for assignment in assignments:
        key, equals, value = (part.strip() for part in assignment.partition("="))
        if not (key and equals and value):
            raise click.BadParameter(f"{assignment!r}: write KEY=VALUE, such as model=openai/gpt-5", param_hint="--set")
        name = key.partition(".")[0]
        if name not in settings:
            raise click.BadParameter(
                f"no setting {name}{nearest(name, settings)}; settings are {', '.join(settings)}", param_hint="--set"
            )
        line = f"{key} = {value}"
        try:
            tomllib.loads(line)
        except tomllib.TOMLDecodeError:
            line = f"{key} = {json.dumps(value, ensure_ascii=False)}"
        lines.append(line)
        try:
            table = tomllib.loads("\n".join(lines))
        except tomllib.TOMLDecodeError:
            raise click.BadParameter(f"{key} is set twice; write each key once", param_hint="--set") from None
    if "model" not in table:
        raise click.BadParameter("model is missing: write --set model=openai/gpt-5", param_hint="--set")
    return table


def _discover(settings: "Settings", addresses: tuple[str, ...], *, write: bool, as_json: bool) -> None:
    """Print the models of local servers, and add their lines to the configuration on request."""
    import asyncio
    from pathlib import Path

    from dokimasia.endpoints.discovery import discover
    from dokimasia.errors import ConfigError
    from dokimasia.settings import CONFIG_NAME

    bases = {(spec.ref.model, spec.api_base) for spec in settings.models.values()}
    discovery = asyncio.run(discover(addresses, taken=settings.models.keys()))
    if as_json:
        print_json(discovery.model_dump(mode="json"))
    else:
        _print_discovered(discovery)
    if write:
        path = settings.config_path or Path(CONFIG_NAME)
        fresh = [model for model in discovery.models if (model.model, model.api_base) not in bases]
        try:
            with path.open("a", encoding="utf-8") as file:
                file.writelines(f"\n{model.lines}" for model in fresh)
        except OSError as error:
            raise ConfigError(f"{path} cannot be written: {error.strerror}; print the lines without --write") from error
        click.echo(f"added {several(len(fresh), 'model')} to {path}", err=True)


def _print_discovered(discovery: "Discovery") -> None:
    sight = {True: MARKS["yes"], False: MARKS["no"], None: MARKS["unknown"]}
    table = grid("model", "server", "address", "sees images", "context")
    for model in discovery.models:
        context = "?" if model.context is None else f"{model.context:,}"
        table.add_row(_plain(model.model), model.server, _plain(model.api_base), sight[model.vision], context)
    out = console()
    if discovery.models:
        out.print(table)
        out.print("For dokimasia.toml, where --write adds them:\n", style="dim")
        for model in discovery.models:
            out.print(model.lines, markup=False, highlight=False)
    for base in discovery.silent:
        out.print(f"no server with models answers at {_plain(base)}", style="dim")


def _print_listed(models: "Sequence[ModelListed]") -> None:
    simulated = [model for model in models if model.about is not None]
    if len(simulated) < len(models):
        _print_reached([model for model in models if model.about is None])
    if simulated:
        table = grid("simulated model", "what is planted in it")
        for model in simulated:
            table.add_row(_display_name(model), _plain(model.about))
        console().print(table)


def _print_reached(models: "Sequence[ModelListed]") -> None:
    table = grid()
    table.add_column("model", overflow="fold", min_width=20)
    for name in ("transport", "key", "limits"):
        table.add_column(name, overflow="fold")
    table.add_column("$/M in, out", no_wrap=True)
    table.add_column("capabilities", no_wrap=True)
    for model in models:
        transport = model.transport or "[red]none[/red]"
        table.add_row(
            _display_name(model), transport, _key(model.key), _limits(model), _price(model.price), _capabilities(model)
        )
    out = console()
    out.print(table)
    for model in models:
        if model.problem:
            out.print(f"[red]{_plain(model.problem)}[/red]")


def _print_checked(checks: "list[ModelCheck]", *, as_json: bool) -> None:
    if as_json:
        print_json([check.model_dump(mode="json") for check in checks])
        return
    out = console()
    table = grid("model")
    for title in _CHECKED:
        table.add_column(title, no_wrap=True)
    for result in checks:
        reached = MARKS["yes" if result.reachable else "no"]
        table.add_row(f"[bold]{_plain(result.name)}[/bold]", result.transport or "–", reached, *_measured(result))
    out.print(table)
    for check in checks:
        name = f"[bold]{_plain(check.name)}[/bold]"
        if check.person:
            person = _plain(check.person)
            sentence = (
                f"{person}, a person: no endpoint is asked; questions wait for `dokimasia decide RUN --who {person}`"
            )
            out.print(f"{name}: {sentence}")
        if check.problem is not None:
            out.print(f"{name}: [red]{_plain(check.problem.kind)}[/red]: ", end="")
            out.print(_plain(check.problem.message))
        for capability, finding in (check.profile.findings if check.profile else {}).items():
            if finding.verdict != "yes":
                out.print(f"{name}: {capability}: {_plain(finding.note)}")
    out.print(_paid(checks), style="dim")


def _measured(check: "ModelCheck") -> list[str]:
    profile = check.profile
    if profile is None:
        return ["–"] * 7
    findings = profile.findings
    return [
        *(MARKS[findings[name].verdict] if name in findings else "–" for name in _ASKED),
        "reported" if profile.usage else "[red]missing[/red]",
        _plain(",\n".join(profile.finish_reasons)),
        "–" if profile.latency is None else f"{profile.latency:.2f} s",
    ]


def _paid(checks: "list[ModelCheck]") -> str:
    from dokimasia.report.figures import cost_text

    costs = [result.cost for result in checks]
    known_cost = sum(cost or 0.0 for cost in costs)
    calls = several(sum(result.calls for result in checks), "paid call")
    return (
        f"{calls}, cost {cost_text(None if None in costs else known_cost, known_cost)}; they stand in the ledger as `probe`. "
        "Profiles are kept for each model and endpoint."
    )


def _display_name(model: "ModelListed") -> str:
    """Return the model's name, the name sent if different, and its endpoint unless it is the provider's own."""
    lines = [f"[bold]{_plain(model.name)}[/bold]"]
    if model.model != model.name:
        lines.append(_plain(model.model))
    if model.endpoint not in ("default", "sim", "human"):
        lines.append(f"[dim]{_plain(model.endpoint)}[/dim]")
    return "\n".join(lines)


def _key(key: "KeyListed | str | None") -> str:
    """Return whether the key is set, below the name of its environment variable, which a service does not reveal."""
    if key is None:
        return "[dim]–[/dim]"
    if isinstance(key, str):
        return KEYS[key == "set"]
    return f"{_plain(key.variable)}\n{KEYS[key.present]}"


def _limits(model: "ModelListed") -> str:
    if model.price.source == "person":
        return "[dim]–[/dim]"
    limits = [f"max {model.max_concurrency} concurrent"]
    if model.start_concurrency < model.max_concurrency:
        limits.append(f"starts at {model.start_concurrency}")
    limits += [f"{limit:,} {name}" for name, limit in (("rpm", model.rpm), ("tpm", model.tpm)) if limit is not None]
    if model.max_image_side is not None:
        limits.append(f"images to {model.max_image_side:,} px")
    return "\n".join(limits)


def _price(price: "PriceListed") -> str:
    if price.source is None:
        return "[yellow]unknown[/yellow]"
    price_text = ", ".join("?" if amount is None else f"{amount:g}" for amount in (price.input, price.output))
    if price.image is not None:
        price_text = f"{price.image:g} an image"
    if price.source == "person":
        price_text = f"{price.hour or 0:g} an hour"
    return f"{price_text}\n[dim]{SOURCES[price.source]}[/dim]"


def _capabilities(model: "ModelListed") -> str:
    lines = [*model.capabilities, "[dim]configured[/dim]"] if model.capabilities else []
    measured = model.measured
    if model.price.source == "person":
        return "\n".join([*model.capabilities, "[dim]a person[/dim]"])
    if measured is None:
        return "\n".join([*lines, "[dim]never checked[/dim]"])
    capabilities = [f"{name} {MARKS[finding.verdict]}" for name, finding in measured.findings.items()]
    return "\n".join([*lines, *capabilities, f"[dim]seen {measured.checked_at[:10]}[/dim]"])


def _plain(text: object) -> str:
    """Return text that Rich prints unchanged."""
    return escape(str(text))
