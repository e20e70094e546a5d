"""Forks: a run repeated with another judge, model or prompt; the ledger answers the calls that did not change."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field

from dokimasia.domain.ports import Spending, Transport
from dokimasia.errors import ConfigError, InputError
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.lifecycle import RunResult, carry_out, check_new_keys, control_of, open_home
from dokimasia.runs.method import AnyMethod, check_items
from dokimasia.runs.observer import Observer
from dokimasia.runs.outcome import check_measures
from dokimasia.runs.persistence import persist_run
from dokimasia.runs.plans import RunPlan, run_id
from dokimasia.runs.preview import estimate_json
from dokimasia.runs.rehearsal import accept_with_estimate
from dokimasia.runs.requests import Invocation, PromptFolders, RunRequest, option_of
from dokimasia.runs.services import Stop
from dokimasia.runs.session import Accepted, Session
from dokimasia.settings import Settings
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

NOTHING_NAMED = (
    "a fork changes something: name another judge (--judge), models (--models X=Y) or prompts (--prompts DIR)"
)


class ForkRequest(Invocation):
    """What the user asks of a fork: another judge, models in the place of others (OLD to NEW), further prompts.

    `node` is the step to begin at, for methods that have steps.
    """

    node: str | None = None
    judge: str | None = None
    models: dict[str, str] = Field(default_factory=dict)
    prompts: PromptFolders = ()

    @property
    def names_nothing(self) -> bool:
        """Whether it changes nothing."""
        return self.judge is None and not self.models and not self.prompts

    @property
    def command(self) -> str:
        """The changes as a person would write them, paths by their names."""
        words = [f"--from {self.node}"] if self.node else []
        words += [f"--judge {self.judge}"] if self.judge else []
        if self.models:
            words.append("--models " + ",".join(f"{old}={new}" for old, new in self.models.items()))
        return " ".join([*words, *(f"--prompts {folder.name}" for folder in self.prompts)])


class PreparedFork(NamedTuple):
    """A fork before any call is sent. `preview` shows what it reuses and what it would ask, ready for JSON."""

    method: AnyMethod
    request: RunRequest
    accepted: Accepted[RunPlan]
    session: Session
    preview: dict[str, object]


async def fork(
    parent: Run,
    request: ForkRequest,
    *,
    settings: Settings,
    observer: Observer | None = None,
    stop: Stop | None = None,
    transports: Mapping[str, Transport] | None = None,
    chat_models: "Mapping[str, BaseChatModel] | None" = None,
    given: Any = None,
    home: Home | None = None,
) -> RunResult:
    """Repeat a finished run with something changed, as a new run, and return its result.

    The data file is not needed. The ledger answers calls that the change does not affect. An open `home` stays open;
    see `dokimasia.runs.lifecycle.run`.

    Raises:
        InputError: nothing changes, the run is unfinished, or runs of its kind cannot be forked.
        Interrupted: the run was asked to stop; finished work is kept.
    """
    settings = settings.with_chat_models(chat_models)
    async with open_home(settings, home, transports, create=False) as opened:
        prepared = await prepare_fork(
            opened, parent, request, settings=settings, given=given, transports=tuple(transports or ())
        )
        await check_new_keys(prepared.method, prepared.session, prepared.request, prepared.accepted)
        row, new = await keep_fork(opened, parent, request, prepared)
        return await carry_out(
            prepared.method,
            prepared.session,
            row,
            prepared.request,
            control_of(observer, stop, transports),
            new=new,
        )


async def keep_fork(home: Home, parent: Run, request: ForkRequest, prepared: PreparedFork) -> tuple[Run, bool]:
    """Store a prepared fork; return its row, and whether it is new."""
    return await persist_run(
        prepared.method,
        home,
        prepared.request,
        prepared.accepted,
        command=f"fork {parent.id} {request.command}",
        forked_from={"run": parent.id, "node": request.node},
    )


async def prepare_fork(
    home: Home,
    parent: Run,
    request: ForkRequest,
    *,
    settings: Settings,
    given: object = None,
    transports: Collection[str] = (),
) -> PreparedFork:
    """Return a prepared fork, without sending any call (`--dry-run`).

    Raises:
        InputError: see `fork`.
    """
    method = method_of(parent)
    if method.reruns.no_fork is not None:
        raise InputError(f"{method.title} is not forked: {method.reruns.no_fork}")
    if parent.status != "done":
        raise InputError(f"run {parent.id} is {parent.status}; finish it first: dokimasia resume {parent.id}")
    _, parent_request = method.read(parent)
    folders = (*parent_request.prompts, *request.prompts)
    library = method.library(parent_request.model_copy(update={"prompts": folders}), given)
    session = Session(settings, home, library, source_run=parent, given=given, transports=transports)
    if method.reruns.fork is not None:
        changed, accepted, preview = await method.reruns.fork(session, parent, request)
        check_items(method, changed, accepted.estimate.most_items)
    else:
        if request.node is not None:
            raise InputError(
                f"{method.title} has no steps to fork from: leave --from out; what the change does not touch is answered "
                "by the ledger"
            )
        changed = _changed(method, parent_request, request).model_copy(update={"prompts": folders})
        accepted, preview = await accept_with_estimate(method, changed, session), {}
    check_measures(method, changed)
    new = run_id(method, accepted.plan)
    if new == parent.id:
        raise InputError(_nothing_changes(parent, request))
    return PreparedFork(
        method=method,
        request=changed,
        accepted=accepted,
        session=session,
        preview={
            "run": new,
            "forked_from": {"run": parent.id, "node": request.node},
            **preview,
            **estimate_json(accepted, request, Spending()),
        },
    )


def _changed(method: AnyMethod, parent_request: RunRequest, request: ForkRequest) -> RunRequest:
    """Return a run's request with its models replaced as the fork asks."""
    update: dict[str, object] = {"fresh": False, **request.invocation}
    replaced: set[str] = set()
    for name, field in type(parent_request).model_fields.items():
        if not option_of(field).models:
            continue
        value = getattr(parent_request, name)
        if name == "judge" and request.judge is not None:
            update[name] = request.judge
        elif isinstance(value, tuple):
            replaced |= request.models.keys() & set(value)
            update[name] = tuple(request.models.get(model, model) for model in value)
        elif value in request.models:
            replaced.add(value)
            update[name] = request.models[value]
    if request.judge is not None and "judge" not in update:
        raise InputError(f"{method.title} has no judge: name who takes whose place with --models OLD=NEW")
    unknown = sorted(request.models.keys() - replaced)
    if unknown:
        raise ConfigError(f"{unknown[0]!r} is no model of the run")
    return parent_request.model_copy(update=update)


def _nothing_changes(parent: Run, request: ForkRequest) -> str:
    if request.names_nothing:
        return NOTHING_NAMED
    return f"nothing would change: judge, models and prompts are those of run {parent.id}"
