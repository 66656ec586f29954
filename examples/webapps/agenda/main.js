// Draws what the address says.

import { addDays, isDay, isMonth, today } from "./dates.js";
import { back, openedDialog, replace, start } from "./dom.js";
import { calendarForm, calendarsScreen, dialogContent, eventForm, leaveDraft, noCalendarScreen, settingsScreen } from "./forms.js";
import { dayScreen, daysScreen, eventScreen, missingScreen, monthScreen, remindersScreen, searchScreen, withEvent } from "./screens.js";
import { calendarOf, db, save } from "./store.js";

const ROUTES = [
  [/^#\/$/, () => daysScreen(redraw)],
  [/^#\/day\/(.+)$/, (day) => (isDay(day) ? dayScreen(day) : missingScreen("Day"))],
  [/^#\/month$/, () => monthScreen(today().slice(0, 7))],
  [/^#\/month\/(.+)$/, (month) => (isMonth(month) ? monthScreen(month) : missingScreen("Month"))],
  [/^#\/event\/(\d+)\/(.+)$/, (id, day) => withEvent(id, (event) => (isDay(day) && !event.skipped.includes(day) ? eventScreen(event, day) : missingScreen("Event")))],
  [/^#\/new$/, () => newEvent(today())],
  [/^#\/new\/(.+)$/, (day) => newEvent(isDay(day) ? day : addDays(today(), 0))],
  [/^#\/edit\/(\d+)$/, (id) => withEvent(id, (event) => eventForm(event, event.date))],
  [/^#\/search$/, () => searchScreen()],
  [/^#\/reminders$/, () => remindersScreen(redraw)],
  [/^#\/calendars$/, () => calendarsScreen(redraw)],
  [/^#\/calendar\/new$/, () => calendarForm(null)],
  [/^#\/calendar\/(\d+)$/, (id) => (calendarOf(id) ? calendarForm(calendarOf(id)) : missingScreen("Calendar"))],
  [/^#\/settings$/, () => settingsScreen(redraw)],
];

const newEvent = (day) => (db.calendars.length ? eventForm(null, day) : noCalendarScreen());
const view = document.getElementById("view");
const dialog = document.getElementById("dialog");
let shown = { hash: null, keep: false };

/** Draws the screen of the address anew, with the scroll position and the focus as they were. */
function redraw() {
  const focused = document.activeElement?.id;
  const { scrollY } = window;
  draw();
  window.scrollTo(0, scrollY);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

function draw() {
  for (const [pattern, screen] of ROUTES) {
    const match = pattern.exec(location.hash);
    if (!match) continue;
    const { title, node, keep = false } = screen(...match.slice(1));
    document.title = title === "Agenda" ? title : `${title} · Agenda`;
    view.replaceChildren(node);
    shown = { hash: location.hash, keep };
    return true;
  }
  return false;
}

function show() {
  leaveDraft();
  const same = shown.hash === location.hash;
  if (!(same && shown.keep) && !draw()) return replace("#/");
  if (!same) view.querySelector("h1").focus({ preventScroll: true });
  const content = dialogContent(openedDialog());
  if (content) {
    dialog.replaceChildren(...content.filter(Boolean));
    if (!dialog.open) dialog.showModal();
  } else if (dialog.open) {
    dialog.close();
  }
}

dialog.addEventListener("cancel", (event) => { event.preventDefault(); back(); });
dialog.addEventListener("click", (event) => { if (event.target === dialog) back(); });
addEventListener("agenda-changed", () => { if (!shown.keep) redraw(); });

save(); // keeps the examples and their days
start(show);
