"""What a run was made from besides its settings and data: a run is kept only if that is the same.

The version of synthprobe, the source and the parameters of the structure, and the source of the
network around it.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from synthprobe_data import __version__
from synthprobe_models.files import replaced
from synthprobe_models.registry import NETWORKS, STRUCTURES
from synthprobe_models.training.run_folder import RunFolder
from synthprobe_models.training.settings import TrainSettings
from synthprobe_models.training.source_hash import frame_hash, structure_hash

KEY: Final = "key"
"""Where a result has it."""


@dataclass(frozen=True, kw_only=True)
class RunKey:
    """What a run was made from."""

    version: str
    """Of synthprobe."""
    structure: str
    """The hash of the structure or network."""
    frame: str | None
    """The hash of the network that the structure was put into; ``None`` for a whole network."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return dataclasses.asdict(self)


def key_of_run(settings: TrainSettings) -> RunKey:
    """What a run with these settings would be made from now."""
    frame = None if settings.name in NETWORKS else frame_hash(settings.probe, settings.frame)
    return RunKey(version=__version__, structure=structure_hash(settings.name), frame=frame)


def write_key(folder: RunFolder, settings: TrainSettings) -> dict[str, Any]:
    """Say in a run's folder what it is made from, and return that."""
    key = key_of_run(settings).to_dict()
    with replaced(_path(folder)) as part:
        part.write_text(json.dumps(key) + "\n", encoding="utf-8")
    return key


def read_key(folder: RunFolder) -> dict[str, Any] | None:
    """What the run of a folder says it was made from; ``None`` if it does not."""
    done = folder.read_result()
    if done is not None:
        found = done.get(KEY)
    else:
        try:
            found = json.loads(_path(folder).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
    return found if isinstance(found, dict) else None


def remove_key(folder: RunFolder) -> None:
    """Of a run that is made from several things, say no more what it is made from."""
    _path(folder).unlink(missing_ok=True)


def outdated_run(settings: TrainSettings, out: Path) -> str | None:
    """Why the run of a folder would be another one now; ``None`` if it would not, or is none.

    Parameters
    ----------
    settings
        Of the run.
    out
        Its folder.
    """
    folder = RunFolder(out)
    if not folder.has_run():
        return None
    return why_outdated(settings.name, settings.probe, read_key(folder), settings.frame)


def _path(folder: RunFolder) -> Path:
    return folder.path / "key.json"


def why_outdated(
    name: str, probe: str, found: Mapping[str, Any] | None, frame: str | None = None
) -> str | None:
    """Why a run would be another one now; ``None`` if it would not.

    Parameters
    ----------
    name, probe
        Of the run.
    found
        What it says it was made from, if it does.
    frame
        What the structure was put into, if not what the probe takes by default.
    """
    if name not in STRUCTURES and name not in NETWORKS:
        return f"there is no {name} here any more"
    if not isinstance(found, Mapping) or not found.get("structure"):
        return "it does not say which source it was made from"
    wanted = key_of_run(TrainSettings(name=name, probe=probe, frame=frame))
    if found.get("structure") != wanted.structure:
        return f"{name} was edited since"
    if found.get("frame") != wanted.frame:
        return f"the network around {name} was edited since"
    if found.get("version") != wanted.version:
        return f"it was made by synthprobe {found.get('version')}, this is {wanted.version}"
    return None
