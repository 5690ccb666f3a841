"""What several seeds of a small run cost, and what would make them cheaper.

For the preset `quick` of each probe: where a step spends its time, what one step of five seeds
costs when `torch.func.vmap` trains them together, and what larger batches cost at equal samples,
all in seconds of one core, the least of some rounds. Then five whole runs of the twins probe, one
by one and by two processes with one thread each, in seconds of the clock beside those of one run.
`--out results/several-seeds.md` writes the page; it takes some minutes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor
from torch.func import functional_call, stack_module_state, vmap

from synthprobe_data import SynthprobeError, describe_machine
from synthprobe_models.data.feed import Feed, RunStep
from synthprobe_models.data.source import Source, open_source
from synthprobe_models.experiments.samples import data_file, with_further
from synthprobe_models.losses import find_loss
from synthprobe_models.optim import make_optimizer
from synthprobe_models.probes import find_probe
from synthprobe_models.probes.probe import Sample
from synthprobe_models.training.parallel import Plan, finished_runs
from synthprobe_models.training.run import commit
from synthprobe_models.training.settings import TrainSettings
from synthprobe_models.training.trainer import Machine, build_network

SIZE = "quick"
PROBES = ("centered-square", "color-code", "twins")
STRUCTURES = ("lambda-pe", "residual", "transformer", "convnext")
SEEDS = 5
ROUNDS = 4
PARTS = ("reading", "forward", "backward", "optimiser")
HEAD = ("probe", "structure", "a step, ms", *PARTS, "five together", "batch x 2")

PAGE = """\
# Several seeds: what they cost, and what makes them cheaper

`{command}` wrote this page: commit {commit}, torch
{torch}, on: {machine}. Other programs were at work on it: {load:.1f} processes wanted a core.

## Steps

{steps}

- **a step, ms**: one step of one seed on one core; behind it, which parts of it are spent where.
- **five together**: one step of five seeds, trained together by `torch.func.stack_module_state`
  and `vmap`, in units of a step of one. Above 5 it costs more than one by one. A dash says why it
  cannot be done.
- **batch x 2**: a batch of twice the size, per sample, in units of the batch of the preset.

Reading, the only part that seeds could share, is {reading:.0%} of a step at most, and *five
together* says what the rest comes to: about five times the work, or more. So seeds are not trained
together here. On a GPU, which a step of one seed does not fill, it may be otherwise; that was not
measured.

## Whole runs

{whole}

`synthprobe-probe profile` trains as many runs at a time as there are cores (`--jobs`), each with
its own process, data order and initial weights, so that every run is the one that its seed gives
alone.

Two cores cannot make five equal runs cost less than 2.5 of one. A smaller figure, or one by one
more than 5, says that other programs took more of the cores at one time than at another;
seconds of the clock are worth only as much as the machine was idle.
"""


def seconds(act: Callable[[], object], rounds: int) -> float:
    """Of this core, the least of some rounds."""
    found = []
    for _ in range(rounds):
        begin = time.process_time()
        act()
        found.append(time.process_time() - begin)
    return min(found)


def settings_of(probe: str, name: str, seed: int) -> TrainSettings:
    """As a profile has them."""
    chosen = find_probe(probe)
    options = chosen.samples(SIZE).options.get(name, {})
    return TrainSettings(
        **{**chosen.preset(SIZE), "name": name, "probe": probe, "seed": seed, "options": options}
    )


def batches(source: Source, settings: TrainSettings, count: int) -> Iterator[Sample]:
    """Some batches of a run, epoch after epoch."""
    feed = Feed(source.train, samples=None, batch=settings.batch, seed=settings.seed)
    epoch = 0
    while count:
        for batch, whole in feed.epoch(RunStep(epoch)):
            if count and whole == settings.batch:  # the last one of an epoch may be smaller
                count -= 1
                yield batch
        epoch += 1


class Measured:
    """What steps of one structure on one probe cost."""

    def __init__(self, probe: str, name: str, source: Source, rounds: int) -> None:
        self.input = find_probe(probe).input
        self.settings = [settings_of(probe, name, seed) for seed in range(SEEDS)]
        self.networks = [build_network(settings, source.facts) for settings in self.settings]
        self.loss = find_loss(self.settings[0].loss)
        self.source = source
        self.rounds = rounds

    def parts(self) -> dict[str, float]:
        """Seconds of each part of a step of one seed."""
        network, settings = self.networks[0], self.settings[0]
        optimizer = self._optimizer(network.parameters())
        found: dict[str, list[float]] = {part: [] for part in PARTS}
        waiting = batches(self.source, settings, self.rounds + 1)
        for _ in range(self.rounds + 1):
            marks = [time.process_time()]
            batch = next(waiting)
            marks.append(time.process_time())
            loss = self.loss(network(batch[self.input]).float(), batch["target"])
            marks.append(time.process_time())
            loss.backward()
            marks.append(time.process_time())
            optimizer.step()
            optimizer.zero_grad()
            marks.append(time.process_time())
            for part, begin, end in zip(PARTS, marks, marks[1:], strict=False):
                found[part].append(end - begin)
        return {part: min(values[1:]) for part, values in found.items()}

    def together(self) -> float:
        """Seconds of a step of all seeds at once, without reading."""
        each = [next(batches(self.source, settings, 1)) for settings in self.settings]
        for network, batch in zip(self.networks, each, strict=True):
            network(batch[self.input])  # some make their buffers only now
        parameters, buffers = stack_module_state(self.networks)  # type: ignore[arg-type]
        optimizer = self._optimizer(parameters.values())
        x, target = (
            torch.stack([batch[name] for batch in each]) for name in (self.input, "target")
        )
        network = self.networks[0]

        def loss_of(p: dict[str, Tensor], b: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
            return self.loss(functional_call(network, (p, b), (x,)).float(), y)

        def step() -> None:
            vmap(loss_of)(parameters, buffers, x, target).sum().backward()
            optimizer.step()
            optimizer.zero_grad()

        step()
        return seconds(step, self.rounds)

    def alone(self, times: int) -> float:
        """Seconds of a step of one seed for a sample, with a batch so many times as large."""
        network, settings = self.networks[1], self.settings[1]
        optimizer = self._optimizer(network.parameters())
        each = list(batches(self.source, settings, times))
        x, target = (torch.cat([batch[name] for batch in each]) for name in (self.input, "target"))

        def step() -> None:
            self.loss(network(x).float(), target).backward()
            optimizer.step()
            optimizer.zero_grad()

        step()
        return seconds(step, self.rounds) / len(x)

    def _optimizer(self, parameters: object) -> torch.optim.Optimizer:
        settings = self.settings[0]
        return make_optimizer(
            settings.optimizer,
            parameters,  # type: ignore[arg-type]
            lr=settings.rate,
            weight_decay=settings.weight_decay,
        )

    def cells(self) -> tuple[list[str], float]:
        """Of the table; and which part of a step is spent on reading."""
        parts = self.parts()
        step = sum(parts.values())
        one = self.alone(1)
        size = self.settings[0].batch
        try:
            joint = f"{self.together() / (one * size):.1f}"
        except (RuntimeError, SynthprobeError) as error:
            joint = f"- ({str(error).split('.')[0]})"
        shares = [f"{parts[part] / step:.0%}" for part in PARTS]
        larger = f"{self.alone(2) / one:.2f}"
        return [f"{1e3 * step:.1f}", *shares, joint, larger], parts["reading"] / step


def source_of(probe: str, folder: Path) -> Source:
    """The samples of the preset."""
    data = find_probe(probe).samples(SIZE)
    return with_further(open_source(data_file(probe, data, folder), probe=probe), data, folder)


def whole_runs(source: Source, folder: Path, samples: int | None) -> list[list[str]]:
    """One run of the twins probe and five of them, on the clock."""
    taken: dict[str, float] = {}
    kinds: Mapping[str, tuple[int, int]] = {
        "one run": (1, 1),
        "five, one by one": (SEEDS, 1),
        "five, two processes with one thread": (SEEDS, 2),
    }
    for title, (seeds, jobs) in kinds.items():
        plans = [
            Plan(
                settings=replace(settings_of("twins", "convnext", seed), samples=samples),
                source=source,
                out=folder / title.replace(" ", "-") / str(seed),
            )
            for seed in range(seeds)
        ]
        begin = time.perf_counter()
        for _ in finished_runs(plans, jobs=jobs, machine=Machine(progress=False)):
            pass
        taken[title] = time.perf_counter() - begin
    one = taken["one run"]
    rows = [[title, f"{taken[title]:.0f}", f"{taken[title] / one:.2f}"] for title in taken]
    return [["convnext on twins", "seconds", "in units of one run"], *rows]


def grid(rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    head, *rest = rows
    lines = [list(head), ["---"] * len(head), *rest]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def fits(probe: str, name: str) -> bool:
    """Whether a structure can be tried on a probe."""
    from synthprobe_models.probes import fitting

    return probe in fitting(name)


def measure(probes: Sequence[str], names: Sequence[str], rounds: int, samples: int | None) -> dict:  # type: ignore[type-arg]
    """What the page says."""
    rows: list[list[str]] = [list(HEAD)]
    reading = 0.0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for probe in probes:
            source = source_of(probe, folder / "data")
            for name in (name for name in names if fits(probe, name)):
                cells, share = Measured(probe, name, source, rounds).cells()
                rows.append([probe, name, *cells])
                reading = max(reading, share)
                print(" | ".join(rows[-1]), flush=True)
        whole = whole_runs(source_of("twins", folder / "data"), folder, samples)
    print(grid(whole))
    return {"steps": grid(rows), "reading": reading, "whole": grid(whole)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the page here, too")
    parser.add_argument("--probes", nargs="+", default=PROBES, choices=PROBES)
    parser.add_argument("--structures", nargs="+", default=STRUCTURES, metavar="NAME")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N")
    parser.add_argument("--samples", type=int, metavar="N", help="of each whole run (all)")
    given = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", ".*There is a performance drop.*", UserWarning)
    found = measure(given.probes, given.structures, given.rounds, given.samples)
    if given.out is not None:
        page = PAGE.format(
            command=" ".join(["python tools/bench_seeds.py", *sys.argv[1:]]),
            commit=commit(),
            torch=torch.__version__,
            machine=describe_machine(),
            load=os.getloadavg()[1],
            **found,
        )
        given.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
