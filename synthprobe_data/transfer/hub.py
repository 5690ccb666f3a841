"""Folders of shards on the Hugging Face Hub, by `huggingface_hub`, which knows the token."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from synthprobe_data.atomic.folder import MANIFEST
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.card_paths import card_paths
from synthprobe_data.shards.manifest import read_manifest
from synthprobe_data.text import printable
from synthprobe_data.transfer.check import check_contents
from synthprobe_data.voice import is_quiet

_REPO: Final = re.compile(r"[\w.-]+(/[\w.-]+)?")


class HubFolder:
    """The files of a dataset repository, all of one commit.

    Parameters
    ----------
    repo
        Its name, ``OWNER/NAME``, or ``OWNER/NAME@REVISION``.
    cache
        Where parts of files are kept until they are complete.
    """

    def __init__(self, repo: str, cache: Path) -> None:
        self._repo, _, revision = repo.partition("@")
        check_repo(self._repo)
        self.name = printable(repo)
        self._cache = cache
        _library()
        with said_of(self.name):
            self._commit = _api().dataset_info(self._repo, revision=revision or None).sha

    def fetch(self, file: str, target: Path, limit: int) -> None:
        """Fetch a file; what the library has of it already is gone on with.

        Parameters
        ----------
        file
            Its name in the repository.
        target
            Where to put it.
        limit
            The most bytes that it may have.
        """
        from huggingface_hub import hf_hub_url

        api = _api()
        with said_of(self.name):
            url = hf_hub_url(
                self._repo,
                file,
                repo_type="dataset",
                revision=self._commit,
                endpoint=api.endpoint,
            )
            size = api.get_hf_file_metadata(url=url).size
            if size is None or size > limit:
                raise SynthprobeError(f"{self.name}: {file} has more bytes than it should have.")
            found = api.hf_hub_download(
                self._repo,
                file,
                repo_type="dataset",
                revision=self._commit,
                local_dir=self._cache,
            )
        shutil.move(found, target)


def push(
    folder: str | Path, repo: str, *, private: bool = False, message: str | None = None
) -> str:
    """Put a folder of shards with its cards into a dataset repository of the Hub.

    Every hash and the content digest are checked first. All files become one commit: a push that
    is interrupted leaves the repository as it was, and the next one sends only those files that
    have not arrived.

    Parameters
    ----------
    folder
        Of shards, with its manifest.
    repo
        ``OWNER/NAME``, or ``OWNER/NAME@BRANCH``; made if it is not there.
    private
        Whether a repository that is made can be seen by its owner alone.
    message
        Of the commit.

    Returns
    -------
    str
        Where it can be seen.
    """
    folder = Path(folder)
    name, _, revision = repo.partition("@")
    check_repo(name)
    _library()
    manifest = read_manifest(folder)
    check_contents(folder)
    from huggingface_hub import CommitOperationAdd

    files = [*manifest.hashes, MANIFEST]
    files += [card.name for card in card_paths(folder, folder=True).all() if card.is_file()]
    operations = [
        CommitOperationAdd(path_in_repo=file, path_or_fileobj=folder / file) for file in files
    ]
    api = _api()
    with said_of(printable(repo)):
        api.create_repo(name, repo_type="dataset", private=private, exist_ok=True)
        done = api.create_commit(
            name,
            operations,
            repo_type="dataset",
            revision=revision or None,
            commit_message=message
            or f"{manifest.dataset} {manifest.version}, content digest {manifest.content_digest}",
        )
    return str(done.commit_url)


def check_repo(repo: str) -> None:
    """Raise `SynthprobeError` for what is no name of a repository."""
    if not _REPO.fullmatch(repo):
        raise SynthprobeError(f"{printable(repo)!r} is no repository: give OWNER/NAME.")


@contextlib.contextmanager
def said_of(name: str) -> Iterator[None]:
    """Turn what the library raises into one sentence, which has no token in it."""
    from huggingface_hub import errors

    try:
        yield
    except errors.RevisionNotFoundError:
        raise SynthprobeError(f"{name}: there is no such revision.") from None
    except errors.EntryNotFoundError as error:
        raise SynthprobeError(f"{name}: {_first(error)}") from None
    except errors.RepositoryNotFoundError:
        raise SynthprobeError(
            f"{name}: there is no such dataset, or it is private: hf auth login, or HF_TOKEN."
        ) from None
    except (errors.HfHubHTTPError, OSError, ValueError, RuntimeError) as error:
        if isinstance(error, SynthprobeError):
            raise
        if getattr(getattr(error, "response", None), "status_code", None) in (401, 403):
            raise SynthprobeError(
                f"{name}: you may not: hf auth login, or another HF_TOKEN."
            ) from None
        raise SynthprobeError(f"{name}: {_first(error)}") from None
    except Exception as error:  # the library that it is built on has errors of its own
        if type(error).__module__.partition(".")[0] not in ("httpx", "httpx2", "huggingface_hub"):
            raise
        raise SynthprobeError(f"{name}: {_first(error)}") from None


def _first(error: BaseException) -> str:
    """The first line of what is wrong, without anything that could be a token."""
    line = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return printable(re.sub(r"hf_\w+|Bearer \S+", "(token)", line))[:300]


def _library() -> Any:
    try:
        import huggingface_hub
    except ImportError:
        raise SynthprobeError(
            "this needs huggingface_hub: pip install 'synthprobe[hub]'."
        ) from None
    return huggingface_hub


def _api() -> Any:
    library = _library()
    if is_quiet() or sys.stderr is None or not sys.stderr.isatty():
        # The package itself has its parts only once they are imported.
        importlib.import_module("huggingface_hub.utils").disable_progress_bars()
    endpoint = os.environ.get("HF_ENDPOINT")  # as it is now: the library read it when imported
    return library.HfApi(endpoint=endpoint)
