"""Where people look at runs: TensorBoard, trackio, Weights & Biases or MLflow, if installed.

A logger is told the figures of a run and cannot change it: what it draws at random is undone, what
it prints goes to the error output, and one that fails is left out from there on, with one line. All
figures are in the folder of the run in any case.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Protocol

from synthprobe_data import SynthprobeError, is_quiet
from synthprobe_models.training.progress import say

PROJECT: Final = "synthprobe"
"""What runs are filed under where the variables of a service do not say it."""


_LONGEST: Final = 300
"""Characters of what an error says."""


class RunLogger(Protocol):
    """What is told of a run: once that it begins, then figures, once that it ends."""

    name: str
    """In messages."""

    def begin(self, folder: Path, settings: Mapping[str, Any], step: int) -> None:
        """A run begins, or is resumed.

        Parameters
        ----------
        folder
            Of the run.
        settings
            All that it depends on, as plain JSON values.
        step
            Steps that were done before.
        """

    def log(self, step: int, figures: Mapping[str, float]) -> None:
        """Figures, after so many steps: those of an epoch, and at the end ``test/METRIC``."""

    def end(self, *, complete: bool) -> None:
        """The run is over; not ``complete`` if it failed or was interrupted."""


class TensorBoard:
    """Event files in the folder ``tensorboard`` of the run."""

    name = "tensorboard"

    def __init__(self) -> None:
        self._module = _imported(self.name, "torch.utils.tensorboard")
        self._writer: Any = None

    def begin(self, folder: Path, settings: Mapping[str, Any], step: int) -> None:
        """Open the files; what an earlier run left after this step is not shown."""
        self._writer = self._module.SummaryWriter(str(folder / self.name), purge_step=step + 1)
        self._writer.add_text("settings", f"```\n{json.dumps(dict(settings), indent=1)}\n```", step)

    def log(self, step: int, figures: Mapping[str, float]) -> None:
        """Write scalars."""
        for name, value in figures.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def end(self, *, complete: bool) -> None:
        """Close the files."""
        self._writer.close()


class Trackio:
    """A run of the project `PROJECT`, where trackio keeps its own (``TRACKIO_DIR``)."""

    name = "trackio"

    def __init__(self) -> None:
        self._module = _imported(self.name)

    def begin(self, folder: Path, settings: Mapping[str, Any], step: int) -> None:
        """Begin a run."""
        project = os.environ.get("TRACKIO_PROJECT", PROJECT)
        self._module.init(project=project, name=folder.name, config=dict(settings), embed=False)

    def log(self, step: int, figures: Mapping[str, float]) -> None:
        """Send figures."""
        self._module.log(dict(figures), step=step)

    def end(self, *, complete: bool) -> None:
        """Finish the run."""
        self._module.finish()  # not that of the run, which would be finished once more at exit


class Wandb:
    """A run of Weights & Biases, set up by its own variables; its files are in the run's folder."""

    name = "wandb"

    def __init__(self) -> None:
        self._module = _imported(self.name)
        self._run: Any = None

    def begin(self, folder: Path, settings: Mapping[str, Any], step: int) -> None:
        """Begin a run."""
        project = os.environ.get("WANDB_PROJECT", PROJECT)
        self._run = self._module.init(
            project=project, name=folder.name, dir=str(folder), config=dict(settings)
        )

    def log(self, step: int, figures: Mapping[str, float]) -> None:
        """Send figures."""
        self._run.log(dict(figures), step=step)

    def end(self, *, complete: bool) -> None:
        """Finish the run."""
        self._run.finish(exit_code=0 if complete else 1)


class Mlflow:
    """A run of MLflow, wherever its variables say that runs are kept."""

    name = "mlflow"

    def __init__(self) -> None:
        self._module = _imported(self.name)
        self._client: Any = None
        self._run = ""

    def begin(self, folder: Path, settings: Mapping[str, Any], step: int) -> None:
        """Begin a run."""
        experiment = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT)
        number = self._module.set_experiment(experiment).experiment_id
        # By a client: whoever calls us may have a run of their own at work.
        self._client = self._module.MlflowClient()
        self._run = self._client.create_run(number, run_name=folder.name).info.run_id
        for name, value in settings.items():
            self._client.log_param(self._run, name, value if isinstance(value, str) else str(value))

    def log(self, step: int, figures: Mapping[str, float]) -> None:
        """Send figures."""
        for name, value in figures.items():
            self._client.log_metric(self._run, name, value, step=step)

    def end(self, *, complete: bool) -> None:
        """Finish the run."""
        self._client.set_terminated(self._run, "FINISHED" if complete else "FAILED")


LOGGERS: Final = {logger.name: logger for logger in (TensorBoard, Trackio, Wandb, Mlflow)}
"""By the name of the package."""


def make_logger(name: str) -> RunLogger:
    """The logger with this name; `SynthprobeError` if there is none, or its package is missing.

    Parameters
    ----------
    name
        One of `LOGGERS`.
    """
    if name not in LOGGERS:
        raise SynthprobeError(f"there is no logger {name!r}: take one of {', '.join(LOGGERS)}.")
    return LOGGERS[name]()


def _imported(package: str, module: str | None = None) -> ModuleType:
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return importlib.import_module(module or package)
    except ImportError as error:
        raise SynthprobeError(
            f"--log-to {package} needs the package: pip install {package}."
        ) from error
    except Exception as error:  # whatever the code of somebody else does
        raise SynthprobeError(
            f"--log-to {package}: the package could not be imported: {_sentence(error)}."
        ) from error


class Audience:
    """Some loggers at once, without those that have failed.

    Parameters
    ----------
    loggers
        Those that are told of a run.
    """

    def __init__(self, loggers: Sequence[RunLogger]) -> None:
        self._left = list(loggers)

    def log(self, step: int, figures: Mapping[str, float]) -> None:
        """Tell all of them figures."""
        for logger in list(self._left):
            with self._alone(logger):
                logger.log(step, figures)

    @contextmanager
    def hearing(self, folder: Path, settings: Mapping[str, Any], step: int) -> Iterator[None]:
        """Tell all of them that a run begins, and in the end that it is over."""
        for logger in list(self._left):
            with self._alone(logger):
                logger.begin(folder, settings, step)
        complete = False
        try:
            yield
            complete = True
        finally:
            for logger in list(self._left):
                with self._alone(logger):
                    logger.end(complete=complete)

    @contextmanager
    def _alone(self, logger: RunLogger) -> Iterator[None]:
        """Where a logger is at work, and does no harm."""
        from synthprobe_models.data.draws import apart

        try:
            with apart("cpu"), contextlib.redirect_stdout(sys.stderr):
                yield
        except Exception as error:  # whatever the code of somebody else does
            self._left.remove(logger)
            _warn(f"{logger.name} failed and is told no more of this run: {_sentence(error)}")


def _sentence(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__} ({lines[0][:_LONGEST]})" if lines else type(error).__name__


def _warn(sentence: str) -> None:
    """Say it even if only errors are to be said."""
    if is_quiet():
        print(sentence, file=sys.stderr)
    else:
        say(sentence)
