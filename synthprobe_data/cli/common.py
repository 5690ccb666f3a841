"""What surrounds every command: one sentence and an exit code for all that can go wrong.

This module needs only the standard library, and so do the modules of the commands until
`run_command` lets them import the rest: an interrupt while libraries load, which takes half a
second, then ends in a sentence, too.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NoReturn, TextIO

from synthprobe_data import voice
from synthprobe_data.cli.parser import EXIT_BAD_INPUT
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.text import is_utf_8, printable

EXIT_INTERRUPTED: Final = 130
EXIT_NOT_READ: Final = 141
_LONGEST_NAME: Final = 160
_SHOWN: Final = "synthprobe.shown"
"""The name under which Python knows `_shown`."""


def run_command(
    program: str,
    load: Callable[[], Callable[[list[str]], int]],
    arguments: Sequence[str] | None = None,
) -> int:
    """Run a command; return its exit code.

    Parameters
    ----------
    program
        Its name, which begins every sentence.
    load
        Imports what the command needs, and returns the function that takes the arguments and
        returns the exit code.
    arguments
        Those of the process by default.

    Returns
    -------
    int
        What the command returns; 2 for what a user can set right, 130 after Ctrl-C or a request
        to end, 141 if nobody reads on, as with ``| head``.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not _has_output(program):
        return EXIT_BAD_INPUT
    _keep_to_one_thread()
    output = _Output(sys.stdout)
    voice.set_level(voice.USUAL)
    with _handled(signal.SIGTERM, _end), contextlib.redirect_stdout(output):
        try:
            with ended_at_once(program):
                body = load()
            _check_words(words)
            try:
                code = body(words)
            except SystemExit:  # the parser has said what there is to say
                output.check()
                raise
            output.check()
            return code
        except SynthprobeError as error:
            return _said(program, str(error))
        except BrokenPipeError:
            return EXIT_NOT_READ
        except OSError as error:
            return _said(program, _sentence(error))
        except MemoryError:
            return _said(program, "there is not enough memory for this.")
        except UnicodeEncodeError as error:
            return _said(program, f"the text {_short(ascii(error.object))} is not UTF-8.")
        except KeyboardInterrupt:
            return _said(program, "interrupted.", EXIT_INTERRUPTED)
        finally:
            output.end()


def _keep_to_one_thread() -> None:
    """Let NumPy multiply with one thread, unless somebody has said how many.

    Its matrices are small here: more threads gain nothing, and on a busy machine they wait for one
    another for as long as a whole run takes.
    """
    if "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@contextlib.contextmanager
def ended_at_once(program: str) -> Iterator[None]:
    """Let Ctrl-C end the process at once: for imports, which have nothing to clean up.

    An exception raised by a signal could come out of a library that is being loaded as another
    one, or not at all. Where Ctrl-C is ignored, as in a background job, it stays so.
    """

    def end(_number: int, _frame: object) -> NoReturn:
        _said(program, "interrupted.")
        os._exit(EXIT_INTERRUPTED)

    with contextlib.ExitStack() as stack:
        for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, _end)):
            if signal.getsignal(number) is usual:
                stack.enter_context(_handled(number, end))
        yield


@contextlib.contextmanager
def _handled(number: signal.Signals, handler: Callable[[int, object], None]) -> Iterator[None]:
    """Handle a signal in another way, for a while; only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


def _end(_number: int, _frame: object) -> NoReturn:
    """Let a request to end be handled like Ctrl-C: clean up first."""
    raise KeyboardInterrupt


class _Output:
    """Standard output, which says its name when it cannot be written."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._failure: OSError | None = None

    def write(self, text: str) -> int:
        """Write a text."""
        with self._named():
            return self._stream.write(text)

    def flush(self) -> None:
        """Write what is still held back."""
        with self._named():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def check(self) -> None:
        """Raise `OSError` if not everything could be written, whether it was noticed or not."""
        self.flush()
        if self._failure is not None:
            raise self._failure

    def end(self) -> None:
        """Let what cannot be written go nowhere: Python would try again at its end."""
        try:
            self.check()
        except OSError:
            with contextlib.suppress(OSError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, self._stream.fileno())
                os.close(nowhere)

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError as error:
            self._failure = error
            raise
        except OSError as error:
            self._failure = OSError(error.errno, error.strerror, "standard output")
            raise self._failure from error


def _has_output(program: str) -> bool:
    """Whether there is an output to write to; sees to it that it can show every text."""
    # Where a stream is closed, the next file that is opened takes its place and gets its texts.
    with contextlib.suppress(OSError):
        while (taken := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(taken)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the end
    if sys.stdout is None:
        _said(program, "standard output is closed: send it to a file, or to /dev/null.")
        return False
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        codecs.register_error(_SHOWN, _shown)
        sys.stdout.reconfigure(errors=_SHOWN)
    return True


def _shown(error: UnicodeError) -> tuple[str | bytes, int]:
    """What stands for a character that the output does not have.

    A byte of a file name that is not UTF-8 is written as it is, as other programs do; for the
    rest there is a question mark.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    code = ord(error.object[error.start])
    return bytes([code - 0xDC00]) if 0xDC80 <= code <= 0xDCFF else "?", error.start + 1


def _check_words(words: Sequence[str]) -> None:
    """Raise `SynthprobeError` for an argument that is not UTF-8, but for names of what is there."""
    for word in words:
        value = word.partition("=")[2] if word.startswith("--") else word
        folder, name = os.path.split(value)
        if not is_utf_8(word) and not (
            os.path.lexists(value) or (is_utf_8(name) and os.path.isdir(folder))
        ):
            raise SynthprobeError(f"the argument {_short(ascii(word))} is not UTF-8.")


def _said(program: str, sentence: str, code: int = EXIT_BAD_INPUT) -> int:
    """Say a sentence, if anybody can hear it; return the exit code."""
    with contextlib.suppress(OSError):
        if voice.is_verbose() and sys.exception() is not None:
            traceback.print_exc()
        print(f"{program}: {printable(sentence)}", file=sys.stderr, flush=True)
    return code


def _sentence(error: OSError) -> str:
    """What the system says, and of which file."""
    reason = error.strerror or str(error).split("\n")[0] or type(error).__name__
    if error.filename is None or isinstance(error.filename, int):
        return f"{reason.rstrip('.')}."
    return f"{_short(os.fsdecode(error.filename))}: {reason}."


def _short(text: str) -> str:
    """A text that fits into a sentence."""
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}..."
