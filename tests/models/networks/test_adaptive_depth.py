"""Depth from adaptive bins."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.networks.adaptive_depth import (  # noqa: E402
    LATENTS,
    AdaptiveBins,
    AdaptiveDepth,
)
from synthprobe_models.networks.counting import count_parameters  # noqa: E402
from synthprobe_models.probes import PROBES, fitting  # noqa: E402
from tests.models.naive import convolve, drawn, picture, resize, transform  # noqa: E402


def test_parts_and_network_have_as_many_parameters_as_published() -> None:
    with torch.device("meta"):  # counting needs no weights
        network = PROBES["rde"].make("adaptive-depth")
    branch = network.depth
    assert count_parameters(branch.decoder) + count_parameters(branch.head) == 2_579_008
    assert count_parameters(branch.bins.queries) == 590_080
    assert count_parameters(branch.bins.blocks) == 2_369_280
    assert count_parameters(branch.bins.values) == 257
    assert count_parameters(network.encoder) == 11_176_512
    assert count_parameters(network) == 16_715_137


@pytest.mark.parametrize(("latents", "more"), [("encoder", 512 * 256 + 256), ("aspp", 4_131_584)])
def test_other_latents_add_what_takes_them_to_the_width(latents: str, more: int) -> None:
    with torch.device("meta"):
        network = PROBES["rde"].make("adaptive-depth", options={"latents": latents})
    assert count_parameters(network) == 16_715_137 + more


def test_bins_are_their_formula() -> None:
    layer = drawn(AdaptiveBins(4, 2, bins=9, layers=2, heads=2))
    features, latents = picture(4, 5, 3), picture(4, 2, 6, seed=2)
    with torch.no_grad():
        found = layer(features, latents)
        bins = resize(latents, 3, 3).flatten(2).transpose(1, 2)
        for block in layer.blocks:
            bins = transform(bins, block)
        queries = convolve(features, layer.queries)
        for b in range(2):
            values = [layer.values.weight @ token + layer.values.bias for token in bins[b]]
            for r in range(5):
                for c in range(3):
                    similar = [(queries[b, :, r, c] @ token).exp() for token in bins[b]]
                    depth = sum(s / sum(similar) * v for s, v in zip(similar, values, strict=True))
                    assert torch.allclose(found[b, :, r, c], depth, rtol=1e-9)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32), edge=st.integers(1, 5), outputs=st.integers(1, 3))
def test_weights_add_up_to_1_and_depth_is_within_the_bins(
    seed: int, edge: int, outputs: int
) -> None:
    layer = drawn(AdaptiveBins(4, outputs, bins=edge**2, layers=1), seed)
    features, latents = picture(4, 6, 7, seed=seed), picture(4, 3, 4, seed=seed + 1)
    with torch.no_grad():
        weights, values = layer.find(features, latents)
        depth = resize(layer(features, latents), 23, 17)
    assert weights.shape == (2, edge**2, 6, 7)
    assert (weights >= 0).all()
    assert torch.allclose(weights.sum(1), torch.ones(2, 6, 7, dtype=torch.double))
    low, high = values.amin(1)[..., None, None], values.amax(1)[..., None, None]
    assert ((depth >= low - 1e-9) & (depth <= high + 1e-9)).all()


def test_gradients_are_right_in_double_precision() -> None:
    layer = drawn(AdaptiveBins(4, bins=4, layers=1, heads=2))
    features, latents = picture(4, 3, 2).requires_grad_(), picture(4, 2, 3).requires_grad_()
    assert torch.autograd.gradcheck(layer, (features, latents), fast_mode=True)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("latents", LATENTS)
def test_gradients_of_the_whole_network_are_right(latents: str, training: bool) -> None:
    network = drawn(AdaptiveDepth(1, 1, (18, 20), width=1, latents=latents, bins=4, layers=1))
    x = picture(1, 18, 20).requires_grad_()
    assert torch.autograd.gradcheck(network.train(training), (x,), fast_mode=True)


@pytest.mark.parametrize("latents", LATENTS)
@pytest.mark.parametrize("shape", [(33, 47), (1, 5), (64, 32)])
def test_output_has_the_size_of_the_input(latents: str, shape) -> None:
    network = PROBES["rde"].make(
        "adaptive-depth", shape=shape, width=2, outputs=2, options={"latents": latents, "bins": 9}
    )
    assert network.eval()(torch.randn(2, 3, *shape)).shape == (2, 2, *shape)
    assert fitting("adaptive-depth") == ("rde",)


def test_unknown_latents_are_refused() -> None:
    with pytest.raises(SynthprobeError, match="latents is 'none': take one of decoder, encoder"):
        AdaptiveDepth(3, 1, (32, 32), width=1, latents="none")


def test_with_512_channels_tokens_are_twice_as_wide_and_reduced_for_the_similarity_alone() -> None:
    layer = drawn(AdaptiveBins(4, 1, bins=4, layers=1, heads=2, dimension=8))
    features, latents = picture(4, 3, 2), picture(8, 2, 2, seed=2)
    with torch.no_grad():
        weights, values = layer.find(features, latents)
        bins = transform(latents.flatten(2).transpose(1, 2), layer.blocks[0])
        queries = convolve(features, layer.queries)
        small = bins @ layer.reduce.weight.T + layer.reduce.bias
        similar = torch.einsum("bchw,bnc->bnhw", queries, small).exp()
    assert torch.allclose(values, bins @ layer.values.weight.T + layer.values.bias)
    assert torch.allclose(weights, similar / similar.sum(1, keepdim=True))


@pytest.mark.parametrize(("latents", "more"), [("encoder", 0), ("decoder", 256 * 512 + 512)])
def test_bins_of_512_channels_have_the_count_of_their_parts(latents: str, more: int) -> None:
    """By the report: blocks of 512 channels, and one linear map back to 256."""
    with torch.device("meta"):
        options = {"latents": latents, "double": True}
        bins = PROBES["rde"].make("adaptive-depth", options=options).depth
    block = 4 * (512**2 + 512) + 2 * 2 * 512 + 2 * 4 * 512**2 + 5 * 512
    assert count_parameters(bins.bins.blocks) == 3 * block
    extra = 3 * block - 2_369_280 + (512 * 256 + 256) + 256 + more
    whole = 16_715_137 - 11_176_512
    assert count_parameters(bins) == whole + extra


@pytest.mark.parametrize("places", ["queries", "input"])
def test_positions_are_added_to_the_queries_or_to_what_comes_in(places: str) -> None:
    plain = drawn(AdaptiveBins(4, 1, bins=4, layers=1, heads=2))
    placed = drawn(AdaptiveBins(4, 1, bins=4, layers=1, heads=2, positions=places))
    placed.load_state_dict(plain.state_dict(), strict=False)
    features, latents = picture(4, 3, 2), picture(4, 2, 2, seed=2)
    with torch.no_grad():
        if places == "input":
            moved = latents + placed.positions.transpose(1, 2).view(1, 4, 2, 2)
            expected = plain(features, moved)
        else:  # as a bias of the queries that is the same for all bins if all positions are
            placed.positions[:] = placed.positions[:, :1]
            plain.blocks[0].attention.queries.bias += placed.positions[0, 0]
            expected = plain(features, latents)
        assert torch.allclose(placed(features, latents), expected)
    assert count_parameters(placed) == count_parameters(plain) + 4 * 4
    with pytest.raises(SynthprobeError, match="positions is 'keys': take one of none, queries, in"):
        AdaptiveBins(4, positions="keys")


def test_without_dilation_the_last_features_are_half_as_fine_with_the_same_weights() -> None:
    x = torch.rand(1, 3, 64, 96)
    sizes, counts = [], []
    for dilated in (True, False):
        network = AdaptiveDepth(3, 1, (64, 96), width=2, bins=4, dilated=dilated).eval()
        sizes.append(tuple(network.encoder(x).deep.shape[2:]))
        counts.append(count_parameters(network))
    assert sizes == [(4, 6), (2, 3)]
    assert counts[0] == counts[1]
