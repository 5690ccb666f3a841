"""The model card of exported weights: what they are, what they scored, and how to load them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from synthprobe_data import DATASETS, SynthprobeError, toml_text
from synthprobe_models.data.source import VALIDATION
from synthprobe_models.metrics import METRICS
from synthprobe_models.probes import find_probe
from synthprobe_models.registry import NETWORKS, STRUCTURES
from synthprobe_models.training.checkpoint import Checkpoint

_LICENSE: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,63}")
_SPLITS: Final = ("test", VALIDATION, "train")
_MARKUP: Final = re.compile(r"[\x00-\x1f\x7f`<>\[\]{}|*#\\]")


def check_license(name: str) -> None:
    """Raise `SynthprobeError` for what cannot be a licence as the Hub names it, such as ``mit``."""
    if not _LICENSE.fullmatch(name):
        raise SynthprobeError(
            f"license is {name!r}: it must be an identifier such as mit or cc-by-4.0."
        )


def model_card(
    saved: Checkpoint, facts: Mapping[str, Any], *, parameters: int, license_name: str
) -> str:
    """The card as Markdown, with the front matter of the Hub.

    Parameters
    ----------
    saved
        What is exported.
    facts
        What its ``config.json`` says.
    parameters
        Of the network.
    license_name
        The licence of the weights.
    """
    name, data = _plain(saved.settings.name), saved.data
    probe = find_probe(data.dataset)
    size = " x ".join(map(str, data.input_shape[1:]))
    epochs = f"{saved.epoch} of {saved.settings.epochs} epochs"
    entry = STRUCTURES.get(saved.settings.name) or NETWORKS.get(saved.settings.name)
    title = "" if entry is None else _plain(f"{entry.title} ({entry.source})".replace(" ()", ""))
    ability = "" if probe.ability is None else f" The ability that it tests: {probe.ability.name}."
    lines = [
        "---",
        f"license: {license_name}",
        "library_name: pytorch",
        "tags:",
        *(
            f"- {re.sub('[^a-z0-9.-]', '-', tag.lower())}"
            for tag in ("synthprobe", data.dataset, name)
        ),
        "---",
        "",
        f"# {name}, trained on {data.dataset}",
        "",
        f"{title or name}, in the network of the probe `{probe.name}`: {parameters:,} parameters, "
        f"{epochs}, seed {saved.settings.seed}. {DATASETS[data.dataset].title}.{ability}",
        "",
        "## Load it",
        "",
        "With `pip install 'synthprobe[models]'`; FOLDER is where this file is, and FILE.h5 has "
        f"samples of `{data.dataset}`:",
        "",
        "```python",
        "from synthprobe_models import ShardDataset, load_exported",
        "",
        'network = load_exported("FOLDER")',
        'sample = ShardDataset("FILE.h5", "test")[0]',
        f'prediction = network(sample["{probe.input}"][None])  # as sample["target"]',
        "```",
        "",
        "`synthprobe-probe eval FOLDER --on FILE.h5` gives all metrics. Weights are in "
        "`model.safetensors` and settings in `config.json`; neither can hold code.",
        *_own_structure(saved, facts),
        "",
        "## What it scored",
        "",
        *_scores(facts.get("result")),
        "",
        "## What it was trained on",
        "",
        f"- dataset `{data.dataset}`, version {DATASETS[data.dataset].version}: inputs of "
        f"{data.input_shape[0]} channels and {size} positions, {data.outputs} channels to find",
        f"- content: {_content(data.content)}",
        "- settings of the samples, where they are not the canonical ones: "
        + (_others(saved) or "none"),
        "",
        "## How it was trained",
        "",
        "As `synthprobe-probe train --config THIS.toml --on FILE.h5` reads it:",
        "",
        "```toml",
        _settings(saved).rstrip(),
        "```",
        "",
        *_made_by(facts),
        "",
        "## Limits",
        "",
        "- It knows synthetic samples alone, and says nothing of natural pictures.",
        "- It is one run with one seed, and others may score otherwise. Whether a structure has an "
        "ability takes several: `synthprobe-probe profile`.",
        "- Samples of other sizes or settings are out of its training; a structure may be tied to "
        "its size.",
        "",
        "## Licence",
        "",
        f"Weights: {license_name}. Samples of synthprobe: CC BY 4.0.",
        "",
    ]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """A text that nobody can take for Markdown or for several lines."""
    return _MARKUP.sub("_", text)


def _content(content: str) -> str:
    is_digest = re.fullmatch(r"[0-9a-f]{64}", content) is not None
    return f"digest `{content}`" if is_digest else _plain(content)


def _own_structure(saved: Checkpoint, facts: Mapping[str, Any]) -> list[str]:
    where = facts["made_by"].get("load")
    if not isinstance(where, str):
        return []
    return [
        "",
        f"The structure comes from `{_plain(where)}`, which is not part of synthprobe: import it "
        f"first, or add `--load {_plain(where)}`.",
    ]


def _scores(result: Mapping[str, Any] | None) -> Iterator[str]:
    splits = [name for name in _SPLITS if result and result.get(name)]
    if result is None or not splits:
        yield "Nothing is known: the run is not complete."
        return
    heads = [f"{split} ({result[f'{split}_samples']:,} samples)" for split in splits]
    yield "| metric | " + " | ".join([*heads, "better", "meaning"]) + " |"
    yield "| --- " * (len(heads) + 3) + "|"
    for name in result[splits[0]]:
        metric = METRICS.get(name)
        better = "" if metric is None else ("higher" if metric.higher_is_better else "lower")
        meaning = "" if metric is None else metric.meaning
        values = [_figure(result[split].get(name)) for split in splits]
        yield "| " + " | ".join([_plain(name), *values, better, meaning]) + " |"


def _figure(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, int | float) else "-"


def _others(saved: Checkpoint) -> str:
    config = saved.data.config
    usual = type(config)().to_dict()
    chosen = {name: value for name, value in config.to_dict().items() if usual[name] != value}
    return ", ".join(f"`{name} = {value}`" for name, value in chosen.items())


def _settings(saved: Checkpoint) -> str:
    facts = saved.settings.to_dict()
    return toml_text({"name": facts.pop("name"), "settings": facts})


def _made_by(facts: Mapping[str, Any]) -> Iterator[str]:
    made_by, result = facts["made_by"], facts.get("result") or {}
    version, commit = made_by.get("version"), made_by.get("commit")
    of = f" (commit {_plain(str(commit))})" if commit else ""
    yield f"- synthprobe {_plain(str(version))}{of}, {facts['seconds']:.0f} s of training"
    if "machine" in result:
        yield f"- torch {_plain(str(result.get('torch')))}; {_plain(str(result['machine']))}"
    for name, digest in (made_by.get("files") or {}).items():
        yield f"- `{_plain(str(name))}`: SHA-256 `{_plain(str(digest))}`"
