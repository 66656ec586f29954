// Conversations: the list, one of them, a new one, the search over all.

import { ask, avatar, bar, chips, contactRow, icon, iconButton, nothing, searchField, sheet } from "./parts.js";
import { back, close, closeThen, go, place, replace, show } from "./router.js";
import {
  LONGEST, change, contactOf, contactsByName, dayOf, db, deleteMessage, deleteThread, fullName, isMatch, isToday, markRead, messageOf, messagesIn, plural, send, threadOf,
  threadWith, threadsByTime, timeOf,
} from "./store.js";
import { h } from "./vdom.js";
import { draw, say } from "./main.js";

// Not kept: gone with the page.
const ui = { filter: "all", picking: "", searching: "", typed: "", error: "" };

/** What was typed for nobody in particular is gone once its screen is left. */
export function leave() {
  Object.assign(ui, { picking: "", typed: "", error: "" });
}

// ---------------------------------------------------------------- list

const FILTERS = { all: () => true, unread: (thread) => thread.unread > 0, muted: (thread) => thread.muted };

function threadRow(thread) {
  const contact = contactOf(thread.contactId);
  const last = messagesIn(thread.id).at(-1);
  const line = thread.draft ? `Draft: ${thread.draft}` : !last ? "No messages" : `${last.mine ? "You: " : ""}${last.text}`;
  return h("li", { key: thread.id }, h("button", { id: `thread-${thread.id}`, type: "button", class: thread.unread ? "row unread" : "row", onclick: () => go(`/thread/${thread.id}`) },
    avatar(contact),
    h("span", { class: "row-text" }, h("b", {}, fullName(contact)), db.settings.previews && h("small", {}, line)),
    h("span", { class: "row-end" }, last && h("time", {}, isToday(last.sent) ? timeOf(last.sent) : dayOf(last.sent)),
      thread.unread > 0 ? h("span", { class: "badge", "aria-label": `${thread.unread} unread` }, thread.unread) : thread.muted && h("small", {}, "Muted"))));
}

export function listScreen() {
  const threads = threadsByTime().filter(FILTERS[ui.filter]);
  const unread = db.threads.reduce((sum, thread) => sum + thread.unread, 0);
  return [
    bar("Pigeon", { under: unread ? plural(unread, "unread message", "unread messages") : "All read", actions: [iconButton("open-search", "Search", "search", () => go("/search")), iconButton("open-settings", "Settings", "gear", () => go("/settings"))] }),
    chips("Show", [["all", "All"], ["unread", "Unread"], ["muted", "Muted"]], ui.filter, (key) => { ui.filter = key; draw(); }),
    threads.length ? h("ul", { id: "threads", class: "list", "aria-label": "Conversations" }, threads.map(threadRow))
      : nothing("chat", "No conversations", ui.filter === "all" ? "Write to somebody with the plus button." : `Nothing is ${ui.filter}.`),
    h("button", { id: "new-message", type: "button", class: "float", "aria-label": "New message", onclick: () => go("/new") }, icon("plus")),
    h("nav", { "aria-label": "Sections" },
      h("button", { id: "nav-chats", type: "button", "aria-current": "page" }, icon("chat"), "Chats"),
      h("button", { id: "nav-contacts", type: "button", onclick: () => go("/contacts") }, icon("people"), "Contacts")),
  ];
}

// ---------------------------------------------------------------- one conversation

function bubbles(messages) {
  const rows = [];
  let day = "";
  for (const message of messages) {
    const today = isToday(message.sent) ? "Today" : dayOf(message.sent);
    if (today !== day) rows.push(h("li", { key: `day-${today}`, class: "day" }, today));
    day = today;
    rows.push(h("li", { key: message.id, class: message.mine ? "mine" : "theirs" },
      h("button", { id: `message-${message.id}`, type: "button", class: "bubble", onclick: () => show(`message-${message.id}`) }, h("span", {}, message.text), h("small", {}, timeOf(message.sent)))));
  }
  return rows;
}

function composer(contact, text, oninput) {
  if (contact.blocked) {
    return h("div", { class: "composer blocked" }, h("p", {}, `You have blocked ${contact.first}.`),
      h("button", { id: "unblock", type: "button", onclick: () => { change(() => { contact.blocked = false; }); say(`${contact.first} is unblocked`); } }, "Unblock"));
  }
  const submit = (event) => {
    event.preventDefault();
    const wanted = text.trim();
    if (wanted === "") return;
    if (wanted.length > LONGEST) {
      ui.error = `${LONGEST} characters at most, these are ${wanted.length}`;
      return draw();
    }
    Object.assign(ui, { typed: "", error: "" });
    const isNew = !threadWith(contact.id);
    const thread = send(contact.id, wanted);
    if (isNew) replace(`/thread/${thread.id}`);
  };
  return h("form", { class: "composer", onsubmit: submit },
    ui.error && h("p", { id: "message-error", class: "error", role: "alert" }, ui.error),
    h("input", { id: "message", "aria-label": "Message", placeholder: "Message", autocomplete: "off", enterkeyhint: "send", "aria-invalid": String(ui.error !== ""), value: text, oninput: (event) => { ui.error = ""; oninput(event.target.value); } }),
    h("button", { id: "send", type: "submit", class: "icon send", "aria-label": "Send", disabled: text.trim() === "" }, icon("send")));
}

export function threadScreen(id) {
  const thread = threadOf(id);
  if (!thread) return [bar("", { parent: "/" }), nothing("chat", "Conversation not found", "It may have been deleted.")];
  const contact = contactOf(thread.contactId);
  const messages = messagesIn(id);
  return [
    bar(fullName(contact), { parent: "/", under: contact.blocked ? "Blocked" : thread.muted ? "Muted" : contact.phone, actions: [iconButton("thread-menu", "More", "menu", () => show("menu"))] }),
    messages.length ? h("ul", { id: "messages", class: "talk", "aria-label": "Messages" }, bubbles(messages)) : nothing("chat", "No messages", `Say hello to ${contact.first}.`),
    composer(contact, thread.draft, (text) => change(() => { thread.draft = text; })),
  ];
}

export const enterThread = (id) => threadOf(id) && markRead(threadOf(id));

/** A conversation that begins with its first message. */
export function firstScreen(contactId) {
  const contact = contactOf(contactId);
  if (!contact) return [bar("", { parent: "/" }), nothing("people", "Contact not found", "It may have been deleted.")];
  return [
    bar(fullName(contact), { parent: "/", under: contact.blocked ? "Blocked" : contact.phone }),
    nothing("chat", "No messages", `Say hello to ${contact.first}.`),
    composer(contact, ui.typed, (text) => { ui.typed = text; draw(); }),
  ];
}

/** The address of a conversation with a contact, begun or not. */
export const addressOf = (contactId) => (threadWith(contactId) ? `/thread/${threadWith(contactId).id}` : `/to/${contactId}`);

export function threadOver(id, over) {
  const thread = threadOf(id);
  if (!thread) return null;
  const contact = contactOf(thread.contactId);
  const replaceOver = (name) => () => replace(`${place().path}?${name}`);
  const [, isDeleting, messageId] = /^(delete-)?message-(\d+)$/.exec(over) ?? [];
  if (messageId) {
    const message = messageOf(Number(messageId));
    if (!message) return null;
    const remove = () => {
      deleteMessage(message.id);
      close();
      say("Message deleted");
    };
    if (isDeleting) return ask("Delete message?", `“${message.text}” will be gone for you.`, "Delete", remove);
    return sheet(message.mine ? "Your message" : `From ${contact.first}`, `${message.text} (${dayOf(message.sent)}, ${timeOf(message.sent)})`,
      [["delete-message", "Delete message", db.settings.confirm ? replaceOver(`delete-message-${message.id}`) : remove]]);
  }
  if (over === "menu") {
    return sheet(fullName(contact), "", [
      ["see-contact", "View contact", () => closeThen(`/contact/${contact.id}`)],
      ["mark-unread", "Mark as unread", () => { change(() => { thread.unread = 1; }); back(2, "/"); say("Marked as unread"); }],
      ["mute", thread.muted ? "Unmute" : "Mute", () => { change(() => { thread.muted = !thread.muted; }); close(); say(thread.muted ? "Muted" : "Unmuted"); }],
      ["delete-thread", "Delete conversation", replaceOver("delete-thread")],
    ]);
  }
  if (over === "delete-thread") {
    return ask("Delete conversation?", `${plural(messagesIn(id).length, "message", "messages")} with ${fullName(contact)} will be gone.`, "Delete", () => {
      deleteThread(id);
      back(2, "/");
      say("Conversation deleted");
    });
  }
  return null;
}

// ---------------------------------------------------------------- new message, search

export function pickScreen() {
  const people = contactsByName().filter((contact) => !contact.blocked && isMatch(`${fullName(contact)} ${contact.phone}`, ui.picking));
  return [
    bar("New message", { parent: "/", under: "Choose who gets it" }),
    searchField("pick-search", "Name or number", ui.picking, (text) => { ui.picking = text; draw(); }),
    people.length ? h("ul", { id: "people", class: "list", "aria-label": "Contacts" }, people.map((contact) => contactRow(contact, () => replace(addressOf(contact.id)))))
      : nothing("people", "Nobody found", "Blocked contacts are not offered here."),
  ];
}

export function searchScreen() {
  const query = ui.searching.trim();
  const people = query ? contactsByName().filter((contact) => isMatch(`${fullName(contact)} ${contact.phone}`, query)) : [];
  const lines = query ? db.messages.filter((message) => isMatch(message.text, query)).reverse() : [];
  return [
    bar("Search", { parent: "/" }),
    searchField("search", "Names and messages", ui.searching, (text) => { ui.searching = text; draw(); }),
    query === "" ? nothing("search", "Search everything", "Contacts and all that was written.")
      : h("p", { id: "found", class: "caption", role: "status" }, `${plural(people.length, "contact", "contacts")}, ${plural(lines.length, "message", "messages")}`),
    people.length > 0 && h("ul", { id: "found-people", class: "list", "aria-label": "Contacts" }, people.map((contact) => contactRow(contact, () => go(`/contact/${contact.id}`)))),
    lines.length > 0 && h("ul", { id: "found-messages", class: "list", "aria-label": "Messages" }, lines.map((message) => {
      const contact = contactOf(threadOf(message.threadId).contactId);
      return h("li", { key: message.id }, h("button", { id: `found-${message.id}`, type: "button", class: "row", onclick: () => go(`/thread/${message.threadId}`) },
        h("span", { class: "row-text" }, h("b", {}, message.mine ? `You to ${contact.first}` : fullName(contact)), h("small", { class: "whole" }, message.text)),
        h("time", {}, dayOf(message.sent))));
    })),
  ];
}
