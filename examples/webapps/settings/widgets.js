// One function for each kind of row. A page is a list of groups, `{ heading, items }`; an item is an object with a `kind`.

"use strict";

const el = (id) => document.getElementById(id);

function node(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in made && typeof value !== "string") made[name] = value;
    else if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child || child === 0));
  return made;
}

const texts = (item) => node("span", { class: "texts" },
  node("span", { class: "title", id: `${item.id}-title` }, item.title),
  item.summary && node("span", { class: "summary", id: `${item.id}-summary` }, item.summary));
const badge = (item) => item.glyph && node("span", { class: `glyph ${item.tone ?? ""}`, "aria-hidden": "true" }, item.glyph);
const toggle = (item, label = null) => node("input", {
  id: item.id, type: "checkbox", role: "switch", class: "switch", checked: item.value, disabled: Boolean(item.disabled),
  "aria-label": label, "aria-labelledby": label ? null : `${item.id}-title`, onchange: (event) => { item.set(event.target.checked); changed(); },
});

const KINDS = {
  link: (item) => (item.disabled
    ? node("button", { id: item.id, type: "button", class: "row", disabled: true }, badge(item), texts(item))
    : node("a", { id: item.id, class: "row", href: item.to }, badge(item), texts(item), item.value && node("span", { class: "end" }, item.value))),
  switch: (item) => node("label", { class: `row${item.disabled ? " off" : ""}${item.master ? " master" : ""}`, for: item.id }, badge(item), texts(item), toggle(item)),
  open: (item) => node("button", { id: item.id, type: "button", class: `row${item.danger ? " danger" : ""}`, disabled: Boolean(item.disabled), onclick: () => openDialog(item.dialog) }, badge(item), texts(item), item.end && node("span", { class: "end" }, item.end)),
  act: (item) => node("button", { id: item.id, type: "button", class: `row${item.danger ? " danger" : ""}`, disabled: Boolean(item.disabled), onclick: item.run }, badge(item), texts(item), item.end && node("span", { class: "end" }, item.end)),
  fact: (item) => node("div", { class: "row", id: item.id }, texts(item), item.value && node("span", { class: "end", id: `${item.id}-value` }, item.value)),
  note: (item) => node("p", { class: "note", id: item.id }, item.text),
  /** A link on the left and a switch, or another control, on the right. */
  pair: (item) => node("div", { class: "row split" },
    node("a", { id: `${item.id}-open`, class: "grow", href: item.to }, badge(item), texts(item)),
    toggle(item, item.label)),
  press: (item) => node("div", { class: "row split" },
    node("button", { id: item.id, type: "button", class: "grow", disabled: Boolean(item.disabled), onclick: item.run }, badge(item), texts(item)),
    item.to && node("a", { id: `${item.id}-details`, class: "cog", href: item.to, "aria-label": `Details of ${item.title}` }, "⚙")),
  slider: (item) => {
    const shown = node("output", { class: "end", id: `${item.id}-value`, for: item.id }, item.format(item.value));
    const input = node("input", { id: item.id, type: "range", min: String(item.min ?? 0), max: String(item.max ?? 100), step: String(item.step ?? 1), value: String(item.value), disabled: Boolean(item.disabled), "aria-labelledby": `${item.id}-title` });
    input.oninput = () => { shown.textContent = item.format(Number(input.value)); };
    input.onchange = () => { item.set(Number(input.value)); changed(); };
    return node("div", { class: `row stack${item.disabled ? " off" : ""}` }, node("div", { class: "line" }, texts(item), shown), input);
  },
  segments: (item) => node("fieldset", { class: "row stack", id: item.id }, node("legend", {}, item.title),
    node("div", { class: "segments" }, item.options.map(([value, label]) => node("label", { for: `${item.id}-${value}` },
      node("input", { id: `${item.id}-${value}`, type: "radio", name: item.id, value, checked: value === item.value, disabled: Boolean(item.disabled), onchange: () => { item.set(value); changed(); } }),
      node("span", {}, label))))),
  time: (item) => node("label", { class: `row${item.disabled ? " off" : ""}`, for: item.id }, texts(item),
    node("input", { id: item.id, type: "time", value: item.value, disabled: Boolean(item.disabled), required: true, onchange: (event) => { if (event.target.value) item.set(event.target.value); changed(); } })),
  search: (item) => node("div", { class: "row" }, node("input", { id: item.id, type: "search", class: "find", placeholder: item.placeholder, "aria-label": item.placeholder, value: item.value, autocomplete: "off", oninput: (event) => item.set(event.target.value) })),
  meter: (item) => node("div", { class: "row stack", id: item.id },
    node("p", { class: "figure" }, node("strong", { id: `${item.id}-used` }, item.used), node("span", {}, ` used of ${item.total}`)),
    node("div", { class: "meter", role: "img", "aria-label": item.label }, item.parts.map(([share, tone]) => node("i", { class: tone, style: `width:${share}%` })))),
  table: (item) => node("table", { id: item.id, "aria-label": item.label },
    node("thead", {}, node("tr", {}, item.columns.map((column) => node("th", { scope: "col" }, column)))),
    node("tbody", {}, item.rows.map((cells) => node("tr", {}, cells.map((cell) => node("td", {}, cell)))))),
};

function drawGroup(group) {
  const id = group.heading ? `group-${group.heading.toLowerCase().replace(/[^a-z]+/g, "-")}` : null;
  const bare = group.items.every((item) => item.kind === "note");
  const items = group.items.map((item) => node(group.plain ? "div" : "li", {}, KINDS[item.kind](item)));
  return node("section", { "aria-labelledby": id },
    group.heading && node("h2", { id }, group.heading),
    node(group.plain ? "div" : "ul", { class: bare ? "bare" : "card" }, items));
}

let noticeTimer = null;

function notice(text) {
  clearTimeout(noticeTimer);
  el("notice").textContent = text;
  el("notice").hidden = false;
  noticeTimer = setTimeout(() => { el("notice").hidden = true; }, 2500);
}
