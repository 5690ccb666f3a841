"""The one error class for everything a user can set right."""

from __future__ import annotations


class SynthprobeError(Exception):
    """A mistake in what was asked for, or in what was given to read.

    The message is one sentence for the user. The command line prints it without a traceback and
    ends with exit code 2.
    """
