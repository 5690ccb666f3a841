"use strict";
// Looks through the samples that stand in the page. Everything of a sample is put into the page
// as text or as attributes, never as HTML, since it may come from a stranger.

const content = JSON.parse(document.getElementById("content").textContent);
const { samples, figures, width, height } = content;
const find = (id) => document.getElementById(id);
const gallery = find("gallery"), dialog = find("sample"), preview = find("preview");
const NODE = 0.26; // radius of a rectangle in the relation, in layers
const T_JUNCTION = 1, CONVEXITY = 2; // bits, as in the file

let shown = []; // numbers of the samples that fit the filters
let current = 0; // number of the sample that is open, or was last

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
  return figures.map(([, words], f) => `${words} ${sample.f[f]}`).join(", ");
}

// -------------------------------------------------------------------------------------- gallery

const thumbs = samples.map((sample, number) => {
  const alt = `${nameOf(sample)}: ${sample.rects.length} rectangles, ${inWords(sample)}`;
  const thumb = html("button", { type: "button", class: "thumb", tabindex: -1 },
    html("img", { src: pictureOf(sample), alt, width, height, decoding: "async" }),
    html("span", {}, nameOf(sample)));
  thumb.dataset.number = number;
  return thumb;
});
gallery.append(...thumbs);

const numberOf = (event) => {
  const thumb = event.target.closest(".thumb");
  return thumb ? Number(thumb.dataset.number) : null;
};

gallery.addEventListener("click", (event) => {
  const number = numberOf(event);
  if (number !== null) open(number);
});

gallery.addEventListener("keydown", (event) => {
  const place = shown.indexOf(numberOf(event));
  const columns = getComputedStyle(gallery).gridTemplateColumns.split(" ").length;
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns,
    Home: -place, End: shown.length - 1 - place };
  if (place < 0 || !(event.key in steps)) return;
  event.preventDefault();
  const next = place + steps[event.key];
  if (next >= 0 && next < shown.length) focusOn(shown[next]);
});

// One sample can be reached with Tab; the arrow keys lead on from it.
function focusOn(number, focus = true) {
  for (const thumb of gallery.querySelectorAll('[tabindex="0"]')) thumb.tabIndex = -1;
  thumbs[number].tabIndex = 0;
  if (focus) thumbs[number].focus();
}

let waiting = 0;
gallery.addEventListener("pointerover", (event) => {
  const number = numberOf(event);
  clearTimeout(waiting);
  preview.hidden = true;
  if (number === null || event.pointerType === "touch") return;
  waiting = setTimeout(() => {
    preview.replaceChildren(reading(samples[number], "preview"));
    preview.hidden = false;
    const box = thumbs[number].getBoundingClientRect();
    const left = box.right + preview.offsetWidth + 8 < innerWidth
      ? box.right + 4 : box.left - preview.offsetWidth - 4;
    const top = Math.min(box.top, innerHeight - preview.offsetHeight - 4);
    preview.style.left = `${Math.max(4, left)}px`;
    preview.style.top = `${Math.max(4, top)}px`;
  }, 250);
});
for (const leave of ["pointerleave", "click"]) {
  gallery.addEventListener(leave, () => { clearTimeout(waiting); preview.hidden = true; });
}

// -------------------------------------------------------------------------------------- filters

const ranges = figures.map(([name, words], f) => {
  const values = samples.map((sample) => sample.f[f]);
  // Not Math.min(...values): a call takes only so many arguments.
  const least = values.reduce((a, b) => Math.min(a, b));
  const most = values.reduce((a, b) => Math.max(a, b));
  const input = (end, value) => html("input",
    { type: "number", name: `${end}-${name}`, value, min: least, max: most, required: "",
      "aria-label": `${end === "min" ? "least" : "greatest"} ${words}` });
  const low = input("min", least), high = input("max", most);
  const counts = Array(most - least + 1).fill(0);
  for (const value of values) counts[value - least]++;
  const tallest = counts.reduce((a, b) => Math.max(a, b));
  const bars = counts.map((count, i) => svg("rect",
    { x: i + 0.08, y: tallest - count, width: 0.84, height: count }));
  find("ranges").append(html("fieldset", {}, html("legend", {}, words),
    svg("svg", { viewBox: `0 0 ${counts.length} ${tallest}`, preserveAspectRatio: "none",
      "aria-hidden": "true" }, ...bars),
    html("div", {}, low, "to", high)));
  return { low, high, bars, least, most };
});

function filter() {
  const ends = ranges.map(({ low, high, least, most }) => [
    low.value === "" ? least : Number(low.value), high.value === "" ? most : Number(high.value)]);
  shown = [];
  samples.forEach((sample, number) => {
    const fits = ends.every(([low, high], f) => low <= sample.f[f] && sample.f[f] <= high);
    if (fits) shown.push(number);
    if (thumbs[number].hidden === fits) thumbs[number].hidden = !fits;
  });
  ranges.forEach(({ bars, least }, f) => bars.forEach((bar, i) => {
    bar.classList.toggle("in", ends[f][0] <= least + i && least + i <= ends[f][1]);
  }));
  find("count").textContent = `${shown.length} of ${samples.length} samples`;
  find("none").hidden = shown.length > 0;
  if (shown.length) focusOn(shown.includes(current) ? current : shown[0], false);
}

find("filters").addEventListener("input", filter);
find("filters").addEventListener("reset", () => setTimeout(filter)); // the values change after it
find("filters").addEventListener("submit", (event) => event.preventDefault());

// --------------------------------------------------------------------------------------- sample

function open(number) {
  current = number;
  const sample = samples[number];
  const place = shown.indexOf(number);
  find("name").textContent = nameOf(sample);
  find("place").textContent = `${place + 1} of ${shown.length}`;
  find("before").disabled = place <= 0;
  find("after").disabled = place >= shown.length - 1;
  find("picture").src = pictureOf(sample);
  find("picture").alt = `The stored picture of ${nameOf(sample)}`;
  find("reading").replaceChildren(reading(sample, "large"));
  find("relation").replaceChildren(relation(sample));
  find("figures").replaceChildren(
    row("rectangles", sample.rects.length),
    ...figures.map(([name, words], f) => row(
      name === "pieces" ? `${words} (${sample.pieces.join(" ")})` : words, sample.f[f])));
  find("pairs").replaceChildren(...sample.above.map((arrow) => pair(sample, arrow)));
  showLayers();
  focusOn(number, false);
  if (!dialog.open) dialog.showModal();
}

function row(words, value) {
  return html("tr", {}, html("td", {}, `${value}`), html("th", { scope: "row" }, words));
}

function pair(sample, [upper, lower, cue]) {
  const junctions = sample.t.filter(([, , bar, stem]) => bar === upper && stem === lower).length;
  const by = [];
  if (junctions) by.push(junctions > 1 ? `${junctions} T-junctions` : "T-junction");
  if (cue & CONVEXITY) by.push("convexity");
  const button = html("button", { type: "button" },
    `${upper + 1} above ${lower + 1}: ${by.join(", ")}`);
  picks(button, [upper, lower]);
  return html("li", {}, button);
}

function move(step) {
  const place = shown.indexOf(current) + step;
  if (place >= 0 && place < shown.length) open(shown[place]);
}

find("before").addEventListener("click", () => move(-1));
find("after").addEventListener("click", () => move(1));
find("close").addEventListener("click", () => dialog.close());
document.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step === undefined || !dialog.open || event.target.type === "radio") return;
  event.preventDefault();
  move(step);
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close(); // beside it
});
dialog.addEventListener("close", () => {
  if (!thumbs[current].hidden) focusOn(current);
});

function showLayers() {
  for (const box of find("layers").querySelectorAll("input")) {
    for (const layer of find("reading").querySelectorAll(`.layer-${box.dataset.layer}`)) {
      layer.toggleAttribute("hidden", !box.checked);
    }
    if (box.dataset.layer === "pixels") {
      find("reading").classList.toggle("on-pixels", box.checked);
      find("reading").querySelector(".layer-faded").toggleAttribute("hidden", box.checked);
    }
  }
}
find("layers").addEventListener("change", showLayers);

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
    svg("rect", { width, height, fill: "white" }),
    ...sample.rects.map(([x0, y0, x1, y1], k) => svg("rect", { class: "outline", x: x0, y: y0,
      width: x1 - x0, height: y1 - y0, fill: mixed(sample.rgb[k], 255, 0.3) })));
  const pixels = svg("image",
    { class: "layer-pixels", href: pictureOf(sample), width, height, hidden: "" });
  const meet = sample.meet.map(([a, b, x0, y0, x1, y1]) => cue([a, b], svg("rect",
    { class: "meet", x: x0, y: y0, width: x1 - x0, height: y1 - y0,
      fill: `url(#hatching-${id})` })));
  const hidden = sample.hidden.map(([k, x0, y0, x1, y1]) => cue([k], svg("path",
    { class: "dash", d: `M${x0} ${y0}L${x1} ${y1}`, stroke: mixed(sample.rgb[k], 0, 0.55) })));
  const junctions = sample.t.map(([x, y, bar, stem, dx, dy]) => cue([bar, stem],
    svg("path", { class: "stem", d: `M${x} ${y}l${1.3 * arm * dx} ${1.3 * arm * dy}` }),
    svg("path", { class: "bar-line",
      d: `M${x - arm * dy} ${y - arm * dx}l${2 * arm * dy} ${2 * arm * dx}` })));
  const numbers = (values) => sample.at.flatMap((place, k) => place === null ? [] : [svg("text",
    { class: "number", x: place[0], y: place[1], "font-size": size / 18,
      "stroke-width": size / 90 }, `${values[k]}`)]);
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `The scene of ${nameOf(sample)}: T-junctions, hidden sides and ranks` },
    svg("defs", {}, hatching), faded, pixels,
    svg("g", { class: "layer-meet" }, ...meet),
    svg("g", { class: "layer-hidden" }, ...hidden),
    svg("g", { class: "layer-junctions" }, ...junctions),
    svg("g", { class: "layer-ranks" }, ...numbers(sample.rank)),
    svg("g", { class: "layer-labels", hidden: "" }, ...numbers(sample.rank.map((_, k) => k + 1))));
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

filter();
