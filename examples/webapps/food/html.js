// Templates: html`…` escapes what is put in, except what html`…` made. Lists are joined; null, false and "" leave nothing.

class Markup {
  constructor(text) { this.text = text; }
  toString() { return this.text; }
}

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function show(value) {
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return value.map(show).join("");
  if (value === null || value === undefined || value === false) return "";
  return String(value).replace(/[&<>"']/g, (character) => ESCAPES[character]);
}

export const html = (strings, ...values) => new Markup(String.raw({ raw: strings }, ...values.map(show)));

/** Puts markup in place of what an element shows; keeps its focus, caret, and the scroll position of parts with an id. */
export function fill(element, markup) {
  const { id, selectionStart = null, type } = document.activeElement ?? {};
  const hadFocus = element.contains(document.activeElement);
  const scrolled = [...element.querySelectorAll("[data-scroll]")].map((part) => [part.id, part.scrollTop, part.scrollLeft]);
  element.innerHTML = String(markup);
  for (const [part, top, left] of scrolled) document.getElementById(part)?.scrollTo(left, top);
  if (!hadFocus || !id) return;
  const again = document.getElementById(id);
  again?.focus({ preventScroll: true });
  if (selectionStart !== null && ["text", "search", "tel", "textarea"].includes(type)) again?.setSelectionRange(selectionStart, selectionStart);
}
