"use strict";
// Shows what is in the data: all words come in as text, none as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const two = data.columns.length > 1;
const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
let shown = [];
let now = { episode: null, step: 0 };
let filter = "all";
let treeOpen = false;

function make(tag, attributes = {}, ...inside) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined) node.setAttribute(name, value);
  node.append(...inside.filter((part) => part !== null && part !== undefined));
  return node;
}

function draw(tag, attributes = {}, words) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (words !== undefined) node.textContent = words;
  return node;
}

const LOST = ["infra", "checker", "env", "unknown"];
const kindOf = (side) => (side === null ? "soft" : side.success === true ? "good" : LOST.includes(side.ended) ? "odd" : "bad");
const counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
const quoted = (words) => `“${words.length > 60 ? words.slice(0, 59) + "…" : words}”`;

function inWords(step) {
  const action = step.action;
  if (action === null) return "What is no action";
  const on = step.hit && step.hit.words && !["swipe", "drag", "pinch"].includes(action.kind) ? ` ${action.kind === "type" ? "into " : ""}${quoted(step.hit.words)}` : "";
  const at = on ? on : action.space ? ` at ${action.x}, ${action.y} (${action.space})` : action.x === undefined || action.x === null ? "" : ` at ${action.x}, ${action.y}`;
  switch (action.kind) {
    case "tap": return `Tap${at}`;
    case "double_tap": return `Double tap${at}`;
    case "long_press": return `Long press${at}`;
    case "swipe": return `Swipe from ${action.x}, ${action.y} to ${action.x2}, ${action.y2}`;
    case "drag": return `Drag from ${action.x}, ${action.y} to ${action.x2}, ${action.y2}`;
    case "pinch": return `Pinch${at}`;
    case "type": return `Type ${quoted(String(action.text))}${at}`;
    case "clear": return `Clear${at}`;
    case "press_key": return `Press ${action.key}`;
    case "open_app": return `Open ${action.package}`;
    case "close_app": return `Close ${action.package}`;
    case "wait": return "Wait";
    case "answer": return `Answer ${quoted(String(action.text))}`;
    case "ask": return `Ask ${quoted(String(action.text))}`;
    case "finish": return action.status && action.status !== "success" ? `Finish: ${action.status}` : "Finish";
    default: return JSON.stringify(action);
  }
}

function pixels(action, name, extent) {
  const value = action[name];
  if (typeof value !== "number") return null;
  const scale = { unit: extent, thousand: extent / 1000 }[action.space] || 1;
  return value * scale;
}

function phone(side, place) {
  const look = side.looks[Math.min(place, side.looks.length - 1)];
  const tree = look && look.tree !== null ? data.trees[look.tree] : null;
  const [width, height] = tree ? [tree.width, tree.height] : side.screen || [1080, 2400];
  const unit = width / 360;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `The screen at step ${place}` });
  if (look && look.picture !== null) svg.append(draw("image", { href: data.pictures[look.picture], width, height, preserveAspectRatio: "none" }));
  else if (tree) wires(svg, tree, unit);
  const step = side.steps[place];
  if (step && step.action) touch(svg, step, width, height, unit);
  const deed = step ? inWords(step) : place === side.steps.length ? "The end" : "";
  return make("div", { class: "phone" }, svg, make("p", { class: "deed" }, deed));
}

function wires(svg, tree, unit) {
  for (const [, , , words, left, top, right, bottom, flags] of tree.rows) {
    if (flags.includes("hidden") || right <= left || bottom <= top) continue;
    svg.append(draw("rect", { class: flags.includes("clickable") ? "wire tap" : "wire", x: left, y: top, width: right - left, height: bottom - top, "stroke-width": unit / 2 }));
    if (words) svg.append(draw("text", { class: "words", x: left + 3 * unit, y: (top + bottom) / 2 + 4 * unit, "font-size": 11 * unit }, words.slice(0, Math.max(1, Math.floor((right - left) / (5.8 * unit))))));
  }
}

function touch(svg, step, width, height, unit) {
  const action = step.action;
  if (step.hit) {
    const [left, top, right, bottom] = step.hit.bounds;
    const large = (right - left) * (bottom - top) > width * height / 4;
    svg.append(draw("rect", { class: large ? "hit large" : "hit", x: left, y: top, width: right - left, height: bottom - top, "stroke-width": 1.6 * unit, rx: 3 * unit }));
  }
  const x = pixels(action, "x", width), y = pixels(action, "y", height), x2 = pixels(action, "x2", width), y2 = pixels(action, "y2", height);
  if (x === null || y === null) return;
  if (x2 !== null && y2 !== null) {
    svg.append(draw("path", { class: "way", d: `M${x} ${y}L${x2} ${y2}`, "stroke-width": 3 * unit, "stroke-linecap": "round" }));
    const way = Math.atan2(y2 - y, x2 - x), long = 12 * unit;
    const corner = (turn) => `${x2 - long * Math.cos(way + turn)} ${y2 - long * Math.sin(way + turn)}`;
    svg.append(draw("path", { class: "head", d: `M${x2} ${y2}L${corner(0.5)}L${corner(-0.5)}Z` }));
  }
  svg.append(draw("circle", { class: "touch", cx: x, cy: y, r: (action.kind === "long_press" ? 20 : 14) * unit, "stroke-width": 2 * unit }));
}

function fact(list, name, value) {
  if (value !== null && value !== undefined && value !== "") list.append(make("dt", {}, name), make("dd", {}, value));
}

function progress(share) {
  if (share === null || share === undefined) return null;
  const bar = make("i");
  bar.style.width = `${Math.round(100 * share)}%`;
  return make("span", {}, make("span", { class: "meter" }, bar), `${Math.round(100 * share)} %`);
}

function verdict(side) {
  const words = { success: "Done", failed: "Not done", gave_up: "Gave up", step_limit: "The budget of steps is used up", time_limit: "The budget of time is used up", raised: "The policy raised", infra: "Lost to the machine: no score", checker: "The checker failed: no score", env: "The mock failed: no score", unknown: "Cannot be told: no score" };
  const box = make("div", { class: `verdict ${kindOf(side)}` }, make("b", {}, words[side.ended] || side.ended));
  const add = (line) => box.append(make("span", {}, line));
  if (side.message) add(side.message);
  if (side.answer !== null) add(`answered ${quoted(side.answer)}`);
  side.side_effects.forEach((line) => add(`also changed: ${line}`));
  side.violations.forEach((line) => add(`happened and must not: ${line}`));
  return box;
}

function details(side, place) {
  const box = make("div");
  const step = side.steps[place];
  if (!step) {
    box.append(verdict(side));
    if (side.explanation.length) box.append(make("h4", {}, "What the checker says"), make("pre", { class: "checks" }, side.explanation.join("\n")));
  } else {
    const list = make("dl", { class: "facts" });
    if (step.hit) fact(list, "lands on", [step.hit.words ? quoted(step.hit.words) : "", step.hit.class.split(".").pop(), step.hit.id ? `#${step.hit.id.split("/").pop()}` : ""].filter(Boolean).join(" "));
    else if (step.action && step.action.x !== undefined) fact(list, "lands on", "nothing");
    if (step.invalid) fact(list, "refused", make("span", { class: "bad" }, step.invalid));
    fact(list, "does", step.changed === null ? null : step.changed ? "changes the screen" : "changes nothing");
    fact(list, "known from", step.evidence === null ? null : make("span", { class: step.evidence === "unrecorded" ? "odd" : "" }, step.evidence + (step.rules.length ? ` (${step.rules.join(", ")})` : "")));
    if (step.action && typeof step.action.x === "number") fact(list, "at", `${step.action.x}, ${step.action.y}${step.action.space ? ` (${step.action.space})` : ""}`);
    fact(list, "says", step.message);
    fact(list, "reward", step.reward === null ? make("span", { class: "odd" }, "no score") : String(Math.round(step.reward * 1e4) / 1e4));
    fact(list, "progress", progress(step.progress));
    if (step.took) fact(list, "took", `policy ${time(step.took[0])}, phone ${time(step.took[1])}`);
    box.append(list);
    if (step.said) box.append(make("h4", {}, "In its words"), make("pre", { class: "said" }, step.said));
    if (step.changes !== null) {
      box.append(make("h4", {}, "What it changes in the state"));
      box.append(step.changes.length ? make("ul", {}, ...step.changes.map((line) => make("li", {}, line))) : make("span", { class: "soft" }, "nothing"));
    }
  }
  return box;
}

const time = (seconds) => (seconds < 1 ? `${Math.round(seconds * 1e4) / 10} ms` : `${Math.round(seconds * 10) / 10} s`);

function treeOf(side, place, picture) {
  const look = side.looks[Math.min(place, side.looks.length - 1)];
  if (!look || look.tree === null) return null;
  const tree = data.trees[look.tree], step = side.steps[place];
  const box = make("details", treeOpen ? { open: "" } : {}, make("summary", {}, `The tree: ${counted(tree.rows.length, "node")}`));
  const fill = () => {
    if (box.querySelector(".tree")) return;
    const list = make("div", { class: "tree" });
    const unit = tree.width / 360, svg = picture.querySelector("svg");
    for (const [depth, cls, id, words, left, top, right, bottom, flags] of tree.rows) {
      const isHit = step && step.hit && step.hit.bounds.join() === [left, top, right, bottom].join() && step.hit.class.endsWith(cls);
      const row = make("div", { class: isHit ? "on" : null }, `${"  ".repeat(depth)}${cls}`, id ? make("span", { class: "soft" }, ` #${id}`) : null, words ? ` ${quoted(words)}` : null, flags ? make("span", { class: "soft" }, ` ${flags}`) : null);
      row.style.paddingLeft = `${10 + depth * 12}px`;
      row.addEventListener("mouseenter", () => {
        svg.querySelectorAll(".point").forEach((old) => old.remove());
        svg.append(draw("rect", { class: "point", x: left, y: top, width: right - left, height: bottom - top, "stroke-width": 2.5 * unit }));
      });
      list.append(row);
    }
    list.addEventListener("mouseleave", () => svg.querySelectorAll(".point").forEach((old) => old.remove()));
    box.append(list);
  };
  box.addEventListener("toggle", () => { treeOpen = box.open; if (box.open) fill(); });
  if (treeOpen) fill();
  return box;
}

function sideOf(side, column) {
  if (side === null) return make("section", { class: "side" }, make("h3", {}, column.title), make("p", { class: "empty" }, "This episode is not in this folder, or not among those shown."));
  const place = Math.min(now.step, side.steps.length);
  const head = two ? make("h3", {}, column.title, make("span", { class: `dot ${kindOf(side)}`, style: "margin-left:12px;font-weight:400" }, `${side.ended}, ${counted(side.steps.length, "step")}`)) : null;
  const picture = phone(side, place), text = details(side, place);
  const tree = treeOf(side, place, picture);
  if (tree) text.append(tree);
  return make("section", { class: "side" }, head, picture, text);
}

function show() {
  const episode = now.episode;
  if (!episode) { $("about").replaceChildren(); $("sides").replaceChildren(); return; }
  const first = episode.sides.find((side) => side !== null);
  const most = Math.max(...episode.sides.map((side) => (side ? side.steps.length : 0)));
  now.step = Math.max(0, Math.min(now.step, most));
  const given = Object.entries(first.parameters || {}).filter(([name]) => !name.includes(".") || name.endsWith(".title") || name.endsWith(".name")).map(([name, value]) => `${name}: ${value}`);
  const about = [episode.name, first.app, counted(most, "step")];
  if (given.length) about.push(given.slice(0, 6).join(", "));
  $("about").replaceChildren(make("h2", {}, first.instruction || first.task || "No task"), make("p", {}, about.join(" · ")));
  $("at").max = most;
  $("at").value = now.step;
  $("where").textContent = now.step === most ? `the end of ${most}` : `step ${now.step + 1} of ${most}`;
  $("sides").className = two ? "two" : "";
  $("sides").replaceChildren(...episode.sides.map((side, i) => sideOf(side, data.columns[i])));
  document.querySelectorAll("#list button").forEach((button) => button.setAttribute("aria-current", button.dataset.name === episode.name));
  history.replaceState(null, "", `#${encodeURIComponent(episode.name)}:${now.step}`);
}

const endings = (episode) => episode.sides.filter((side) => side !== null).map((side) => side.ended);
const differs = (episode) => two && new Set(episode.sides.map((side) => (side ? side.success : undefined))).size > 1;
const matches = (episode, word) => word === "all" || (word === "differ" ? differs(episode) : endings(episode).includes(word));

function list() {
  const wanted = $("search").value.trim().toLowerCase();
  shown = data.episodes.filter((episode) => matches(episode, filter) && (!wanted || `${episode.name} ${episode.sides.map((side) => (side ? side.instruction : "")).join(" ")}`.toLowerCase().includes(wanted)));
  $("list").replaceChildren(...shown.map((episode) => {
    const small = make("small", {}, ...episode.sides.map((side) => make("span", { class: `dot ${kindOf(side)}` }, side ? `${side.ended}, ${side.steps.length}` : "none")));
    const button = make("button", { "data-name": episode.name }, make("b", {}, episode.name), small);
    button.addEventListener("click", () => pick(episode));
    return make("li", {}, button);
  }));
  $("none").hidden = shown.length > 0;
  if (!shown.includes(now.episode)) pick(shown[0] || null);
  else show();
}

function pick(episode, step = 0) {
  now = { episode, step };
  show();
  const button = document.querySelector('#list button[aria-current="true"]');
  if (button) button.scrollIntoView({ block: "nearest" });
}

function filters() {
  const counts = {};
  for (const episode of data.episodes) for (const ending of new Set(endings(episode))) counts[ending] = (counts[ending] || 0) + 1;
  const words = [["all", data.episodes.length], ...(two ? [["differ", data.episodes.filter(differs).length]] : []), ...Object.entries(counts).sort()];
  $("filters").replaceChildren(...words.map(([word, n]) => {
    const button = make("button", { "aria-pressed": word === filter }, `${word.replace("_", " ")} ${n}`);
    button.addEventListener("click", () => { filter = word; filters(); list(); });
    return button;
  }));
}

document.querySelector("h1").textContent = two ? "Episodes, side by side" : "Episodes";
$("columns").replaceChildren(...data.columns.map((column) => make("div", {}, make("b", {}, column.title), make("span", {}, ` ${column.policy && !column.title.includes(column.policy) ? `(${column.policy}) ` : ""}${column.succeeded} of ${column.episodes} done`))));
$("notes").replaceChildren(...data.notes.map((note) => make("p", {}, note)));
$("search").addEventListener("input", list);
$("at").addEventListener("input", () => { now.step = Number($("at").value); show(); });
$("back").addEventListener("click", () => { now.step -= 1; show(); });
$("on").addEventListener("click", () => { now.step += 1; show(); });
document.addEventListener("keydown", (event) => {
  if (event.target === $("search") || event.ctrlKey || event.metaKey || event.altKey) return;
  const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key], turn = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (move) { now.step += move; show(); }
  else if (turn && shown.length) pick(shown[Math.max(0, Math.min(shown.length - 1, shown.indexOf(now.episode) + turn))]);
  else return;
  event.preventDefault();
});
const [name, step] = decodeURIComponent(location.hash.slice(1)).split(":");
now = { episode: data.episodes.find((episode) => episode.name === name) || data.episodes[0] || null, step: Number(step) || 0 };
filters();
list();
