// The screens to read: the coming days, one day, a month, an event, search, reminders.

import {
  MONTHS, WEEKDAYS, addDays, addMonths, clock, dayNumber, daysBetween, longDay, minutes, monthTitle, nearDay, shortDay, timeNow, today,
  weekday, weeksOf,
} from "./dates.js";
import { back, h, icon, iconButton, openDialog, replace, go } from "./dom.js";
import { REMINDERS, REPEATS, calendarOf, db, eventOf, happeningOn, nextStart, reminders, save, tick } from "./store.js";

const time = (text) => clock(text, db.settings.hours24);
const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** The bar on top of a screen: an arrow back, a title, buttons. */
export const bar = (title, parent, ...buttons) =>
  h("header", { class: "bar" },
    parent && iconButton("back", "Back", "back", () => back(1, parent)),
    h("h1", { tabindex: "-1" }, title),
    ...buttons);

const TABS = [["days", "#/", "Days"], ["month", "#/month", "Month"], ["bell", "#/reminders", "Reminders"], ["layers", "#/calendars", "Calendars"]];

/** The bar at the bottom of the four main screens. */
export const tabs = (current) =>
  h("nav", { class: "tabs", "aria-label": "Main" }, TABS.map(([name, href, label]) =>
    h("a", { id: `tab-${label.toLowerCase()}`, href, "aria-current": current === label ? "page" : null }, icon(name), h("span", {}, label))));

export const addButton = (day) =>
  h("a", { id: "add-event", class: "fab", href: `#/new/${day}`, role: "button", "aria-label": "New event" }, icon("plus"));

export const empty = (name, title, text) => h("div", { class: "empty" }, icon(name), h("h2", {}, title), h("p", {}, text));

/** When an event that began on the day `start` takes place, as one line for the day `day`. */
function span({ event, start }, day) {
  const last = addDays(start, daysBetween(event.date, event.endDate));
  if (event.allDay) return start === last ? "All day" : `All day, day ${daysBetween(start, day) + 1} of ${daysBetween(start, last) + 1}`;
  if (start === last) return `${time(event.start)} – ${time(event.end)}`;
  if (day === start) return `From ${time(event.start)}`;
  return day === last ? `Until ${time(event.end)}` : "All day";
}

const card = (item, day) =>
  h("li", {},
    h("a", { class: `card ${calendarOf(item.event.calendarId).colour}`, id: `event-${item.event.id}-${day}`, href: `#/event/${item.event.id}/${item.start}` },
      h("h3", {}, item.event.title),
      h("p", {}, h("span", {}, span(item, day)), item.event.repeat !== "none" && h("span", { class: "mark", role: "img", "aria-label": "Repeats" }, icon("repeat"))),
      item.event.place && h("p", { class: "place" }, item.event.place)));

// ---------------------------------------------------------------- days

let weeks = 2; // how far the list reaches

export function daysScreen(redraw) {
  const days = Array.from({ length: weeks * 7 }, (_, index) => addDays(today(), index));
  const groups = days.map((day) => [day, happeningOn(day)]).filter(([day, items]) => items.length || day === today());
  const chips = db.calendars.map((calendar) =>
    h("button", { id: `chip-${calendar.id}`, type: "button", class: `chip ${calendar.colour}`, "aria-pressed": String(calendar.shown), onclick: () => {
      calendar.shown = !calendar.shown;
      save();
      redraw();
    } }, calendar.name));
  const section = ([day, items]) =>
    h("section", { class: `day${day === today() ? " now" : ""}`, "aria-label": longDay(day) },
      h("a", { class: "date", id: `day-${day}`, href: `#/day/${day}`, "aria-label": `Open ${longDay(day)}` },
        h("span", { class: "weekday" }, WEEKDAYS[weekday(day)].slice(0, 3)),
        h("span", { class: "number" }, dayNumber(day)),
        h("span", { class: "weekday" }, MONTHS[Number(day.slice(5, 7)) - 1].slice(0, 3))),
      items.length ? h("ul", { class: "cards" }, items.map((item) => card(item, day))) : h("p", { class: "nothing" }, "Nothing planned today"));
  const node = h("div", { class: "screen" },
    bar("Agenda", null,
      h("a", { id: "open-search", class: "icon-button", href: "#/search", "aria-label": "Search" }, icon("search")),
      h("a", { id: "open-settings", class: "icon-button", href: "#/settings", "aria-label": "Settings" }, icon("gear"))),
    h("main", {},
      h("div", { class: "chips", role: "group", "aria-label": "Calendars shown" }, chips),
      groups.map(section),
      h("button", { id: "show-more", type: "button", class: "button soft wide", onclick: () => { weeks += 2; redraw(); } }, "Show two more weeks")),
    addButton(today()), tabs("Days"));
  return { title: "Agenda", node };
}

// ---------------------------------------------------------------- one day

const HOUR_PX = 54;

/** Gives events that overlap columns of their own: `[item, column, columns]`. */
function columnsOf(items) {
  const placed = [];
  let cluster = [];
  let clusterEnd = 0;
  const close = () => {
    const count = Math.max(...cluster.map((entry) => entry.column)) + 1;
    for (const entry of cluster) placed.push({ ...entry, count });
    cluster = [];
  };
  for (const entry of items) {
    if (cluster.length && entry.from >= clusterEnd) close();
    if (!cluster.length) clusterEnd = 0;
    const taken = cluster.filter((other) => other.to > entry.from).map((other) => other.column);
    let column = 0;
    while (taken.includes(column)) column += 1;
    cluster.push({ ...entry, column });
    clusterEnd = Math.max(clusterEnd, entry.to);
  }
  if (cluster.length) close();
  return placed;
}

export function dayScreen(day) {
  const items = happeningOn(day);
  const whole = ({ event, start }) => event.allDay || (start < day && addDays(start, daysBetween(event.date, event.endDate)) > day);
  const timed = items.filter((item) => !whole(item)).map((item) => {
    const from = item.start === day ? minutes(item.event.start) : 0;
    const isLast = addDays(item.start, daysBetween(item.event.date, item.event.endDate)) === day;
    return { ...item, from, to: Math.max(isLast ? minutes(item.event.end) : 1440, from + 30) };
  }).sort((a, b) => a.from - b.from || a.event.id - b.event.id);
  const firstHour = Math.min(7, ...timed.map((item) => Math.floor(item.from / 60)));
  const lastHour = Math.max(21, ...timed.map((item) => Math.ceil(item.to / 60)));
  const top = (minute) => ((minute - firstHour * 60) / 60) * HOUR_PX;
  const hours = Array.from({ length: lastHour - firstHour }, (_, index) => firstHour + index);
  const block = (item) =>
    h("li", { style: `top:${top(item.from)}px;height:${top(item.to) - top(item.from) - 3}px;left:${(item.column / item.count) * 100}%;width:calc(${100 / item.count}% - 4px)` },
      h("a", { class: `block ${calendarOf(item.event.calendarId).colour}`, id: `event-${item.event.id}-${day}`, href: `#/event/${item.event.id}/${item.start}` },
        h("h3", {}, item.event.title), item.to - item.from >= 45 && h("p", {}, span(item, day))));
  const wholes = items.filter(whole);
  const node = h("div", { class: "screen" },
    bar(nearDay(day) === longDay(day) ? shortDay(day) : nearDay(day), "#/",
      iconButton("day-previous", "Previous day", "left", () => replace(`#/day/${addDays(day, -1)}`)),
      iconButton("day-next", "Next day", "right", () => replace(`#/day/${addDays(day, 1)}`))),
    h("main", {},
      h("p", { id: "day-count", class: "lead", role: "status" }, `${longDay(day)} ${day.slice(0, 4)} · ${items.length ? plural(items.length, "event") : "no events"}`),
      wholes.length > 0 && h("ul", { class: "cards whole", "aria-label": "All day" }, wholes.map((item) => card(item, day))),
      h("div", { class: "grid", style: `height:${hours.length * HOUR_PX}px` },
        hours.map((hour) => h("span", { class: "hour", style: `top:${top(hour * 60)}px` }, time(`${String(hour).padStart(2, "0")}:00`))),
        day === today() && minutes(timeNow()) >= firstHour * 60 && minutes(timeNow()) < lastHour * 60
          && h("span", { class: "line-now", "aria-hidden": "true", style: `top:${top(minutes(timeNow()))}px` }),
        h("ul", { class: "blocks", "aria-label": "Events by hour" }, columnsOf(timed).map(block)))),
    addButton(day));
  return { title: longDay(day), node };
}

// ---------------------------------------------------------------- month

export function monthScreen(month) {
  const firstDay = db.settings.weekStart;
  const names = Array.from({ length: 7 }, (_, index) => WEEKDAYS[(firstDay + index) % 7]);
  let total = 0;
  const cell = (day) => {
    const inside = day.startsWith(month);
    const items = happeningOn(day);
    if (inside) total += items.length;
    const colours = [...new Set(items.map((item) => calendarOf(item.event.calendarId).colour))];
    return h("td", { class: `${inside ? "" : "outside"}${day === today() ? " now" : ""}` },
      h("a", { id: `month-day-${day}`, href: `#/day/${day}`, "aria-label": `${longDay(day)}, ${items.length ? plural(items.length, "event") : "no events"}` },
        h("span", { class: "number" }, dayNumber(day)),
        h("span", { class: "dots" }, colours.slice(0, 4).map((colour) => h("i", { class: colour })))));
  };
  const rows = weeksOf(month, firstDay).map((days) => h("tr", {}, days.map(cell)));
  const node = h("div", { class: "screen" },
    bar(monthTitle(month), null,
      iconButton("month-previous", "Previous month", "left", () => replace(`#/month/${addMonths(month, -1)}`)),
      iconButton("month-next", "Next month", "right", () => replace(`#/month/${addMonths(month, 1)}`))),
    h("main", {},
      h("table", { class: "month", "aria-label": monthTitle(month) },
        h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col", abbr: name }, name.slice(0, 3))))),
        h("tbody", {}, rows)),
      h("p", { id: "month-count", class: "lead" }, `${plural(total, "event")} this month`),
      h("div", { class: "pair" },
        h("button", { id: "go-today", type: "button", class: "button soft", disabled: today().startsWith(month), onclick: () => replace(`#/month/${today().slice(0, 7)}`) }, "This month"),
        h("button", { id: "go-to-day", type: "button", class: "button soft", onclick: () => openDialog({ name: "goto" }) }, "Go to a day"))),
    addButton(today().startsWith(month) ? today() : `${month}-01`), tabs("Month"));
  return { title: monthTitle(month), node };
}

// ---------------------------------------------------------------- one event

export function eventScreen(event, start) {
  const calendar = calendarOf(event.calendarId);
  const last = addDays(start, daysBetween(event.date, event.endDate));
  const days = start === last ? longDay(start) : `${shortDay(start)} – ${shortDay(last)}`;
  const times = event.allDay ? "All day" : `${time(event.start)} – ${time(event.end)}`;
  const row = (name, id, title, text) => h("li", {}, icon(name), h("div", {}, h("p", { id }, title), text && h("p", { class: "small" }, text)));
  const next = event.repeat === "none" ? null : nextStart(event, addDays(start, 1));
  const node = h("div", { class: "screen" },
    bar("", "#/",
      h("a", { id: "event-edit", class: "icon-button", href: `#/edit/${event.id}`, "aria-label": "Edit event" }, icon("edit")),
      iconButton("event-delete", "Delete event", "trash", () => openDialog({ name: "delete-event", id: event.id, day: start }))),
    h("main", {},
      h("div", { class: `hero ${calendar.colour}` },
        h("p", { class: "small" }, calendar.name), h("h2", { id: "event-title" }, event.title), h("p", { id: "event-day" }, days), h("p", { id: "event-time" }, times)),
      h("ul", { class: "facts" },
        row("repeat", "event-repeat", REPEATS.find(([value]) => value === event.repeat)[1], next && `Next on ${longDay(next)}`),
        row("bell", "event-reminder", REMINDERS.find(([value]) => value === event.reminder)[1]),
        event.place && row("place", "event-place", event.place),
        event.notes && row("text", "event-notes", event.notes)),
      h("a", { id: "event-open-day", class: "button soft wide", href: `#/day/${start}` }, "Show this day")));
  return { title: event.title, node };
}

// ---------------------------------------------------------------- search

let query = "";

export function searchScreen() {
  const list = h("ul", { class: "cards", id: "search-results", "aria-label": "Results" });
  const count = h("p", { id: "search-count", class: "lead", role: "status" });
  const input = h("input", { id: "search", type: "search", value: query, placeholder: "Title, place or notes", "aria-label": "Search events", autocomplete: "off", enterkeyhint: "search", oninput: () => { query = input.value; fill(); } });
  const clear = iconButton("search-clear", "Clear search", "close", () => { query = ""; input.value = ""; fill(); input.focus(); });
  const onlyComing = h("input", { id: "search-coming", type: "checkbox", checked: true, onchange: () => fill() });

  function fill() {
    const wanted = query.trim().toLowerCase();
    clear.hidden = query === "";
    const found = db.events
      .filter((event) => wanted && `${event.title}\n${event.place}\n${event.notes}`.toLowerCase().includes(wanted))
      .map((event) => ({ event, start: nextStart(event, onlyComing.checked ? today() : event.date) }))
      .filter(({ event, start }) => start && (!onlyComing.checked || addDays(start, daysBetween(event.date, event.endDate)) >= today()))
      .sort((a, b) => `${a.start}${a.event.start}`.localeCompare(`${b.start}${b.event.start}`) || a.event.id - b.event.id);
    list.replaceChildren(...found.map((item) => {
      const line = `${shortDay(item.start)}, ${span(item, item.start)}`;
      return h("li", {}, h("a", { class: `card ${calendarOf(item.event.calendarId).colour}`, id: `found-${item.event.id}`, href: `#/event/${item.event.id}/${item.start}` },
        h("h3", {}, item.event.title), h("p", {}, line), item.event.place && h("p", { class: "place" }, item.event.place)));
    }));
    count.textContent = !wanted ? "Type to search all calendars, hidden ones too." : found.length ? `${plural(found.length, "event")} found` : `No event matches “${query.trim()}”`;
  }

  fill();
  const node = h("div", { class: "screen" },
    bar("Search", "#/"),
    h("main", {},
      h("form", { class: "searchbox", role: "search", onsubmit: (event) => { event.preventDefault(); input.blur(); } }, icon("search"), input, clear),
      h("label", { class: "tickline", for: "search-coming" }, onlyComing, h("span", {}, "Only what is still to come")),
      count, list));
  return { title: "Search", node };
}

// ---------------------------------------------------------------- reminders

let onlyOpen = false;

export function remindersScreen(redraw) {
  const all = reminders();
  const shown = all.filter((item) => !onlyOpen || !item.done);
  const open = all.filter((item) => !item.done).length;
  const row = (item) => {
    const id = `reminder-${item.event.id}-${item.start}`;
    return h("li", { class: `reminder${item.done ? " done" : ""}` },
      h("input", { id, type: "checkbox", checked: item.done, "aria-label": `Seen: ${item.event.title}`, onchange: (change) => { tick(item.event.id, item.start, change.target.checked); redraw(); } }),
      h("a", { id: `open-${id}`, href: `#/event/${item.event.id}/${item.start}` },
        h("h3", {}, item.event.title), h("p", {}, `${nearDay(item.day)} at ${time(item.time)}`)));
  };
  const choice = (id, label, value) =>
    h("button", { id, type: "button", "aria-pressed": String(onlyOpen === value), onclick: () => { onlyOpen = value; redraw(); } }, label);
  const node = h("div", { class: "screen" },
    bar("Reminders", null),
    h("main", {},
      h("div", { class: "segments", role: "group", "aria-label": "Reminders shown" }, choice("reminders-all", "All", false), choice("reminders-open", "Not seen", true)),
      h("p", { id: "reminder-count", class: "lead", role: "status" }, `${open} of ${plural(all.length, "reminder")} not seen, next seven days`),
      shown.length ? h("ul", { class: "reminders", "aria-label": "Reminders" }, shown.map(row)) : empty("bell", "All quiet", all.length ? "You have seen every reminder." : "No event of the next seven days has a reminder.")),
    tabs("Reminders"));
  return { title: "Reminders", node };
}

export function missingScreen(what) {
  const node = h("div", { class: "screen" },
    bar("", "#/"),
    h("main", {}, empty("search", `${what} not found`, "It may have been deleted."),
      h("button", { id: "missing-home", type: "button", class: "button wide", onclick: () => go("#/") }, "Go to the agenda")));
  return { title: `${what} not found`, node };
}

export const withEvent = (id, draw) => (eventOf(id) && calendarOf(eventOf(id).calendarId) ? draw(eventOf(id)) : missingScreen("Event"));
