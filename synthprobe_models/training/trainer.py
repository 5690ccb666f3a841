"""Training: from a source of samples to the weights of a network, step by step.

Several processes, each with its share of every batch, train the network that one trains, but for
rounding. Two kinds of networks are trained otherwise: those with batch normalisation, whose
statistics are those of the share of a process, and those that draw random numbers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from torch import Tensor, nn

from synthprobe_data import SynthprobeError
from synthprobe_models.data.feed import BatchShare, Feed, RunStep, stream
from synthprobe_models.data.source import DataFacts, Source
from synthprobe_models.files import FolderError
from synthprobe_models.layers.parts import set_stochastic_depth
from synthprobe_models.losses import make_loss
from synthprobe_models.networks.rank_and_color import (
    CLASSES_OF,
    TWO_TASK,
    BothTasks,
    find_classes,
    for_both,
    with_classes,
)
from synthprobe_models.optim import make_optimizer, make_schedule
from synthprobe_models.probes import find_probe
from synthprobe_models.registry import NETWORKS
from synthprobe_models.training.augment import make_augmentation
from synthprobe_models.training.checkpoint import (
    Checkpoint,
    fitting_checkpoint,
    load_checkpoint,
    load_weights,
)
from synthprobe_models.training.distributed import gathered_state, joined, set_state
from synthprobe_models.training.errors import explained
from synthprobe_models.training.progress import RunBar, run_label
from synthprobe_models.training.provenance import provenance
from synthprobe_models.training.run_folder import RunFolder
from synthprobe_models.training.settings import TrainSettings

_QUERIES: Final = 0x71756572  # "quer": no other draw of a run uses this stream


class DivergedError(SynthprobeError):
    """The loss of a run is no longer a number."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Where and how a run is computed; none of it changes what is asked for."""

    device: str = "cpu"
    workers: int = 0
    """Processes that read or generate samples ahead."""
    compile: bool = False
    checkpoint_every: int = 200
    """Steps between checkpoints; there is one at the end of every epoch, too."""
    progress: bool = True
    label: str = ""
    """Which run it is, beside its bar; by default by its probe, name and seed."""
    share: BatchShare = field(default_factory=BatchShare)


def build_network(settings: TrainSettings, data: DataFacts) -> nn.Module:
    """The network of a run, with the initial weights that its seed gives."""
    probe = find_probe(settings.probe)
    inputs, *shape = data.input_shape
    extra: dict[str, Any] = {}
    whole = NETWORKS.get(settings.name)
    in_a_frame = whole is None or whole.is_frame
    if settings.down_samplings is not None and in_a_frame:
        extra["down_samplings"] = settings.down_samplings
    if settings.added_hidden and in_a_frame:
        extra["added_hidden"] = settings.added_hidden
    if settings.frame is not None:
        extra["frame"] = settings.frame
    options = dict(settings.options)
    if settings.loss == TWO_TASK:
        options = with_classes(settings.name, options, data.config)
    with torch.random.fork_rng(devices=[]), explained(settings.name):
        torch.manual_seed(settings.seed)
        network = probe.make(
            settings.name,
            shape=shape,
            width=settings.width,
            inputs=inputs,
            outputs=data.outputs,
            options=options,
            **extra,
        )
    if settings.head_bias is not None and in_a_frame:
        nn.init.constant_(network.get_parameter("head.bias"), settings.head_bias)
    return network


class Trainer:
    """A run: its network, its optimiser, and where it stands.

    Parameters
    ----------
    settings
        All that the result depends on.
    source
        The samples.
    folder
        Where the run is kept.
    machine
        Where and how it is computed.
    after_epoch
        Called with the row of the log when an epoch is done.
    """

    def __init__(
        self,
        settings: TrainSettings,
        source: Source,
        folder: RunFolder,
        machine: Machine,
        after_epoch: Callable[[Mapping[str, float]], None] | None = None,
    ) -> None:
        self.settings = settings
        self.source = source
        self.folder = folder
        self.machine = machine
        self.after_epoch = after_epoch
        self.device = torch.device(machine.device)
        self.network = build_network(settings, source.facts).to(self.device)
        if settings.queries < 1 and not getattr(self.network, "takes_queries", False):
            raise SynthprobeError(
                f"{settings.name} cannot be trained on a share of the positions: take --queries 1."
            )
        self.input_name = find_probe(source.facts.dataset).input
        self.two_tasks = settings.loss == TWO_TASK
        self.feed = Feed(
            source.train.beside(CLASSES_OF) if self.two_tasks else source.train,
            samples=settings.samples,
            batch=settings.batch,
            seed=settings.seed,
            workers=machine.workers,
            share=machine.share,
        )
        self.loss = make_loss(settings.loss, settings.loss_options)
        self.augment = make_augmentation(settings)
        if settings.stochastic_depth:
            set_stochastic_depth(self.network, settings.stochastic_depth)
        self.optimizer = make_optimizer(
            settings.optimizer,
            self.network.parameters(),
            lr=settings.rate,
            weight_decay=settings.weight_decay,
            **settings.optimizer_options,
        )
        self.schedule = make_schedule(
            settings.schedule,
            self.optimizer,
            steps=self.feed.steps * settings.epochs,
            **settings.schedule_options,
        )
        if machine.share.world > 1 and getattr(self.optimizer, "needs_loss", False):
            raise SynthprobeError(
                f"the optimiser {settings.optimizer} trains in one process: start it without "
                f"torchrun."
            )
        self.at = RunStep()
        self.loss_sum = 0.0
        self.seconds = 0.0
        self.made_by = provenance(settings.name)
        self._random: Mapping[str, Tensor] | None = None

    def take_up(self) -> None:
        """Stand where the checkpoint of the folder stands, if there is one.

        `FolderError` if it is of another run, or damaged; nothing in the folder is changed.
        """
        if self.folder.checkpoint.exists():
            self._restore(load_checkpoint(self.folder.checkpoint, self.device))

    def run(self, *, resume: bool = False) -> None:
        """Train to the end; with ``resume``, from the checkpoint of the folder if there is one.

        A run goes on bit for bit with as many processes as it was begun with.
        """
        torch.manual_seed(self.settings.seed + self.machine.share.rank)
        if resume and self._random is None:
            self.take_up()
        if self._random is not None:
            set_state(self._random, self.device, self.machine.share)
        if self.machine.share.rank == 0:
            self.folder.cut_log(self.at.epoch)
        model = self._wrapped()
        started = time.perf_counter() - self.seconds
        with self._bar() as bar:
            for epoch in range(self.at.epoch, self.settings.epochs):
                for batch, whole in self.feed.epoch(self.at):
                    loss = self._step(model, batch, whole)
                    self.loss_sum += loss
                    self.at = RunStep(epoch, self.at.step + 1)
                    self.seconds = time.perf_counter() - started
                    bar.step(loss, self.rate)
                    done = self.at.step
                    if done % self.machine.checkpoint_every == 0 and done < self.feed.steps:
                        self._save()
                bar.epoch(self._end_epoch(epoch))

    @property
    def rate(self) -> float:
        """The learning rate of the next step."""
        return float(self.optimizer.param_groups[0]["lr"])

    @property
    def done(self) -> int:
        """Steps that are done."""
        return self.at.epoch * self.feed.steps + self.at.step

    def _step(self, model: nn.Module, batch: dict[str, Tensor], whole: int) -> float:
        """One step of the optimiser; the loss of this process' share of the batch."""
        rate = self.rate
        if getattr(self.optimizer, "needs_loss", False):
            return self._second_order_step(model, batch)
        loss = self._loss(model, batch)
        # Shares of a batch may differ in size: weighted, their mean is the loss of the batch.
        weight = len(batch["target"]) * self.machine.share.world / whole if batch else 0.0
        (loss * weight).backward()
        value = self._checked(loss.detach(), rate)
        with self._states():
            self.optimizer.step()
            self.schedule.step()
        self.optimizer.zero_grad(set_to_none=True)
        return value

    def _second_order_step(self, model: nn.Module, batch: dict[str, Tensor]) -> float:
        """One step of a method that computes the loss of a batch several times."""
        optimizer: Any = self.optimizer
        with self._states():
            loss = optimizer.step(lambda: self._loss(model, batch))
            self.schedule.step()
        self.optimizer.zero_grad(set_to_none=True)
        return self._checked(loss.detach(), self.rate)

    def _checked(self, loss: Any, rate: float) -> float:
        """The loss as a number; `DivergedError` if it is none."""
        value = float(loss)
        if not math.isfinite(value):
            raise DivergedError(
                f"the loss is {value} at step {self.done}, at a learning rate of {rate:.3g}: try a "
                f"smaller rate, a longer warm-up, or the precision float32."
            )
        return value

    def _loss(self, model: nn.Module, batch: dict[str, Tensor]) -> Tensor:
        if not batch:  # a last batch smaller than the number of processes
            # Two, as batch normalisation cannot do with one.
            x = torch.zeros(2, *self.source.facts.input_shape, device=self.device)
            return model(x).sum() * 0
        x = batch[self.input_name].to(self.device, non_blocking=True)
        target = batch["target"].to(self.device, non_blocking=True)
        extra = {"classes": find_classes(batch).to(self.device)} if self.two_tasks else {}
        if self.augment is not None:
            x, target, classes = self.augment(x, target, extra.get("classes"), self.at)
            extra = {} if classes is None else {"classes": classes}
        queries = self._queries(math.prod(x.shape[2:]))
        with self._precision(), explained(self.settings.name):
            prediction = model(x) if queries is None else model(x, queries)
        if queries is not None:
            target = target.flatten(2)[..., queries]
        loss = self.loss(prediction.float(), target, **extra)
        for weight, hint in getattr(self.network, "auxiliary", ()):  # of auxiliary heads
            loss = loss + weight * self.loss(hint.float(), target, **extra)
        return loss

    def _queries(self, positions: int) -> Tensor | None:
        """The positions at which the loss of this step is computed; ``None`` for all."""
        if self.settings.queries == 1:
            return None
        drawn = stream(self.settings.seed, _QUERIES, self.at).permutation(positions)
        count = max(1, round(positions * self.settings.queries))
        return torch.from_numpy(drawn[:count]).to(self.device)

    def _precision(self) -> Any:
        if self.settings.precision == "float32":
            return nullcontext()
        return torch.autocast(self.device.type, dtype=torch.bfloat16)

    def _states(self) -> AbstractContextManager[None]:
        """Where states are used, which may be those of a checkpoint."""
        return nullcontext() if self._random is None else fitting_checkpoint(self.settings.name)

    def _wrapped(self) -> nn.Module:
        model = BothTasks(for_both(self.network)) if self.two_tasks else self.network
        if self.machine.share.world > 1:
            with explained(self.settings.name):
                model = joined(model, self.source.facts.input_shape, self.device)
        return torch.compile(model) if self.machine.compile else model  # type: ignore[return-value]

    def _end_epoch(self, epoch: int) -> dict[str, float]:
        steps = self.feed.steps
        row = {
            "epoch": epoch + 1,
            "step": (epoch + 1) * steps,
            "loss": self.loss_sum / steps,
            "rate": self.rate,
            "seconds": self.seconds,
        }
        self.loss_sum = 0.0
        self.at = RunStep(epoch + 1, 0)
        if self.machine.share.rank == 0:
            self.folder.log(row)
            if self.after_epoch is not None:
                self.after_epoch(row)
        self._save()
        return row

    def _save(self) -> None:
        random = gathered_state(self.device, self.machine.share)
        if self.machine.share.rank != 0:
            return
        Checkpoint(
            settings=self.settings,
            data=self.source.facts,
            epoch=self.at.epoch,
            step=self.at.step,
            loss_sum=self.loss_sum,
            seconds=self.seconds,
            model=self.network.state_dict(),
            optimizer=self.optimizer.state_dict(),
            schedule=self.schedule.state_dict(),
            random=random,
            made_by=self.made_by,
        ).save(self.folder.checkpoint)

    def _restore(self, saved: Checkpoint) -> None:
        same = self.settings.same_as(saved.settings.to_dict())
        if not same or saved.data != self.source.facts:
            raise FolderError(
                f"{self.folder.path} was begun with other settings or on other data: take those, "
                f"or another folder."
            )
        load_weights(self.network, saved)
        with fitting_checkpoint(self.settings.name):
            self.optimizer.load_state_dict(dict(saved.optimizer))
            self.schedule.load_state_dict(dict(saved.schedule))
            self.rate  # noqa: B018 - fails unless it is a number
        if saved.epoch > self.settings.epochs or saved.step >= self.feed.steps:
            raise FolderError(
                f"the checkpoint stands at epoch {saved.epoch}, step {saved.step}: the run has "
                f"{self.settings.epochs} epochs of {self.feed.steps} steps."
            )
        self._random = saved.random
        self.at = RunStep(saved.epoch, saved.step)
        self.loss_sum, self.seconds = saved.loss_sum, saved.seconds

    def _bar(self) -> RunBar:
        settings = self.settings
        return RunBar(
            self.machine.label or run_label(settings.name, settings.probe, settings.seed),
            epochs=settings.epochs,
            steps=self.feed.steps,
            done=self.done,
            shown=self.machine.progress and self.machine.share.rank == 0,
        )
