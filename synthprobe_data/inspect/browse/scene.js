"use strict";
// Draws the samples that stand in the page. Everything of a sample is put into the page as text or
// as attributes, never as HTML, since it may come from a stranger. In every drawing a rectangle has
// the same number, its place in the order of placement, from 1.

const content = JSON.parse(document.getElementById("content").textContent);
const { samples, figures, width, height } = content;
const scenes = content.layout === "scene"; // other samples have pictures, and no rectangles
const find = (id) => document.getElementById(id);
const dialog = find("sample");
const NODE = 0.26; // radius of a rectangle in the relation, in layers
const T_JUNCTION = 1, CONVEXITY = 2; // bits, as in the file

// ------------------------------------------------------------------------------------- elements

function html(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const nameOf = (sample) => `${content.split} ${sample.i}`;
const pictureOf = (sample) => `data:image/png;base64,${sample.png}`;

function inWords(sample) {
  const rectangles = scenes ? `${sample.rects.length} rectangles, ` : "";
  return rectangles + figures.map(([, words], f) => `${words} ${sample.f[f]}`).join(", ");
}

// ---------------------------------------------------------------------------------------- cues

// Point at one rectangle, or at a pair: all that has to do with it stays, the rest fades.
function picks(element, those) {
  const involves = (who) => those.length === 1 ? who.includes(those[0])
    : who.every((k) => those.includes(k));
  const start = () => {
    dialog.classList.add("picking");
    for (const cue of dialog.querySelectorAll(".cue")) {
      cue.classList.toggle("picked", involves(cue.dataset.who.split(" ").map(Number)));
    }
  };
  const stop = () => dialog.classList.remove("picking");
  element.addEventListener("pointerenter", start);
  element.addEventListener("pointerleave", stop);
  element.addEventListener("focus", start);
  element.addEventListener("blur", stop);
}

function cue(who, ...parts) {
  const group = svg("g", { class: "cue" }, ...parts);
  group.dataset.who = who.join(" ");
  return group;
}

// -------------------------------------------------------------------------------------- reading

function reading(sample, id) {
  const size = Math.max(width, height), arm = size / 28;
  const hatching = svg("pattern", { id: `hatching-${id}`, width: size / 40, height: size / 40,
    patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    svg("path", { d: `M0 0V${size / 40}`, stroke: "#777", "stroke-width": size / 160 }));
  const faded = svg("g", { class: "layer-faded" },
    svg("rect", { class: "ground", width, height }),
    ...sample.rects.map(([x0, y0, x1, y1], k) => tinted(svg("rect", { class: "outline",
      x: x0, y: y0, width: x1 - x0, height: y1 - y0, fill: mixed(sample.rgb[k], 255, 0.3) }),
      sample.rgb[k])));
  const pixels = svg("image",
    { class: "layer-pixels", href: pictureOf(sample), width, height, hidden: "" });
  const meet = sample.meet.map(([a, b, x0, y0, x1, y1]) => cue([a, b], svg("rect",
    { class: "meet", x: x0, y: y0, width: x1 - x0, height: y1 - y0,
      fill: `url(#hatching-${id})` })));
  const hidden = sample.hidden.map(([k, x0, y0, x1, y1]) => cue([k], tinted(svg("path",
    { class: "dash", d: `M${x0} ${y0}L${x1} ${y1}`, stroke: mixed(sample.rgb[k], 0, 0.55) }),
    sample.rgb[k])));
  const junctions = sample.t.map(([x, y, bar, stem, dx, dy]) => cue([bar, stem],
    svg("path", { class: "stem", d: `M${x} ${y}l${1.3 * arm * dx} ${1.3 * arm * dy}` }),
    svg("path", { class: "bar-line",
      d: `M${x - arm * dy} ${y - arm * dx}l${2 * arm * dy} ${2 * arm * dx}` })));
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `The scene of ${nameOf(sample)}: T-junctions, hidden sides, numbers` },
    svg("defs", {}, hatching), faded, pixels,
    svg("g", { class: "layer-meet" }, ...meet),
    svg("g", { class: "layer-hidden" }, ...hidden),
    svg("g", { class: "layer-junctions" }, ...junctions),
    svg("g", { class: "layer-numbers" }, ...numbers(sample, { class: "number",
      "stroke-width": size / 90 })));
}

// The number of each rectangle, in the middle of what shows of it.
function numbers(sample, attributes, inks = []) {
  return sample.at.flatMap((place, k) => place === null ? [] : [svg("text",
    { x: place[0], y: place[1], "font-size": Math.max(width, height) / 18, ...attributes,
      ...(inks[k] ? { fill: inks[k] } : {}) }, `${k + 1}`)]);
}

// The ranks as grey values, the highest white and the background black.
function ranks(sample) {
  const highest = sample.rank.reduce((a, b) => Math.max(a, b));
  const shades = sample.rank.map((rank) => Math.round(255 * (0.15 + 0.85 * rank / highest)));
  const greys = shades.map((shade) => `#${shade.toString(16).padStart(2, "0").repeat(3)}`);
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `The ranks of ${nameOf(sample)} as shades: ` +
      sample.rank.map((rank, k) => `rectangle ${k + 1} has rank ${rank}`).join(", ") },
    svg("rect", { width, height, fill: "black" }),
    ...sample.rects.map(([x0, y0, x1, y1], k) => svg("rect", { class: "shade", x: x0, y: y0,
      width: x1 - x0, height: y1 - y0, fill: greys[k] })),
    ...numbers(sample, {}, greys.map(ink)));
}

// With its colour at hand for the style, which mixes it as the page is light or dark.
function tinted(element, color) {
  element.style.setProperty("--tint", color);
  return element;
}

// The colour with a share of itself, and of black (0) or white (255).
function mixed(color, other, share) {
  const parts = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  return `rgb(${parts.map((part) => Math.round(part * share + other * (1 - share))).join()})`;
}

function ink(color) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16) / 255);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.45 ? "black" : "white";
}

// ------------------------------------------------------------------------------------- relation

function relation(sample) {
  const depth = sample.rank.reduce((a, b) => Math.max(a, b));
  // High enough for arrows across a wide relation, and not so large that it looks lost.
  const spacing = Math.min(Math.max(sample.wide / depth, 0.9), 4);
  const y = (rank) => (depth - rank) * spacing;
  const levels = [];
  for (let rank = 1; rank <= depth; rank++) {
    levels.push(
      svg("path", { class: "level", d: `M-0.6 ${y(rank)}H${sample.wide + 0.5}` }),
      svg("text", { class: "rank-name", x: -0.8, y: y(rank) }, `${rank}`));
  }
  const arrows = sample.above.map(([upper, lower, by, ...bends]) => {
    const places = [sample.x[upper], ...bends, sample.x[lower]]
      .map((x, i) => [x, y(sample.rank[upper] - i)]);
    const line = curve(places);
    const arrow = cue([upper, lower],
      svg("path", { class: by & T_JUNCTION ? "arrow" : "arrow convexity", d: line }),
      head(places), svg("path", { class: "grip", d: line }));
    picks(arrow, [upper, lower]);
    return arrow;
  });
  const nodes = sample.x.map((x, k) => {
    const node = cue([k],
      svg("circle", { class: "node", cx: x, cy: y(sample.rank[k]), r: NODE, fill: sample.rgb[k] }),
      svg("text", { class: "node-name", x, y: y(sample.rank[k]), fill: ink(sample.rgb[k]) },
        `${k + 1}`));
    picks(node, [k]);
    return node;
  });
  const left = -1, right = sample.wide + 0.6, extra = Math.max(0, 5 - right + left) / 2;
  const box = [left - extra, -0.45, right - left + 2 * extra, (depth - 1) * spacing + 0.9];
  return svg("svg", { viewBox: box.join(" "), role: "img",
    "aria-label": "The relation as a graph; the list below says the same" },
    ...levels, ...arrows, ...nodes);
}

function slopes(places) {
  const steps = places.slice(1).map(([x, y], i) => [x - places[i][0], y - places[i][1]]);
  return places.map((_, i) => {
    const before = steps[Math.max(i - 1, 0)], after = steps[Math.min(i, steps.length - 1)];
    return [(before[0] + after[0]) / 2, (before[1] + after[1]) / 2];
  });
}

function curve(places) {
  const slope = slopes(places);
  let line = `M${places[0].join(" ")}`;
  for (let i = 0; i + 1 < places.length; i++) {
    const [x0, y0] = places[i], [x1, y1] = places[i + 1];
    line += `C${x0 + slope[i][0] / 3} ${y0 + slope[i][1] / 3} ` +
      `${x1 - slope[i + 1][0] / 3} ${y1 - slope[i + 1][1] / 3} ${x1} ${y1}`;
  }
  return line;
}

// The head of an arrow, at the rim of the rectangle that it leads to.
function head(places) {
  const [x, y] = places[places.length - 1];
  const [dx, dy] = slopes(places)[places.length - 1];
  const length = Math.hypot(dx, dy), right = dx / length, down = dy / length;
  const at = (back, side) => `${x - (NODE + back) * right - side * down} ` +
    `${y - (NODE + back) * down + side * right}`;
  return svg("path", { class: "head", d: `M${at(0.01, 0)}L${at(0.15, 0.06)}L${at(0.15, -0.06)}Z` });
}
