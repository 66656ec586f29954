// Contacts: the list, one of them, its form, the blocked ones. And the settings.

import { ask, avatar, bar, chips, contactRow, icon, iconButton, nothing, searchField, toggle } from "./parts.js";
import { back, close, go, replace, show } from "./router.js";
import { change, contactErrors, contactOf, contactsByName, db, deleteContact, fullName, isMatch, plural, saveContact, threadWith } from "./store.js";
import { addressOf } from "./talks.js";
import { h } from "./vdom.js";
import { draw, say } from "./main.js";

const ui = { query: "", only: "everyone", form: null }; // form: { id, fields, errors } while one is open

/** Leaving a form with Back discards what was typed. */
export function leave() {
  ui.form = null;
}

export function contactsScreen() {
  const people = contactsByName().filter((contact) => (ui.only === "everyone" || contact.favourite) && isMatch(`${fullName(contact)} ${contact.phone}`, ui.query));
  return [
    bar("Contacts", { parent: "/", under: plural(db.contacts.length, "person", "people"), actions: [iconButton("add-contact", "New contact", "plus", () => go("/contacts/new"))] }),
    searchField("contact-search", "Search contacts", ui.query, (text) => { ui.query = text; draw(); }),
    chips("Show", [["everyone", "Everyone"], ["favourites", "Favourites"]], ui.only, (key) => { ui.only = key; draw(); }),
    people.length ? h("ul", { id: "contacts", class: "list", "aria-label": "Contacts" }, people.map((contact) =>
      contactRow(contact, () => go(`/contact/${contact.id}`), contact.favourite && h("span", { class: "star", role: "img", "aria-label": "Favourite" }, icon("star")))))
      : nothing("people", "Nobody found", "Try another name or number."),
  ];
}

const notFound = () => [bar("", { parent: "/contacts" }), nothing("people", "Contact not found", "It may have been deleted.")];

export function contactScreen(id) {
  const contact = contactOf(id);
  if (!contact) return notFound();
  const block = () => {
    if (!contact.blocked) return show("block");
    change(() => { contact.blocked = false; });
    return say(`${contact.first} is unblocked`);
  };
  return [
    bar("Contact", { parent: "/contacts", actions: [
      iconButton("favourite", "Favourite", "star", () => { change(() => { contact.favourite = !contact.favourite; }); say(contact.favourite ? "Added to favourites" : "Removed from favourites"); }, { "aria-pressed": String(contact.favourite) }),
      iconButton("edit-contact", "Edit contact", "edit", () => go(`/contact/${id}/edit`))] }),
    h("section", { class: "person" }, avatar(contact), h("h2", { id: "contact-name" }, fullName(contact)), h("p", { id: "contact-phone" }, contact.phone),
      h("p", { id: "contact-state", class: "caption" }, contact.blocked ? "Blocked" : threadWith(id) ? "You have a conversation" : "No conversation yet")),
    h("div", { class: "stack" },
      h("button", { id: "write-to", type: "button", class: "wide strong", disabled: contact.blocked, onclick: () => go(addressOf(id)) }, "Write a message"),
      h("button", { id: "block", type: "button", class: "wide", onclick: block }, contact.blocked ? "Unblock" : "Block"),
      h("button", { id: "delete-contact", type: "button", class: "wide danger", onclick: () => show("delete") }, "Delete contact")),
  ];
}

export function contactOver(id, over) {
  const contact = contactOf(id);
  if (!contact) return null;
  if (over === "block") {
    return ask(`Block ${contact.first}?`, "Their messages will not reach you, and you cannot write to them.", "Block", () => {
      change(() => { contact.blocked = true; });
      close();
      say(`${contact.first} is blocked`);
    });
  }
  if (over === "delete") {
    return ask("Delete contact?", threadWith(id) ? `${fullName(contact)} and the conversation will be gone.` : `${fullName(contact)} will be gone.`, "Delete", () => {
      deleteContact(id);
      back(2, "/contacts");
      say("Contact deleted");
    });
  }
  return null;
}

const FIELDS = [["first", "First name", "text", "given-name"], ["last", "Last name (optional)", "text", "family-name"], ["phone", "Phone", "tel", "tel"]];

export function contactForm(id) {
  const contact = id ? contactOf(id) : { first: "", last: "", phone: "" };
  if (!contact) return notFound();
  ui.form ??= { fields: { first: contact.first, last: contact.last, phone: contact.phone }, errors: {} };
  const { fields, errors } = ui.form;
  const submit = (event) => {
    event.preventDefault();
    const clean = Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, text.trim()]));
    ui.form.errors = contactErrors(clean, id);
    if (Object.keys(ui.form.errors).length) return draw();
    const saved = saveContact(clean, id);
    say(id ? "Contact saved" : "Contact added");
    return id ? back(1, `/contact/${id}`) : replace(`/contact/${saved.id}`);
  };
  return [
    bar(id ? "Edit contact" : "New contact", { parent: id ? `/contact/${id}` : "/contacts" }),
    h("form", { id: "contact-form", class: "form", novalidate: true, onsubmit: submit },
      FIELDS.map(([name, label, type, autocomplete]) => h("div", { class: "field", key: name },
        h("label", { for: name }, label),
        h("input", { id: name, type, autocomplete, value: fields[name], "aria-invalid": String(Boolean(errors[name])), "aria-describedby": `${name}-error`,
          oninput: (event) => { fields[name] = event.target.value; delete errors[name]; draw(); } }),
        errors[name] && h("p", { id: `${name}-error`, class: "error", role: "alert" }, errors[name]))),
      h("button", { id: "save-contact", type: "submit", class: "wide strong" }, id ? "Save" : "Add contact")),
  ];
}

export function blockedScreen() {
  const people = contactsByName().filter((contact) => contact.blocked);
  const unblock = (contact) => () => {
    change(() => { contact.blocked = false; });
    say(`${contact.first} is unblocked`);
  };
  return [
    bar("Blocked", { parent: "/settings", under: plural(people.length, "contact", "contacts") }),
    people.length ? h("ul", { id: "blocked", class: "list", "aria-label": "Blocked contacts" }, people.map((contact) =>
      h("li", { key: contact.id, class: "row" }, avatar(contact), h("span", { class: "row-text" }, h("b", {}, fullName(contact)), h("small", {}, contact.phone)),
        h("button", { id: `unblock-${contact.id}`, type: "button", class: "small", "aria-label": `Unblock ${fullName(contact)}`, onclick: unblock(contact) }, "Unblock"))))
      : nothing("people", "Nobody is blocked", "Block a contact on their page."),
  ];
}

export function settingsScreen() {
  const set = (name) => (value) => change(() => { db.settings[name] = value; });
  const link = (id, to, name, hint) => h("button", { id, type: "button", class: "row", onclick: () => go(to) }, h("span", { class: "row-text" }, h("b", {}, name), h("small", {}, hint)), icon("next"));
  return [
    bar("Settings", { parent: "/" }),
    h("div", { class: "list" },
      toggle("set-light", "Light colours", "Dark ones otherwise", db.settings.light, set("light")),
      toggle("set-big", "Big text", "In conversations", db.settings.bigText, set("bigText")),
      toggle("set-previews", "Previews", "The last message in the list", db.settings.previews, set("previews")),
      toggle("set-confirm", "Ask before deleting", "A single message", db.settings.confirm, set("confirm"))),
    h("p", { class: "caption" }, "Order of contacts"),
    chips("Order of contacts", [["first", "First name"], ["last", "Last name"]], db.settings.order, set("order")),
    h("div", { class: "list" },
      link("open-blocked", "/blocked", "Blocked contacts", plural(db.contacts.filter((contact) => contact.blocked).length, "contact", "contacts")),
      link("open-about", "/about", "About Pigeon", "Version 2.1")),
  ];
}

export function aboutScreen() {
  return [
    bar("About", { parent: "/settings" }),
    h("section", { class: "person" }, h("span", { class: "avatar tone-1" }, icon("chat")), h("h2", {}, "Pigeon 2.1"), h("p", {}, "Short words, carried quickly.")),
    h("p", { id: "figures", class: "caption centre" }, `${plural(db.threads.length, "conversation", "conversations")}, ${plural(db.messages.length, "message", "messages")}`),
    h("p", { class: "caption centre" }, "Whoever you write to answers by machine. Nothing leaves this phone."),
  ];
}
