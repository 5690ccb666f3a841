"""The decoder block against torch's, and what it may not see."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from synthprobe_models.layers.decoder import Decoder, DecoderBlock  # noqa: E402
from synthprobe_models.registry import find_structure  # noqa: E402
from tests.models.layers.attending import double, randomised  # noqa: E402


def copy_attention(ours: nn.Module, theirs: nn.MultiheadAttention) -> None:
    for k, part in enumerate((ours.queries, ours.keys, ours.values)):
        part.weight.data = theirs.in_proj_weight.data.chunk(3)[k]
        part.bias.data = theirs.in_proj_bias.data.chunk(3)[k]
    ours.out.load_state_dict(theirs.out_proj.state_dict())


def test_the_block_is_the_pre_norm_decoder_layer_of_torch() -> None:
    theirs = randomised(
        nn.TransformerDecoderLayer(8, 2, 32, dropout=0.0, batch_first=True, norm_first=True)
    )
    ours = DecoderBlock(8, heads=2).double().eval()
    copy_attention(ours.own, theirs.self_attn)
    copy_attention(ours.memory, theirs.multihead_attn)
    for mine, their in (
        (ours.own_norm, theirs.norm1),
        (ours.memory_norm, theirs.norm2),
        (ours.norm, theirs.norm3),
        (ours.expand, theirs.linear1),
        (ours.reduce, theirs.linear2),
    ):
        mine.load_state_dict(their.state_dict())
    tokens, memory = double(2, 5, 8), double(2, 7, 8)
    mask = nn.Transformer.generate_square_subsequent_mask(5, dtype=torch.double)
    expected = theirs(tokens, memory, tgt_mask=mask)
    assert torch.allclose(ours(tokens, memory), expected)


@pytest.mark.parametrize("shape", [(6,), (2, 3)])
def test_the_structure_is_the_block_with_its_input_for_a_memory(shape) -> None:
    layer = randomised(Decoder(4, shape, heads=2))
    x = double(2, 4, *shape)
    tokens = x.flatten(2).transpose(1, 2)
    expected = layer.block(tokens, tokens).transpose(1, 2).reshape(x.shape)
    assert torch.allclose(layer(x), expected)


def test_without_a_memory_no_position_sees_a_later_one_and_with_it_all_do() -> None:
    x = double(1, 4, 2, 3)
    for memory in (False, True):
        layer = randomised(find_structure("decoder").make(4, (2, 3), heads=2, memory=memory))
        seen = torch.autograd.functional.jacobian(layer, x).abs().sum((0, 1, 4, 5)).reshape(6, 6)
        assert ((seen > 0) == (torch.ones(6, 6).tril() > 0)).all() != memory
        if memory:
            assert (seen > 0).all()
