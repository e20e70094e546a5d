"""What the runs of a service may spend and which models they may use, regardless of their requests."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from dokimasia.domain.call import PEOPLE
from dokimasia.errors import ConfigError
from dokimasia.gateway.budget import Budget
from dokimasia.runs.plans import WAY
from dokimasia.settings import CONFIG_NAME, Settings
from dokimasia.storage.home import Home
from dokimasia.storage.spending import paid_by, payment_recorder

ALL = ""
"""The payer that the spending of all runs is stored under."""


@dataclass(slots=True)
class Allowances:
    """The limits of a service, which its operator sets and no request changes.

    Spending is stored before a request is sent, so that it survives restarts and kills of the service; spending without
    a limit in force does not count against a later one.

    Attributes:
        max_cost: US dollars that all runs may spend together; None for no limit.
        max_cost_per_token: US dollars that the runs started with one token may spend together; None for no limit.
        models_only: whether only configured models (including those added to the home), simulated ones and people may
            be asked.
    """

    max_cost: float | None = None
    max_cost_per_token: float | None = None
    models_only: bool = False
    _budgets: dict[str, Budget] = field(default_factory=dict[str, Budget])

    @property
    def limited(self) -> bool:
        """Whether spending is limited, so that every model needs a known price."""
        return self.max_cost is not None or self.max_cost_per_token is not None

    def budgets(self, home: Home, payer: str) -> Sequence[Budget]:
        """Return the budgets that a payer's requests must fit in; runs of the same payer share them."""
        return [self._budget(home, id, limit, f"{whose}: ") for id, limit, whose in self._limits(payer)]

    def _limits(self, payer: str) -> list[tuple[str, float, str]]:
        """Return the limits on a payer's runs, each with the id it is stored under and the name of its payer."""
        limits = [(ALL, self.max_cost, "the service")]
        if payer:
            limits.append((payer, self.max_cost_per_token, f"the token of {payer}"))
        return [(id, limit, whose) for id, limit, whose in limits if limit is not None]

    def _budget(self, home: Home, id: str, limit: float, whose: str) -> Budget:
        if id not in self._budgets:
            spent = paid_by(home, id)._asdict()
            self._budgets[id] = Budget(limit, **spent, record=payment_recorder(home, id), whose=whose)
        return self._budgets[id]

    def check(self, home: Home, payer: str) -> None:
        """Refuse a run of a payer whose allowance is exhausted.

        Raises:
            ConfigError: nothing is left; the message names the limit and who can raise it.
        """
        for id, limit, whose in self._limits(payer):
            if (spent := paid_by(home, id).cost) >= limit:
                raise ConfigError(
                    f"the runs of {whose} may spend ${limit:g}, and ${spent:.4f} are spent: ask whoever runs the service for "
                    "more (`dokimasia serve` with a larger --max-cost or --max-cost-per-token)"
                )

    def check_models(self, settings: Settings, models: Collection[str]) -> None:
        """Refuse models that are not configured, if only configured ones may be asked.

        Raises:
            ConfigError: there are such models; the message names them, and the permitted ones.
        """
        if not self.models_only:
            return
        others = sorted(
            name
            for name in models
            if not name.startswith(("sim/", f"{PEOPLE}/"))
            and not {name, name.rpartition(WAY)[0]} & set(settings.models)
        )
        if others:
            there_are = ", ".join(sorted(settings.models)) or "none"
            raise ConfigError(
                f"{', '.join(others)[:300]}: this service asks only the models of its {CONFIG_NAME} and those "
                f"added to its home; there are: {there_are}"
            )
