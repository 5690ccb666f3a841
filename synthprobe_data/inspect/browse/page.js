// Looks through the samples: gallery, filters, order, and the dialog of one sample.

const gallery = find("gallery"), preview = find("preview");

let shown = []; // numbers of the samples that fit the filters, in the order that is asked for
let current = 0; // number of the sample that is open, or was last

// -------------------------------------------------------------------------------------- gallery

const thumbs = samples.map((sample, number) => {
  const alt = `${nameOf(sample)}: ${inWords(sample)}`;
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
  hidePreview();
  if (number === null || event.pointerType === "touch") return;
  waiting = setTimeout(() => {
    preview.replaceChildren(scenes ? reading(samples[number], "preview")
      : html("img", { src: pictureOf(samples[number]), alt: "" }));
    preview.hidden = false;
    const box = thumbs[number].getBoundingClientRect();
    const left = box.right + preview.offsetWidth + 8 < innerWidth
      ? box.right + 4 : box.left - preview.offsetWidth - 4;
    const top = Math.min(box.top, innerHeight - preview.offsetHeight - 4);
    preview.style.left = `${Math.max(4, left)}px`;
    preview.style.top = `${Math.max(4, top)}px`;
  }, 250);
});
function hidePreview() {
  clearTimeout(waiting);
  preview.hidden = true;
}
gallery.addEventListener("pointerleave", hidePreview);

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

const orders = { index: (number) => number };
if (scenes) orders.rectangles = (number) => samples[number].rects.length;
figures.forEach(([name], f) => { orders[name] = (number) => samples[number].f[f]; });
for (const name of Object.keys(orders).slice(1)) {
  const [, words] = figures.find(([figure]) => figure === name) ?? [name, "number of rectangles"];
  find("order").append(html("option", { value: name }, words));
}

let asked = "index low"; // the order in which the samples stand
let order = samples.map((_, number) => number);

// The samples in the order that is asked for; those that are alike in it, by their index.
function sorted() {
  const by = find("order").value, way = find("way").value;
  if (`${by} ${way}` !== asked) {
    asked = `${by} ${way}`;
    const value = orders[by], sign = way === "high" ? -1 : 1;
    order = samples.map((_, number) => number)
      .sort((a, b) => sign * (value(a) - value(b)) || a - b);
    gallery.append(...order.map((number) => thumbs[number]));
  }
  return order;
}

function filter() {
  const ends = ranges.map(({ low, high, least, most }) => [
    low.value === "" ? least : Number(low.value), high.value === "" ? most : Number(high.value)]);
  shown = [];
  sorted().forEach((number) => {
    const sample = samples[number];
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

// On a phone they would fill the screen.
const narrow = matchMedia("(max-width: 800px)");
const fold = () => { find("fold").open = !narrow.matches; };
narrow.addEventListener("change", fold);
fold();

// --------------------------------------------------------------------------------------- sample

document.body.classList.toggle("pictures", !scenes);
document.body.classList.add(`as-${content.layout}`);
for (const part of document.querySelectorAll(".scene")) part.hidden = !scenes;
find("plates").hidden = scenes;

function open(number) {
  hidePreview();
  current = number;
  const sample = samples[number];
  const place = shown.indexOf(number);
  find("name").replaceChildren(
    html("a", { href: addressOf(sample), title: "A link to this sample" }, nameOf(sample)));
  find("place").textContent = place < 0 ? "not among those shown"
    : `${place + 1} of ${shown.length}`;
  find("missing").hidden = true;
  find("before").disabled = place <= 0;
  find("after").disabled = place >= shown.length - 1;
  if (scenes) showScene(sample);
  else showPictures(sample);
  find("figures").append(...figures.map(([, words], f) => row(words, sample.f[f])));
  focusOn(number, false);
  enter(sample);
}

function showPictures(sample) {
  find("figures").replaceChildren();
  find("plates").replaceChildren(...content.panels.map((caption, i) => html("figure", {},
    html("figcaption", {}, caption),
    html("img", { src: `data:image/png;base64,${sample.panels[i]}`,
      alt: `${caption}, of ${nameOf(sample)}` }))));
  if (!sample.colors) return;
  const title = html("tr", {}, ...content.headings.map((words) =>
    html("th", { scope: "col" }, words)));
  find("colors").replaceChildren(title, ...sample.colors.map(([color, ...facts]) => html("tr", {},
    html("th", { scope: "row" }, swatch(color), color),
    ...facts.map((fact) => html("td", {}, `${fact}`)))));
}

function swatch(color) {
  return svg("svg", { class: "key", viewBox: "0 0 26 12", "aria-hidden": "true" },
    svg("rect", { width: 22, height: 12, fill: color }));
}

function showScene(sample) {
  find("picture").src = pictureOf(sample);
  find("picture").alt = `The stored picture of ${nameOf(sample)}`;
  find("ranks").replaceChildren(ranks(sample));
  find("reading").replaceChildren(reading(sample, "large"));
  find("relation").replaceChildren(relation(sample));
  find("figures").replaceChildren(row("rectangles", sample.rects.length));
  find("rectangles").replaceChildren(
    across("rectangle", sample.rank.map((_, k) => k + 1), "th"),
    across("rank", sample.rank), across("pieces", sample.pieces));
  find("pairs").replaceChildren(...sample.above.map((arrow) => pair(sample, arrow)));
  showLayers();
}

function across(words, values, cell = "td") {
  return html("tr", {}, html("th", { scope: "row" }, words),
    ...values.map((value) => html(cell, cell === "th" ? { scope: "col" } : {}, `${value}`)));
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
    `${upper + 1} above ${lower + 1} (ranks ${sample.rank[upper]}, ${sample.rank[lower]}): ` +
    by.join(", "));
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
  if (step === undefined || !dialog.open) return;
  event.preventDefault();
  move(step);
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close(); // beside it
});
dialog.addEventListener("close", () => {
  if (dialog.open) return; // again, by now
  leave();
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

// ----------------------------------------------------------------------------------------- links

// The part of an address that names a sample, such as #test-7.
function addressOf(sample) {
  return `#${encodeURIComponent(`${content.split}-${sample.i}`)}`;
}

let entered = false; // an open sample is a place of its own in the history, to go back from
let leaving = false; // on the way back from it

function enter(sample) {
  if (!dialog.open) dialog.showModal();
  if (location.hash === addressOf(sample)) return;
  const first = location.hash.length < 2;
  if (first) history.pushState(null, "", addressOf(sample));
  else history.replaceState(null, "", addressOf(sample));
  entered ||= first;
}

function leave() {
  if (location.hash.length < 2) return;
  if (entered) {
    leaving = true;
    history.back();
  } else {
    history.replaceState(null, "", location.pathname + location.search);
  }
  entered = false;
}

function follow() {
  if (location.hash.length < 2) {
    if (dialog.open && leaving) { // another one was opened meanwhile
      history.pushState(null, "", addressOf(samples[current]));
      entered = true;
    } else if (dialog.open) {
      dialog.close();
    }
    entered &&= dialog.open;
    leaving = false;
    return;
  }
  const number = samples.findIndex((sample) => addressOf(sample) === location.hash);
  if (number >= 0) return open(number);
  if (dialog.open) dialog.close();
  let name = location.hash.slice(1);
  try { name = decodeURIComponent(name); } catch { /* it is shown as it is */ }
  find("missing").textContent = `This page has no sample ${name}.`;
  find("missing").hidden = false;
}
addEventListener("hashchange", follow);

filter();
follow();
