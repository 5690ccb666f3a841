"""The two-task network with attention, and what all two-task networks have in common."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from synthprobe_data import RdeConfig, SynthprobeError, iter_samples  # noqa: E402
from synthprobe_models.data.torch_datasets import normalisation_of, to_network  # noqa: E402
from synthprobe_models.networks.counting import count_parameters  # noqa: E402
from synthprobe_models.networks.heads import (  # noqa: E402
    CLASSES,
    TwoTaskNetwork,
    color_classes,
)
from synthprobe_models.networks.resnet import Features  # noqa: E402
from synthprobe_models.networks.two_task_attention import (  # noqa: E402
    CrossSegmentation,
    SelfSegmentation,
    TwoTaskAttention,
)
from synthprobe_models.probes import PROBES, fitting  # noqa: E402
from tests.models.naive import decode, drawn, picture, resize, transform  # noqa: E402

ATTENTIONS = ["self", "cross"]
SMALL = {"width": 2, "bins": 9, "layers": 2}


def test_self_attention_on_latents_comes_before_the_decoder() -> None:
    branch = drawn(SelfSegmentation(3, 1, latents=9, layers=2))
    fine, deep = picture(1, 5, 7), picture(8, 2, 3)
    with torch.no_grad():
        square = resize(branch.aspp(deep), 3, 3)
        tokens = square.flatten(2).transpose(1, 2)
        for block in branch.blocks:
            tokens = transform(tokens, block)
        for r in range(3):
            for c in range(3):
                square[:, :, r, c] = tokens[:, 3 * r + c]
        y = decode(square, fine, branch.decoder)
        right = torch.einsum("bchw,oc->bohw", y, branch.head.weight)
        right = right + branch.head.bias.view(-1, 1, 1)
        assert torch.allclose(branch(Features(fine, deep)), right, rtol=1e-9)


def test_scores_are_similarities_to_class_tokens_that_attended_to_the_features() -> None:
    branch = drawn(CrossSegmentation(3, 1, layers=2))
    fine, deep = picture(1, 5, 7), picture(8, 2, 3)
    with torch.no_grad():
        features = decode(branch.aspp(deep), fine, branch.decoder)
        tokens = branch.tokens.repeat(2, 1, 1)
        seen = torch.stack([features[:, :, r, c] for r in range(5) for c in range(7)], dim=1)
        for block in branch.blocks:
            tokens = transform(tokens, block, seen)
        found = branch(Features(fine, deep))
        for k in range(3):
            right = (features * tokens[:, k, :, None, None]).sum(1)
            assert torch.allclose(found[:, k], right, rtol=1e-9)


def test_parameters_are_those_of_the_parts() -> None:
    """There is no published count of the whole: only parts are."""
    encoder, aspp, decoder, bins = 11_176_512, 4_131_584, 1_299_779, 590_080 + 2_369_280 + 257
    own, head, reducer, blocks = 2_579_008, 256 * 19 + 19, 512 * 256 + 256, 2_369_280
    counts = {
        "self": encoder + (own + bins + aspp) + (aspp + blocks + decoder),
        "cross": encoder
        + (own + bins + reducer)
        + (aspp + blocks + 3 * 2 * 256 + 19 * 256 + decoder - head),
    }
    for attention, count in counts.items():
        options = {"classes": 19, "attention": attention}
        with torch.device("meta"):  # counting needs no weights
            network = PROBES["rde"].make("two-task-attention", options=options)
        assert count_parameters(network) == count


@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("shape", [(33, 47), (1, 5), (64, 32)])
def test_output_has_the_size_of_the_input(attention: str, shape) -> None:
    options = {"attention": attention, "bins": 9, "dropout": 0.1}
    network = PROBES["rde"].make(
        "two-task-attention", shape=shape, width=2, outputs=2, options=options
    )
    assert fitting("two-task-attention") == ("rde",)
    assert isinstance(network, TwoTaskNetwork)
    x = torch.randn(2, 3, *shape)
    depth, classes = network.eval().both(x)
    assert depth.shape == (2, 2, *shape)
    assert classes.shape == (2, CLASSES, *shape)
    assert torch.equal(network(x), depth)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_gradients_are_right_in_double_precision(attention: str, training: bool) -> None:
    network = TwoTaskAttention(
        1, 1, (18, 20), classes=2, width=1, attention=attention, bins=4, layers=1
    )
    network = drawn(network).train(training)
    x = picture(1, 18, 20).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: tuple(network.both(x)), (x,), fast_mode=True)


def test_dropout_acts_on_both_tasks_in_training_only() -> None:
    x = torch.randn(2, 3, 32, 32)
    for attention in ATTENTIONS:
        network = TwoTaskAttention(3, 1, (32, 32), attention=attention, dropout=0.5, **SMALL)
        for found, again in zip(network.both(x), network.both(x), strict=True):
            assert not torch.equal(found, again)
        network.eval()
        for found, again in zip(network.both(x), network.both(x), strict=True):
            assert torch.equal(found, again)


def test_an_unknown_attention_is_refused() -> None:
    with pytest.raises(SynthprobeError, match="attention is 'none': take one of self, cross"):
        TwoTaskAttention(3, 1, (32, 32), attention="none")


def samples(count: int) -> tuple[RdeConfig, dict[str, np.ndarray]]:
    config = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3)
    drawn_samples = list(iter_samples("rde", config=config, stop=count))
    return config, {
        name: np.stack([sample[name] for sample in drawn_samples]) for name in drawn_samples[0]
    }


def test_color_classes_are_the_rows_of_the_palette_and_the_background() -> None:
    _, arrays = samples(3)
    label, color = (torch.as_tensor(arrays[name]) for name in ("label", "color"))
    found = color_classes(label, color)
    assert found.dtype == torch.int64
    for i in range(3):
        for place, value in np.ndenumerate(arrays["label"][i]):
            right = 0 if value == 0 else arrays["color"][i][value - 1] + 1
            assert found[(i, *place)] == right


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("deeplab-shared", {}),
        ("deeplab-branched", {}),
        ("two-task-attention", {"bins": 16, "layers": 1, "attention": "self"}),
        ("two-task-attention", {"bins": 16, "layers": 1, "attention": "cross"}),
    ],
)
def test_steps_on_both_losses_lower_both(name: str, options) -> None:
    torch.manual_seed(0)
    config, arrays = samples(4)
    batch = to_network("rde", arrays, normalisation_of("rde", config))
    colors = color_classes(*(torch.as_tensor(arrays[key]) for key in ("label", "color")))
    network = PROBES["rde"].make(name, shape=(40, 32), width=4, options={"classes": 5, **options})
    optimizer = torch.optim.Adam(network.parameters(), 1e-2)
    found = []
    for _ in range(10):
        depth, classes = network.both(batch["image"])
        losses = (
            torch.nn.functional.mse_loss(depth, batch["target"]),
            torch.nn.functional.cross_entropy(classes, colors),
        )
        optimizer.zero_grad()
        sum(losses).backward()
        optimizer.step()
        found.append([loss.item() for loss in losses])
    assert found[-1][0] < 0.7 * found[0][0]
    assert found[-1][1] < 0.7 * found[0][1]
