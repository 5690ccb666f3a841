"""DeepLabV3+ for two tasks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.layers.aspp import RATES  # noqa: E402
from synthprobe_models.networks.counting import count_parameters  # noqa: E402
from synthprobe_models.networks.deeplab import (  # noqa: E402
    Branch,
    BranchedDeepLab,
    Decoder,
    SharedDeepLab,
    reduced,
)
from synthprobe_models.networks.heads import CLASSES, DepthMap  # noqa: E402
from synthprobe_models.probes import PROBES, fitting  # noqa: E402
from tests.models.naive import decode, drawn, picture, resize  # noqa: E402

NETWORKS = {"deeplab-shared": SharedDeepLab, "deeplab-branched": BranchedDeepLab}


@pytest.mark.parametrize("convolutions", [2, 3])
@pytest.mark.parametrize("training", [False, True])
def test_the_decoder_is_its_formula(convolutions: int, training: bool) -> None:
    decoder = Decoder(4, 3, 5, skip=2, convolutions=convolutions)
    decoder = drawn(decoder).train(training)
    deep, fine = picture(4, 2, 3), picture(3, 7, 9)
    with torch.no_grad():
        assert torch.allclose(decoder(deep, fine), decode(deep, fine, decoder), rtol=1e-10)


@pytest.mark.parametrize("training", [False, True])
def test_gradients_of_the_decoder_are_right_in_double_precision(training: bool) -> None:
    decoder = drawn(Decoder(2, 2, 3, skip=1)).train(training)
    deep, fine = picture(2, 2, 2).requires_grad_(), picture(2, 3, 5).requires_grad_()
    assert torch.autograd.gradcheck(decoder, (deep, fine), fast_mode=True)


def test_parts_and_networks_have_as_many_parameters_as_published() -> None:
    encoder, aspp = 11_176_512, 4_131_584
    for outputs, decoder in ((20, 1_300_036), (19, 1_299_779), (1, 1_295_153)):
        with torch.device("meta"):  # counting needs no weights
            branch = Branch(outputs, 64, RATES)
        assert count_parameters(branch.aspp) == aspp
        assert count_parameters(branch.decoder) + count_parameters(branch.head) == decoder
    with torch.device("meta"):
        shared, branched = (PROBES["rde"].make(name, options={"classes": 19}) for name in NETWORKS)
    assert count_parameters(shared.encoder) == count_parameters(branched.encoder) == encoder
    assert count_parameters(shared) == 16_608_132
    assert count_parameters(branched) == 22_034_612


def test_predictions_come_from_the_branches() -> None:
    x = picture(3, 37, 50)
    with torch.no_grad():
        network = drawn(BranchedDeepLab(3, 2, (37, 50), classes=4, width=2))
        fine, deep = network.encoder(x)
        depth, classes = network.both(x)
        for found, branch in ((depth, network.depth), (classes, network.segmentation)):
            y = decode(branch.aspp(deep), fine, branch.decoder)
            right = torch.einsum("bchw,oc->bohw", y, branch.head.weight)
            right = resize(right + branch.head.bias.view(-1, 1, 1), 37, 50)
            assert torch.allclose(found, right, rtol=1e-8)
        assert torch.allclose(network(x), depth)

        network = drawn(SharedDeepLab(3, 2, (37, 50), classes=4, width=2))
        depth, classes = network.both(x)
        together = resize(network.branch(network.encoder(x)), 37, 50)
        assert torch.allclose(torch.cat([classes, depth], 1), together)
        assert torch.equal(network(x), depth)


@pytest.mark.parametrize("name", NETWORKS)
@settings(max_examples=6, deadline=None)
@given(
    height=st.integers(1, 60),
    width=st.integers(1, 60),
    channels=st.integers(1, 5),
    outputs=st.integers(1, 3),
)
def test_any_size_and_any_width_work(
    name: str, height: int, width: int, channels: int, outputs: int
) -> None:
    shape = (height, width)
    network = PROBES["rde"].make(name, shape=shape, width=channels, inputs=2, outputs=outputs)
    x = torch.randn(2, 2, *shape)
    depth, classes = network.eval().both(x)
    assert network(x).shape == depth.shape == (2, outputs, *shape)
    assert classes.shape == (2, CLASSES, *shape)


@pytest.mark.parametrize("name", NETWORKS)
def test_both_tasks_reach_the_encoder_and_each_its_own_branch(name: str) -> None:
    assert fitting(name) == ("rde",)
    network = PROBES["rde"].make(name, shape=(32, 32), width=4)
    depth, classes = network.both(torch.randn(2, 3, 32, 32))
    found = []
    for task in (depth, classes):
        network.zero_grad()
        task.square().sum().backward(retain_graph=True)
        found.append({part for part, value in network.named_parameters() if value.grad is not None})
    everything = {part for part, _ in network.named_parameters()}
    assert found[0] | found[1] == everything
    shared = {part for part in everything if not part.startswith(("depth", "segmentation"))}
    assert found[0] & found[1] == shared


def test_the_skip_is_reduced_as_published() -> None:
    assert reduced(64) == 48
    assert reduced(1) == 1


@pytest.mark.parametrize("convolutions", [1, 2, 3])
@pytest.mark.parametrize("skip", [16, 32, 48, 64])
def test_the_reports_variants_of_the_decoder_have_the_counts_of_their_parts(
    skip: int, convolutions: int
) -> None:
    """Skips of 16 to 64 channels, and 0 to 2 additional convolutions."""
    options = {"classes": 19, "skip": skip, "convolutions": convolutions}
    with torch.device("meta"):
        network = PROBES["rde"].make("deeplab-shared", options=options)
    convolution = 9 * 256 * 256 + 3 * 256  # with its bias and the two of batch normalisation
    parts = (64 * skip + skip) + 9 * skip * 256 + convolutions * convolution + (256 * 20 + 20)
    assert count_parameters(network) == 11_176_512 + 4_131_584 + parts


@pytest.mark.parametrize("name", NETWORKS)
def test_depth_is_an_exponential_within_limits_at_the_size_of_the_picture(name: str) -> None:
    x = 3 * picture(3, 32, 32)
    plain = drawn(NETWORKS[name](3, 1, (32, 32), width=1, classes=2)).eval()
    limits = (0.5, 1.5)
    mapped = NETWORKS[name](3, 1, (32, 32), width=1, classes=2, depth="exp", limits=limits)
    mapped = mapped.double().eval()
    mapped.load_state_dict(plain.state_dict())
    with torch.no_grad():
        linear, found = plain.both(x), mapped.both(x)
        expected = torch.exp(linear.depth)
        expected[expected < 0.5], expected[expected > 1.5] = 0.5, 1.5
        assert torch.allclose(found.depth, expected)
        assert torch.equal(found.classes, linear.classes)
        assert torch.equal(mapped(x), found.depth)


def test_the_limits_of_depth_are_the_reports_and_are_checked() -> None:
    ends = DepthMap("exp")(torch.tensor([-50.0, 0.0, 50.0]))
    assert ends.tolist() == pytest.approx([0.1, 1.0, 300.0])
    with pytest.raises(SynthprobeError, match="depth is 'log': take one of linear, exp"):
        DepthMap("log")
    with pytest.raises(SynthprobeError, match=r"limits is \[3, 1\]: it must be two depths above 0"):
        DepthMap("exp", (3, 1))


def test_without_aspp_a_1x1_convolution_stands_in_its_place() -> None:
    with torch.device("meta"):
        network = PROBES["rde"].make("deeplab-shared", options={"classes": 19, "aspp": False})
    assert count_parameters(network) == 16_608_132 - 4_131_584 + 512 * 256 + 256
