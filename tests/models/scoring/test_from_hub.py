"""Depth networks of transformers, saved to a folder with the real library and scored from there."""

from __future__ import annotations

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from synthprobe_models.torchvision_import import import_torchvision  # noqa: E402

import_torchvision()
transformers = pytest.importorskip("transformers")

from PIL import Image  # noqa: E402

from synthprobe_data import RdeConfig, SynthprobeError, make_file, open_dataset  # noqa: E402
from synthprobe_models import score  # noqa: E402
from synthprobe_models.cli.main import main  # noqa: E402
from synthprobe_models.scoring.from_hub import HubPredictor  # noqa: E402

CONFIG = RdeConfig(height=40, width=48, n_rectangles=4, n_vis=2, n_gap=2, n_par=2)
SMALL = {"num_hidden_layers": 4, "num_attention_heads": 2, "hidden_size": 16}


def small_dpt():
    torch.manual_seed(0)
    config = transformers.DPTConfig(
        **SMALL,
        intermediate_size=16,
        image_size=32,
        patch_size=8,
        backbone_out_indices=[0, 1, 2, 3],
        neck_hidden_sizes=[8, 8, 8, 8],
        fusion_hidden_size=8,
    )
    return transformers.DPTForDepthEstimation(config), {"height": 32, "width": 32}


def small_depth_anything(**options):
    torch.manual_seed(0)
    backbone = transformers.Dinov2Config(
        **SMALL,
        mlp_ratio=1,
        image_size=28,
        patch_size=14,
        out_indices=[1, 2, 3, 4],
        reshape_hidden_states=False,
    )
    config = transformers.DepthAnythingConfig(
        backbone_config=backbone,
        reassemble_hidden_size=16,
        patch_size=14,
        neck_hidden_sizes=[8, 8, 8, 8],
        fusion_hidden_size=8,
        head_hidden_size=8,
        **options,
    )
    return transformers.DepthAnythingForDepthEstimation(config), {"height": 28, "width": 28}


NETWORKS = {"dpt": small_dpt, "depth-anything": small_depth_anything}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("hub")
    make_file("rde", path / "rde.h5", config=CONFIG, train=1, test=5, workers=1, cards=False)
    for name, make in {
        **NETWORKS,
        "metric": lambda: small_depth_anything(depth_estimation_type="metric", max_depth=20),
    }.items():
        network, size = make()
        network.save_pretrained(path / name)
        transformers.DPTImageProcessorPil(size=size).save_pretrained(path / name)
    return path


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_of_a_folder_is_scored_by_the_same_door(
    folder, tmp_path, capsys, name, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["score", f"hf:{folder / name}", "--on", str(folder / "rde.h5"), "--worst", "1"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["name"] == name
    assert found["kind"] == "hf"
    assert found["facts"]["architecture"].endswith("ForDepthEstimation")
    assert set(found["metrics"]) == {"pairs_in_order", "whdr", "occlusion_f1", *ALIGNED}
    assert (tmp_path / "scores" / f"{name}-on-rde" / "score.html").is_file()


ALIGNED = ("ord", "delta", "rmse")


@pytest.mark.parametrize("name", NETWORKS)
def test_predictions_are_those_of_the_network_itself(folder, name) -> None:
    with open_dataset(folder / "rde.h5") as data:
        images = data["test"]["image"]
    inputs = torch.from_numpy(images).permute(0, 3, 1, 2).float().div(255)
    predictor = HubPredictor(str(folder / name))
    found = predictor.predict(inputs, range(len(inputs)))
    # Without the pipeline: processor, network, and back to the size of the picture.
    network, _ = NETWORKS[name]()
    network.eval()
    processor = transformers.DPTImageProcessorPil.from_pretrained(folder / name)
    for row, image in enumerate(images):
        with torch.no_grad():
            depth = network(**processor(Image.fromarray(image), return_tensors="pt"))
        (expected,) = processor.post_process_depth_estimation(depth, [CONFIG_SIZE])
        np.testing.assert_allclose(
            found[row, 0].numpy(), expected["predicted_depth"].numpy(), atol=1e-5
        )
    assert found.shape == (5, 1, *CONFIG_SIZE)
    assert found.std() > 0


CONFIG_SIZE = (CONFIG.height, CONFIG.width)


def test_metres_grow_away_from_the_viewer_unless_one_says_otherwise(folder) -> None:
    inputs = torch.rand(1, 3, *CONFIG_SIZE, generator=torch.Generator().manual_seed(0))
    metres = HubPredictor(str(folder / "metric"))
    assert metres.farther
    plain = HubPredictor(str(folder / "metric"), farther=False).predict(inputs, [0])
    assert torch.equal(metres.predict(inputs, [0]), -plain)
    assert not HubPredictor(str(folder / "depth-anything")).farther


def test_what_cannot_be_loaded_gets_one_sentence(folder, tmp_path) -> None:
    on = folder / "rde.h5"
    with pytest.raises(SynthprobeError, match=r"it has no config\.json"):
        score(f"hf:{tmp_path}", on=on)
    with pytest.raises(SynthprobeError, match="there is no such folder"):
        score(f"hf:{tmp_path / 'none'}", on=on)
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(SynthprobeError, match="could not be loaded") as error:
        score(f"hf:{tmp_path}", on=on)
    assert "\n" not in str(error.value)
    with pytest.raises(SynthprobeError, match="preparation of their own"):
        score(f"hf:{folder / 'dpt'}", on=on, multiple=8)
    with pytest.raises(SynthprobeError, match="for a network of transformers, hf:"):
        score(folder / "dpt", on=on)


def test_code_beside_the_weights_is_not_run(folder, tmp_path) -> None:
    config = {"model_type": "mine", "auto_map": {"AutoConfig": "code.Mine"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "code.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Mine: pass\n")
    with pytest.raises(SynthprobeError, match="could not be loaded"):
        score(f"hf:{tmp_path}", on=folder / "rde.h5")
    assert not (tmp_path / "ran").exists()
