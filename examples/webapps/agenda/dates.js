// Days are strings such as "2026-03-07" and times such as "09:30", both local: they sort and compare as they are.

const DAY_MS = 24 * 60 * 60 * 1000;
export const MONTHS = [
  "January", "February", "March", "April", "May", "June",
  "July", "August", "September", "October", "November", "December",
];
export const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const two = (number) => String(number).padStart(2, "0");
const utc = (day) => Date.parse(`${day}T00:00:00Z`); // no daylight saving there, so each day has 24 hours
const now = () => new Date(Date.now());

export function today() {
  const date = now();
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

export const timeNow = () => `${two(now().getHours())}:${two(now().getMinutes())}`;
export const isDay = (text) => /^\d{4}-\d\d-\d\d$/.test(text) && addDays(text, 0) === text;
export const isMonth = (text) => isDay(`${text}-01`);

export function addDays(day, count) {
  const ms = utc(day) + count * DAY_MS;
  return Number.isNaN(ms) ? "" : new Date(ms).toISOString().slice(0, 10);
}

export const daysBetween = (from, to) => Math.round((utc(to) - utc(from)) / DAY_MS);
export const weekday = (day) => new Date(utc(day)).getUTCDay();
export const dayNumber = (day) => Number(day.slice(8));

export function addMonths(month, count) {
  const index = Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1 + count;
  return `${Math.floor(index / 12)}-${two((index % 12) + 1)}`;
}

/** "March 2026" */
export const monthTitle = (month) => `${MONTHS[Number(month.slice(5, 7)) - 1]} ${month.slice(0, 4)}`;

/** "Saturday, 7 March" */
export const longDay = (day) => `${WEEKDAYS[weekday(day)]}, ${dayNumber(day)} ${MONTHS[Number(day.slice(5, 7)) - 1]}`;

/** "Sat 7 Mar" */
export const shortDay = (day) =>
  `${WEEKDAYS[weekday(day)].slice(0, 3)} ${dayNumber(day)} ${MONTHS[Number(day.slice(5, 7)) - 1].slice(0, 3)}`;

/** "Today", "Tomorrow", "Yesterday", or the day in words. */
export function nearDay(day) {
  return { 0: "Today", 1: "Tomorrow", "-1": "Yesterday" }[daysBetween(today(), day)] ?? longDay(day);
}

/** "14:30" or "2:30 PM" */
export function clock(time, hours24) {
  if (hours24) return time;
  const hour = Number(time.slice(0, 2));
  return `${hour % 12 || 12}:${time.slice(3)} ${hour < 12 ? "AM" : "PM"}`;
}

export const minutes = (time) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/** The day and time some minutes before another. */
export function before(day, time, count) {
  const total = minutes(time) - count;
  const left = ((total % 1440) + 1440) % 1440;
  return { day: addDays(day, Math.floor(total / 1440)), time: `${two(Math.floor(left / 60))}:${two(left % 60)}` };
}

/** The weeks of a month, each of seven days, starting on `first` (0 is Sunday). */
export function weeksOf(month, first) {
  const start = `${month}-01`;
  const weeks = [];
  let day = addDays(start, -((weekday(start) - first + 7) % 7));
  do {
    weeks.push(Array.from({ length: 7 }, (_, index) => addDays(day, index)));
    day = addDays(day, 7);
  } while (day.startsWith(month));
  return weeks;
}
