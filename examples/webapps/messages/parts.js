// Pieces that the screens share: descriptions only.

import { back, close } from "./router.js";
import { db, fullName } from "./store.js";
import { h } from "./vdom.js";

const ICONS = {
  back: "M14.5 5l-7 7 7 7", search: "M10.5 4.5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM15 15l5 5", menu: "M12 5.5v.01M12 12v.01M12 18.5v.01", plus: "M12 5v14M5 12h14",
  send: "M4 12l16-7-6 15-3-6.5z", chat: "M4 5h16v11h-9l-4 4v-4H4z", people: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c.5-4 3-6 6.5-6s6 2 6.5 6M16 4.5a3.5 3.5 0 0 1 0 6.5M18 14.5c2 .8 3.2 2.6 3.5 5.5",
  gear: "M5 7h14M5 12h14M5 17h14M9 5v4M15 10v4M8 15v4", star: "M12 4l2.5 5.2 5.5.8-4 4 1 5.8-5-2.8-5 2.8 1-5.8-4-4 5.5-.8z", edit: "M4.5 19.5l1-4L16 5l3 3L8.5 18.5z", next: "M9.5 5.5l6.5 6.5-6.5 6.5", clear: "M7 7l10 10M17 7L7 17",
};

export const icon = (name) => h("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, h("path", { d: ICONS[name] }));

export const iconButton = (id, label, name, onclick, props = {}) => h("button", { id, type: "button", class: "icon", "aria-label": label, onclick, ...props }, icon(name));

export function bar(title, { parent = null, actions = [], under = null } = {}) {
  return h("header", { class: "bar" },
    parent !== null && iconButton("back", "Back", "back", () => back(1, parent)),
    h("div", { class: "bar-text" }, h("h1", { id: "title" }, title), under && h("p", { id: "under-title" }, under)),
    actions);
}

export function avatar(contact) {
  const letters = `${contact.first[0] ?? ""}${contact.last[0] ?? ""}`.toUpperCase();
  return h("span", { class: `avatar tone-${contact.id % 6}`, "aria-hidden": "true" }, letters);
}

export function contactRow(contact, onclick, extra = null) {
  const name = db.settings.order === "last" && contact.last ? `${contact.last}, ${contact.first}` : fullName(contact);
  return h("li", { key: contact.id }, h("button", { id: `contact-${contact.id}`, type: "button", class: "row", onclick },
    avatar(contact), h("span", { class: "row-text" }, h("b", {}, name), h("small", {}, contact.blocked ? "Blocked" : contact.phone)), extra));
}

export const chips = (label, choices, chosen, onchoose) => h("div", { class: "chips", role: "group", "aria-label": label },
  choices.map(([key, name]) => h("button", { id: `chip-${key}`, type: "button", "aria-pressed": String(key === chosen), onclick: () => onchoose(key) }, name)));

export const nothing = (name, title, text) => h("div", { class: "nothing" }, icon(name), h("h2", {}, title), h("p", {}, text));

export function searchField(id, label, value, oninput) {
  return h("div", { class: "search" }, icon("search"),
    h("input", { id, type: "search", placeholder: label, "aria-label": label, autocomplete: "off", enterkeyhint: "search", value, oninput: (event) => oninput(event.target.value) }),
    value !== "" && iconButton(`${id}-clear`, "Clear", "clear", () => oninput("")));
}

export const toggle = (id, name, hint, checked, onflip) => h("label", { class: "row", for: id },
  h("span", { class: "row-text" }, h("b", {}, name), h("small", {}, hint)),
  h("input", { id, type: "checkbox", role: "switch", checked, onchange: (event) => onflip(event.target.checked) }));

/** A question over the screen. */
export const ask = (title, text, yes, onyes) => h("div", { class: "over", onclick: (event) => { if (event.target === event.currentTarget) close(); } },
  h("div", { class: "dialog", role: "alertdialog", "aria-modal": "true", "aria-labelledby": "ask-title", "aria-describedby": "ask-text" },
    h("h2", { id: "ask-title" }, title), h("p", { id: "ask-text" }, text),
    h("div", { class: "dialog-buttons" },
      h("button", { id: "ask-no", type: "button", onclick: close }, "Cancel"),
      h("button", { id: "ask-yes", type: "button", class: "strong", onclick: onyes }, yes))));

/** A list of actions that comes from below. */
export const sheet = (title, text, actions) => h("div", { class: "over low", onclick: (event) => { if (event.target === event.currentTarget) close(); } },
  h("div", { class: "sheet", role: "dialog", "aria-modal": "true", "aria-labelledby": "sheet-title" },
    h("h2", { id: "sheet-title" }, title), text && h("p", { id: "sheet-text" }, text),
    actions.map(([id, name, onclick]) => h("button", { id, key: id, type: "button", onclick }, name)),
    h("button", { id: "sheet-close", key: "close", type: "button", class: "quiet", onclick: close }, "Close")));
