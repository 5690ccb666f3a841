"""What the commands that train do."""

from __future__ import annotations

import argparse
import csv
import dataclasses
import itertools
import json
import os
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import torch

from synthprobe_data import DATASETS, SynthprobeError, cores, is_quiet, is_suite, options
from synthprobe_models.cli.run_settings import NAMED, OPTIONS
from synthprobe_models.cli.train_config import config_text, take_config
from synthprobe_models.data.feed import BatchShare
from synthprobe_models.data.source import STREAM, Source, open_source
from synthprobe_models.evaluation.evaluate import Evaluation
from synthprobe_models.evaluation.rde.order_report import explained_lines, order_facts
from synthprobe_models.experiments.designs.study import Study, run_study, study_facts
from synthprobe_models.experiments.designs.study import write_page as write_designs
from synthprobe_models.experiments.make import make_table, remake_table
from synthprobe_models.experiments.profile.facts import Profile, profile_facts, read_others
from synthprobe_models.experiments.profile.matrix import MATRIX, write_matrix
from synthprobe_models.experiments.profile.page import write_page
from synthprobe_models.experiments.profile.profiler import Profiler, find, profiled_probes
from synthprobe_models.experiments.profile.standing import standings
from synthprobe_models.files import make_folder, plain_json
from synthprobe_models.inspection.inspect import check_name
from synthprobe_models.metrics import METRICS, directions
from synthprobe_models.probes import find_probe, fitting
from synthprobe_models.reach.by_distance import DistanceScores
from synthprobe_models.reach.curve import write_curves
from synthprobe_models.registry import STRUCTURES
from synthprobe_models.scoring.suite import score_suite, suite_facts, suite_lines
from synthprobe_models.seeds.interval import interval_of
from synthprobe_models.training.distributed import process_group
from synthprobe_models.training.exported import export_run, weights_file
from synthprobe_models.training.loggers import make_logger
from synthprobe_models.training.progress import say
from synthprobe_models.training.run import evaluate_checkpoint, finished_run, train_run
from synthprobe_models.training.settings import PROFILE_PRESETS, TrainSettings
from synthprobe_models.training.sweep import RUNS, sweep
from synthprobe_models.training.trainer import Machine

_BOUNDS: Final = {
    "workers": (0, 256),
    "jobs": (1, 256),
    "threads": (1, 1024),
    "seeds": (1, 1000),
    "picture_every": (0, 10**9),
    "checkpoint_every": (1, 10**9),
}
"""Each thread and process takes memory of its own, and each seed is a run."""
_MOST_WORST: Final = 1_000_000


def train(given: argparse.Namespace) -> int:
    """Train a structure, and say what it scores."""
    take_config(given)
    source = _source(given)
    settings = _settings(given, source, given.from_config)
    if given.print_config:
        print(config_text(settings, source, str(given.on)), end="")
        return 0
    loggers = [make_logger(name) for name in dict.fromkeys(given.log_to)]
    folder = f"{settings.probe}-{settings.name}-{settings.seed}".replace(":", "-")
    out = given.out or Path("runs") / folder
    with _processes(given.device) as share:
        result = train_run(
            settings,
            source,
            out,
            machine=_machine(given, share),
            picture_every=given.picture_every,
            resume=given.resume,
            force=given.force,
            command=given.command_line,
            loggers=loggers,
        )
    if result and given.export is not None:
        export_run(out, out / given.export, force=True)
    if result and given.json:
        print(plain_json({"out": str(out), **result}, indent=1))
    elif result:
        if "validation" in result:
            on = f"on {result['validation_samples']} validation samples"
            print(f"{out}: {_figures(result['validation'])} {on}")
        print(
            f"{out}: {_figures(result['test'])} on {result['test_samples']} test samples, "
            f"{result['parameters']} parameters, {result['seconds']:.1f} s"
        )
    return 0


def search(given: argparse.Namespace) -> int:
    """Search for a learning rate."""
    source = _source(given)
    settings = _settings(given, source, {})
    machine = _machine(given, BatchShare())
    numbers = itertools.count(1)

    def run(at_rate: TrainSettings, samples: Source, out: Path) -> dict[str, Any]:
        for line in standings([(at_rate, out)]):
            say(f"{out}: {line}")
        label = f"{at_rate.probe}, {at_rate.name}, rate {at_rate.rate:g}, {next(numbers)} of {RUNS}"
        labelled = dataclasses.replace(machine, label=label)
        return finished_run(at_rate, samples, out, machine=labelled, command=given.command_line)

    results = sweep(settings, source, given.out, run)
    if given.json:
        print(plain_json(results, indent=1))
        return 0
    for result in results:
        split = "validation" if result.get("validation") else "train"
        print(f"{result['settings']['rate']:<8g} {split}: {_figures(result[split])}")
    return 0


def evaluate(given: argparse.Namespace) -> int:
    """Evaluate one checkpoint, or several of other seeds."""
    if given.worst < 0:
        raise SynthprobeError(f"worst is {given.worst}: it must be a whole number from 0.")
    if given.worst > _MOST_WORST:
        raise SynthprobeError(f"worst is {given.worst}: it must be at most {_MOST_WORST}.")
    if given.explain is not None and not given.worst:
        raise SynthprobeError("--explain draws the worst samples: take --worst 1 or more.")
    if given.pictures is not None and not given.worst:
        raise SynthprobeError("--pictures draws the worst samples: take --worst 1 or more.")
    if len(given.checkpoints) > 1 and (given.explain or given.pictures):
        raise SynthprobeError("--explain and --pictures are for one checkpoint: name only one.")
    paths = [weights_file(path) for path in given.checkpoints]
    if is_suite(given.on):
        return _evaluate_on_suite(given, paths)
    found = [
        evaluate_checkpoint(
            path,
            given.on,
            split=given.split,
            worst=given.worst,
            device=check_device(given.device),
            pictures=given.pictures,
            explain=given.explain,
        )
        for path in paths
    ]
    if given.plot is not None:
        _plot([(saved.settings.name, scores) for saved, scores in found], given.plot, given.on)
    if given.json:
        facts = [
            {
                "checkpoint": str(path),
                "on": str(given.on),
                "split": given.split,
                "name": saved.settings.name,
                "epochs": saved.epoch,
                "samples": scores.samples,
                **({} if scores.aligned is None else {"aligned": scores.aligned}),
                "metrics": scores.metrics,
                **directions(scores.metrics),
                "worst": [{"index": index, "loss": loss} for index, loss in scores.worst],
                **order_facts(scores),
            }
            for path, (saved, scores) in zip(paths, found, strict=True)
        ]
        print(plain_json(facts[0] if len(facts) == 1 else facts, indent=2))
        return 0
    for saved, scores in found:
        epochs = "1 epoch" if saved.epoch == 1 else f"{saved.epoch} epochs"
        print(f"{saved.settings.name} after {epochs}, {scores.samples} samples")
        if scores.aligned is not None:
            print(f"aligned by a scale and a shift for each picture, as {scores.aligned}")
        for name, value in scores.metrics.items():
            better = "higher" if METRICS[name].higher_is_better else "lower"
            print(f"  {name:<22} {value:<12.6g} {better} is better: {METRICS[name].meaning}")
        if scores.order is not None:
            print("\n".join(["", *scores.order.lines(), ""]))
        if scores.worst:
            print("worst: " + ", ".join(f"{index} ({loss:.3g})" for index, loss in scores.worst))
        for explained in scores.explained:
            print("\n".join(explained_lines(explained)))
    if len(found) > 1:
        print("\n".join(_over_seeds([scores.metrics for _, scores in found])))
    return 0


def _evaluate_on_suite(given: argparse.Namespace, paths: Sequence[Path]) -> int:
    """Evaluate each checkpoint on each member of a suite, and print one table for each."""
    if given.pictures or given.explain or given.plot:
        raise SynthprobeError(
            "--pictures, --explain and --plot are for one dataset: name one file of the suite."
        )
    found = [
        score_suite(path, on=given.on, worst=0, device=check_device(given.device)) for path in paths
    ]
    if given.json:
        facts = [
            {"checkpoint": str(path), "on": str(given.on), "members": suite_facts(rows)}
            for path, rows in zip(paths, found, strict=True)
        ]
        print(plain_json(facts[0] if len(facts) == 1 else facts, indent=2))
        return 0
    for path, rows in zip(paths, found, strict=True):
        print("\n".join(suite_lines(str(path.parent), rows)))
    return 0


def _over_seeds(metrics: Sequence[Mapping[str, float]]) -> list[str]:
    """Each metric over several checkpoints: the mean and its interval."""
    lines = [f"over {len(metrics)} checkpoints, with the 95% t-interval of the mean"]
    for name in metrics[0]:
        values = [one[name] for one in metrics]
        low, high = interval_of(values)
        lines.append(f"  {name:<22} {statistics.fmean(values):<12.6g} {low:.6g} to {high:.6g}")
    return lines


def _plot(found: Sequence[tuple[str, Evaluation]], path: Path, on: str) -> None:
    """The accuracy by distance: a curve for each name, with the band over its checkpoints."""
    curves: dict[str, list[Any]] = {}
    for name, scores in found:
        if not isinstance(scores.order, DistanceScores):
            raise SynthprobeError(f"--plot draws the accuracy by distance: {on} has no twins.")
        curves.setdefault(name, []).append(scores.order.to_dict()["by_distance"])
    make_folder(path.parent)
    write_curves(path, curves, f"{', '.join(curves)} on {Path(on).name}")


def table(given: argparse.Namespace) -> int:
    """Make a table of the paper."""
    config = _pairs("--data", given.data)
    name = "-".join([f"table-{given.number}-{given.preset}", *map(str, config.values())])
    out = given.out or Path(name)
    if given.pages:
        paths = remake_table(given.number, given.preset, out)
    else:
        paths = make_table(
            given.number,
            given.preset,
            out,
            seeds=given.seeds,
            rows=given.rows,
            epochs=given.epochs,
            jobs=_jobs(given),
            config=config,
            training=_pairs("--settings", given.settings),
            rates=given.rates,
            rate_epochs=given.rate_epochs,
            machine=_machine(given, BatchShare()),
            command=given.command_line,
        )
    if given.json:
        with open(paths.csv, newline="", encoding="utf-8") as file:
            print(plain_json(list(csv.DictReader(file)), indent=1))
        return 0
    print(paths.markdown.read_text(encoding="utf-8"))
    return 0


def _jobs(given: argparse.Namespace) -> int:
    """How many runs at a time: small networks leave more than one thread idle."""
    if given.jobs is not None:
        return int(given.jobs)
    small = given.preset in {*PROFILE_PRESETS, "midi"}
    return cores() if small and given.device == "cpu" else 1


def profile(given: argparse.Namespace) -> int:
    """Say which abilities some structures have."""
    if given.all == bool(given.names):
        raise SynthprobeError("name the structures to profile, or take --all.")
    names = list(STRUCTURES) if given.all else list(dict.fromkeys(given.names))
    for name in names:
        find(name)
    profiler = Profiler(
        out=given.out or Path(f"profile-{given.preset}"),
        size=given.preset,
        seeds=given.seeds,
        probes=profiled_probes() if given.probes is None else tuple(dict.fromkeys(given.probes)),
        epochs=given.epochs,
        force=given.force,
        jobs=_jobs(given),
        machine=_machine(given, BatchShare()),
        command=given.command_line,
        recorded=given.pages,
    )
    if given.pages:
        names = [name for name in names if profiler.has_records(name)]
        if not names:
            raise SynthprobeError(f"{profiler.out / 'runs'} has no results of these structures.")
    profiler.expect(names)
    done: dict[str, Profile] = {}
    for name in names:
        done[name] = profiler.profile(name)
        page = write_page(profiler.out, done[name]).markdown
        if len(names) > 1 or (profiler.out / MATRIX).exists():
            matrix = write_matrix(profiler.out, _with_others(profiler, done)).markdown
        if given.json:
            continue
        if len(names) == 1:
            print(page.read_text(encoding="utf-8"))
            return 0
        answers = (f"{probe} {cell.outcome.answer}" for probe, cell in done[name].cells.items())
        print(f"{name}: {', '.join(answers)} ({page})", flush=True)
    if given.json:
        print(plain_json([profile_facts(one) for one in done.values()], indent=1))
        return 0
    print(matrix)
    return 0


def designs(given: argparse.Namespace) -> int:
    """Compare design spaces."""
    study = Study(
        spaces=tuple(given.spaces) or ("growing-depths", "falling-depths"),
        models=given.models,
        samples=given.samples,
        seed=given.seed,
        parameters=(given.least, given.most),
        measure=given.measure,
    )
    if given.pages:
        page = write_designs(study, given.out)
    else:
        page = run_study(
            study,
            given.out,
            work=given.work,
            jobs=given.jobs,
            machine=_machine(given, BatchShare()),
            command=given.command_line,
        )
    if given.json:
        print(plain_json(study_facts(study, given.out), indent=1))
        return 0
    print(page.read_text(encoding="utf-8"))
    return 0


def _with_others(profiler: Profiler, done: Mapping[str, Profile]) -> list[Profile]:
    """What was profiled now, and what is on disk of others: a matrix has all of a folder."""
    others = read_others(profiler.out, list(done), profiler.size)
    order = list(STRUCTURES)
    return sorted([*done.values(), *others], key=lambda one: order.index(one.name))


def _source(given: argparse.Namespace) -> Source:
    if given.on != STREAM:
        if given.data:
            raise SynthprobeError("--data is for --on stream: a file has its own settings.")
        return open_source(given.on, probe=given.probe)
    check_name(given.name)
    probes = fitting(given.name)
    probe = probes[0] if given.probe is None and len(probes) == 1 else given.probe
    config = None
    if probe in DATASETS and given.data:
        config = DATASETS[probe].config.from_dict(_pairs("--data", given.data))
    return open_source(STREAM, probe=probe, config=config)


def _settings(
    given: argparse.Namespace, source: Source, from_config: Mapping[str, Any]
) -> TrainSettings:
    """The preset, over it the config, and over both what was given."""
    probe = source.facts.dataset
    check_name(given.name)
    if probe not in fitting(given.name):
        raise SynthprobeError(f"{given.name} does not fit the probe {probe}.")
    names = [setting.name for setting in options(TrainSettings)] + list(NAMED)
    chosen = {name: getattr(given, name) for name in names if getattr(given, name) is not None}
    for name in OPTIONS:
        if words := getattr(given, name):
            chosen[name] = _pairs("--" + name.replace("_", "-"), words)
    preset = find_probe(probe).preset(given.preset)
    mine = {"name": given.name, "probe": probe}
    return TrainSettings(**{**preset, **from_config, **mine, **chosen})


def _machine(given: argparse.Namespace, share: BatchShare) -> Machine:
    for name, (low, high) in _BOUNDS.items():
        value = getattr(given, name, None)
        if value is not None and not low <= value <= high:
            raise SynthprobeError(
                f"{name} is {value}: it must be a whole number from {low} to {high}."
            )
    if given.threads is not None:
        torch.set_num_threads(given.threads)
    return Machine(
        device=check_device(given.device),
        workers=given.workers,
        compile=given.compile,
        checkpoint_every=given.checkpoint_every,
        progress=not is_quiet(),
        share=share,
    )


def check_device(name: str) -> str:
    """The name of a device that is there; `SynthprobeError` for others."""
    missing = SynthprobeError(f"there is no device {name!r} here: take cpu.")
    if name.startswith("cpu:"):  # torch computes there, but does not load to it
        raise missing
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        raise missing from error
    return name


@contextmanager
def _processes(device: str) -> Iterator[BatchShare]:
    """Which of the processes that ``torchrun`` has started is this one, if any were."""
    if _check_torchrun() == 1:
        yield BatchShare()
        return
    with process_group(device) as share:
        yield share


def _check_torchrun() -> int:
    """How many processes train together, from the variables that ``torchrun`` sets."""
    world = _variable("WORLD_SIZE", 1, 65_536, default="1")
    if world > 1:
        _variable("RANK", 0, world - 1)
        _variable("MASTER_PORT", 1, 65_535)
        if not os.environ.get("MASTER_ADDR"):
            raise SynthprobeError("MASTER_ADDR is not set: start several processes by torchrun.")
    return world


def _variable(name: str, low: int, high: int, default: str | None = None) -> int:
    text = os.environ.get(name, default)
    if text is None:
        raise SynthprobeError(f"{name} is not set: start several processes by torchrun.")
    # Few digits only: Python refuses to read very long numbers.
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and low <= int(text) <= high):
        raise SynthprobeError(
            f"{name} is {text!r}: it must be a whole number from {low} to {high}."
        )
    return int(text)


def _pairs(option: str, words: Sequence[str]) -> dict[str, Any]:
    """``NAME=VALUE``, in which a value that is no JSON is a text."""
    found: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not name or not equals:
            raise SynthprobeError(f"{option} {word} is not of the form NAME=VALUE.")
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError):
            found[name] = value
    return found


def _figures(metrics: dict[str, float]) -> str:
    """Metrics with their values, and of which of them higher is better."""
    values = ", ".join(f"{name} {value:.6g}" for name, value in metrics.items())
    high = [name for name in metrics if METRICS[name].higher_is_better]
    low = [name for name in metrics if not METRICS[name].higher_is_better]
    if not high:
        return f"{values} (lower is better)"
    return f"{values} (higher is better: {', '.join(high)}; lower: {', '.join(low)})"
