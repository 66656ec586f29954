// The dialogs: each returns { title, text, body, yes, danger, run }. `run` returns false to stay open.

"use strict";

const label = (id, text, input, error = true) => node("div", { class: "field" },
  node("label", { for: id }, text), input, error && node("p", { id: `${id}-error`, class: "error", role: "alert" }));

function complain(id, message) {
  el(`${id}-error`).textContent = message;
  el(id).setAttribute("aria-invalid", String(message !== ""));
  if (message) el(id).focus();
  return message !== "";
}

function passwordField(id) {
  const input = node("input", { id, type: "password", autocomplete: "off", maxlength: "63", "aria-describedby": `${id}-error` });
  const show = node("input", { id: `${id}-show`, type: "checkbox", onchange: () => { input.type = show.checked ? "text" : "password"; } });
  return [label(id, "Password", input), node("label", { class: "check", for: `${id}-show` }, show, "Show password")];
}

const passwordProblem = (text) => (!text ? "Enter the password." : text.length < 8 ? `At least 8 characters, not ${text.length}.` : "");

let joining = null; // id of the network being connected to

/** Connects after a moment, as a real radio does. */
function join(id) {
  const wanted = find("networks", id);
  joining = wanted.id;
  changed();
  setTimeout(() => {
    if (joining !== wanted.id) return;
    joining = null;
    if (wifiOn() && find("networks", wanted.id)) {
      wanted.saved = true;
      tables.connected = wanted.id;
      save();
      notice(`Connected to ${wanted.name}`);
    }
    changed();
  }, 700);
}

const DIALOGS = {
  choice: ({ key, title }) => ({
    title,
    body: [node("div", { role: "radiogroup", "aria-label": title }, CHOICES[key].map(([value, text]) => node("label", { class: "check", for: `choice-${value}` },
      node("input", { id: `choice-${value}`, type: "radio", name: "choice", value, checked: values[key] === value, onchange: () => {
        values[key] = value;
        save();
        closeDialog();
      } }), text)))],
  }),
  name: () => ({
    title: "Name of this phone", yes: "Save",
    body: [label("name", "Others see this name", node("input", { id: "name", type: "text", maxlength: "24", value: values.phoneName, autocomplete: "off" }))],
    run: () => {
      const name = el("name").value.trim();
      if (complain("name", name ? "" : "A phone needs a name.")) return false;
      values.phoneName = name;
    },
  }),
  limit: () => ({
    title: "Data limit", yes: "Set",
    body: [label("limit", "GB a month", node("input", { id: "limit", type: "text", inputmode: "numeric", maxlength: "5", value: String(values.dataLimit), autocomplete: "off" }))],
    run: () => {
      const text = el("limit").value.trim();
      const problem = !/^\d+$/.test(text) ? "Enter a whole number." : Number(text) < 1 || Number(text) > 500 ? "From 1 to 500 GB." : "";
      if (complain("limit", problem)) return false;
      values.dataLimit = Number(text);
    },
  }),
  connect: ({ id }) => find("networks", id) && {
    title: find("networks", id).name, yes: "Connect", body: passwordField("wifi-password"),
    run: () => (complain("wifi-password", passwordProblem(el("wifi-password").value)) ? false : join(id)),
  },
  network: () => {
    const name = node("input", { id: "network-name", type: "text", maxlength: "32", autocomplete: "off" });
    const password = node("div", {}, passwordField("network-password"));
    const security = node("select", { id: "network-security", onchange: () => { password.hidden = security.value === "open"; } },
      node("option", { value: "wpa" }, "WPA2/WPA3"), node("option", { value: "open" }, "None"));
    return {
      title: "Add network", yes: "Add", body: [label("network-name", "Name (SSID)", name), label("network-security", "Security", security, false), password],
      run: () => {
        const text = name.value.trim();
        const taken = tables.networks.some((other) => other.name === text);
        const secure = security.value === "wpa";
        const badName = complain("network-name", !text ? "Enter the network's name." : taken ? "This network is in the list already." : "");
        if (badName || (secure && complain("network-password", passwordProblem(el("network-password").value)))) return false;
        join(insert("networks", { name: text, secure, signal: 2, saved: true, auto: true }).id);
      },
    };
  },
  forget: ({ id }) => find("networks", id) && {
    title: "Forget this network?", text: `You will need the password of ${find("networks", id).name} to connect again.`, yes: "Forget", danger: true, leave: true,
    run: () => {
      Object.assign(find("networks", id), { saved: false, auto: false });
      if (tables.connected === id) tables.connected = null;
    },
  },
  pair: ({ id }) => find("devices", id) && {
    title: `Pair with ${find("devices", id).name}?`, yes: "Pair", text: "Check that the device shows this code:", body: [node("p", { class: "code", id: "pair-code" }, find("devices", id).code)],
    run: () => { Object.assign(find("devices", id), { paired: true, connected: true }); notice(`Paired with ${find("devices", id).name}`); },
  },
  unpair: ({ id }) => find("devices", id) && {
    title: "Unpair device?", text: `${find("devices", id).name} will no longer connect by itself.`, yes: "Unpair", danger: true, leave: true,
    run: () => Object.assign(find("devices", id), { paired: false, connected: false, code: find("devices", id).code || "275 114" }),
  },
  rename: ({ id }) => find("devices", id) && {
    title: "Rename device", yes: "Rename", body: [label("device-name", "Name", node("input", { id: "device-name", type: "text", maxlength: "24", value: find("devices", id).name, autocomplete: "off" }))],
    run: () => {
      const name = el("device-name").value.trim();
      if (complain("device-name", name ? "" : "A device needs a name.")) return false;
      find("devices", id).name = name;
    },
  },
  cache: () => ({
    title: "Clear all caches?", text: `${megabytes(cacheSize())} will be free. Apps may start more slowly the next time.`, yes: "Clear",
    run: () => { for (const app of tables.apps) app.cache = 0; notice("Caches cleared"); },
  }),
  uninstall: ({ id }) => find("apps", id) && {
    title: `Uninstall ${find("apps", id).name}?`, text: `This frees ${megabytes(find("apps", id).size + find("apps", id).cache)}. Its notifications go as well.`, yes: "Uninstall", danger: true, leave: true,
    run: () => { notice(`${find("apps", id).name} uninstalled`); remove("apps", id); },
  },
  account: ({ id }) => find("accounts", id) && {
    title: "Remove account?", text: `Everything of ${find("accounts", id).address} will be removed from this phone.`, yes: "Remove", danger: true, leave: true,
    run: () => { remove("accounts", id); notice("Account removed"); },
  },
  language: ({ code }) => tables.languages.includes(code) && {
    title: "Remove language?", text: `${languageOf(code)[1]} will no longer be offered to apps.`, yes: "Remove", danger: true,
    run: () => { tables.languages = tables.languages.filter((other) => other !== code); },
  },
  reset: () => ({
    title: "Reset all settings?", text: "Networks, devices, apps, accounts and languages become as they were on the first day.", yes: "Reset", danger: true,
    run: () => { resetAll(); notice("All settings reset"); },
  }),
};

const languageOf = (code) => LANGUAGES.find(([other]) => other === code);

function drawDialog(asked) {
  const made = asked && DIALOGS[asked.name]?.(asked);
  if (!made) {
    if (el("ask").open) el("ask").close();
    return;
  }
  const submit = (event) => {
    event.preventDefault();
    if (!made.run || made.run() === false) return;
    save();
    closeDialog(made.leave ? 2 : 1);
  };
  el("ask").replaceChildren(node("form", { id: "ask-form", method: "dialog", noValidate: true, onsubmit: submit },
    node("h2", { id: "ask-title" }, made.title),
    made.text && node("p", { id: "ask-text" }, made.text),
    made.body,
    node("div", { class: "actions" },
      node("button", { id: "ask-cancel", type: "button", onclick: () => closeDialog() }, "Cancel"),
      made.yes && node("button", { id: "ask-yes", type: "submit", class: made.danger ? "danger" : "main" }, made.yes))));
  if (!el("ask").open) el("ask").showModal();
}
