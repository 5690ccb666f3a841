"""The learning rate of each row of a table, chosen on validation samples by short runs."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from synthprobe_data import SynthprobeError
from synthprobe_models.files import plain_json, write_text
from synthprobe_models.training.parallel import Plan, finished_runs
from synthprobe_models.training.progress import run_label
from synthprobe_models.training.run import check_kept, choice_loss, choice_split
from synthprobe_models.training.trainer import DivergedError, Machine

if TYPE_CHECKING:
    from synthprobe_models.data.source import Source
    from synthprobe_models.training.settings import TrainSettings

FOLDER: Final = "rates"
"""In the folder of a table: the short runs, and what was found by them."""
FEWEST: Final = 2


@dataclass(frozen=True, kw_only=True)
class RateChoice:
    """What a row was offered, and the rate that was taken."""

    epochs: int
    """Of each short run."""
    split: str
    """Whose samples gave the losses."""
    losses: Mapping[float, float]
    """By rate; infinite where the run diverged."""

    @property
    def rate(self) -> float:
        """The one with the least loss; of equals, the lowest."""
        return min(sorted(self.losses), key=self.losses.__getitem__)


def check_rates(rates: Sequence[float], epochs: int) -> None:
    """Raise `SynthprobeError` if no choice can be made among these.

    Parameters
    ----------
    rates
        To choose from.
    epochs
        Of each short run.
    """
    if len(set(rates)) < FEWEST or len(set(rates)) < len(rates):
        raise SynthprobeError(f"rates are {_listed(rates)}: give {FEWEST} or more, each once.")
    if epochs < 1:
        raise SynthprobeError(f"rate_epochs is {epochs}: it must be 1 or more.")


def choose_rates(
    rows: Mapping[str, tuple[TrainSettings, Source]],
    rates: Sequence[float],
    epochs: int,
    out: Path,
    *,
    jobs: int = 1,
    machine: Machine | None = None,
    command: str | None = None,
) -> dict[str, RateChoice]:
    """Train each row for a short time with each rate, and keep what was found in ``out``.

    The test samples are left alone. A run that is complete is not trained again.

    Parameters
    ----------
    rows
        By their keys: the settings of a run, but for rate and epochs, and the samples.
    rates, epochs
        As for `check_rates`.
    out
        The folder of all choices of a table.
    jobs, machine, command
        As for `synthprobe_models.training.parallel.finished_runs`.
    """
    plans = {
        (key, rate): Plan(
            settings=dataclasses.replace(settings, rate=rate, epochs=epochs),
            source=source.for_choices(),
            out=out / key / f"rate-{rate}",
            label=f"{run_label(key, settings.probe, settings.seed)}, rate {rate}",
        )
        for key, (settings, source) in rows.items()
        for rate in rates
    }
    for plan in plans.values():
        check_kept(plan.settings, plan.source, plan.out)
    folders = {plan.out: key for key, plan in plans.items()}
    results: dict[tuple[str, float], Mapping[str, Any]] = {}
    try:
        for plan, result in finished_runs(
            list(plans.values()), jobs=jobs, machine=machine, command=command
        ):
            results[folders[plan.out]] = result
    except DivergedError:  # said by the losses
        pass
    found = {}
    for key in rows:
        here = {rate: results[key, rate] for rate in rates if (key, rate) in results}
        if not here:
            raise SynthprobeError(f"{key} diverges at each of the rates {_listed(rates)}.")
        found[key] = RateChoice(
            epochs=epochs,
            split=choice_split(next(iter(here.values()))),
            losses={rate: choice_loss(here[rate]) if rate in here else math.inf for rate in rates},
        )
        write_text(out / f"{key}.json", _written(found[key]))
    return found


def read_choices(out: Path) -> dict[str, RateChoice]:
    """What was chosen for the rows of a table, by their keys.

    Parameters
    ----------
    out
        The folder of all choices of a table.
    """
    found = {}
    for path in sorted(out.glob("*.json")):
        try:
            read = json.loads(path.read_text(encoding="utf-8"))
            losses = {
                float(rate): math.inf if loss is None else float(loss)
                for rate, loss in read["losses"].items()
            }
            choice = RateChoice(epochs=int(read["epochs"]), split=str(read["split"]), losses=losses)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise SynthprobeError(f"{path} is not the choice of a rate.") from error
        if choice.losses:
            found[path.stem] = choice
    return found


def losses_by_rate(
    choices: Mapping[str, RateChoice], taken: Mapping[str, float | None], titles: Mapping[str, str]
) -> list[list[str]]:
    """For people: the losses of the short runs of the rows whose rate was chosen, the head first.

    Parameters
    ----------
    choices
        By the keys of rows.
    taken
        The rate that each row of the table was trained with.
    titles
        Of the rows of the table.
    """
    chosen = {key: one for key, one in choices.items() if taken.get(key) == one.rate}
    rates = sorted({rate for one in chosen.values() for rate in one.losses})
    head = ["row", *map(str, rates), "loss on", "epochs"]
    rows = [
        [titles[key], *(_cell(one, rate) for rate in rates), one.split, str(one.epochs)]
        for key, one in chosen.items()
    ]
    return [head, *rows] if rows else []


def _cell(choice: RateChoice, rate: float) -> str:
    if rate not in choice.losses:
        return "-"
    loss = choice.losses[rate]
    text = f"{loss:.4g}" if math.isfinite(loss) else "diverged"
    return f"**{text}**" if rate == choice.rate else text


def _written(choice: RateChoice) -> str:
    losses = {str(rate): loss for rate, loss in choice.losses.items()}
    return plain_json({"epochs": choice.epochs, "split": choice.split, "losses": losses}) + "\n"


def _listed(rates: Sequence[float]) -> str:
    return ", ".join(map(str, rates))
