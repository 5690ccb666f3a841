"""Encoders and layers of timm by name: built, trained, evaluated and scored like our own."""

from __future__ import annotations

import dataclasses
import json

import pytest

torch = pytest.importorskip("torch")
from synthprobe_models.torchvision_import import import_torchvision  # noqa: E402

import_torchvision()
timm = pytest.importorskip("timm")

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.cli.main import main  # noqa: E402
from synthprobe_models.probes import PROBES, fitting  # noqa: E402
from synthprobe_models.probes.timm_names import LAYERS, register_timm  # noqa: E402
from synthprobe_models.registry import NETWORKS, STRUCTURES  # noqa: E402
from synthprobe_models.training.checkpoint import load_checkpoint  # noqa: E402
from tests.models.small_runs import small_file  # noqa: E402


@pytest.fixture(autouse=True)
def _registry_as_it_was():
    yield
    for name in [name for name in (*STRUCTURES, *NETWORKS) if name.startswith("timm:")]:
        STRUCTURES.pop(name, None)
        NETWORKS.pop(name, None)


@pytest.mark.parametrize("own", LAYERS)
def test_a_layer_of_timm_is_a_structure_and_is_that_layer(own) -> None:
    register_timm(f"timm:{own}")
    torch.manual_seed(0)
    layer = STRUCTURES[f"timm:{own}"].make(32, (8, 8)).eval()
    torch.manual_seed(0)
    options = {"feat_size": (8, 8)} if own in ("lambda", "bottleneck") else {}
    twin = timm.layers.create_attn(own, 32, **options).eval()
    x = torch.randn(2, 32, 8, 8, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        assert layer(x).shape == x.shape
        assert torch.equal(layer(x), twin(x))


def test_an_encoder_has_the_features_of_timm_and_a_plain_head() -> None:
    register_timm("timm:resnet18")
    assert set(fitting("timm:resnet18")) == {p.name for p in PROBES.values() if len(p.shape) == 2}
    network = PROBES["rde"].make("timm:resnet18", shape=(32, 48), width=8).eval()
    x = torch.randn(2, 3, 32, 48, generator=torch.Generator().manual_seed(0))
    resized = torch.nn.functional.interpolate
    with torch.no_grad():
        found, features = network(x), network.encoder(x)
        # The formula: each scale through its 1x1 convolution, coarse added to fine.
        maps = [scale(feature) for scale, feature in zip(network.scales, features, strict=True)]
        total = maps[-1]
        for finer in reversed(maps[:-1]):
            total = finer + resized(total, finer.shape[2:], mode="bilinear")
        expected = network.head(resized(total, (32, 48), mode="bilinear"))
    assert found.shape == (2, 1, 32, 48)
    torch.testing.assert_close(found, expected)
    twin = timm.create_model("resnet18", pretrained=False, features_only=True)
    assert [f.shape[1] for f in features] == twin.feature_info.channels()


def test_names_that_timm_does_not_have_get_one_sentence() -> None:
    with pytest.raises(SynthprobeError, match=r"timm has no network 'resnet1'.* did you mean"):
        register_timm("timm:resnet1")


def test_an_encoder_and_a_layer_are_trained_evaluated_and_scored(
    tmp_path, capsys, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    small_file(tmp_path / "rde.h5")
    words = ["--on", "rde.h5", "--epochs", "1", "--batch", "4", "--width", "8"]
    for name in ("timm:resnet18", "timm:se"):
        more = ["--down-samplings", "1"] if name == "timm:se" else []
        assert main(["train", name, *words, *more, "--picture-every", "0"]) == 0
        run = str(tmp_path / "runs" / f"rde-{name.replace(':', '-')}-0")
        STRUCTURES.pop(name, None)  # as in a new process
        NETWORKS.pop(name, None)
        assert main(["eval", run, "--on", "rde.h5", "--json"]) == 0
        text = capsys.readouterr().out
        assert json.loads(text[text.index("{\n") :])["name"] == name
        assert main(["score", run, "--on", "rde.h5", "--worst", "0"]) == 0
    # What a checkpoint says of weights to begin with is not followed: it has its own.
    checkpoint = tmp_path / "runs" / "rde-timm-resnet18-0" / "checkpoint.pt"
    saved = load_checkpoint(checkpoint)
    asked = {"pretrained": True, "checkpoint_path": str(tmp_path / "none.pt")}
    dataclasses.replace(saved, settings=dataclasses.replace(saved.settings, options=asked)).save(
        checkpoint
    )
    make = timm.create_model

    def watched(*names, **options):
        assert not options["pretrained"]
        assert "checkpoint_path" not in options
        return make(*names, **options)

    monkeypatch.setattr(timm, "create_model", watched)
    assert main(["score", str(checkpoint), "--on", "rde.h5", "--worst", "0"]) == 0
    assert main(["inspect", "timm:no-such"]) == 2
    assert "timm has no network" in capsys.readouterr().err
