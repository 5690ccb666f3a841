"""The probes by name: our own, and those of other packages."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from synthprobe_data import DATASETS, Registry, SynthprobeError  # noqa: E402
from synthprobe_models.probes import GROUP, PROBES, find_probe  # noqa: E402
from synthprobe_models.probes.probe import Probe  # noqa: E402


def offering(value: str, monkeypatch: pytest.MonkeyPatch) -> Registry[Probe]:
    """A registry to which another package offers a probe by the name of ``mine``."""
    point = EntryPoint("mine", value, GROUP)
    monkeypatch.setattr("synthprobe_data.registry.entry_points", lambda group: [point])
    return Registry(
        {"rde": "synthprobe_models.probes.rde:RDE_PROBE"}, group=GROUP, kind=Probe, noun="probe"
    )


def test_every_probe_has_its_dataset_and_the_columns_that_this_declares() -> None:
    for name, probe in PROBES.items():
        assert probe.name == name
        assert set(probe.columns) <= {column.name for column in DATASETS[name].columns}
        assert probe.positions(DATASETS[name].config()) == probe.shape
    with pytest.raises(
        SynthprobeError, match="there is no probe 'mine': take one of rde, twins, c"
    ):
        find_probe("mine")


def test_presets_that_a_probe_does_not_have_are_refused() -> None:
    with pytest.raises(SynthprobeError, match="no preset 'huge' for rde: take one of paper, mini"):
        find_probe("rde").preset("huge")
    with pytest.raises(SynthprobeError, match="rde has no samples for profiles with the preset 'h"):
        find_probe("rde").samples("huge")


def test_another_package_offers_a_probe_and_ours_are_loaded_without_it(monkeypatch) -> None:
    probes = offering("nowhere:PROBE", monkeypatch)
    assert list(probes) == ["rde", "mine"]
    assert "mine" in probes
    assert probes["rde"] is PROBES["rde"]
    with pytest.raises(SynthprobeError, match="the probe 'mine' of nowhere:PROBE cannot be loaded"):
        probes.find("mine")


def test_what_is_no_probe_or_has_another_name_is_refused(monkeypatch) -> None:
    probes = offering("synthprobe_models.probes.rde:RDE_PROBE", monkeypatch)
    with pytest.raises(SynthprobeError, match="is not a probe with the name 'mine'"):
        probes.find("mine")


def test_a_probe_of_another_package_takes_structures_in(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "their_probe.py").write_text(
        "import dataclasses\n"
        "from synthprobe_models.probes.color_code import COLOR_CODE_PROBE\n"
        "PROBE = dataclasses.replace(COLOR_CODE_PROBE, name='mine', width=8)\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    probes = offering("their_probe:PROBE", monkeypatch)
    network = probes.find("mine").make("transformer", shape=(6,))
    assert network(torch.zeros(2, 6, 6)).shape == (2, 3, 6)
