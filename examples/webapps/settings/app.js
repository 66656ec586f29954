// Shows the page of the address. The browser's history is the only back stack; a dialog has an entry of its own in it.

"use strict";

let depth = 0;
let afterPop = null;
let shownHash = null;
const scrolls = [];

function pageOf(hash) {
  const path = hash.replace(/^#\//, "");
  if (Object.hasOwn(PAGES, path) && !path.includes(":")) return PAGES[path]();
  const [section, id, ...rest] = path.split("/");
  const page = rest.length === 0 && /^\d+$/.test(id ?? "") && PAGES[`${section}/:id`];
  return page ? page(id) : null;
}

function applyLook() {
  Object.assign(document.documentElement.dataset, { theme: values.dark ? "dark" : "light", accent: values.accent, text: String(values.textSize) });
}

function draw() {
  applyLook();
  const page = pageOf(location.hash);
  if (!page) {
    history.replaceState({ depth }, "", "#/");
    return draw();
  }
  const isNew = shownHash !== location.hash;
  if (!isNew && page.form) return; // keeps what was typed
  if (isNew && shownHash === "#/languages/add") languageQuery = "";
  shownHash = location.hash;
  document.title = page.title === "Settings" ? page.title : `${page.title} · Settings`;
  el("heading").textContent = page.title;
  el("up").hidden = page.up === null;
  el("page").classList.toggle("home", page.up === null);
  el("content").replaceChildren(...(page.form ? [page.form()] : page.groups.map(drawGroup)));
  if (isNew) el("heading").focus({ preventScroll: true });
}

/** Stores what was set and draws the page anew, with focus, caret and scroll position as they were. */
function changed() {
  save();
  const { id, selectionStart } = document.activeElement;
  const { scrollY } = window;
  draw();
  const again = id && el("content").contains(el(id)) ? el(id) : null;
  again?.focus({ preventScroll: true });
  if (again?.type === "search") again.setSelectionRange(selectionStart, selectionStart);
  window.scrollTo(0, scrollY);
}

function show() {
  draw();
  drawDialog(history.state?.dialog);
}

/** Goes back over `steps` entries; shows `fallback` where fewer of them are ours. */
function goBack(fallback, steps = 1) {
  const land = () => { history.replaceState({ depth }, "", fallback); show(); };
  if (depth >= steps) history.go(-steps);
  else if (depth === 0) land();
  else {
    afterPop = land;
    history.go(-depth);
  }
}

function openDialog(dialog) {
  scrolls[depth] = window.scrollY;
  depth += 1;
  history.pushState({ depth, dialog }, "");
  show();
}

const closeDialog = (steps = 1) => goBack(steps === 1 ? location.hash : pageOf(location.hash)?.up ?? "#/", steps);

window.addEventListener("popstate", () => {
  scrolls[depth] = window.scrollY;
  const isNew = history.state === null; // made by a link or by location.hash
  if (isNew) history.replaceState({ depth: depth + 1 }, "");
  depth = history.state.depth;
  const then = afterPop;
  afterPop = null;
  if (then) then();
  else show();
  window.scrollTo(0, isNew ? 0 : scrolls[depth] ?? 0);
});

el("up").addEventListener("click", () => goBack(pageOf(location.hash)?.up ?? "#/"));
el("ask").addEventListener("cancel", (event) => { event.preventDefault(); closeDialog(); });
el("ask").addEventListener("click", (event) => { if (event.target === el("ask")) closeDialog(); });

history.scrollRestoration = "manual";
if (history.state === null) history.replaceState({ depth: 0 }, "", location.hash || "#/");
depth = history.state.depth;
save();
show();
