"""Hashes of what structures are made of, and what is kept of earlier runs because of them."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from synthprobe_models import structure  # noqa: E402
from synthprobe_models.plugins import load_structures  # noqa: E402
from synthprobe_models.probes import PROBES  # noqa: E402
from synthprobe_models.registry import NETWORKS, STRUCTURES  # noqa: E402
from synthprobe_models.training import run_key, source_hash  # noqa: E402
from synthprobe_models.training.source_hash import code_of, file_hash, structure_hash  # noqa: E402

MINE = '''"""My structures."""
from torch import nn
from synthprobe_models import structure  # noqa: E402
from synthprobe_models.layers.lambda_layer import Lambda
{imports}

@structure("mine")
class Mine(nn.Module):
    """It joins."""

    def __init__(self, channels, shape):
        super().__init__()
        self.join = nn.Linear(channels, {outputs})

    def forward(self, x):
        return {scale} * self.join(x.movedim(1, -1)).movedim(-1, 1)  # {comment}
'''


@pytest.fixture(autouse=True)
def _alone(unchanged_registry: None) -> Iterator[None]:
    modules = set(sys.modules)
    yield
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def hash_of(folder: Path, name: str = "mine.py", **parts: str) -> str:
    """The hash of a structure of one's own, loaded anew."""
    given = {"imports": "", "outputs": "channels", "scale": "1", "comment": "all of it", **parts}
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(MINE.format(**given), encoding="utf-8")
    STRUCTURES.pop("mine", None)
    sys.modules.pop("beside", None)
    load_structures(str(folder / name))
    return structure_hash("mine")


def test_an_edit_changes_the_hash_and_a_comment_does_not(tmp_path: Path) -> None:
    before = hash_of(tmp_path)
    assert hash_of(tmp_path) == before
    assert hash_of(tmp_path, comment="or some of it") == before
    assert hash_of(tmp_path / "elsewhere") == before
    assert hash_of(tmp_path, scale="2") != before
    assert hash_of(tmp_path, outputs="2 * channels") != before


def test_the_hash_of_a_file_is_that_of_all_its_bytes_when_it_was_loaded(tmp_path: Path) -> None:
    hash_of(tmp_path)
    digest = hashlib.sha256((tmp_path / "mine.py").read_bytes()).hexdigest()
    (tmp_path / "mine.py").write_text("edited since")
    assert file_hash("mine") == digest
    layer = Path(sys.modules["synthprobe_models.layers.lambda_layer"].__file__ or "")
    assert file_hash("lambda-pe") == hashlib.sha256(layer.read_bytes()).hexdigest()
    made_here = type("Made", (torch.nn.Module,), {"__module__": "json"})  # not what it says
    structure("made-here")(made_here)
    assert file_hash("made-here") is None


def test_what_a_file_imports_from_beside_it_counts(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("SCALE = 1\n")
    imports = "from beside import SCALE"
    before = hash_of(tmp_path, imports=imports, scale="SCALE")
    (tmp_path / "beside.py").write_text("SCALE = 2\n")
    assert hash_of(tmp_path, imports=imports, scale="SCALE") != before


def test_a_layer_of_ours_that_a_file_imports_counts(tmp_path: Path, monkeypatch) -> None:
    before = hash_of(tmp_path)
    read = source_hash._read
    monkeypatch.setattr(
        source_hash,
        "_read",
        lambda path: read(path) + "\nEDITED = 1\n" * (path.name == "lambda_layer.py"),
    )
    assert hash_of(tmp_path) != before


def test_an_edited_layer_changes_the_hashes_of_those_made_of_it_and_no_others(monkeypatch) -> None:
    names = ("lambda", "lambda-pe-tt", "lambda-local-7", "transformer", "unet", "convnext")
    before = {name: structure_hash(name) for name in names}
    read = source_hash._read
    monkeypatch.setattr(
        source_hash,
        "_read",
        lambda path: read(path) + "\nEDITED = 1\n" * (path.name == "lambda_layer.py"),
    )
    monkeypatch.setattr(source_hash, "_KNOWN", {})
    changed = {name for name in names if structure_hash(name) != before[name]}
    assert changed == {"lambda", "lambda-pe-tt", "lambda-local-7"}


def test_what_is_edited_while_it_is_trained_has_the_hash_of_what_was_loaded(tmp_path: Path) -> None:
    before = hash_of(tmp_path)
    (tmp_path / "mine.py").write_text("def (")
    assert structure_hash("mine") == before


def test_every_structure_has_a_hash_of_its_own_and_so_has_one_without_a_file() -> None:
    hashes = {structure_hash(name) for name in (*STRUCTURES, *NETWORKS)}
    assert len(hashes) == len(STRUCTURES) + len(NETWORKS)
    found = []
    for scale in (1, 1, 2):
        STRUCTURES.pop("mine", None)
        given = {"imports": "", "outputs": "channels", "scale": str(scale), "comment": ""}
        exec(MINE.format(**given), {})
        found.append(structure_hash("mine"))
    assert found[0] == found[1] != found[2]


_LINES = st.sampled_from(
    ["x = 1", "def f():\n    return '# no comment'", "y = (1,\n  2)", 'z = """a\n\n# b"""', ""]
)


@given(st.lists(_LINES), st.lists(st.sampled_from(["# said", '"""Said."""', "", "   "])))
def test_what_is_only_said_does_not_count(lines: list[str], said: list[str]) -> None:
    plain = "\n".join(lines) + "\n"
    mixed = "\n".join(
        [*said, *(f"{line}  # why" if line and "\n" not in line else line for line in lines), *said]
    )
    assert code_of(mixed + "\n") == code_of(plain)
    compile(code_of(plain), "plain", "exec")


def test_a_run_says_why_it_would_be_another_one_now() -> None:
    from synthprobe_models.training.settings import TrainSettings

    key = run_key.key_of_run(TrainSettings(name="lambda", probe="rde")).to_dict()
    assert run_key.why_outdated("lambda", "rde", json.loads(json.dumps(key))) is None
    for change, said in (
        ({"structure": "0"}, "lambda was edited since"),
        ({"frame": "0"}, "the network around lambda was edited since"),
        ({"version": "0.0.1"}, "it was made by synthprobe 0.0.1"),
        ({"structure": None}, "it does not say which source it was made from"),
    ):
        assert said in str(run_key.why_outdated("lambda", "rde", {**key, **change}))
    assert "does not say" in str(run_key.why_outdated("lambda", "rde", None))
    assert "no lambda-3 here" in str(run_key.why_outdated("lambda-3", "rde", key))
    # A U-Net, a stack of layers for two of the probes, and one layer between blocks.
    assert len({source_hash.frame_hash(probe) for probe in PROBES}) == 3
    assert source_hash.frame_hash("twins", "unet") == source_hash.frame_hash("rde")
    assert source_hash.frame_hash("twins", "single-scale") == source_hash.frame_hash("twins")
