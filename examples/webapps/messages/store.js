// The app's tables, kept in localStorage, and everything that changes them.

const MINUTE_MS = 60 * 1000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const ANSWER_MS = 1500;
export const LONGEST = 160;

const ANSWERS = ["Sounds good!", "Let me check and come back to you.", "Haha, true.", "Can we talk about it tomorrow?", "Thanks for telling me.", "I am on my way.", "Not sure yet, sorry."];

function firstContent(now) {
  const contacts = [
    ["Amir", "Sadeghi", "+44 7700 900114", true], ["Beata", "Novak", "+44 7700 900127", false], ["Chidi", "Okafor", "+44 7700 900139", true],
    ["Delphine", "Roux", "+44 7700 900146", false], ["Erik", "Aalto", "+44 7700 900158", false], ["Farah", "Idrissi", "+44 7700 900161", false],
    ["Gus", "Whitlock", "+44 7700 900172", false], ["Hana", "Ito", "+44 7700 900185", false],
  ].map(([first, last, phone, favourite], index) => ({ id: index + 1, first, last, phone, favourite, blocked: first === "Gus" }));
  const talks = [
    [1, 2, [[false, 3 * DAY_MS, "Are you coming to the rehearsal on Friday?"], [true, 3 * DAY_MS - 20 * MINUTE_MS, "Yes, straight from work."], [false, 50 * MINUTE_MS, "Great. Bring the blue folder please"], [false, 48 * MINUTE_MS, "And the spare strings!"]]],
    [3, 0, [[true, DAY_MS + 90 * MINUTE_MS, "Did the parcel arrive?"], [false, DAY_MS + 60 * MINUTE_MS, "It did, the neighbour had it."], [true, DAY_MS + 58 * MINUTE_MS, "Phew."]]],
    [4, 1, [[true, 4 * DAY_MS, "Merci for the recipe"], [false, 2 * DAY_MS, "Use less sugar than it says, trust me"]]],
    [5, 0, [[false, 6 * DAY_MS, "The sauna is booked for Sunday at five."], [true, 6 * DAY_MS - 5 * MINUTE_MS, "Count me in"]]],
    [7, 0, [[false, 12 * DAY_MS, "You have been chosen to win a boat. Reply YES."]]],
  ];
  const threads = [];
  const messages = [];
  for (const [contactId, unread, lines] of talks) {
    const thread = { id: threads.length + 1, contactId, unread, muted: contactId === 5, draft: "", answers: 0 };
    threads.push(thread);
    for (const [mine, age, text] of lines) messages.push({ id: messages.length + 1, threadId: thread.id, mine, text, sent: now - age });
  }
  return { contacts, threads, messages, pending: [], next: { contact: contacts.length + 1, thread: threads.length + 1, message: messages.length + 1 } };
}

const SETTINGS = { light: false, previews: true, confirm: true, order: "first", bigText: false };

function load(name) {
  try {
    return JSON.parse(localStorage.getItem(`messages.${name}`));
  } catch {
    return null; // not JSON: someone edited it by hand
  }
}

const first = firstContent(Date.now());
export const db = Object.fromEntries(Object.keys(first).map((name) => [name, load(name) ?? first[name]]));
db.settings = { ...SETTINGS, ...load("settings") };

let whenChanged = () => {};
export function onChange(run) {
  whenChanged = run;
}

/** Changes the tables, keeps them and draws them. */
export function change(run) {
  const result = run();
  for (const [name, table] of Object.entries(db)) localStorage.setItem(`messages.${name}`, JSON.stringify(table));
  whenChanged();
  return result;
}

// ---------------------------------------------------------------- reading

export const fullName = ({ first: given, last }) => `${given} ${last}`.trim();
export const contactOf = (id) => db.contacts.find((contact) => contact.id === id);
export const threadOf = (id) => db.threads.find((thread) => thread.id === id);
export const threadWith = (contactId) => db.threads.find((thread) => thread.contactId === contactId);
export const messagesIn = (threadId) => db.messages.filter((message) => message.threadId === threadId);
export const messageOf = (id) => db.messages.find((message) => message.id === id);
export const plural = (count, one, many) => `${count} ${count === 1 ? one : many}`;

const lastSent = (thread) => messagesIn(thread.id).at(-1)?.sent ?? 0;
/** Threads, the one with the newest message first. */
export const threadsByTime = () => [...db.threads].sort((a, b) => lastSent(b) - lastSent(a) || b.id - a.id);

/** Contacts in the order of the settings. */
export function contactsByName() {
  const name = (contact) => (db.settings.order === "first" ? fullName(contact) : `${contact.last} ${contact.first}`.trim());
  return [...db.contacts].sort((a, b) => name(a).localeCompare(name(b), "en") || a.id - b.id);
}

export const isMatch = (text, query) => text.toLowerCase().includes(query.trim().toLowerCase());

// ---------------------------------------------------------------- messages

/** Sends a text to a contact; the thread is made where there is none. An answer comes a little later. */
export function send(contactId, text) {
  return change(() => {
    let thread = threadWith(contactId);
    if (!thread) {
      thread = { id: db.next.thread++, contactId, unread: 0, muted: false, draft: "", answers: 0 };
      db.threads.push(thread);
    }
    db.messages.push({ id: db.next.message++, threadId: thread.id, mine: true, text, sent: Date.now() });
    thread.draft = "";
    db.pending.push({ threadId: thread.id, text: ANSWERS[thread.answers++ % ANSWERS.length] });
    setTimeout(receive, ANSWER_MS);
    return thread;
  });
}

let openThread = () => null; // the thread on the screen, whose messages are read at once
export function onOpenThread(run) {
  openThread = run;
}

/** Delivers the answer that has waited the longest, unless its thread is gone or its sender blocked. */
function receive() {
  change(() => {
    const answer = db.pending.shift();
    const thread = answer && threadOf(answer.threadId);
    if (!thread || contactOf(thread.contactId).blocked) return;
    db.messages.push({ id: db.next.message++, threadId: thread.id, mine: false, text: answer.text, sent: Date.now() });
    if (openThread() !== thread.id) thread.unread += 1;
  });
}

/** Answers that were on their way when the page was closed come after it was opened again. */
export function resume() {
  for (let count = db.pending.length; count > 0; count--) setTimeout(receive, ANSWER_MS);
}

export const deleteMessage = (id) => change(() => { db.messages = db.messages.filter((message) => message.id !== id); });

function dropThread(id) {
  db.threads = db.threads.filter((thread) => thread.id !== id);
  db.messages = db.messages.filter((message) => message.threadId !== id);
}

export const deleteThread = (id) => change(() => dropThread(id));
export const markRead = (thread) => thread.unread > 0 && change(() => { thread.unread = 0; });

// ---------------------------------------------------------------- contacts

/** What is wrong with each field of a contact's form. */
export function contactErrors({ first: given, last, phone }, id) {
  const errors = {};
  if (given === "") errors.first = "A first name is needed";
  else if (given.length > 24) errors.first = "24 letters at most";
  if (last.length > 24) errors.last = "24 letters at most";
  const digits = (text) => text.replace(/\D/g, "");
  if (phone === "") errors.phone = "A phone number is needed";
  else if (!/^\+?[\d ]+$/.test(phone)) errors.phone = "Only digits, spaces and a leading +";
  else if (digits(phone).length < 7) errors.phone = "At least 7 digits";
  else if (db.contacts.some((other) => other.id !== id && digits(other.phone) === digits(phone))) errors.phone = "Another contact has this number";
  return errors;
}

export function saveContact(fields, id) {
  return change(() => {
    if (id) return Object.assign(contactOf(id), fields);
    const contact = { id: db.next.contact++, ...fields, favourite: false, blocked: false };
    db.contacts.push(contact);
    return contact;
  });
}

export function deleteContact(id) {
  change(() => {
    const thread = threadWith(id);
    if (thread) dropThread(thread.id);
    db.contacts = db.contacts.filter((contact) => contact.id !== id);
  });
}

// ---------------------------------------------------------------- dates

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
export const dayOf = (ms) => `${new Date(ms).getDate()} ${MONTHS[new Date(ms).getMonth()]}`;
export const timeOf = (ms) => [new Date(ms).getHours(), new Date(ms).getMinutes()].map((part) => String(part).padStart(2, "0")).join(":");
export const isToday = (ms) => new Date(ms).toDateString() === new Date(Date.now()).toDateString();
