// The screens to write: an event, the calendars, settings; and the dialogs.

import { addDays, daysBetween, isDay, today } from "./dates.js";
import { back, h, icon, iconButton, openDialog, options, replace, toast } from "./dom.js";
import {
  COLOURS, REMINDERS, REPEATS, calendarOf, checkCalendar, checkEvent, db, eventOf, eventsIn, putCalendar, putEvent, removeCalendar,
  removeEvent, reset, save, skipOnce,
} from "./store.js";
import { addButton, bar, tabs } from "./screens.js";

const two = (number) => String(number).padStart(2, "0");
const field = (label, id, control, error = false) =>
  h("div", { class: "field" }, h("label", { for: id }, label), control, error && h("p", { id: `${id}-error`, class: "error", role: "alert" }));

function say(id, message, inputs) {
  document.getElementById(`${id}-error`).textContent = message;
  for (const input of inputs) input.setAttribute("aria-invalid", String(message !== ""));
}

const switchRow = (id, label, hint, checked, onchange) =>
  h("label", { class: "switchrow", for: id }, h("span", {}, label, hint && h("small", {}, hint)), h("input", { id, type: "checkbox", role: "switch", class: "switch", checked, onchange }));

// ---------------------------------------------------------------- event form

let draft = null; // the open form: { hash, dirty() }

/** Called when another address is shown: says so where what was typed is lost. */
export function leaveDraft() {
  if (draft && draft.hash !== location.hash) {
    if (draft.dirty()) toast("Changes discarded");
    draft = null;
  }
}

export function eventForm(event, day) {
  const hour = 9;
  const endMinutes = hour * 60 + db.settings.length;
  const fresh = {
    title: "", calendarId: (db.calendars.find((calendar) => calendar.shown) ?? db.calendars[0])?.id, date: day, endDate: day, start: `${two(hour)}:00`,
    end: `${two(Math.floor(endMinutes / 60))}:${two(endMinutes % 60)}`, allDay: false, repeat: "none", reminder: db.settings.reminder, place: "", notes: "",
  };
  const old = event ?? fresh;
  const input = (id, type, value, more = {}) => h("input", { id, type, value, autocomplete: "off", ...more });
  const title = input("event-title", "text", old.title, { maxlength: 60, placeholder: "Add a title", "aria-describedby": "event-title-error" });
  const calendar = h("select", { id: "event-calendar" }, options(db.calendars.map(({ id, name }) => [id, name]), old.calendarId));
  const allDay = switchRow("event-all-day", "All day", null, old.allDay, () => showTimes());
  const date = input("event-date", "date", old.date, { "aria-label": "Start date", onchange: () => moveEnd() });
  const start = input("event-start", "time", old.start || fresh.start, { "aria-label": "Start time" });
  const endDate = input("event-end-date", "date", old.endDate, { "aria-label": "End date" });
  const end = input("event-end", "time", old.end || fresh.end, { "aria-label": "End time" });
  const repeat = h("select", { id: "event-repeats" }, options(REPEATS, old.repeat));
  const reminder = h("select", { id: "event-remind" }, options(REMINDERS, old.reminder));
  const place = input("event-where", "text", old.place, { maxlength: 60, placeholder: "Where" });
  const notes = h("textarea", { id: "event-text", rows: 4, placeholder: "Notes" });
  notes.value = old.notes;
  const toggle = allDay.querySelector("input");
  let lastDate = old.date;

  function showTimes() {
    start.hidden = toggle.checked;
    end.hidden = toggle.checked;
  }

  /** Keeps the length when the start moves to another day. */
  function moveEnd() {
    if (isDay(date.value) && isDay(endDate.value) && isDay(lastDate)) endDate.value = addDays(endDate.value, daysBetween(lastDate, date.value));
    if (isDay(date.value)) lastDate = date.value;
  }

  const read = () => ({
    title: title.value.trim(), calendarId: Number(calendar.value), date: date.value, endDate: endDate.value, start: toggle.checked ? "" : start.value,
    end: toggle.checked ? "" : end.value, allDay: toggle.checked, repeat: repeat.value, reminder: reminder.value, place: place.value.trim(), notes: notes.value.trim(),
  });

  function submit(submitted) {
    submitted.preventDefault();
    const fields = read();
    const wrong = checkEvent(fields);
    say("event-title", wrong.title ?? "", [title]);
    say("event-date", wrong.date ?? "", [date, start]);
    say("event-end-date", wrong.end ?? "", [endDate, end]);
    if (wrong.title) return title.focus();
    if (wrong.date) return date.focus();
    if (wrong.end) return endDate.focus();
    draft = null;
    const stored = putEvent(event?.id ?? null, fields);
    const hidden = calendarOf(stored.calendarId).shown ? "" : ", in a hidden calendar";
    toast(`${event ? "Event changed" : "Event added"}${hidden}`);
    // The screen behind a changed event names the day it was on, so it is drawn anew for the day that it is on now.
    if (event && event.repeat === "none") back(1, "#/", () => { if (location.hash.startsWith("#/event/")) replace(`#/event/${stored.id}/${stored.date}`); });
    else back(1, "#/");
  }

  const form = h("form", { id: "event-form", class: "form", novalidate: true, onsubmit: submit },
    field("Title", "event-title", title, true),
    field("Calendar", "event-calendar", calendar),
    allDay,
    h("fieldset", { class: "field" }, h("legend", {}, "Starts"), h("div", { class: "when" }, date, start), h("p", { id: "event-date-error", class: "error", role: "alert" })),
    h("fieldset", { class: "field" }, h("legend", {}, "Ends"), h("div", { class: "when" }, endDate, end), h("p", { id: "event-end-date-error", class: "error", role: "alert" })),
    field("Repeats", "event-repeats", repeat),
    field("Reminder", "event-remind", reminder),
    field("Place", "event-where", place),
    field("Notes", "event-text", notes));
  showTimes();
  const asOpened = JSON.stringify(read());
  draft = { hash: location.hash, dirty: () => JSON.stringify(read()) !== asOpened };
  const close = () => (draft?.dirty() ? openDialog({ name: "discard" }) : back(1, "#/"));
  const heading = event ? "Edit event" : "New event";
  const node = h("div", { class: "screen" },
    h("header", { class: "bar" },
      iconButton("close-form", "Close", "close", close), h("h1", { tabindex: "-1" }, heading),
      h("button", { id: "save-event", type: "submit", form: "event-form", class: "button" }, "Save")),
    h("main", {}, form));
  return { title: heading, node, keep: true };
}

export function noCalendarScreen() {
  const node = h("div", { class: "screen" }, bar("New event", "#/"), h("main", {},
    h("div", { class: "empty" }, icon("layers"), h("h2", {}, "No calendar yet"), h("p", {}, "An event needs a calendar to be in."),
      h("a", { id: "first-calendar", class: "button", href: "#/calendar/new" }, "Add a calendar"))));
  return { title: "New event", node };
}

// ---------------------------------------------------------------- calendars

export function calendarsScreen(redraw) {
  const row = (calendar) => {
    const count = eventsIn(calendar.id).length;
    return h("li", {},
      h("input", { id: `show-${calendar.id}`, type: "checkbox", class: calendar.colour, checked: calendar.shown, "aria-label": `Show ${calendar.name}`, onchange: (change) => {
        calendar.shown = change.target.checked;
        save();
        redraw();
      } }),
      h("div", {}, h("h3", {}, calendar.name), h("p", {}, `${count} event${count === 1 ? "" : "s"}${calendar.shown ? "" : " · hidden"}`)),
      h("a", { id: `edit-calendar-${calendar.id}`, class: "icon-button", href: `#/calendar/${calendar.id}`, "aria-label": `Edit ${calendar.name}` }, icon("edit")));
  };
  const hidden = db.calendars.filter((calendar) => !calendar.shown).length;
  const node = h("div", { class: "screen" },
    bar("Calendars", null),
    h("main", {},
      h("p", { id: "calendar-count", class: "lead", role: "status" }, hidden ? `${db.calendars.length - hidden} of ${db.calendars.length} shown` : `${db.calendars.length} calendars, all shown`),
      h("ul", { class: "calendars", "aria-label": "Calendars" }, db.calendars.map(row)),
      h("a", { id: "add-calendar", class: "button soft wide", href: "#/calendar/new" }, "New calendar")),
    addButton(today()), tabs("Calendars"));
  return { title: "Calendars", node };
}

export function calendarForm(calendar) {
  const name = h("input", { id: "calendar-name", type: "text", maxlength: 24, value: calendar?.name ?? "", autocomplete: "off", "aria-describedby": "calendar-name-error" });
  const chosen = calendar?.colour ?? COLOURS.find(([key]) => !db.calendars.some((other) => other.colour === key))?.[0] ?? "plum";
  const colours = COLOURS.map(([key, label]) =>
    h("label", { class: `swatch ${key}`, for: `colour-${key}` }, h("input", { id: `colour-${key}`, type: "radio", name: "colour", value: key, checked: key === chosen }), h("span", {}, label)));
  function submit(submitted) {
    submitted.preventDefault();
    const fields = { name: name.value.trim(), colour: document.querySelector("[name=colour]:checked").value };
    const wrong = checkCalendar(calendar?.id ?? null, fields.name);
    say("calendar-name", wrong, [name]);
    if (wrong) return name.focus();
    putCalendar(calendar?.id ?? null, fields);
    toast(calendar ? "Calendar changed" : "Calendar added");
    back(1, "#/calendars");
  }
  const heading = calendar ? "Edit calendar" : "New calendar";
  const node = h("div", { class: "screen" },
    bar(heading, "#/calendars", h("button", { id: "save-calendar", type: "submit", form: "calendar-form", class: "button" }, "Save")),
    h("main", {}, h("form", { id: "calendar-form", class: "form", novalidate: true, onsubmit: submit },
      field("Name", "calendar-name", name, true),
      h("fieldset", { class: "field" }, h("legend", {}, "Colour"), h("div", { class: "swatches" }, colours)),
      calendar && h("button", { id: "delete-calendar", type: "button", class: "button danger-soft wide", onclick: () => openDialog({ name: "delete-calendar", id: calendar.id }) }, "Delete calendar"))));
  return { title: heading, node, keep: true };
}

// ---------------------------------------------------------------- settings

export function settingsScreen(redraw) {
  const set = (key, value) => { db.settings[key] = value; save(); redraw(); };
  const start = (value, label) =>
    h("button", { id: `week-${label.toLowerCase()}`, type: "button", "aria-pressed": String(db.settings.weekStart === value), onclick: () => set("weekStart", value) }, label);
  const node = h("div", { class: "screen" },
    bar("Settings", "#/"),
    h("main", { class: "form" },
      h("div", { class: "field" }, h("p", { class: "label" }, "Week starts on"), h("div", { class: "segments", role: "group", "aria-label": "Week starts on" }, start(1, "Monday"), start(0, "Sunday"), start(6, "Saturday"))),
      switchRow("setting-hours", "24-hour clock", db.settings.hours24 ? "Such as 14:30" : "Such as 2:30 PM", db.settings.hours24, (change) => set("hours24", change.target.checked)),
      field("Reminder of new events", "setting-reminder", h("select", { id: "setting-reminder", onchange: (change) => set("reminder", change.target.value) }, options(REMINDERS, db.settings.reminder))),
      field("Length of new events", "setting-length", h("select", { id: "setting-length", onchange: (change) => set("length", Number(change.target.value)) },
        options([[30, "30 minutes"], [45, "45 minutes"], [60, "1 hour"], [120, "2 hours"]], db.settings.length))),
      h("button", { id: "reset", type: "button", class: "button danger-soft wide", onclick: () => openDialog({ name: "reset" }) }, "Start over with the examples"),
      h("p", { class: "lead" }, "Agenda 2.1 · everything stays in this browser")));
  return { title: "Settings", node };
}

// ---------------------------------------------------------------- dialogs

const button = (id, label, onclick, kind = "text") => h("button", { id, type: "button", class: `button ${kind}`, onclick }, label);
const cancel = (label = "Cancel") => button("dialog-cancel", label, () => back());
const content = (title, text, ...actions) => [h("h2", { id: "dialog-title" }, title), text && h("p", {}, text), h("div", { class: "actions" }, actions)];

function restoreLater(event) {
  return () => {
    db.events = [...db.events, event].sort((a, b) => a.id - b.id);
    save();
    dispatchEvent(new Event("agenda-changed"));
  };
}

const DIALOGS = {
  "delete-event": ({ id, day }) => {
    const event = eventOf(id);
    if (!event) return null;
    const all = () => { removeEvent(id); back(2, "#/"); toast(`“${event.title}” deleted`, restoreLater(event)); };
    if (event.repeat === "none") return content("Delete this event?", `“${event.title}” will be removed from ${calendarOf(event.calendarId).name}.`, cancel(), button("delete-all", "Delete", all, "danger"));
    const one = () => { skipOnce(id, day); back(2, "#/"); toast(`“${event.title}” deleted on one day`); };
    return content("Delete repeating event?", `“${event.title}” comes again. Which ones do you want to delete?`,
      button("delete-one", "Only this one", one), button("delete-all", "All of them", all, "danger-text"), cancel());
  },
  "delete-calendar": ({ id }) => {
    const calendar = calendarOf(id);
    if (!calendar) return null;
    const count = eventsIn(id).length;
    const text = count ? `Its ${count === 1 ? "one event goes" : `${count} events go`} with it.` : "It has no events.";
    return content(`Delete “${calendar.name}”?`, text, cancel(), button("delete-calendar-yes", "Delete", () => { removeCalendar(id); back(2, "#/calendars"); toast("Calendar deleted"); }, "danger"));
  },
  discard: () => content("Discard what you typed?", null, cancel("Keep editing"), button("discard", "Discard", () => { draft = null; back(2, "#/"); }, "danger")),
  reset: () => content("Start over?", "All calendars and events are replaced by the examples.", cancel(), button("reset-yes", "Start over", () => { reset(); back(1, "#/settings", () => toast("Examples are back")); }, "danger")),
  goto: () => {
    const input = h("input", { id: "goto-day", type: "date", value: today() });
    const show = () => {
      say("goto-day", isDay(input.value) ? "" : "Choose a day.", [input]);
      const { value } = input;
      if (isDay(value)) back(1, "#/month", () => { location.hash = `#/day/${value}`; });
    };
    return [h("h2", { id: "dialog-title" }, "Go to a day"), field("Day", "goto-day", input, true), h("div", { class: "actions" }, cancel(), button("goto-show", "Show", show, "filled"))];
  },
};

/** The content of a dialog, or null where there is nothing to ask. */
export const dialogContent = (dialog) => (dialog && DIALOGS[dialog.name] ? DIALOGS[dialog.name](dialog) : null);
