// Makes elements, and the pieces that several screens share.

import { findProduct } from "./catalogue.js";
import { money } from "./store.js";

/** Makes an element; functions become listeners, true and false set or leave out an attribute, null children are skipped. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#${name}`);
  svg.setAttribute("aria-hidden", "true");
  svg.append(use);
  return svg;
}

export const picture = (product, size = "") => el("span", { class: `picture ${size}`, style: `background:${product.tint}` }, icon(`art-${product.art}`));

export function header(title, onBack = null, ...actions) {
  return el("header", { class: onBack ? "bar" : "bar big" },
    onBack && el("button", { id: "back", class: "round", type: "button", "aria-label": "Back", onclick: onBack }, icon("icon-back")),
    el("h1", { id: "heading", tabindex: "-1" }, title), ...actions);
}

/** A number between two buttons. */
export function stepper(id, label, value, { min, max, onstep }) {
  const step = (by) => () => onstep(value + by);
  return el("div", { class: "stepper", role: "group", "aria-label": label },
    el("button", { id: `${id}-less`, type: "button", "aria-label": `Less: ${label}`, disabled: value <= min, onclick: step(-1) }, icon("icon-minus")),
    el("output", { id: `${id}-count` }, String(value)),
    el("button", { id: `${id}-more`, type: "button", "aria-label": `More: ${label}`, disabled: value >= max, onclick: step(1) }, icon("icon-plus")));
}

/** A group of radio buttons drawn as rows. */
export function radioRows(name, legend, choices, chosen, onchoose) {
  return el("fieldset", { class: "rows" }, el("legend", {}, legend),
    choices.map(({ key, label, hint, side }) => el("label", { class: "row", for: `${name}-${key}` },
      el("input", { type: "radio", id: `${name}-${key}`, name, value: key, checked: key === chosen, onchange: () => onchoose(key) }),
      el("span", { class: "row-text" }, el("span", {}, label), hint ? el("small", {}, hint) : null),
      side ? el("span", { class: "row-side" }, side) : null)));
}

export function switchRow(id, label, hint, checked, onflip) {
  return el("label", { class: "row", for: id },
    el("span", { class: "row-text" }, el("span", {}, label), hint ? el("small", {}, hint) : null),
    el("input", { type: "checkbox", role: "switch", id, checked, onchange: (event) => onflip(event.target.checked) }));
}

export const empty = (iconName, title, text, ...actions) =>
  el("div", { class: "empty" }, icon(iconName), el("h2", {}, title), el("p", {}, text), ...actions);

export function sumRows(rows) {
  return el("dl", { class: "sums" }, rows.filter(Boolean).map(({ id, name, value, strong }) =>
    el("div", { class: strong ? "strong" : "" }, el("dt", {}, name), el("dd", { id }, value))));
}

/** The lines of an order, to read only. */
export function orderLines(lines) {
  return el("ul", { class: "lines", "aria-label": "Items" }, lines.map((line) => {
    const product = findProduct(line.productId);
    return el("li", { class: "line" }, picture(product, "small"),
      el("div", { class: "line-text" }, el("h3", {}, product.name), line.options.length ? el("p", {}, line.options.join(", ")) : null,
        el("p", {}, `${line.quantity} × ${money(line.price)}`)),
      el("strong", {}, money(line.price * line.quantity)));
  }));
}
