// Notes: a notes app in one page, kept in localStorage.
//
// The address after "#" says which screen is shown, and the browser's history is
// the only back stack: the arrow in the app bar and the system's Back do the same.

"use strict";

const $ = (id) => document.getElementById(id);

// ---------------------------------------------------------------- storage

const KEYS = { items: "notes.items", nextId: "notes.nextId", settings: "notes.settings" };
const DEFAULTS = { dark: false, dates: true, sortByTitle: false, confirmDelete: true, textSize: "medium" };
const DAY_MS = 24 * 60 * 60 * 1000;

function seedNotes(now) {
  const seeds = [
    { title: "Balcony plan", pinned: false, done: false, age: 9,
      body: "Morning sun until about eleven, then shade. Wind from the left.\n\n"
        + "Herbs by the door: mint in its own pot, thyme, chives, parsley. Basil only after the middle of May.\n\n"
        + "Two long boxes on the railing. Measure again before buying: last time they were 4 cm too wide.\n\n"
        + "Climbing beans along the wall, with string from the hook to the lower rail.\n\n"
        + "Ask Nora for cuttings of the geranium, and return her watering can.\n\n"
        + "Later: a folding table, a lamp that can stay out in the rain, and a mat for bare feet." },
    { title: "Weekend groceries", pinned: true, done: false, age: 1,
      body: "Oats\nTomatoes, the small ones\nOlive oil\nCoffee beans\nLemons\nSomething for Sunday" },
    { title: "Call the dentist", pinned: false, done: false, age: 2,
      body: "Ask for Thursday after 16:00. The number is on the fridge." },
    { title: "Return the drill to Sam", pinned: false, done: true, age: 5,
      body: "Also the box of bits, and the long extension cord." },
    { title: "Books to borrow", pinned: false, done: false, age: 3,
      body: "The Left Hand of Darkness\nThe Design of Everyday Things\nA Field Guide to Getting Lost" },
  ];
  return seeds.map(({ age, ...note }, index) => ({ id: index + 1, ...note, updated: now - age * DAY_MS }));
}

function load(key, fallback) {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? fallback;
  } catch {
    return fallback; // not JSON: someone edited it by hand
  }
}

let items = load(KEYS.items, null) ?? seedNotes(Date.now()); // always in order of id
let nextId = load(KEYS.nextId, Math.max(0, ...items.map((note) => note.id)) + 1);
let settings = { ...DEFAULTS, ...load(KEYS.settings, {}) };

function save() {
  localStorage.setItem(KEYS.items, JSON.stringify(items));
  localStorage.setItem(KEYS.nextId, JSON.stringify(nextId));
  localStorage.setItem(KEYS.settings, JSON.stringify(settings));
}

const findNote = (id) => items.find((note) => note.id === id);

// ---------------------------------------------------------------- history

// history.state is { depth, dialog }: how many of our own entries lie behind this
// one, and the dialog that is open on top of the screen, if any.
let depth = 0;
let afterPop = null;

/** Shows a screen in place of the current history entry. */
function replace(hash) {
  history.replaceState({ depth }, "", hash);
  route();
}

/** Goes back `steps` entries; shows `fallback` where fewer of them are ours. */
function back(steps, fallback) {
  if (depth >= steps) {
    history.go(-steps);
  } else if (depth === 0) {
    replace(fallback);
  } else {
    afterPop = () => replace(fallback);
    history.go(-depth);
  }
}

window.addEventListener("popstate", () => {
  // A new entry, made by a link or by location.hash, has no state yet.
  if (history.state === null) history.replaceState({ depth: depth + 1 }, "");
  depth = history.state.depth;
  const then = afterPop;
  afterPop = null;
  (then ?? route)();
});

// ---------------------------------------------------------------- screens

const ROUTES = [
  [/^#\/$/, showList],
  [/^#\/note\/(\d+)$/, (id) => withNote(id, showNote)],
  [/^#\/edit\/(\d+)$/, (id) => withNote(id, showEdit)],
  [/^#\/new$/, () => showEdit(null)],
  [/^#\/settings$/, showSettings],
  [/^#\/about$/, () => showScreen("about", "About")],
];

const PARENTS = { note: "#/", edit: "#/", settings: "#/", about: "#/settings", missing: "#/" };

let screen = null; // "list", "note", "edit", "settings", "about" or "missing"
let listScrollY = 0;

/** Shows what the address says. */
function route() {
  if (screen === "list") listScrollY = window.scrollY;
  if (draft && location.hash !== draft.hash) closeDraft();
  for (const [pattern, show] of ROUTES) {
    const match = pattern.exec(location.hash);
    if (match) {
      showDialog(undefined);
      show(...match.slice(1).map(Number));
      return showDialog(history.state.dialog);
    }
  }
  replace("#/");
}

function withNote(id, show) {
  const note = findNote(id);
  return note ? show(note) : showScreen("missing", "Note not found");
}

function showScreen(name, title) {
  document.title = title === "Notes" ? title : `${title} · Notes`;
  if (screen === name) return;
  screen = name;
  for (const section of document.querySelectorAll(".screen")) {
    section.hidden = section.id !== `screen-${name}`;
  }
  window.scrollTo(0, name === "list" ? listScrollY : 0);
  $(`screen-${name}`).querySelector("h1").focus({ preventScroll: true });
}

for (const button of document.querySelectorAll("[data-back]")) {
  button.addEventListener("click", () => back(1, PARENTS[screen]));
}

// ---------------------------------------------------------------- list

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/** "7 Mar 2026" in local time, whatever the browser's language. */
function formatDay(ms) {
  const date = new Date(ms);
  return `${date.getDate()} ${MONTHS[date.getMonth()]} ${date.getFullYear()}`;
}

/** "09:05" in local time. */
function formatTime(ms) {
  const date = new Date(ms);
  return [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, "0")).join(":");
}

/** Makes an element; `properties` are set on it, `children` put inside it. */
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function makeIcon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  svg.append(use);
  return svg;
}

/** The notes that match the search, pinned ones first. */
function visibleNotes(query) {
  const wanted = query.trim().toLowerCase();
  const order = settings.sortByTitle
    ? (a, b) => a.title.localeCompare(b.title, "en") || a.id - b.id
    : (a, b) => b.updated - a.updated || b.id - a.id;
  return items
    .filter((note) => `${note.title}\n${note.body}`.toLowerCase().includes(wanted))
    .sort((a, b) => b.pinned - a.pinned || order(a, b));
}

function makeRow(note) {
  const done = make("input", { type: "checkbox", id: `done-${note.id}`, className: "checkbox", checked: note.done });
  done.setAttribute("aria-label", `Done: ${note.title}`);
  const row = make("li", { className: "card" }, make("label", { className: "card-check" }, done));
  const link = make("a", { className: "card-link", id: `note-${note.id}`, href: `#/note/${note.id}` });
  link.append(make("h2", { className: "card-title" }, note.title));
  const lines = note.body.replace(/\s*\n\s*/g, " · ").slice(0, 200);
  if (lines) link.append(make("p", { className: "card-body" }, lines));
  if (settings.dates) {
    const dateTime = new Date(note.updated).toISOString();
    link.append(make("time", { className: "date", dateTime }, formatDay(note.updated)));
  }
  row.append(link);
  if (note.pinned) {
    const mark = make("span", { className: "card-pin" }, makeIcon("pin"));
    mark.setAttribute("role", "img");
    mark.setAttribute("aria-label", "Pinned");
    row.append(mark);
  }
  row.classList.toggle("done", note.done);
  done.addEventListener("change", () => {
    note.done = row.classList.toggle("done", done.checked);
    save();
    renderCount();
  });
  return row;
}

function renderCount() {
  const shown = visibleNotes($("search").value);
  const doneCount = shown.filter((note) => note.done).length;
  const noun = shown.length === 1 ? "note" : "notes";
  $("count").textContent = shown.length ? `${shown.length} ${noun}, ${doneCount} done` : "";
}

function renderList() {
  const query = $("search").value;
  const shown = visibleNotes(query);
  $("notes").replaceChildren(...shown.map(makeRow));
  $("notes").hidden = shown.length === 0;
  $("search-form").hidden = items.length === 0;
  $("search-clear").hidden = query === "";
  $("empty").hidden = items.length > 0;
  $("no-results").hidden = items.length === 0 || shown.length > 0;
  $("no-results-text").textContent = `No note contains “${query.trim()}”.`;
  renderCount();
}

function showList() {
  if (items.length === 0) $("search").value = "";
  renderList();
  showScreen("list", "Notes");
}

function clearSearch() {
  $("search").value = "";
  renderList();
}

$("search").addEventListener("input", renderList);
$("search-clear").addEventListener("click", () => {
  clearSearch();
  $("search").focus();
});
$("no-results-clear").addEventListener("click", clearSearch);
$("search-form").addEventListener("submit", (event) => {
  event.preventDefault();
  $("search").blur(); // puts the on-screen keyboard away
});
$("add-note").addEventListener("click", () => { location.hash = "#/new"; });
$("open-settings").addEventListener("click", () => { location.hash = "#/settings"; });

// ---------------------------------------------------------------- detail

let shownId = null;

function showNote(note) {
  shownId = note.id;
  $("note-title").textContent = note.title;
  $("note-body").textContent = note.body || "No text";
  $("note-body").classList.toggle("none", !note.body);
  $("note-date").hidden = !settings.dates;
  $("note-date").textContent = `Edited ${formatDay(note.updated)}, ${formatTime(note.updated)}`;
  $("note-done").checked = note.done;
  $("note-pin").setAttribute("aria-pressed", String(note.pinned));
  showScreen("note", note.title);
}

$("note-done").addEventListener("change", () => {
  findNote(shownId).done = $("note-done").checked;
  save();
});

$("note-pin").addEventListener("click", () => {
  const note = findNote(shownId);
  note.pinned = !note.pinned;
  save();
  showNote(note);
  showSnackbar(note.pinned ? "Pinned to top" : "Unpinned");
});

$("note-edit").addEventListener("click", () => { location.hash = `#/edit/${shownId}`; });

$("note-delete").addEventListener("click", () => {
  if (settings.confirmDelete) {
    openDialog("delete-note");
  } else {
    removeNotes([findNote(shownId)], "Note deleted");
    back(1, "#/");
  }
});

/** Deletes notes and offers to bring them back. */
function removeNotes(removed, message) {
  items = items.filter((note) => !removed.includes(note));
  save();
  showSnackbar(message, () => {
    items = [...items, ...removed].sort((a, b) => a.id - b.id);
    save();
    if (screen !== "edit") route(); // leave what is being typed alone
  });
}

// ---------------------------------------------------------------- edit and new

let draft = null; // the form as it was opened: { hash, id, fields }; id is null for a new note

const readForm = () => ({
  title: $("edit-title").value.trim(),
  body: $("edit-body").value.trim(),
  pinned: $("edit-pinned").checked,
});

function showTitleError(message) {
  $("title-error").textContent = message;
  $("edit-title").setAttribute("aria-invalid", String(message !== ""));
}

function showEdit(note) {
  const name = note ? "Edit note" : "New note";
  $("edit-heading").textContent = name;
  $("edit-title").value = note ? note.title : "";
  $("edit-body").value = note ? note.body : "";
  $("edit-pinned").checked = note ? note.pinned : false;
  showTitleError("");
  draft = { hash: location.hash, id: note ? note.id : null, fields: readForm() };
  showScreen("edit", name);
  if (!note) $("edit-title").focus();
}

/** Forgets the draft when its screen is left without saving. */
function closeDraft() {
  const changed = JSON.stringify(readForm()) !== JSON.stringify(draft.fields);
  draft = null;
  if (changed) showSnackbar("Changes discarded");
}

$("edit-title").addEventListener("input", () => showTitleError(""));

$("note-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const fields = readForm();
  if (fields.title === "") {
    showTitleError("Enter a title");
    $("edit-title").focus();
    return;
  }
  const { id } = draft;
  draft = null;
  if (id === null) {
    const note = { id: nextId, ...fields, done: false, updated: Date.now() };
    nextId += 1;
    items.push(note);
    save();
    replace(`#/note/${note.id}`);
  } else {
    Object.assign(findNote(id), fields, { updated: Date.now() });
    save();
    back(1, `#/note/${id}`);
  }
  showSnackbar("Note saved");
});

// ---------------------------------------------------------------- settings

const SWITCHES = {
  "setting-dark": "dark",
  "setting-dates": "dates",
  "setting-sort": "sortByTitle",
  "setting-confirm": "confirmDelete",
};

function applyAppearance() {
  const root = document.documentElement;
  root.dataset.theme = settings.dark ? "dark" : "light";
  root.dataset.text = settings.textSize;
  document.querySelector("meta[name=theme-color]").content = settings.dark ? "#111413" : "#f3f5f4";
}

function showSettings() {
  for (const [id, name] of Object.entries(SWITCHES)) $(id).checked = settings[name];
  for (const radio of document.getElementsByName("text-size")) radio.checked = radio.value === settings.textSize;
  $("delete-all").disabled = items.length === 0;
  showScreen("settings", "Settings");
}

function changeSetting(name, value) {
  settings[name] = value;
  save();
  applyAppearance();
}

for (const [id, name] of Object.entries(SWITCHES)) {
  $(id).addEventListener("change", () => changeSetting(name, $(id).checked));
}
for (const radio of document.getElementsByName("text-size")) {
  radio.addEventListener("change", () => changeSetting("textSize", radio.value));
}
$("open-about").addEventListener("click", () => { location.hash = "#/about"; });
$("delete-all").addEventListener("click", () => openDialog("delete-all"));

// ---------------------------------------------------------------- dialog

// A dialog is a history entry of its own, so that Back closes it.
const DIALOGS = {
  "delete-note": {
    opensOn: "note",
    title: () => "Delete this note?",
    text: () => `“${findNote(shownId).title}” will be deleted.`,
    confirm: () => removeNotes([findNote(shownId)], "Note deleted"),
  },
  "delete-all": {
    opensOn: "settings",
    title: () => "Delete all notes?",
    text: () => (items.length === 1 ? "Your only note will be deleted." : `All ${items.length} notes will be deleted.`),
    confirm: () => removeNotes(items, "All notes deleted"),
  },
};

let openedFrom = null; // the control that has the focus again once the dialog closes

function openDialog(name) {
  openedFrom = document.activeElement;
  depth += 1;
  history.pushState({ depth, dialog: name }, "");
  showDialog(name);
}

/** Shows the named dialog over the current screen, or none. */
function showDialog(name) {
  const dialog = DIALOGS[name];
  const open = dialog !== undefined && dialog.opensOn === screen && items.length > 0;
  const wasOpen = !$("scrim").hidden;
  $("scrim").hidden = !open;
  $("app").inert = open;
  if (open) {
    $("dialog-title").textContent = dialog.title();
    $("dialog-text").textContent = dialog.text();
    $("dialog-cancel").focus();
  } else if (wasOpen && openedFrom) {
    openedFrom.focus();
    openedFrom = null;
  }
}

const cancelDialog = () => back(1, location.hash);

$("dialog-cancel").addEventListener("click", cancelDialog);
$("dialog-confirm").addEventListener("click", () => {
  DIALOGS[history.state.dialog].confirm();
  back(2, "#/");
});
$("scrim").addEventListener("click", (event) => {
  if (event.target === $("scrim")) cancelDialog();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !$("scrim").hidden) cancelDialog();
});

// ---------------------------------------------------------------- snackbar

let snackbarTimer = null;
let undo = null;

function hideSnackbar() {
  clearTimeout(snackbarTimer);
  undo = null;
  $("snackbar").hidden = true;
  document.body.classList.remove("has-snackbar");
}

/** Shows a message for some seconds, with an Undo button where there is an `onUndo`. */
function showSnackbar(message, onUndo = null) {
  hideSnackbar();
  undo = onUndo;
  $("snackbar-text").textContent = message;
  $("snackbar-action").hidden = onUndo === null;
  $("snackbar").hidden = false;
  document.body.classList.add("has-snackbar");
  snackbarTimer = setTimeout(hideSnackbar, onUndo ? 6000 : 3000);
}

$("snackbar-action").addEventListener("click", () => {
  const run = undo;
  hideSnackbar();
  if (run) run();
});

// ---------------------------------------------------------------- start

history.scrollRestoration = "manual";
if (history.state === null) history.replaceState({ depth: 0 }, "");
depth = history.state.depth;
applyAppearance();
save(); // keeps the first notes and their dates
route();
