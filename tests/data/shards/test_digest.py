"""The content digest, against a transcription of its definition."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from synthprobe_data.shards.digest import ContentDigest, content_digest, row_digests


@pytest.fixture
def block() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        "b": rng.integers(0, 256, (7, 4, 5), np.uint8),
        "a": rng.integers(-9, 9, (7, 3), np.int16),
        "c": rng.integers(0, 9, 7, np.uint8),
    }


def test_the_digest_is_sha256_of_the_sha256_of_the_rows(block: dict[str, np.ndarray]) -> None:
    rows = b"".join(
        hashlib.sha256(
            block["a"][i].astype("<i2").tobytes() + block["b"][i].tobytes() + bytes([block["c"][i]])
        ).digest()
        for i in range(7)
    )
    assert row_digests(block) == rows
    assert content_digest(block) == hashlib.sha256(rows).hexdigest()


@pytest.mark.parametrize("cut", range(8))
def test_shards_combine_into_the_digest_of_the_whole(
    block: dict[str, np.ndarray], cut: int
) -> None:
    digest = ContentDigest()
    digest.update(row_digests({name: column[:cut] for name, column in block.items()}))
    digest.update(row_digests({name: column[cut:] for name, column in block.items()}))
    assert digest.hexdigest() == content_digest(block)


def test_the_digest_is_of_the_numbers_not_of_how_they_lie_in_memory(
    block: dict[str, np.ndarray],
) -> None:
    other = {
        "c": block["c"][::-1].copy()[::-1],
        "b": np.asfortranarray(block["b"]),
        "a": block["a"].astype(">i2"),
    }
    assert content_digest(other) == content_digest(block)


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_one_changed_bit_or_two_exchanged_rows_change_the_digest(
    block: dict[str, np.ndarray], name: str
) -> None:
    before = content_digest(block)
    block[name].reshape(-1)[-1] ^= 1
    assert content_digest(block) != before
    block[name].reshape(-1)[-1] ^= 1
    assert content_digest(block) == before
    assert content_digest({n: c[[1, 0, *range(2, 7)]] for n, c in block.items()}) != before
