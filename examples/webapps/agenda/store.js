// What the app keeps: calendars, the events in them, reminders ticked off, settings. Nothing here knows of the screen.

import { addDays, before, daysBetween, today } from "./dates.js";

const PREFIX = "agenda.";
const DEFAULT_SETTINGS = { weekStart: 1, hours24: true, reminder: "none", length: 60 };
export const COLOURS = [
  ["plum", "Plum"], ["coral", "Coral"], ["moss", "Moss"], ["sky", "Sky"], ["amber", "Amber"], ["slate", "Slate"],
];
export const REPEATS = [["none", "Does not repeat"], ["daily", "Every day"], ["weekly", "Every week"]];
export const REMINDERS = [
  ["none", "No reminder"], ["0", "At the start"], ["10", "10 minutes before"], ["60", "1 hour before"], ["1440", "1 day before"],
];

function seed() {
  const at = (offset) => addDays(today(), offset);
  const calendars = [
    { id: 1, name: "Home", colour: "coral", shown: true },
    { id: 2, name: "Work", colour: "sky", shown: true },
    { id: 3, name: "Choir", colour: "plum", shown: true },
    { id: 4, name: "Habits", colour: "moss", shown: true },
  ];
  const event = (calendarId, title, offset, start, end, more = {}) => ({
    calendarId, title, date: at(offset), endDate: at(offset + (more.days ?? 1) - 1), start, end, allDay: start === "",
    repeat: more.repeat ?? "none", reminder: more.reminder ?? "none", place: more.place ?? "", notes: more.notes ?? "", skipped: [],
  });
  const events = [
    event(2, "Team check-in", -6, "09:15", "09:45", { repeat: "weekly", reminder: "10", place: "Room Linden", notes: "Bring the list of open questions." }),
    event(1, "Plumber comes by", 0, "14:00", "15:30", { reminder: "60", notes: "Show him the tap in the bathroom as well." }),
    event(3, "Rehearsal", -5, "19:30", "21:30", { repeat: "weekly", reminder: "60", place: "St. Ann's hall" }),
    event(4, "Twenty minutes of Italian", -3, "07:30", "07:50", { repeat: "daily" }),
    event(2, "Review of the spring brochure", 1, "11:00", "12:00", { place: "Room Maple", reminder: "10" }),
    event(1, "Lunch with Priya", 2, "12:30", "13:45", { place: "Café Morgenrot" }),
    event(1, "Grandma visits", 4, "", "", { days: 3, notes: "Train arrives at 10:42, platform 6." }),
    event(2, "Tax papers due", 8, "", "", { reminder: "1440" }),
    event(3, "Winter concert", 12, "18:00", "20:30", { place: "Town theatre", reminder: "1440", notes: "Black clothes, red scarf." }),
    event(1, "Swimming course for Leo", 3, "16:15", "17:00", { place: "Pool on Mill Street", repeat: "weekly" }),
  ];
  return { calendars, events: events.map((fields, index) => ({ id: index + 1, ...fields })) };
}

function load(key, fallback) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + key)) ?? fallback;
  } catch {
    return fallback; // not JSON: someone edited it by hand
  }
}

const first = seed();
export const db = {
  calendars: load("calendars", first.calendars),
  events: load("events", first.events),
  ticked: load("ticked", []),
  settings: { ...DEFAULT_SETTINGS, ...load("settings", {}) },
  nextCalendarId: load("nextCalendarId", first.calendars.length + 1),
  nextEventId: load("nextEventId", first.events.length + 1),
};

export function save() {
  for (const [key, value] of Object.entries(db)) localStorage.setItem(PREFIX + key, JSON.stringify(value));
}

/** Everything as on the first visit. */
export function reset() {
  const { calendars, events } = seed();
  Object.assign(db, {
    calendars, events, ticked: [], settings: { ...DEFAULT_SETTINGS },
    nextCalendarId: calendars.length + 1, nextEventId: events.length + 1,
  });
  save();
}

export const eventOf = (id) => db.events.find((event) => event.id === Number(id));
export const calendarOf = (id) => db.calendars.find((calendar) => calendar.id === Number(id));
export const eventsIn = (calendarId) => db.events.filter((event) => event.calendarId === calendarId);

function startsOn(event, day) {
  const passed = daysBetween(event.date, day);
  if (passed < 0 || event.skipped.includes(day)) return false;
  return { none: passed === 0, daily: true, weekly: passed % 7 === 0 }[event.repeat];
}

/** What happens on a day in the calendars that are shown: `{event, start}`, where `start` is the day it began. */
export function happeningOn(day) {
  const found = [];
  for (const event of db.events) {
    if (!calendarOf(event.calendarId)?.shown) continue;
    for (let back = daysBetween(event.date, event.endDate); back >= 0; back -= 1) {
      const start = addDays(day, -back);
      if (startsOn(event, start)) found.push({ event, start });
    }
  }
  return found.sort((a, b) => b.event.allDay - a.event.allDay || a.event.start.localeCompare(b.event.start) || a.event.id - b.event.id);
}

/** The first time from a day on that an event happens, or null. */
export function nextStart(event, from) {
  if (event.repeat === "none") return event.date;
  let day = event.date > from ? event.date : from;
  for (let tries = 0; tries <= event.skipped.length + 7; tries += 1, day = addDays(day, 1)) {
    if (startsOn(event, day)) return day;
  }
  return null;
}

/** Reminders of the coming seven days: `{event, start, day, time, done}`, soonest first. */
export function reminders() {
  const found = [];
  for (let ahead = 0; ahead <= 8; ahead += 1) {
    const start = addDays(today(), ahead);
    for (const item of happeningOn(start)) {
      if (item.event.reminder === "none" || item.start !== start) continue;
      const moment = before(start, item.event.start || "09:00", Number(item.event.reminder));
      if (daysBetween(today(), moment.day) > 7) continue;
      const done = db.ticked.some((tick) => tick.eventId === item.event.id && tick.date === start);
      found.push({ ...item, ...moment, done });
    }
  }
  return found.sort((a, b) => `${a.day}${a.time}`.localeCompare(`${b.day}${b.time}`) || a.event.id - b.event.id);
}

export function tick(eventId, date, done) {
  db.ticked = db.ticked.filter((entry) => entry.eventId !== eventId || entry.date !== date);
  if (done) db.ticked.push({ eventId, date });
  save();
}

/** Stores the fields of a new event, or of one that exists; returns the event. */
export function putEvent(id, fields) {
  let event = id === null ? null : eventOf(id);
  if (event) {
    Object.assign(event, fields, { skipped: event.repeat === fields.repeat && event.date === fields.date ? event.skipped : [] });
  } else {
    event = { id: db.nextEventId, ...fields, skipped: [] };
    db.nextEventId += 1;
    db.events.push(event);
  }
  save();
  return event;
}

export function removeEvent(id) {
  db.events = db.events.filter((event) => event.id !== id);
  db.ticked = db.ticked.filter((entry) => entry.eventId !== id);
  save();
}

export function skipOnce(id, day) {
  eventOf(id).skipped.push(day);
  save();
}

export function putCalendar(id, fields) {
  if (id === null) {
    db.calendars.push({ id: db.nextCalendarId, ...fields, shown: true });
    db.nextCalendarId += 1;
  } else {
    Object.assign(calendarOf(id), fields);
  }
  save();
}

export function removeCalendar(id) {
  for (const event of eventsIn(id)) removeEvent(event.id);
  db.calendars = db.calendars.filter((calendar) => calendar.id !== id);
  save();
}

/** What the fields of an event lack: a message for each field that is wrong. */
export function checkEvent(fields) {
  const wrong = {};
  if (!fields.title) wrong.title = "Give the event a title.";
  if (!fields.date) wrong.date = "Choose the day it starts.";
  else if (!fields.endDate) wrong.end = "Choose the day it ends.";
  else if (!fields.allDay && !fields.start) wrong.date = "Choose the time it starts.";
  else if (!fields.allDay && !fields.end) wrong.end = "Choose the time it ends.";
  else if (fields.endDate < fields.date) wrong.end = "The end is before the start.";
  else if (!fields.allDay && fields.endDate === fields.date && fields.end <= fields.start) wrong.end = "The end must come after the start.";
  else if (daysBetween(fields.date, fields.endDate) > 30) wrong.end = "An event can last 31 days at most.";
  return wrong;
}

/** What is wrong with the name of a calendar, or "". */
export function checkCalendar(id, name) {
  if (!name) return "Give the calendar a name.";
  const taken = db.calendars.some((calendar) => calendar.id !== id && calendar.name.toLowerCase() === name.toLowerCase());
  return taken ? `There is a calendar called “${name}” already.` : "";
}
