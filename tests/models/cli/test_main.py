"""The command that looks at structures: what it says, and its exit codes."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from PIL import Image  # noqa: E402

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models import plugins as load  # noqa: E402
from synthprobe_models.cli.main import main  # noqa: E402
from synthprobe_models.inspection import sights  # noqa: E402
from synthprobe_models.inspection.inspect import inspect  # noqa: E402
from synthprobe_models.inspection.report import inspection_text  # noqa: E402
from synthprobe_models.registry import NETWORKS, STRUCTURES  # noqa: E402

MINE = """
from torch import nn
from synthprobe_models import structure
import helper_of_mine

@structure("mine", title="Of mine", source="me", dimensions=[2])
class Mine(nn.Conv2d):
    def __init__(self, channels, shape):
        super().__init__(channels, channels, helper_of_mine.WIDTH, padding=1)

@structure("mine-halved")
class Halved(nn.Module):
    def __init__(self, channels, shape):
        super().__init__()
    def forward(self, x):
        return x[..., ::2]

@structure("mine-as-it-is")
class AsItIs(Halved):
    def forward(self, x):
        return x

@structure("mine-narrow")
class Narrow(Halved):
    def forward(self, x):
        return x[:, :, 1:] + x
"""
SMALL = ("--width", 4, "--shape", "12x14")
SMALL_UNET = ("--width", "2", "--shape", "32x32")


pytestmark = pytest.mark.usefixtures("unchanged_registry")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "helper_of_mine.py").write_text("WIDTH = 3\n")
    path = tmp_path / "my_structures.py"
    path.write_text(MINE)
    return path


@pytest.fixture
def few(unchanged_registry) -> None:
    """A short registry, as counting all takes a while."""
    for entries in (STRUCTURES, NETWORKS):
        for name in [name for name in entries if name not in ("lambda-pe", "unet")]:
            del entries[name]


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_the_list_has_own_structures_beside_those_of_the_registry(few, mine, capsys) -> None:
    mine.write_text(MINE[: MINE.index('@structure("mine-halved")')])
    assert run("list", "--load", mine, "--json") == 0
    entries = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert {*STRUCTURES, *NETWORKS} == set(entries)
    assert entries["mine"]["source"] == "me"
    # A frame of 8 w^2 + 11 w, the ends, and the convolution.
    frame = 8 * 128**2 + 11 * 128 + 2 * 128 + 129
    assert entries["mine"]["parameters"]["centered-square"] == frame + 9 * 128**2 + 128
    assert set(entries["mine"]["parameters"]) == {"rde", "twins", "centered-square"}
    assert entries["unet"]["parameters"]["rde"] == 871_729
    assert entries["mine"]["published"] == []
    published = [(row["probe"], row["parameters"]) for row in entries["lambda-pe"]["published"]]
    assert published == [("rde", 871_945), ("centered-square", 182_018)]


def test_the_list_is_a_table_for_people(few, capsys) -> None:
    assert run("list") == 0
    lines = {x.split()[0]: x for x in capsys.readouterr().out.splitlines()}
    assert re.match(r"unet +871,729 +[0-9,]+ +- +- +871,729 \(rde, 48 channels\) ", lines["unet"])


BROKEN = """
from torch import nn
from synthprobe_data import SynthprobeError
from synthprobe_models import structure

@structure("broken", dimensions=[1])
class Broken(nn.Module):
    def __init__(self, channels, shape):
        raise ValueError(f"not with {channels} channels")

@structure("picky")
class Picky(nn.Module):
    def __init__(self, channels, shape):
        super().__init__()
        if channels % 128:
            raise SynthprobeError("take a multiple of 128 channels.")
"""


def test_a_structure_that_cannot_be_built_does_not_cost_the_list(few, mine, capsys) -> None:
    mine.write_text(BROKEN)
    assert run("list", "--load", mine, "--json") == 0
    said = capsys.readouterr()
    entries = {entry["name"]: entry for entry in json.loads(said.out)}
    assert entries["unet"]["parameters"]["rde"] == 871_729
    assert entries["broken"]["parameters"] == {"color-code": None}
    assert [n is None for n in entries["picky"]["parameters"].values()] == [
        True,
        True,
        False,
        False,
    ]
    broken, picky, on_twins = said.err.splitlines()
    assert "broken cannot be built in the probe color-code: ValueError (not with 256" in broken
    assert picky.endswith(
        "picky cannot be built in the probe rde: take a multiple of 128 channels."
    )
    assert "picky cannot be built in the probe twins" in on_twins
    _forget("broken")
    _forget("picky")
    assert run("list", "--load", mine) == 0
    lines = {x.split()[0]: x for x in capsys.readouterr().out.splitlines()}
    assert lines["broken"].split()[1:5] == ["-", "-", "-", "?"]


def test_inspect_says_all_about_a_structure_and_draws_what_it_sees(mine, tmp_path, capsys) -> None:
    out = tmp_path / "new" / "pictures"
    assert run("inspect", "mine", "--load", mine, *SMALL, "--out", out, "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["probe"], facts["shape"], facts["width"]) == ("centered-square", [12, 14], 4)
    layer = {part["name"]: part for part in facts["layer"]}
    assert layer["structure"]["parameters"] == 9 * 4**2 + 4
    assert layer["structure"]["flops"] == 2 * 12 * 14 * 9 * 4**2
    assert facts["network"][-1]["parameters"] == layer["all"]["parameters"] + 2 * 4 + 4 + 1
    assert facts["growth"]["exponent"] == 1
    (sight,) = facts["sights"]
    assert sight["reached"]["centre"]["share"] == pytest.approx(9 / (12 * 14))
    assert sight["reached"]["corner"]["share"] == pytest.approx(4 / (12 * 14))
    answers = ("sees_all", "translation_covariant", "permutation_equivariant", "deterministic")
    assert [sight[answer] for answer in answers] == [False, True, False, True]
    assert sorted(os.listdir(out)) == ["mine-centre.png", "mine-corner.png"]
    for path in out.iterdir():
        with Image.open(path) as picture:
            assert min(picture.size) > 100


def test_inspect_is_readable_and_keeps_pictures_unless_forced(mine, tmp_path, capsys) -> None:
    picture = tmp_path / "mine-centre.png"
    picture.write_text("notes of mine")
    arguments = ("inspect", "mine", "--load", mine, *SMALL, "--out", tmp_path)
    assert run(*arguments) == 2
    assert "mine-centre.png exists and is left as it is" in capsys.readouterr().err
    assert picture.read_text() == "notes of mine"
    _forget("mine")
    assert run(*arguments, "--force") == 0
    out = capsys.readouterr().out
    assert "mine: Of mine (me)" in out
    assert "sees everything          no: of the input, the centre hears 5.4%" in out
    assert "translation covariant    yes" in out
    assert "permutation equivariant  no" in out
    assert str(picture) in out


def test_inspect_prints_its_parts_as_they_finish(mine, monkeypatch, capsys) -> None:
    assert run("inspect", "mine-as-it-is", "--load", mine, *SMALL) == 0
    whole = capsys.readouterr().out
    heads = [line for line in whole.splitlines() if line.endswith(" positions:")]
    assert heads == ["one layer, 12 x 14 positions:", "one layer, 168 positions:"]
    assert whole == inspection_text(inspect("mine-as-it-is", shape=(12, 14), width=4)) + "\n"
    _forget("mine")
    begun = []

    def stopped(*_: object, **__: object) -> float:
        begun.append(capsys.readouterr().out)
        raise SynthprobeError("stopped here")

    monkeypatch.setattr(sights, "permutation_error", stopped)
    assert run("inspect", "mine-as-it-is", "--load", mine, *SMALL) == 2
    (said,) = begun
    assert whole.startswith(said)
    assert said.splitlines()[-1].startswith("  translation covariant ")


def _forget(prefix: str) -> None:
    for name in [name for name in STRUCTURES if name.startswith(prefix)]:
        del STRUCTURES[name]


def test_a_structure_of_rows_and_pictures_is_looked_at_as_both(mine, capsys) -> None:
    assert run("inspect", "mine-as-it-is", "--load", mine, *SMALL, "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert [sight["shape"] for sight in facts["sights"]] == [[12, 14], [168]]
    assert facts["growth"]["exponent"] is None


def test_a_whole_network_is_looked_at_as_it_is(capsys) -> None:
    assert run("inspect", "unet", "--width", 2, "--shape", "32x32") == 0
    out = capsys.readouterr().out
    assert "encoder.5" in out
    assert "the network, 32 x 32 positions:" in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["inspect", "unit"], "no structure or network 'unit': did you mean unet or "),
        (["inspect", "qqqqqqqq"], "no structure or network 'qqqqqqqq': see synthprobe-probe list."),
        (["inspect", "mine", "--probe", "none"], "there is no probe 'none'"),
        (["inspect", "mine", "--probe", "color-code"], "mine does not fit the probe color-code"),
        (
            ["inspect", "mine", "--shape", "5"],
            "the positions of centered-square have 2 axes, not 1",
        ),
        (["inspect", "mine", "--shape", "5x5", "--width", "2"], "5 x 5 positions are too few"),
        (["inspect", "mine", "--width", "0"], "--width is 0: it must be at least 1"),
        (["inspect", "mine", "--out", __file__], "could not be made: File exists"),
        (["inspect", "mine-halved", *map(str, SMALL)], "mine-halved"),
        (["inspect", "mine-narrow", *map(str, SMALL)], "RuntimeError"),
        (["list", "--load", "nowhere.py"], "there is no file nowhere.py to load"),
        (["list", "--load", "no.such.module"], "no.such.module could not be loaded: ModuleNotFou"),
    ],
)
def test_a_mistake_gets_one_sentence(arguments, sentence, mine, capsys) -> None:
    assert run(*arguments, "--load", mine) == 2
    said = capsys.readouterr()
    assert said.err.startswith("synthprobe-probe: ")
    assert said.err.count("\n") == 1
    assert sentence in said.err
    assert not said.out


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("1 / 0\n", "could not be loaded: ZeroDivisionError (division by zero) in line 1 of "),
        ("def (\n", "could not be loaded: SyntaxError"),
        (MINE + MINE, "could not be loaded: the name 'mine' is taken"),
    ],
)
def test_code_that_fails_is_said_where(code, sentence, mine, capsys) -> None:
    mine.write_text(code)
    assert run("list", "--load", mine) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("shape", ["0x3", "3x", "1x2x3", "-4"])
def test_a_shape_that_is_none_is_refused(shape, capsys) -> None:
    with pytest.raises(SystemExit) as end:
        run("inspect", "unet", f"--shape={shape}")
    assert end.value.code == 2
    assert "is not a shape such as 64x64 or 128" in capsys.readouterr().err


def test_structures_of_installed_packages_are_found(mine, monkeypatch, capsys) -> None:
    monkeypatch.syspath_prepend(mine.parent)
    points = [
        EntryPoint("good", "my_structures", load.GROUP),
        EntryPoint("bad", "not_there_at_all", load.GROUP),
    ]
    monkeypatch.setattr(load, "entry_points", lambda group: points if group == load.GROUP else [])
    assert run("inspect", "mine-as-it-is", *SMALL) == 0
    said = capsys.readouterr()
    assert said.out.startswith("mine-as-it-is")
    assert said.err.startswith("synthprobe-probe: bad (not_there_at_all) could not be loaded")
    del sys.modules["my_structures"], sys.modules["helper_of_mine"]


def test_without_torch_the_command_says_what_to_install(monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert run("list") == 2
    assert capsys.readouterr().err == (
        "synthprobe-probe: this command needs PyTorch: pip install 'synthprobe[models]'.\n"
    )


@pytest.mark.parametrize("name", list(NETWORKS))
def test_every_network_is_looked_at_without_any_option(name, monkeypatch, capsys) -> None:
    # Narrow, so that it does not take long; no option says so.
    narrow = partial(NETWORKS[name].build, width=4)
    monkeypatch.setitem(NETWORKS, name, dataclasses.replace(NETWORKS[name], build=narrow))
    assert run("inspect", name) == 0
    assert "the network, 32 x 32 positions:" in capsys.readouterr().out


def test_the_command_starts_without_torch() -> None:
    code = "import sys, synthprobe_models.cli.main; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("command", ["synthprobe_models.cli.main", "synthprobe_data.cli.shards"])
def test_output_that_nobody_reads_on_ends_the_command_without_a_word(command: str) -> None:
    words = ["ready", "rde"] if "shards" in command else ["inspect", "unet", *SMALL_UNET]
    process = subprocess.Popen(
        [sys.executable, "-m", command, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait() == 141
