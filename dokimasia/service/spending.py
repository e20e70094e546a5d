"""What the runs of a service have spent together, by run, model and token, and how much of its limits is left."""

from pydantic import BaseModel, Field

from dokimasia.domain.call import PEOPLE
from dokimasia.report.figures import several
from dokimasia.runs.reading.inspection import run_spending
from dokimasia.service.allowances import ALL
from dokimasia.service.state import Service
from dokimasia.storage.naming import Label, labels
from dokimasia.storage.runs import RunStatus, list_runs
from dokimasia.storage.spending import spent_by_payer, spent_by_run
from dokimasia.storage.usage import usage_by_model

MOST_RUNS = 500
"""The maximum number of runs listed, those that spent most."""


class SpentByRun(BaseModel):
    """The spending of a run, over all its resumes; what the ledger answered is not in it."""

    run: str
    name: str = Field(description="what the run is called; empty without a name")
    method: str
    data_name: str
    status: RunStatus
    created_at: str
    cost: float = Field(ge=0, description="US dollars, as far as they are known")
    unknown_cost: bool = Field(description="whether the cost of some requests is unknown, so that `cost` is a part")
    calls: int = Field(ge=0, description="requests")
    tokens: int = Field(ge=0)


class SpentByModel(BaseModel):
    """The use of a model by all that the ledger of the home holds, runs that were deleted included."""

    model: str
    calls: int = Field(ge=0, description="replies in the ledger")
    input_tokens: int = Field(ge=0, description="as far as endpoints reported them")
    output_tokens: int = Field(ge=0, description="as far as endpoints reported them")
    cost: float = Field(ge=0, description="US dollars, as far as they are known")
    unknown_cost: bool = Field(description="whether the cost of some replies is unknown")


class SpentByToken(BaseModel):
    """What the runs that were started with a token count towards its limit, while there is one."""

    token: str = Field(description="its holder; empty: all runs of the service")
    calls: int = Field(ge=0)
    tokens: int = Field(ge=0)
    cost: float = Field(ge=0, description="US dollars counted while a limit was in force")
    limit: float | None = Field(description="US dollars; null: no limit")
    left: float | None = Field(description="US dollars left; null: no limit")


class ServiceSpending(BaseModel):
    """The spending of all runs of a home, and the limits of the service that hold."""

    cost: float = Field(ge=0, description="US dollars spent by the runs of the home, as far as they are known")
    unknown_cost: bool = Field(description="whether a part of the cost is unknown")
    calls: int = Field(ge=0)
    tokens: int = Field(ge=0)
    max_cost: float | None = Field(description="US dollars that all runs may spend together; null: no limit")
    max_cost_per_token: float | None = Field(description="US dollars that the runs of one token may spend together")
    total_runs: int = Field(ge=0, description="runs that spent anything")
    runs: list[SpentByRun] = Field(description=f"those that spent most, at most {MOST_RUNS}")
    models: list[SpentByModel] = Field(description="by cost, the highest first")
    holders: list[SpentByToken] = Field(description="the service as a whole, then each token, where a limit holds")


def spending_of(service: Service) -> ServiceSpending:
    """Return what the runs of a service have spent, and what is left of its limits."""
    home, allowances = service.home, service.allowances
    names, rows = labels(home), {run.id: run for run in list_runs(home)}
    by_run = spent_by_run(home)
    spent_runs: list[SpentByRun] = []
    for id, spent in by_run.items():
        run = rows.get(id)
        if run is None or not spent.calls:
            continue
        fields = run.model_dump(include={"method", "data_name", "status", "created_at"})
        counts = run_spending(home, run, spent)
        name = names.get(id, Label()).name
        spent_runs.append(SpentByRun(run=id, name=name, **fields, **counts))
    spent_runs.sort(key=lambda entry: (-entry.cost, -entry.calls, entry.run))
    models = [
        SpentByModel(
            model=model,
            calls=usage.calls,
            input_tokens=usage.input_tokens or 0,
            output_tokens=usage.output_tokens or 0,
            cost=usage.known if usage.cost is None else usage.cost,
            unknown_cost=usage.cost is None,
        )
        for model, usage in usage_by_model(home).items()
        if not model.startswith(f"{PEOPLE}/")
    ]
    models.sort(key=lambda entry: (-entry.cost, -entry.calls, entry.model))
    return ServiceSpending(
        cost=sum(entry.cost for entry in spent_runs),
        unknown_cost=any(entry.unknown_cost for entry in spent_runs),
        calls=sum(entry.calls for entry in spent_runs),
        tokens=sum(entry.tokens for entry in spent_runs),
        max_cost=allowances.max_cost,
        max_cost_per_token=allowances.max_cost_per_token,
        total_runs=len(spent_runs),
        runs=spent_runs[:MOST_RUNS],
        models=models,
        holders=_by_token(service),
    )


def _by_token(service: Service) -> list[SpentByToken]:
    """Return the spending towards each limit: that of the service, then those of its tokens."""
    allowances = service.allowances
    spent = spent_by_payer(service.home)
    limits = {ALL: allowances.max_cost}
    holders = sorted({caller.name for _, caller in service.tokens.known} | spent.keys() - {ALL})
    if service.tokens.needed:
        limits |= dict.fromkeys(holders, allowances.max_cost_per_token)
    entries: list[SpentByToken] = []
    for holder, limit in limits.items():
        if limit is None and holder not in spent:
            continue
        counted = spent.get(holder)
        cost = counted.cost if counted else 0.0
        left = None if limit is None else max(0.0, limit - cost)
        calls, tokens = (counted.calls, counted.tokens) if counted else (0, 0)
        entries.append(SpentByToken(token=holder, calls=calls, tokens=tokens, cost=cost, limit=limit, left=left))
    return entries


def verdict_of(spending: ServiceSpending, cost: str) -> str:
    """Return one sentence on the spending of a service and what is left of its limit.

    Args:
        spending: the spending.
        cost: its cost as text.
    """
    spent = f"{several(spending.total_runs, 'run')} spent {cost} in {several(spending.calls, 'request')}"
    if not spending.total_runs:
        spent = "No run has spent anything yet"
    whole = next((entry for entry in spending.holders if not entry.token), None)
    if whole is None or whole.limit is None or whole.left is None:
        return f"{spent}. No limit holds for all runs together."
    if not whole.left:
        return f"{spent}. The limit of ${whole.limit:,.2f} for all runs is reached: no run may start or go on."
    return f"{spent}. Of the limit of ${whole.limit:,.2f} for all runs, ${whole.left:,.2f} is left."
