"""Profiles: one structure on all probes, and which of their abilities it has."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from synthprobe_data import SynthprobeError, __version__
from synthprobe_models.data.source import Source, open_source
from synthprobe_models.data.torch_datasets import ShardDataset
from synthprobe_models.experiments.profile.facts import (
    Cell,
    Profile,
    merged,
    read_profile,
    recorded_cell,
)
from synthprobe_models.experiments.profile.standing import is_kept, standings
from synthprobe_models.experiments.records import keep_record, read_records, restore_records
from synthprobe_models.experiments.samples import data_file, with_further
from synthprobe_models.files import FolderError, make_folder, replaced
from synthprobe_models.inspection.inspect import check_name, inspect
from synthprobe_models.plugins import describe_error
from synthprobe_models.probes import PROBES, ability_of, find_probe, fitting
from synthprobe_models.probes.ability import NOT_TRIED, Evidence, Outcome
from synthprobe_models.registry import STRUCTURES, Structure
from synthprobe_models.training.parallel import Plan, check_jobs, train_ahead
from synthprobe_models.training.progress import run_label, say
from synthprobe_models.training.run import commit, finished_run
from synthprobe_models.training.run_folder import RunFolder
from synthprobe_models.training.run_key import write_key
from synthprobe_models.training.settings import PROFILE_PRESETS, TrainSettings
from synthprobe_models.training.source_hash import structure_hash
from synthprobe_models.training.trainer import Machine

_INSPECTED: Final = {"sights", "growth", "layer", "width", "sensitivity"}
"""What a page needs of an inspection."""
GUESS: Final = "guess"
"""Where the record of a run says what guessing reaches."""


@dataclass(kw_only=True)
class Profiler:
    """Makes profiles in one folder, which keeps data, runs and inspections.

    What is there already is kept: a run that is complete is not trained again, and one that was
    interrupted goes on. One that was made from another source of the structure, or by another
    version of synthprobe, is set aside and trained again. Probes that are not asked for stay as an
    earlier profile of the folder has them.

    Parameters
    ----------
    out
        The folder.
    size
        The preset: ``quick`` or ``mini``.
    seeds
        Runs of a structure on each probe, with the seeds from 0; by default as many as the answer
        needs. Fewer are a first look, whose answer is *too few seeds*.
    probes
        Which probes.
    epochs
        Instead of those of the preset.
    force
        Train and inspect structures again, though they are complete.
    jobs
        How many runs of a structure to train at a time, each in a process of its own with its share
        of the threads.
    machine
        Where and how to compute.
    command
        What the results say they came from.
    recorded
        Train nothing: take all results from the records of the folder.
    """

    out: Path
    size: str = "quick"
    seeds: int | None = None
    probes: Sequence[str] = field(default_factory=lambda: profiled_probes())
    epochs: int | None = None
    force: bool = False
    jobs: int = 1
    machine: Machine = field(default_factory=Machine)
    command: str | None = None
    recorded: bool = False
    _sources: dict[str, tuple[Source, float]] = field(default_factory=dict, init=False)
    _numbers: dict[tuple[str, str, int], int] = field(default_factory=dict, init=False)
    """By name, probe and seed: the place of each run among all that are needed."""

    def __post_init__(self) -> None:
        if self.seeds is not None and self.seeds < 1:
            raise SynthprobeError(f"seeds is {self.seeds}: it must be 1 or more.")
        check_jobs(self.jobs)
        for probe in self.probes:
            if probe not in PROBES:
                raise SynthprobeError(
                    f"there is no probe {probe!r}: take of {', '.join(profiled_probes())}."
                )
            ability_of(probe)
        if self.size not in PROFILE_PRESETS:
            raise SynthprobeError(
                f"there is no preset {self.size!r} for profiles: take one of "
                f"{', '.join(PROFILE_PRESETS)}."
            )
        for probe in self.probes:
            self._settings("", probe, 0)  # wrong ones are said before anything is done

    def expect(self, names: Sequence[str]) -> None:
        """Number the runs that these structures need, and say what becomes of those on disk.

        Parameters
        ----------
        names
            All that will be profiled.
        """
        if self.recorded:
            return
        for probe in self.probes:
            restore_records(self.out / "runs" / probe)
        for name in names:
            for probe in self.probes:
                if probe in fitting(name):
                    for seed in range(self._wanted_seeds(probe)):
                        self._numbers.setdefault((name, probe, seed), len(self._numbers) + 1)
        wanted = [
            (self._settings(*run), self._folder(*run)) for run in self._numbers if not self.force
        ]
        if self.machine.progress:
            for line in standings(wanted):
                say(line)

    def _wanted_seeds(self, probe: str) -> int:
        return ability_of(probe).seeds if self.seeds is None else self.seeds

    def profile(self, name: str) -> Profile:
        """Find out all about a structure."""
        structure = find(name)
        make_folder(self.out)
        if (name, self.probes[0], 0) not in self._numbers:
            self.expect([name])
        before = read_profile(self.out, name, self.size)
        if not self.recorded:
            self._train_ahead(
                name,
                [
                    (probe, seed)
                    for probe in reversed(self.probes)  # those that take longest first
                    if probe in fitting(name)
                    for seed in range(self._wanted_seeds(probe))
                ],
            )
        inspection, wrong = self._inspection(name)
        now = Profile(
            name=name,
            title=structure.title,
            source=structure.source,
            preset=self.size,
            inspection=inspection,
            wrong=wrong,
            cells={probe: self._cell(structure, probe) for probe in self._asked(name)},
        )
        return merged(now, before)

    def _asked(self, name: str) -> list[str]:
        """The probes that something can be said of."""
        return [
            probe
            for probe in self.probes
            if not self.recorded or probe not in fitting(name) or self.records(name, probe)
        ]

    def options(self, name: str, probe: str) -> dict[str, Any]:
        """The options of a structure in a probe."""
        chosen = find_probe(probe)
        follow = chosen.small_options(STRUCTURES[name]) if name in STRUCTURES else {}
        return {**follow, **chosen.samples(self.size).options.get(name, {})}

    def _cell(self, structure: Structure, probe: str) -> Cell:
        cell = self._tried(structure, probe)
        if self.recorded and cell.results:
            return recorded_cell(structure.name, probe, cell)
        return dataclasses.replace(cell, structure=structure_hash(structure.name))

    def answer(self, name: str, probe: str, seeds: Sequence[int]) -> Cell:
        """What these seeds alone say of a structure on a probe that it fits.

        Parameters
        ----------
        name, probe
            Of the structure and of the probe.
        seeds
            Their runs are trained, or kept.
        """
        self._train_ahead(name, [(probe, seed) for seed in seeds])
        return self._tried(find(name), probe, seeds)

    def _train_ahead(self, name: str, wanted: Sequence[tuple[str, int]]) -> None:
        """Train runs of a structure, several at a time; `_tried` then finds them complete.

        Parameters
        ----------
        name
            Of the structure.
        wanted
            Probe and seed of each run.
        """
        if self.force:
            for probe, seed in wanted:
                self._begin_anew(name, probe, seed)
        runs = [
            (probe, self._settings(name, probe, seed), self._folder(name, probe, seed))
            for probe, seed in wanted
        ]
        plans = [
            Plan(
                settings=settings,
                source=self._source(probe)[0],
                out=out,
                label=self._label(name, probe, settings.seed),
            )
            for probe, settings, out in runs
            if self.jobs > 1 and not is_kept(settings, out)
        ]
        if len(plans) > 1:
            train_ahead(
                plans, jobs=self.jobs, machine=self.machine, command=self.command, picture_every=0
            )

    def _begin_anew(self, name: str, probe: str, seed: int) -> None:
        settings = self._settings(name, probe, seed)
        folder = RunFolder(self._folder(name, probe, seed))
        folder.begin(settings.to_dict(), resume=False, force=True)
        write_key(folder, settings)

    def _tried(self, structure: Structure, probe: str, seeds: Sequence[int] | None = None) -> Cell:
        if probe not in fitting(structure.name):
            axes = " or ".join(str(n) for n in structure.dimensions)
            return Cell(
                outcome=Outcome(NOT_TRIED, f"does not fit: it takes positions along {axes} axes")
            )
        if not self.recorded:
            self._source(probe)  # which no structure can help, either
        try:
            results, guess = self._results(structure.name, probe, seeds)
        except FolderError:  # nothing that the structure could help
            raise
        except SynthprobeError as error:
            return Cell(outcome=Outcome(NOT_TRIED, f"failed: {str(error).rstrip('.')}"))
        except Exception as error:  # whatever the code of somebody else does
            return Cell(outcome=Outcome(NOT_TRIED, f"failed: {describe_error(error)}"))
        return _judged(probe, results, guess)

    def _results(
        self, name: str, probe: str, seeds: Sequence[int] | None
    ) -> tuple[list[dict[str, Any]], float]:
        """The results of all seeds, or of these, and what guessing reaches."""
        if self.recorded:
            kept = self.records(name, probe)
            return kept, float(kept[0][GUESS])
        guess = self._source(probe)[1]
        seeds = range(self._seeds(name, probe)) if seeds is None else seeds
        return [self._run(name, probe, seed) for seed in seeds], guess

    def has_records(self, name: str) -> bool:
        """Whether there are results of runs of a structure, on any of the probes."""
        return any(self.records(name, probe) for probe in self.probes)

    def records(self, name: str, probe: str) -> list[dict[str, Any]]:
        """The results of the runs of a structure that are recorded in the folder."""
        return read_records(self.out / "runs" / probe, name)

    def _settings(self, name: str, probe: str, seed: int) -> TrainSettings:
        return TrainSettings(
            **{
                **find_probe(probe).preset(self.size),
                "name": name,
                "probe": probe,
                "seed": seed,
                "options": self.options(name, probe),
                **({} if self.epochs is None else {"epochs": self.epochs}),
            }
        )

    def _folder(self, name: str, probe: str, seed: int) -> Path:
        return self.out / "runs" / probe / f"{name}-{seed}"

    def _seeds(self, name: str, probe: str) -> int:
        """The seeds that are wanted, and those after them of which there are complete runs."""
        seeds = self._wanted_seeds(probe)
        while is_kept(self._settings(name, probe, seeds), self._folder(name, probe, seeds)):
            seeds += 1
        return seeds

    def _label(self, name: str, probe: str, seed: int) -> str:
        """Which run it is, and the how many-eth of all."""
        number = self._numbers.get((name, probe, seed))
        place = None if number is None else (number, len(self._numbers))
        return run_label(name, probe, seed, self._wanted_seeds(probe), place)

    def _run(self, name: str, probe: str, seed: int) -> dict[str, Any]:
        source, guess = self._source(probe)
        out = self._folder(name, probe, seed)
        result = finished_run(
            self._settings(name, probe, seed),
            source,
            out,
            machine=dataclasses.replace(self.machine, label=self._label(name, probe, seed)),
            picture_every=0,
            command=self.command,
        )
        keep_record(out, {**result, GUESS: guess})
        return result

    def _source(self, probe: str) -> tuple[Source, float]:
        """The samples of a probe, and what guessing reaches on them."""
        if probe not in self._sources:
            samples = PROBES[probe].samples(self.size)
            source = with_further(
                open_source(data_file(probe, samples, self.out / "data"), probe=probe),
                samples,
                self.out / "data",
            )
            assert isinstance(source.train, ShardDataset)
            assert isinstance(source.test, ShardDataset)
            guess = PROBES[probe].guess(source.train.all(), source.test.all(), source.facts.config)
            self._sources[probe] = source, guess
        return self._sources[probe]

    def _inspection(self, name: str) -> tuple[dict[str, Any] | None, str | None]:
        """What can be said without training, or why nothing can."""
        path = self.out / "inspections" / f"{name}.json"
        made_from = {"commit": commit(), "version": __version__, "structure": structure_hash(name)}
        if not self.force:
            try:
                kept = json.loads(path.read_text(encoding="utf-8"))
                same = {key: kept.get(key) for key in made_from} == made_from
                if same and kept["inspection"].keys() >= _INSPECTED:
                    return kept["inspection"], None
            except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
                pass  # not there, or not whole: look again
        if self.machine.progress:
            say(f"{name}: checks without training")
        try:
            found = inspect(name)
        except SynthprobeError as error:
            return None, str(error)
        facts = found.to_dict()
        facts["sensitivity"] = found.sights[0].centre.sensitivity.tolist()
        make_folder(path.parent)
        with replaced(path) as part:
            part.write_text(json.dumps({**made_from, "inspection": facts}) + "\n", encoding="utf-8")
        return facts, None


def _judged(probe: str, results: list[dict[str, Any]], guess: float) -> Cell:
    """The answer of some runs."""
    ability = ability_of(probe)
    found = Evidence(
        train=[result["train"][ability.measure] for result in results],
        test=[result["test"][ability.measure] for result in results],
        guess=guess,
        more={name: [result["test"][name] for result in results] for name in ability.more},
    )
    measured = (*found.train, *found.test, *itertools.chain(*found.more.values()))
    if not all(math.isfinite(value) for value in measured):
        outcome = Outcome(NOT_TRIED, "failed: its predictions are not numbers")
        return Cell(outcome=outcome, results=results)
    return Cell(outcome=ability.decide(found), evidence=found, results=results)


def find(name: str) -> Structure:
    """The structure with this name; `SynthprobeError` for whole networks and unknown names."""
    check_name(name)
    if name not in STRUCTURES:
        raise SynthprobeError(f"{name} is a whole network: a profile is one of a structure.")
    return STRUCTURES[name]


def profiled_probes() -> tuple[str, ...]:
    """All probes that ask for an ability, those with many training samples last."""
    asked = {name: probe for name, probe in PROBES.items() if probe.ability is not None}
    sizes = {
        name: min(data.sizes.get("train", 0) for data in probe.data.values())
        for name, probe in asked.items()
    }
    return tuple(sorted(asked, key=lambda name: sizes[name]))
