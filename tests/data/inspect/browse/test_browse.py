"""The page to look through samples: what is in it, and how it behaves in a real browser."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from synthprobe_data import (
    CenteredSquareConfig,
    ColorCodeConfig,
    SynthprobeError,
    make_file,
    open_dataset,
)
from synthprobe_data.cli.shards import main
from synthprobe_data.inspect.browse.page import write_page
from synthprobe_data.registry import DATASETS
from tests.data.inspect.browse.chromium import Page, chromium_page, find_chromium
from tests.data.rde.explain.conftest import ATTACK


def content_of(page: str) -> dict[str, Any]:
    found = re.findall(r'<script type="application/json" id="content">(.*?)</script>', page)
    assert len(found) == 1
    return dict(json.loads(found[0]))


def test_the_page_has_the_stored_pixels_and_figures(rde_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    assert write_page(rde_file, out, split="test", samples=100) == 30
    content = content_of(out.read_text("utf-8"))
    assert [name for name, _ in content["figures"]] == [
        "depth", "occluded_pairs", "convexity_only", "pieces", "cue_distance",
    ]  # fmt: skip
    with open_dataset(rde_file) as data:
        for i, entry in enumerate(content["samples"]):
            sample, difficulty = data["test"][i], data["test"].difficulty(i)
            picture = Image.open(io.BytesIO(base64.b64decode(entry["png"])))
            assert (np.asarray(picture) == sample["image"]).all()
            n = int(sample["n_rectangles"])
            cover = np.zeros((n, *sample["rank"].shape), bool)
            for k, (x0, y0, x1, y1) in enumerate(sample["rectangles"][:n]):
                cover[k, y0:y1, x0:x1] = True
            occluded = sum((cover[a] & cover[b]).any() for a in range(n) for b in range(a))
            assert entry["f"] == [
                sample["rank"].max(),
                occluded,
                np.sum(sample["above"] == 2),
                difficulty.pieces.sum(),
                difficulty.cue_distance,
            ]
            assert sorted(arrow[:3] for arrow in entry["above"]) == [
                [a, b, sample["above"][a, b]] for a, b in np.argwhere(sample["above"]).tolist()
            ]


def test_the_page_may_run_its_own_script_and_load_nothing(rde_file: Path, tmp_path: Path) -> None:
    write_page(rde_file, tmp_path / "page.html", samples=2)
    page = (tmp_path / "page.html").read_text("utf-8")
    policy = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[0]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    script, style = (
        re.findall(r"<script>(.*?)</script>", page, re.DOTALL),
        re.findall(r"<style>(.*?)</style>", page, re.DOTALL),
    )
    for name, (text,) in (("script-src", script), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[name] == f"'sha256-{digest}'"
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    addresses = set(re.findall(r"""(?:https?:)?//[^\s"'<>]+""", html.unescape(page)))
    assert {a for a in addresses if "." in a and " " not in a} <= {"http://www.w3.org/2000/svg"}


def test_bad_wishes_get_one_sentence_and_leave_nothing(rde_file: Path, tmp_path: Path) -> None:
    (tmp_path / "old.html").write_text("precious")
    for out, options, sentence in (
        ("a.txt", {}, r"end it with \.html"),
        ("a.html", {"samples": 0}, "samples is 0"),
        ("a.html", {"split": "dev"}, "has no split 'dev'"),
        ("old.html", {}, "--force replaces it"),
    ):
        with pytest.raises(SynthprobeError, match=sentence):
            write_page(rde_file, tmp_path / out, **options)
    assert os.listdir(tmp_path) == ["old.html"]
    assert main(["browse", str(rde_file), "--out", str(tmp_path / "old.html"), "--force"]) == 0


def test_a_page_without_a_name_is_named_after_the_file_and_the_split(
    rde_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["browse", str(rde_file), "--split", "train", "--samples", "1"]) == 0
    assert os.listdir(tmp_path) == [f"{rde_file.stem}-train.html"]
    assert capsys.readouterr().out.startswith(f"{rde_file.stem}-train.html: 1 sample,")


# ------------------------------------------------------------------------------- a real browser

CHROMIUM = find_chromium()
in_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium on this machine to open the page in"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    assert CHROMIUM is not None
    with chromium_page(CHROMIUM, tmp_path_factory.mktemp("chromium") / "profile") as page:
        yield page


@pytest.fixture
def opened(browser: Page, rde_file: Path, tmp_path: Path) -> Page:
    write_page(rde_file, tmp_path / "page.html", split="test")
    browser.console.clear()
    browser.requested.clear()
    browser.open(tmp_path / "page.html")
    return browser


NAME = "document.getElementById('name').textContent"
COUNT = "document.getElementById('count').textContent"
IS_OPEN = "document.getElementById('sample').open"
DISPLAY = "getComputedStyle(document.querySelector('#reading .layer-{}')).display"


@in_chromium
def test_a_click_opens_a_sample_and_the_arrows_lead_on(opened: Page) -> None:
    assert opened.run("document.querySelectorAll('.thumb').length") == 30
    opened.click(".thumb:nth-child(3)")
    opened.wait_for(IS_OPEN)
    assert opened.run(NAME) == "test 2"
    entry = opened.run("samples[2]")
    count = "document.querySelectorAll('#sample {}').length"
    assert opened.run(count.format(".bar-line")) == len(entry["t"]) + 1  # and one in the legend
    assert opened.run(count.format("#reading .stem")) == len(entry["t"])
    assert opened.run(count.format("#reading .dash")) == len(entry["hidden"])
    assert opened.run(count.format("#relation .node")) == len(entry["rects"])
    dashed = sum(arrow[2] == 2 for arrow in entry["above"])
    assert opened.run(count.format("#relation .convexity")) == dashed
    opened.wait_for("document.getElementById('picture').naturalWidth === 60")
    for key, name in (("ArrowRight", "test 3"), ("ArrowLeft", "test 2"), ("ArrowLeft", "test 1"),
                      ("ArrowLeft", "test 0"), ("ArrowLeft", "test 0")):  # fmt: skip
        opened.press(key)
        assert opened.run(NAME) == name
    opened.press("Escape")
    opened.wait_for(f"!{IS_OPEN} && document.activeElement.dataset.number === '0'")
    opened.press("ArrowRight")
    opened.press("Enter")
    opened.wait_for(IS_OPEN)
    assert opened.run(NAME) == "test 1"
    opened.press("Escape")
    assert opened.console == []
    assert all(address.startswith(("file:", "data:")) for address in opened.requested)


@in_chromium
def test_a_filter_changes_the_count_and_the_way_of_the_arrows(opened: Page) -> None:
    assert opened.run(COUNT) == "30 of 30 samples"
    depths = opened.run("samples.map((sample) => sample.f[0])")
    deepest = max(depths)
    opened.type_into("[name=min-depth]", str(deepest))
    fitting = [i for i, depth in enumerate(depths) if depth == deepest]
    assert 0 < len(fitting) < 30
    opened.wait_for(f"{COUNT} === '{len(fitting)} of 30 samples'")
    visible = "[...document.querySelectorAll('.thumb')].flatMap((t, i) => t.offsetParent ? i : [])"
    assert opened.run(visible) == fitting
    opened.run("document.querySelector('.thumb:not([hidden])').click()")
    for i in fitting:
        assert opened.run(NAME) == f"test {i}"
        opened.press("ArrowRight")
    opened.press("Escape")
    last = fitting[-1]
    opened.wait_for(f"!{IS_OPEN} && document.activeElement.dataset.number === '{last}'")
    opened.click("button[type=reset]")
    opened.wait_for(f"{COUNT} === '30 of 30 samples'")
    assert opened.console == []


@in_chromium
def test_pointing_at_a_sample_shows_a_preview_and_at_a_pair_its_cues(opened: Page) -> None:
    opened.point_at(".thumb:nth-child(2)")
    opened.wait_for("document.querySelector('#preview:not([hidden]) svg') !== null")
    opened.run("open(samples.findIndex((sample) => sample.t.length))")
    upper, lower = opened.run("samples[current].t[0].slice(2, 4)")
    pair = opened.run(
        "samples[current].above.findIndex(([upper, lower]) => "
        f"upper === {upper} && lower === {lower})"
    )
    opened.point_at(f"#pairs li:nth-child({pair + 1}) button")
    opened.wait_for("document.querySelector('dialog.picking') !== null")
    picked = opened.run(
        "[...document.querySelectorAll('#reading .layer-junctions .picked')]"
        ".map((cue) => cue.dataset.who)"
    )
    assert set(picked) == {f"{upper} {lower}"}
    opened.click("[data-layer=junctions]")
    assert opened.run("document.querySelector('.layer-junctions').checkVisibility()") is False
    assert opened.run(DISPLAY.format("junctions")) == "none"
    assert opened.console == []


@in_chromium
def test_a_hostile_name_is_shown_and_not_run(
    browser: Page, hostile_file: Path, tmp_path: Path
) -> None:
    write_page(hostile_file, tmp_path / "page.html", samples=3)
    browser.console.clear()
    browser.open(tmp_path / "page.html")
    assert "taken" not in browser.run("document.title").replace(ATTACK, "")
    browser.click(".thumb")
    assert browser.run(NAME) == f"{ATTACK} 0"
    assert browser.run("document.querySelectorAll('img[onerror]').length") == 0
    assert browser.console == []


@in_chromium
def test_whatever_gets_in_nothing_leads_out(opened: Page) -> None:
    refused = opened.run("fetch('http://localhost:9/').then(() => 'loaded', () => 'refused')")
    assert refused == "refused"
    assert any("Content Security Policy" in said for said in opened.console)


NUMBERS = "[...document.querySelectorAll('{}')].map((text) => text.textContent)"


@in_chromium
def test_a_rectangle_has_one_number_everywhere_and_its_rank_is_a_shade(opened: Page) -> None:
    opened.run("open(samples.findIndex((sample) => !sample.at.includes(null)))")
    entry = opened.run("samples[current]")
    names = [str(k + 1) for k in range(len(entry["rects"]))]
    for where in ("#ranks text", "#reading .layer-numbers text", "#relation .node-name"):
        assert opened.run(NUMBERS.format(where)) == names
    # A number stands at the same place of both pictures.
    places = "[...document.querySelectorAll('{} text')].map((t) => t.getAttribute('x'))"
    assert opened.run(places.format("#ranks")) == opened.run(places.format(".layer-numbers"))
    fills = opened.run(
        "[...document.querySelectorAll('#ranks .shade')].map((r) => r.getAttribute('fill'))"
    )
    shades = [int(fill[1:3], 16) for fill in fills]
    for a, shade in enumerate(shades):
        for b, other in enumerate(shades):
            assert (shade > other) == (entry["rank"][a] > entry["rank"][b])
    assert max(shades) == 255
    assert min(shades) > 20  # the background is black
    rows = "[...document.querySelectorAll('#rectangles tr')].map((row) => " + (
        "[...row.cells].map((cell) => cell.textContent))"
    )
    assert opened.run(rows) == [
        ["rectangle", *names],
        ["rank", *map(str, entry["rank"])],
        ["pieces", *map(str, entry["pieces"])],
    ]
    for said, (upper, lower, *_) in zip(
        opened.run(NUMBERS.format("#pairs button")), entry["above"], strict=True
    ):
        ranks = f"(ranks {entry['rank'][upper]}, {entry['rank'][lower]}): "
        assert said.startswith(f"{upper + 1} above {lower + 1} {ranks}")
    opened.click("[data-layer=numbers]")
    assert opened.run(DISPLAY.format("numbers")) == "none"
    opened.click("[data-layer=numbers]")
    opened.press("Escape")
    assert opened.console == []


def choose(page: Page, name: str, value: str) -> None:
    page.run(
        f"document.getElementById('{name}').value = '{value}';"
        f"document.getElementById('{name}').dispatchEvent(new Event('input', {{bubbles: true}}))"
    )


@in_chromium
def test_the_samples_can_be_sorted(opened: Page) -> None:
    stand = "[...document.querySelectorAll('.thumb')].map((t) => Number(t.dataset.number))"
    assert opened.run(stand) == list(range(30))
    figures = opened.run("figures.map(([name]) => name)")
    values = opened.run("samples.map((sample) => sample.f)")
    for f, name in enumerate(figures):
        for way, sign in (("low", 1), ("high", -1)):
            choose(opened, "order", name)
            choose(opened, "way", way)
            expected = sorted(range(30), key=lambda i: (sign * values[i][f], i))
            assert opened.run(stand) == expected
            assert opened.run("shown") == expected
    choose(opened, "order", "rectangles")
    counts = opened.run("samples.map((sample) => sample.rects.length)")
    assert opened.run(stand) == sorted(range(30), key=lambda i: (-counts[i], i))
    choose(opened, "order", figures[-1])
    # The arrows lead on in that order.
    opened.run("document.querySelector('.thumb').click()")
    for i in expected[:3]:
        assert opened.run(NAME) == f"test {i}"
        opened.press("ArrowRight")
    opened.press("Escape")
    opened.run("document.querySelector('button[type=reset]').click()")
    opened.wait_for("shown[1] === 1 && document.querySelector('.thumb').dataset.number === '0'")
    choose(opened, "way", "high")
    assert opened.run(stand) == list(range(29, -1, -1))
    assert opened.console == []


@in_chromium
def test_a_link_opens_a_sample(opened: Page, rde_file: Path, tmp_path: Path) -> None:
    address = (tmp_path / "page.html").resolve().as_uri()
    opened.call("Page.navigate", url="about:blank")
    opened.call("Page.navigate", url=f"{address}#test-7")
    opened.wait_for(f"document.readyState === 'complete' && location.hash && {IS_OPEN}")
    assert opened.run(NAME) == "test 7"
    opened.press("ArrowRight")
    assert opened.run("location.hash") == "#test-8"
    link = opened.run("document.querySelector('#name a').href")
    assert link == f"{address}#test-8"
    opened.run("location.hash = '#test-11'")
    opened.wait_for(f"{NAME} === 'test 11'")
    opened.press("Escape")
    opened.wait_for(f"!{IS_OPEN} && location.hash === ''")
    for nowhere in ("test-30", "train-7", "%E0%A4%A", "<img src=x>"):
        opened.run(f"location.hash = '#{nowhere}'")
        opened.wait_for("!document.getElementById('missing').hidden")
        assert opened.run(IS_OPEN) is False
        opened.run("document.getElementById('missing').hidden = true")
    assert opened.run("document.querySelectorAll('#missing *').length") == 0
    opened.run("location.hash = '#test-0'")
    opened.wait_for(f"{IS_OPEN} && {NAME} === 'test 0'")
    assert opened.run("document.getElementById('missing').hidden") is True
    opened.press("Escape")
    assert opened.console == []


@in_chromium
def test_a_link_leads_to_a_sample_that_is_filtered_out(opened: Page) -> None:
    depths = opened.run("samples.map((sample) => sample.f[0])")
    opened.type_into("[name=min-depth]", str(max(depths)))
    hidden = depths.index(min(depths))
    opened.run(f"location.hash = '#test-{hidden}'")
    opened.wait_for(f"{IS_OPEN} && {NAME} === 'test {hidden}'")
    assert opened.run("document.getElementById('place').textContent") == "not among those shown"
    opened.press("Escape")
    assert opened.console == []


@in_chromium
def test_a_hostile_name_can_be_linked_to(browser: Page, hostile_file: Path, tmp_path: Path) -> None:
    write_page(hostile_file, tmp_path / "page.html", samples=3)
    browser.console.clear()
    browser.open(tmp_path / "page.html")
    browser.run("open(2)")
    link = browser.run("document.querySelector('#name a').href")
    browser.call("Page.navigate", url="about:blank")
    browser.call("Page.navigate", url=link)
    browser.wait_for(f"document.readyState === 'complete' && location.hash && {IS_OPEN}")
    assert browser.run(NAME) == f"{ATTACK} 2"
    assert browser.console == []


def brightness(color: str) -> float:
    return sum(map(float, re.findall(r"[\d.]+", color)[:3])) / 3


@in_chromium
def test_the_page_is_dark_where_that_is_preferred(opened: Page) -> None:
    style = "getComputedStyle(document.querySelector('{}')).{}"
    seen = {}
    try:
        for scheme in ("light", "dark"):
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            opened.call("Emulation.setEmulatedMedia", features=features)
            opened.run("open(samples.findIndex((sample) => sample.above.length))")
            for what, name in (
                (":root", "backgroundColor"), ("dialog", "backgroundColor"),
                (".thumb", "backgroundColor"), ("#reading .ground", "fill"),
                (":root", "color"), ("#pairs button", "color"), (".number", "fill"),
                ("#reading .outline", "fill"),
            ):  # fmt: skip
                seen[scheme, what, name] = opened.run(style.format(what, name))
            opened.press("Escape")
    finally:
        opened.call("Emulation.setEmulatedMedia", features=[])
    for (scheme, what, name), color in seen.items():
        is_text = name == "color" or what == ".number"
        if what != "#reading .outline":
            assert (brightness(color) > 128) == ((scheme == "light") != is_text), (what, color)
    tint = "#reading .outline", "fill"
    assert seen["light", *tint] != seen["dark", *tint]


@in_chromium
def test_on_a_phone_the_filters_are_folded(opened: Page, tmp_path: Path) -> None:
    folded = "!document.getElementById('fold').open"
    shows = "document.querySelector('summary').checkVisibility()"
    assert (opened.run(folded), opened.run(shows)) == (False, False)
    metrics = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    try:
        opened.call("Emulation.setDeviceMetricsOverride", **metrics)
        opened.call("Page.navigate", url="about:blank")
        opened.open(tmp_path / "page.html")
        assert (opened.run(folded), opened.run(shows)) == (True, True)
        opened.wait_for("document.documentElement.scrollWidth <= 390")
        assert opened.run("document.querySelector('.thumb').getBoundingClientRect().top") < 300
        opened.click("summary")
        opened.wait_for(f"!({folded})")
        opened.run("open(0)")
        assert opened.run("document.getElementById('sample').scrollWidth") <= 390
        opened.press("Escape")
    finally:
        opened.call("Emulation.clearDeviceMetricsOverride")
    opened.wait_for(f"!({folded})")
    assert opened.console == []


@in_chromium
def test_the_way_back_leads_from_a_sample_to_the_gallery(opened: Page) -> None:
    address = opened.run("location.href")
    before = opened.run("history.length")
    opened.click(".thumb:nth-child(3)")
    opened.wait_for(f"{IS_OPEN} && location.hash === '#test-2'")
    opened.press("ArrowRight")
    opened.press("ArrowRight")
    assert opened.run("[location.hash, history.length]") == ["#test-4", before + 1]
    opened.run("history.back()")
    opened.wait_for(f"!{IS_OPEN} && location.href === '{address}'")
    opened.run("history.forward()")
    opened.wait_for(f"{IS_OPEN} && {NAME} === 'test 4'")
    opened.press("Escape")
    opened.wait_for(f"!{IS_OPEN} && location.hash === ''")
    # Closing takes the sample out of the history again.
    for number in (1, 5, 2):
        opened.click(f".thumb:nth-child({number + 1})")
        opened.wait_for(f"{IS_OPEN} && location.hash === '#test-{number}'")
        opened.press("Escape")
        opened.wait_for(f"!{IS_OPEN} && location.hash === ''")
    assert opened.run("history.length") <= before + 1 + 1
    # Opened again before the way back was gone.
    opened.run("open(3); dialog.close(); open(6)")
    opened.wait_for(f"{IS_OPEN} && {NAME} === 'test 6' && location.hash === '#test-6'")
    opened.press("Escape")
    opened.wait_for(f"!{IS_OPEN} && location.hash === ''")
    assert opened.console == []


@pytest.fixture(scope="session")
def other_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("others")
    square = CenteredSquareConfig(height=12, width=16, square=3)
    make_file("centered-square", folder / "square.h5", config=square, workers=1, cards=False)
    paper = ColorCodeConfig(positions=12, colors=4, bits=2, masked=0.7, mode="paper")
    make_file("color-code", folder / "codes.h5", train=2, test=20, config=paper, cards=False)
    return {"centered-square": folder / "square.h5", "color-code": folder / "codes.h5"}


def picture(text: str) -> NDArray[np.uint8]:
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(text))))


def test_a_page_of_centered_square(other_files: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    write_page(other_files["centered-square"], out, split="test")
    content = content_of(out.read_text("utf-8"))
    with open_dataset(other_files["centered-square"]) as data:
        trained, test = data["train"]["center"].astype(int), data["test"]
        assert len(content["samples"]) == len(test)
        for i, entry in enumerate(content["samples"]):
            image, target = map(picture, entry["panels"])
            assert (image == test[i]["image"]).all()
            assert (target == test[i]["target"]).all()
            center = test[i]["center"].astype(int)
            away = np.abs(trained - center).max(axis=1).min()
            assert entry["f"] == [*center, away]


def test_a_page_of_color_code(other_files: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    write_page(other_files["color-code"], out, split="test")
    content = content_of(out.read_text("utf-8"))
    nowhere = 0
    with open_dataset(other_files["color-code"]) as data:
        for i, entry in enumerate(content["samples"]):
            sample = data["test"][i]
            color, code, revealed = sample["color"], sample["code"], sample["revealed"]
            panels = [picture(text) for text in entry["panels"]]
            assert (panels[0][0] == color).all()
            assert np.array_equal(panels[2].T, 255 * code)
            for place, seen in enumerate(revealed):
                expected = 255 * code[place] if seen else 128
                assert (panels[1][:, place] == expected).all()
            kinds: dict[int, list[int]] = {}
            for place, group in enumerate(sample["group"].tolist()):
                kinds.setdefault(group, []).append(place)
            hidden = sum(len(at) for at in kinds.values() if not revealed[at].any())
            nowhere += hidden
            apart = [
                int(np.abs(color[a[0]].astype(int) - color[b[0]]).max())
                for a in kinds.values() for b in kinds.values() if a is not b
            ]  # fmt: skip
            masked = int((revealed == 0).sum())
            assert entry["f"] == [len(kinds), masked, hidden, min(apart, default=255)]
            assert entry["colors"] == [
                ["#" + bytes(color[at[0]]).hex(), "".join(map(str, code[at[0]])),
                 int(revealed[at].sum()), int((1 - revealed[at]).sum())]
                for _, at in sorted(kinds.items())
            ]  # fmt: skip
    assert nowhere > 0


@pytest.mark.parametrize("name", ["centered-square", "color-code"])
def test_a_sample_that_does_not_agree_with_itself_is_not_shown(
    name: str, other_files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = DATASETS[name].row_checks

    def third_fails(config: Any, block: Any, places: Any) -> NDArray[np.uint32]:
        masks = checks.check_block(config, block, places)
        return masks | np.uint32(1) if places == [("test", 2)] else masks

    broken = dataclasses.replace(
        DATASETS[name], row_checks=dataclasses.replace(checks, check_block=third_fails)
    )
    monkeypatch.setitem(DATASETS._loaded, name, broken)
    with pytest.raises(SynthprobeError, match="test 2 does not agree with itself"):
        write_page(other_files[name], tmp_path / "page.html", split="test")
    assert not os.listdir(tmp_path)


@in_chromium
@pytest.mark.parametrize("name", ["centered-square", "color-code"])
def test_samples_of_other_datasets_open_sort_and_are_linked_to(
    name: str, browser: Page, other_files: dict[str, Path], tmp_path: Path
) -> None:
    write_page(other_files[name], tmp_path / "page.html", split="test")
    browser.console.clear()
    browser.call("Page.navigate", url="about:blank")
    address = (tmp_path / "page.html").resolve().as_uri()
    browser.call("Page.navigate", url=f"{address}#test-7")
    browser.wait_for(f"document.readyState === 'complete' && location.hash && {IS_OPEN}")
    assert browser.run(NAME) == "test 7"
    loaded = "[...document.querySelectorAll('#plates img')].map((image) => image.naturalWidth)"
    size = browser.run("[samples[7].panels.length, width]")
    browser.wait_for(f"`${{{loaded}}}` === '{','.join([str(size[1])] * size[0])}'")
    seen = "[...document.querySelectorAll('.scene')].filter((part) => part.checkVisibility())"
    assert browser.run(f"{seen}.length") == 0
    figures = (
        "[...document.querySelectorAll('#figures td')].map((cell) => Number(cell.textContent))"
    )
    assert browser.run(figures) == browser.run("samples[7].f")
    browser.press("Escape")
    browser.wait_for(f"!{IS_OPEN}")
    count = browser.run("samples.length")
    values = browser.run("samples.map((sample) => sample.f)")
    for f, figure in enumerate(browser.run("figures.map(([name]) => name)")):
        choose(browser, "order", figure)
        choose(browser, "way", "high")
        assert browser.run("shown") == sorted(range(count), key=lambda i: (-values[i][f], i))
    browser.point_at(".thumb:nth-child(2)")
    browser.wait_for("document.querySelector('#preview:not([hidden]) img') !== null")
    assert browser.console == []
