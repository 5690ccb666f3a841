"""What the tables cost at the published sizes: seconds of a training step, for every row.

A step is the forward pass, the loss, the backward pass and the optimiser, on one core, in seconds
of that core. Beside each row a product of two matrices is timed: the ratio of the two holds on a
machine that others use, too. Forward and backward are measured with a few samples and multiplied up
to the batch of the preset, the optimiser once. The estimate for a GPU is counted, not measured.
`--out results/paper-presets.md` writes the page; it takes some minutes.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from synthprobe_data import DATASETS, describe_machine
from synthprobe_models.data.torch_datasets import StreamDataset
from synthprobe_models.experiments.table import Row, find_rows, find_table
from synthprobe_models.inspection.costs import count_parts
from synthprobe_models.losses import find_loss
from synthprobe_models.optim import make_optimizer
from synthprobe_models.probes import find_probe
from synthprobe_models.training.run import commit
from synthprobe_models.training.settings import TrainSettings

SIZE = "paper"
SAMPLES = {1: 2, 2: 4, 3: 8}
"""By table: how many samples are measured with, so that all of it takes minutes."""
ROUNDS = 3
EDGE = 1024
"""Of the matrices that are multiplied beside."""
BACKWARD = 2
"""Each product of the forward pass has two in the backward pass."""
GPU = 5e12
"""Operations in a second that the estimate takes."""
DAY = 24 * 60 * 60

PAGE = """\
# What the tables cost at the published sizes

`{command}` wrote this page: commit {commit}, torch
{torch}, on: {machine}.

{table}

- **a step, s**: forward pass, loss, backward pass and optimiser, in seconds of one core. Forward
  and backward were measured with so many samples as *measured with* says and multiplied up to the
  batch. In Table 2 the loss is computed at a sixteenth of the positions.
- **/ product**: the same in units of a product of two matrices of {edge} x {edge} in float32, which
  was timed beside each row ({product:.0f} ms in the median, {speed:.0f} GFLOP/s).
- **days here**: a whole run on one such core: seconds of a step x steps x epochs.
- **TFLOP a step**: operations of matrix products, convolutions and attention, two for each
  multiplication and addition, counted for the forward pass by PyTorch's counter, and times {times}
  for the backward pass as well.
- **minutes, one GPU**: an **estimate from these operations, not measured**: a whole run at
  {gpu:.0f} TFLOP/s, about a third of what the paper's GPU, a Tesla V100, is sold with in float32.
  Whatever is bound by memory and not by operations (the depthwise convolutions, norms and
  activations of the U-Nets) and steps that are too small to fill a GPU (Table 2) take longer.

## Commands

Each trains all rows of a table with the published sizes and epochs, on a GPU; a run that was
interrupted goes on when the command is given again. `--rows NAME ...` trains some of them,
`--epochs N` for a shorter time.

```sh
synthprobe-probe table 1 --preset paper --device cuda --workers 4
synthprobe-probe table 2 --preset paper --device cuda
synthprobe-probe table 3 --preset paper --device cuda --workers 2
synthprobe-probe table 3 --preset paper --device cuda --workers 2 --data mode=well-posed
```
"""
HEAD = (
    "table",
    "row",
    "parameters",
    "batch",
    "measured with",
    "a step, s",
    "/ product",
    "steps x epochs",
    "days here",
    "TFLOP a step",
    "minutes, one GPU",
)


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a row costs."""

    row: Row
    parameters: int
    batch: int
    samples: int
    seconds: float
    product: float
    steps: int
    epochs: int
    flops: float

    def cells(self) -> list[str]:
        steps = self.steps * self.epochs
        return [
            str(self.row.table),
            self.row.title,
            f"{self.parameters:,}",
            str(self.batch),
            str(self.samples),
            f"{self.seconds:.2f}",
            f"{self.seconds / self.product:.0f}",
            f"{self.steps:,} x {self.epochs}",
            short(self.seconds * steps / DAY),
            f"{self.flops / 1e12:.3f}",
            short(self.flops * steps / GPU / 60),
        ]


def short(value: float) -> str:
    """With two digits, or all of those before the point."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


class Asked(nn.Module):
    """A network that is asked for some positions only, as in training."""

    def __init__(self, network: nn.Module, queries: Tensor) -> None:
        super().__init__()
        self.network = network
        self.queries = queries

    def forward(self, x: Tensor) -> Tensor:
        return self.network(x, self.queries.to(x.device))


def best(act: Callable[[], object], rounds: int) -> float:
    """Seconds of this core, the least of some rounds."""
    found = []
    for _ in range(rounds):
        begin = time.process_time()
        act()
        found.append(time.process_time() - begin)
    return min(found)


def product(rounds: int) -> float:
    """Seconds of a product of two matrices."""
    a, b = torch.rand(2, EDGE, EDGE)
    return best(lambda: torch.mm(a, b), rounds)


def measure(row: Row, samples: int, rounds: int) -> Cost:
    """The cost of a row, as its preset trains it."""
    probe = find_probe(row.probe)
    settings = TrainSettings(**probe.preset(SIZE), name=row.name, probe=row.probe)
    config = DATASETS[row.probe].config.from_dict(dict(find_table(row.table).data[SIZE].config))
    stream = StreamDataset(row.probe, split="train", config=config)
    chosen = stream.at(range(samples))
    x = torch.stack([sample[probe.input] for sample in chosen])
    target = torch.stack([sample["target"] for sample in chosen])
    positions = x[0, 0].numel()
    queries = torch.randperm(positions)[: max(1, round(positions * settings.queries))]

    def build() -> nn.Module:
        network = probe.make(row.name)
        return network if settings.queries == 1 else Asked(network, queries)

    network = build()
    if settings.queries < 1:
        target = target.flatten(2)[..., queries]
    loss = find_loss(settings.loss)
    optimizer = make_optimizer(
        settings.optimizer,
        network.parameters(),
        lr=settings.rate,
        weight_decay=settings.weight_decay,
    )

    def both() -> None:
        optimizer.zero_grad()
        loss(network(x), target).backward()

    both()  # warms up, and leaves gradients
    optimizer.step()
    beside = product(3)
    passes, update = best(both, rounds), best(optimizer.step, rounds)
    beside = min(beside, product(3))
    flops = count_parts(build, (1, *x.shape[1:]))[1].flops
    train = DATASETS[row.probe].sizes(config)["train"]
    return Cost(
        row=row,
        parameters=sum(p.numel() for p in network.parameters()),
        batch=settings.batch,
        samples=samples,
        seconds=passes * settings.batch / samples + update,
        product=beside,
        steps=-(-train // settings.batch),
        epochs=settings.epochs,
        flops=(1 + BACKWARD) * settings.batch * flops,
    )


def rows(tables: list[int]) -> Iterator[Row]:
    """The rows whose steps differ."""
    for number in tables:
        yield from (row for row in find_rows(number) if not row.ambiguous)


def line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round with half the samples")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the page here, too")
    parser.add_argument(
        "tables", nargs="*", type=int, metavar="TABLE", help="which tables, of 1, 2 and 3 (all)"
    )
    given = parser.parse_args()
    tables = given.tables or list(SAMPLES)
    for number in tables:
        if number not in SAMPLES:
            parser.error(f"there is no table {number}: take 1, 2 or 3.")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    text = [line(list(HEAD)), "|---|---|" + "---:|" * (len(HEAD) - 2)]
    print("\n".join(text))
    costs = []
    for row in rows(tables):
        samples = SAMPLES[row.table] // (2 if given.quick else 1)
        costs.append(measure(row, samples, 1 if given.quick else ROUNDS))
        text.append(line(costs[-1].cells()))
        print(text[-1], flush=True)
    if given.out is not None:
        typical = sorted(cost.product for cost in costs)[len(costs) // 2]
        page = PAGE.format(
            command=" ".join(["python tools/bench_steps.py", *sys.argv[1:]]),
            commit=commit(),
            torch=torch.__version__,
            machine=describe_machine(),
            table="\n".join(text),
            edge=EDGE,
            product=1e3 * typical,
            speed=2 * EDGE**3 / typical / 1e9,
            times=1 + BACKWARD,
            gpu=GPU / 1e12,
        )
        given.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
