"""Predictions of anybody's code: a function or a class in a file or a package that is named."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from synthprobe_data import SynthprobeError
from synthprobe_models.plugins import describe_error
from synthprobe_models.scoring.predictor import Predictor
from synthprobe_models.scoring.preparation import Preparation
from synthprobe_models.training.errors import out_of_memory


class CodePredictor(Predictor):
    """Predictions of a callable.

    Parameters
    ----------
    function
        Maps a batch of inputs to predictions; a PyTorch module is put into evaluation, and on the
        device.
    preparation
        How it is given pictures.
    name
        As in pages; its own by default.
    device
        Where its inputs are.
    """

    def __init__(
        self,
        function: Callable[[Tensor], Any],
        preparation: Preparation,
        *,
        name: str | None = None,
        device: str = "cpu",
    ) -> None:
        own = getattr(function, "__name__", type(function).__name__)
        super().__init__(name or own, "module" if isinstance(function, nn.Module) else "function")
        if isinstance(function, nn.Module):
            function = function.to(device).eval()
        self.function = function
        self.preparation = preparation
        self.device = device

    def predict(self, inputs: Tensor, rows: Sequence[int]) -> Any:
        """What the function gives."""
        with _explained(f"{self.name} failed on row {rows[0]}"):
            # A copy, as code of others may write into it.
            return self.preparation.apply(self.function, inputs.to(self.device, copy=True))

    def facts(self) -> dict[str, Any]:
        """How it is given pictures."""
        return self.preparation.facts()


def load_function(where: str) -> tuple[Callable[[Tensor], Any], str]:
    """The callable that ``file.py:name`` or ``package.module:name`` names, and its name.

    Of a class, it is an instance.

    Parameters
    ----------
    where
        The file or the module, whose code is run, and after a colon the name in it.
    """
    source, _, name = where.rpartition(":")
    if not source or not name.isidentifier():
        raise SynthprobeError(f"{where} is not of the form file.py:function or module:Class.")
    with _explained(f"{source} could not be loaded"):
        module = _load_file(Path(source)) if source.endswith(".py") else _load_module(source)
    if not hasattr(module, name):
        raise SynthprobeError(f"there is no {name} in {source}.")
    found = getattr(module, name)
    if isinstance(found, type):
        with _explained(f"{where} could not be made without arguments"):
            found = found()
    if not callable(found):
        raise SynthprobeError(f"{where} is not a function, nor a class whose instances are called.")
    return found, name


def _load_module(name: str) -> Any:
    _find_later(Path.cwd())  # after all that is installed
    if importlib.util.find_spec(name.partition(".")[0]) is None:
        raise SynthprobeError(f"there is no package {name.partition('.')[0]!r} here.")
    return importlib.import_module(name)


def _load_file(path: Path) -> Any:
    if not path.is_file():
        raise SynthprobeError(f"there is no file {path} to load.")
    # The file can import what is beside it, as a script can, and also when it is called.
    _find_later(path.resolve().parent)
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        # What is defined in it can find its own module, as dataclasses do.
        sys.modules.setdefault(path.stem, module)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(path.resolve().parent))


def _find_later(folder: Path) -> None:
    """Have modules in a folder found, unless others have their names."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """Say in one sentence where somebody's code went wrong."""
    try:
        yield
    except SynthprobeError as error:
        raise SynthprobeError(f"{what}: {error}") from error
    except SystemExit as error:
        raise SynthprobeError(f"{what}: it ended the program.") from error
    except Exception as error:
        if out_of_memory(error):
            raise SynthprobeError(
                f"{what}: there is not enough memory; try a smaller --batch."
            ) from error
        raise SynthprobeError(f"{what}: {describe_error(error)}.") from error
