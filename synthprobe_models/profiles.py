"""Profiles: one structure on all probes, and which of their abilities it has."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from synthprobe_data import SynthprobeError, __version__
from synthprobe_models.abilities import ABILITIES, NOT_TRIED, Evidence, Outcome
from synthprobe_models.checkpoint import FolderError, make_folder, replaced
from synthprobe_models.guesses import GUESSES
from synthprobe_models.inspection import check_name, inspect
from synthprobe_models.load import describe_error
from synthprobe_models.probes import fitting
from synthprobe_models.profile_facts import Cell, Profile, merged, read_profile
from synthprobe_models.profile_options import RDE_OPTIONS, WINDOWS
from synthprobe_models.progress import run_label, say
from synthprobe_models.registry import STRUCTURES, Structure
from synthprobe_models.run_folder import RunFolder
from synthprobe_models.run_key import write_key
from synthprobe_models.runs import commit, finished_run
from synthprobe_models.settings import PROFILE_PRESETS, TrainSettings, preset
from synthprobe_models.source import Source, open_source
from synthprobe_models.source_hash import structure_hash
from synthprobe_models.standing import is_kept, standings
from synthprobe_models.table_runs import TableData
from synthprobe_models.tables import DATA, data_file
from synthprobe_models.train import Machine

BASELINE: Final = "unet"
"""What a structure is compared with on RDE: the U-Net without it."""
BASELINE_SEEDS: Final = 4
"""The baseline is trained with at least so many seeds, as its spread decides for all structures."""
_INSPECTED: Final = {"sights", "growth", "layer", "width", "sensitivity"}
"""What a page needs of an inspection."""
_TABLES: Final = {"rde": 1, "centered-square": 2, "color-code": 3}

QUICK: Final[Mapping[str, TableData]] = {
    "rde": TableData(
        # A strip, longer than what the baseline sees, and so low that what a T-junction means is
        # soon learnt.
        config={
            "height": 8,
            "width": 64,
            "n_rectangles": 2,
            "n_vis": 2,
            "n_gap": 2,
            "n_par": 2,
            "min_size": 0.3,
        },
        sizes={"train": 14_000, "test": 500},
        options=RDE_OPTIONS,
    ),
    "centered-square": TableData(config={"height": 16, "width": 16, "square": 5}, options=WINDOWS),
    "color-code": TableData(
        config={"positions": 32, "colors": 5}, sizes={"train": 3_200, "test": 500}
    ),
}
"""By probe: the samples of the preset ``quick``, smaller than those of ``mini``."""


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
        Runs of a structure on each probe, with the seeds from 0.
    probes
        Which probes.
    epochs
        Instead of those of the preset.
    force
        Train and inspect structures again, though they are complete; not the baseline.
    machine
        Where and how to compute.
    command
        What the results say they came from.
    """

    out: Path
    size: str = "quick"
    seeds: int = 1
    probes: Sequence[str] = tuple(ABILITIES)
    epochs: int | None = None
    force: bool = False
    machine: Machine = field(default_factory=Machine)
    command: str | None = None
    _sources: dict[str, tuple[Source, float]] = field(default_factory=dict, init=False)
    _numbers: dict[tuple[str, str, int], int] = field(default_factory=dict, init=False)
    """By name, probe and seed: the place of each run among all that are needed."""

    def __post_init__(self) -> None:
        if self.seeds < 1:
            raise SynthprobeError(f"seeds is {self.seeds}: it must be 1 or more.")
        for probe in self.probes:
            if probe not in ABILITIES:
                raise SynthprobeError(
                    f"there is no probe {probe!r}: take of {', '.join(ABILITIES)}."
                )
        if self.size not in PROFILE_PRESETS:
            raise SynthprobeError(
                f"there is no preset {self.size!r} for profiles: take one of "
                f"{', '.join(PROFILE_PRESETS)}."
            )
        for probe in self.probes:
            self._settings(BASELINE, probe, 0)  # wrong ones are said before anything is done

    def expect(self, names: Sequence[str]) -> None:
        """Number the runs that these structures need, and say what becomes of those on disk.

        Parameters
        ----------
        names
            All that will be profiled.
        """
        for name in names:
            for probe in self.probes:
                if probe in fitting(name):
                    self._number(name, probe, self.seeds)
                    if probe == "rde":
                        self._number(BASELINE, probe, max(self.seeds, BASELINE_SEEDS))
        wanted = [
            (self._settings(*run), self._folder(*run))
            for run in self._numbers
            if not self._is_forced(run[0])
        ]
        if self.machine.progress:
            for line in standings(wanted):
                say(line)

    def _number(self, name: str, probe: str, seeds: int) -> None:
        for seed in range(seeds):
            self._numbers.setdefault((name, probe, seed), len(self._numbers) + 1)

    def profile(self, name: str) -> Profile:
        """Find out all about a structure."""
        structure = find(name)
        make_folder(self.out)
        if (name, self.probes[0], 0) not in self._numbers:
            self.expect([name])
        before = read_profile(self.out, name, self.size)
        inspection, wrong = self._inspection(name)
        now = Profile(
            name=name,
            title=structure.title,
            source=structure.source,
            preset=self.size,
            inspection=inspection,
            wrong=wrong,
            cells={probe: self._cell(structure, probe) for probe in self.probes},
        )
        return merged(now, before)

    def data(self, probe: str) -> TableData:
        """The samples of a probe."""
        if self.size == "quick":
            return QUICK[probe]
        data = DATA[_TABLES[probe], self.size]
        if probe == "color-code":  # the published task cannot be solved wholly
            data = dataclasses.replace(data, config={**data.config, "mode": "well-posed"})
        if probe == "rde":  # structures of a kind are built alike
            data = dataclasses.replace(data, options={**RDE_OPTIONS, **data.options})
        return data

    def _cell(self, structure: Structure, probe: str) -> Cell:
        cell = self._tried(structure, probe)
        return dataclasses.replace(cell, structure=structure_hash(structure.name))

    def _tried(self, structure: Structure, probe: str) -> Cell:
        if probe not in fitting(structure.name):
            axes = " or ".join(str(n) for n in structure.dimensions)
            return Cell(
                outcome=Outcome(NOT_TRIED, f"does not fit: it takes positions along {axes} axes")
            )
        guess = self._source(probe)[1]
        ability = ABILITIES[probe]
        try:
            seeds = range(self._seeds(structure.name, probe))
            results = [self._run(structure.name, probe, seed) for seed in seeds]
            baseline = self._baseline() if probe == "rde" else []
        except FolderError:  # nothing that the structure could help
            raise
        except SynthprobeError as error:
            return Cell(outcome=Outcome(NOT_TRIED, f"failed: {str(error).rstrip('.')}"))
        except Exception as error:  # whatever the code of somebody else does
            return Cell(outcome=Outcome(NOT_TRIED, f"failed: {describe_error(error)}"))
        found = Evidence(
            train=[result["train"][ability.measure] for result in results],
            test=[result["test"][ability.measure] for result in results],
            guess=guess,
            baseline=[result["test"][ability.measure] for result in baseline],
        )
        if not all(math.isfinite(value) for value in (*found.train, *found.test)):
            outcome = Outcome(NOT_TRIED, "failed: its predictions are not numbers")
            return Cell(outcome=outcome, results=results, baseline=baseline)
        return Cell(
            outcome=ability.decide(found), evidence=found, results=results, baseline=baseline
        )

    def _baseline(self) -> list[dict[str, Any]]:
        seeds = range(max(self.seeds, BASELINE_SEEDS))
        return [self._run(BASELINE, "rde", seed) for seed in seeds]

    def _settings(self, name: str, probe: str, seed: int) -> TrainSettings:
        return TrainSettings(
            **{
                **preset(probe, self.size),
                "name": name,
                "probe": probe,
                "seed": seed,
                "options": dict(self.data(probe).options.get(name, {})),
                **({} if self.epochs is None else {"epochs": self.epochs}),
            }
        )

    def _folder(self, name: str, probe: str, seed: int) -> Path:
        return self.out / "runs" / probe / f"{name}-{seed}"

    def _is_forced(self, name: str) -> bool:
        return self.force and name != BASELINE

    def _seeds(self, name: str, probe: str) -> int:
        """The seeds that are wanted, and those after them of which there are complete runs."""
        seeds = self.seeds
        while is_kept(self._settings(name, probe, seeds), self._folder(name, probe, seeds)):
            seeds += 1
        return seeds

    def _label(self, name: str, probe: str, seed: int) -> str:
        """Which run it is, and the how many-eth of all."""
        seeds = max(self.seeds, BASELINE_SEEDS) if name == BASELINE else self.seeds
        number = self._numbers.get((name, probe, seed))
        place = None if number is None else (number, len(self._numbers))
        return run_label(name, probe, seed, seeds, place)

    def _run(self, name: str, probe: str, seed: int) -> dict[str, Any]:
        settings = self._settings(name, probe, seed)
        out = self._folder(name, probe, seed)
        if self._is_forced(name) and seed < self.seeds:
            folder = RunFolder(out)
            folder.begin(settings.to_dict(), resume=False, force=True)
            write_key(folder, settings)
        return finished_run(
            settings,
            self._source(probe)[0],
            out,
            machine=dataclasses.replace(self.machine, label=self._label(name, probe, seed)),
            picture_every=0,
            command=self.command,
        )

    def _source(self, probe: str) -> tuple[Source, float]:
        """The samples of a probe, and what guessing reaches on them."""
        if probe not in self._sources:
            path = data_file(probe, self.data(probe), self.out / "data")
            source = open_source(path, probe=probe)
            self._sources[probe] = source, GUESSES[probe](source)
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


def find(name: str) -> Structure:
    """The structure with this name; `SynthprobeError` for whole networks and unknown names."""
    check_name(name)
    if name not in STRUCTURES:
        raise SynthprobeError(f"{name} is a whole network: a profile is one of a structure.")
    return STRUCTURES[name]
