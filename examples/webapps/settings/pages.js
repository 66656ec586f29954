// The pages: each takes the parts of its address and returns { title, up, groups }, or null where there is nothing to show.

"use strict";

const set = (key) => (value) => { values[key] = value; };
const valueSwitch = (key, title, summary = null, more = {}) => ({ kind: "switch", id: key, title, summary, value: values[key], set: set(key), ...more });
const choice = (key, title, more = {}) => ({ kind: "open", id: key, title, summary: nameOf(key), dialog: { name: "choice", key, title }, ...more });
const percent = (value) => `${value} %`;

const SECTIONS = () => {
  const linked = tables.devices.filter((device) => device.connected).length;
  const silent = tables.apps.filter((app) => !app.notify).length;
  return [
    [
      ["network", "Network & internet", values.airplane ? "Aeroplane mode is on" : network() ? `Wi-Fi: ${network().name}` : values.mobileData ? "Mobile data" : "Offline", "⌁", "blue"],
      ["bluetooth", "Bluetooth", !bluetoothOn() ? "Off" : linked ? `${plural(linked, "device")} connected` : "On, nothing connected", "ᛒ", "indigo"],
    ],
    [
      ["display", "Display", `${values.dark ? "Dark" : "Light"}, ${values.adaptive ? "adaptive brightness" : `${values.brightness} %`}`, "☀", "amber"],
      ["sound", "Sound", { ring: `Ring at ${values.ring} %`, vibrate: "Vibrate", silent: "Silent" }[values.ringMode], "♪", "rose"],
      ["notifications", "Notifications", silent ? `Off for ${plural(silent, "app")}` : "On for all apps", "❢", "orange"],
    ],
    [
      ["storage", "Storage", `${Math.round((usedSize() / CAPACITY) * 100)} % used, ${megabytes(CAPACITY - usedSize())} free`, "▤", "green"],
      ["accounts", "Accounts", plural(tables.accounts.length, "account"), "☺", "teal"],
      ["languages", "Languages", languageOf(tables.languages[0])[1], "文", "slate"],
    ],
    [
      ...(values.developer ? [["developer", "Developer options", "For the curious", "{}", "slate"]] : []),
      ["about", "About phone", values.phoneName, "i", "grey"],
    ],
  ];
};

const INDEX = [
  ["Aeroplane mode", "network"], ["Mobile data", "network"], ["Data limit", "network"], ["Hotspot", "network"], ["Wi-Fi", "wifi"], ["Add network", "wifi"],
  ["Paired devices", "bluetooth"], ["Brightness", "display"], ["Dark theme", "display"], ["Text size", "display"], ["Screen timeout", "display"],
  ["Media volume", "sound"], ["Ringtone", "sound"], ["Do not disturb", "dnd"], ["App notifications", "notifications"], ["Lock screen", "notifications"],
  ["Clear all caches", "storage"], ["Add account", "accounts/new"], ["Add a language", "languages/add"], ["Build number", "about"], ["Reset all settings", "about"],
];

let homeQuery = "";
let languageQuery = "";
let appFilter = "all";

const PAGES = {
  "": () => ({
    title: "Settings", up: null,
    groups: [
      { plain: true, items: [{ kind: "search", id: "find", placeholder: "Search settings", value: homeQuery, set: (text) => { homeQuery = text; changed(); } }] },
      ...(homeQuery.trim()
        ? [foundSettings(homeQuery.trim().toLowerCase())]
        : SECTIONS().map((rows) => ({ items: rows.map(([to, title, summary, glyph, tone]) => ({ kind: "link", id: `open-${to}`, to: `#/${to}`, title, summary, glyph, tone })) }))),
    ],
  }),

  network: () => ({
    title: "Network & internet", up: "#/",
    groups: [
      { items: [valueSwitch("airplane", "Aeroplane mode", "Turns off every radio", { master: true })] },
      { heading: "Internet", items: [
        { kind: "link", id: "open-wifi", to: "#/wifi", title: "Wi-Fi", summary: values.airplane ? "Not in aeroplane mode" : !values.wifi ? "Off" : network()?.name ?? "Not connected", disabled: values.airplane },
        valueSwitch("mobileData", "Mobile data", "Larch Mobile, 4G", { disabled: values.airplane }),
        valueSwitch("roaming", "Roaming", "May cost extra abroad", { disabled: values.airplane || !values.mobileData }),
        { kind: "open", id: "dataLimit", title: "Data limit", summary: `${values.dataLimit} GB a month`, dialog: { name: "limit" }, disabled: values.airplane || !values.mobileData },
      ] },
      { heading: "Sharing", items: [
        valueSwitch("hotspot", "Hotspot", values.hotspot && !values.airplane ? `Others see “${values.phoneName}”` : "Share mobile data by Wi-Fi", { disabled: values.airplane || !values.mobileData || values.dataSaver }),
        valueSwitch("dataSaver", "Data saver", "Apps use no data in the background", { disabled: values.airplane }),
      ] },
    ],
  }),

  wifi: () => {
    const ordered = [...tables.networks].sort((a, b) => (b.id === tables.connected) - (a.id === tables.connected) || b.saved - a.saved || b.signal - a.signal || byName(a, b));
    const state = (row) => (row.id === joining ? "Connecting…" : row.id === tables.connected ? "Connected" : row.saved ? "Saved" : row.secure ? "Secured" : "Open");
    const tapped = (row) => {
      if (row.id === tables.connected) location.hash = `#/wifi/${row.id}`;
      else if (row.secure && !row.saved) openDialog({ name: "connect", id: row.id });
      else join(row.id);
    };
    return {
      title: "Wi-Fi", up: "#/network",
      groups: [
        { items: [valueSwitch("wifi", "Use Wi-Fi", values.airplane ? "Not in aeroplane mode" : null, { master: true, disabled: values.airplane })] },
        ...(wifiOn() ? [
          { heading: "Networks", items: ordered.map((row) => ({ kind: "press", id: `network-${row.id}`, title: row.name, summary: `${state(row)} · ${["", "weak", "fair", "good", "excellent"][row.signal]} signal`, run: () => tapped(row), to: row.saved ? `#/wifi/${row.id}` : null, glyph: row.secure ? "⚿" : "○" })) },
          { items: [{ kind: "open", id: "add-network", title: "Add network", glyph: "+", dialog: { name: "network" } }, valueSwitch("wifiNotify", "Tell me of open networks")] },
        ] : [{ items: [{ kind: "note", id: "wifi-off", text: "Turn on Wi-Fi to see networks nearby." }] }]),
      ],
    };
  },

  "wifi/:id": (id) => {
    const row = find("networks", id);
    if (!row || !row.saved) return null;
    const isUsed = network()?.id === row.id;
    return {
      title: row.name, up: "#/wifi",
      groups: [
        { items: [
          { kind: "fact", id: "network-state", title: "Status", value: row.id === joining ? "Connecting…" : isUsed ? "Connected" : "Saved" },
          { kind: "fact", id: "network-safety", title: "Security", value: row.secure ? "WPA2/WPA3" : "None" },
          ...(isUsed ? [{ kind: "fact", id: "network-address", title: "IP address", value: `192.168.4.${20 + row.id}` }] : []),
        ] },
        { items: [{ kind: "switch", id: "network-auto", title: "Connect automatically", value: row.auto, set: (value) => { row.auto = value; } }] },
        { items: [
          { kind: "act", id: "network-use", title: isUsed ? "Disconnect" : "Connect", disabled: !wifiOn() || row.id === joining, run: () => {
            if (!isUsed) return join(row.id);
            tables.connected = null;
            save();
            changed();
          } },
          { kind: "open", id: "network-forget", title: "Forget network", danger: true, dialog: { name: "forget", id: row.id } },
        ] },
      ],
    };
  },

  bluetooth: () => {
    const paired = tables.devices.filter((device) => device.paired);
    const near = tables.devices.filter((device) => !device.paired);
    const press = (device) => node("button", { id: `device-${device.id}`, type: "button", class: "small", onclick: () => { device.connected = !device.connected; changed(); }, "aria-label": `${device.connected ? "Disconnect" : "Connect"} ${device.name}` }, device.connected ? "Disconnect" : "Connect");
    return {
      title: "Bluetooth", up: "#/",
      groups: [
        { items: [valueSwitch("bluetooth", "Use Bluetooth", values.airplane ? "Not in aeroplane mode" : null, { master: true, disabled: values.airplane }),
          { kind: "open", id: "phone-name", title: "Name of this phone", summary: values.phoneName, dialog: { name: "name" }, disabled: !bluetoothOn() }] },
        ...(bluetoothOn() ? [
          { heading: "Paired devices", plain: true, items: [paired.length
            ? { kind: "table", id: "paired", label: "Paired devices", columns: ["Device", "Battery", ""], rows: paired.map((device) => [node("a", { id: `device-${device.id}-details`, href: `#/bluetooth/${device.id}` }, device.name), device.connected ? percent(device.battery) : "–", press(device)]) }
            : { kind: "note", id: "none-paired", text: "Nothing is paired yet." }] },
          { heading: "Nearby", items: near.length ? near.map((device) => ({ kind: "open", id: `pair-${device.id}`, title: device.name, summary: device.kind, dialog: { name: "pair", id: device.id } })) : [{ kind: "note", id: "none-near", text: "No other devices nearby." }] },
        ] : [{ items: [{ kind: "note", id: "bluetooth-off", text: "Turn on Bluetooth to see devices." }] }]),
      ],
    };
  },

  "bluetooth/:id": (id) => {
    const device = find("devices", id);
    return device?.paired ? {
      title: device.name, up: "#/bluetooth",
      groups: [
        { items: [
          { kind: "fact", id: "device-kind", title: "Type", value: device.kind },
          { kind: "fact", id: "device-battery", title: "Battery", value: device.connected ? percent(device.battery) : "Unknown" },
          { kind: "switch", id: "device-connected", title: "Connected", value: device.connected, set: (value) => { device.connected = value; }, disabled: !bluetoothOn() },
        ] },
        { items: [
          { kind: "open", id: "device-rename", title: "Rename", dialog: { name: "rename", id: device.id } },
          { kind: "open", id: "device-unpair", title: "Unpair", danger: true, dialog: { name: "unpair", id: device.id } },
        ] },
      ],
    } : null;
  },

  display: () => ({
    title: "Display", up: "#/",
    groups: [
      { heading: "Brightness", items: [
        { kind: "slider", id: "brightness", title: "Brightness", value: values.brightness, min: 5, max: 100, set: set("brightness"), format: percent, disabled: values.adaptive },
        valueSwitch("adaptive", "Adaptive brightness", "Follows the light around you"),
      ] },
      { heading: "Look", items: [
        valueSwitch("dark", "Dark theme"),
        choice("accent", "Accent colour"),
        { kind: "slider", id: "textSize", title: "Text size", value: values.textSize, min: 0, max: 3, set: set("textSize"), format: (value) => TEXT_SIZES[value] },
      ] },
      { heading: "Screen", items: [choice("timeout", "Screen timeout"), valueSwitch("rotate", "Rotate automatically")] },
    ],
  }),

  sound: () => ({
    title: "Sound", up: "#/",
    groups: [
      { items: [{ kind: "segments", id: "ringMode", title: "Incoming calls", options: [["ring", "Ring"], ["vibrate", "Vibrate"], ["silent", "Silent"]], value: values.ringMode, set: set("ringMode") }] },
      { heading: "Volume", items: [
        { kind: "slider", id: "media", title: "Media", value: values.media, set: set("media"), format: percent },
        { kind: "slider", id: "ring", title: "Ring", value: values.ring, set: set("ring"), format: percent, disabled: values.ringMode !== "ring" },
        { kind: "slider", id: "alarm", title: "Alarm", value: values.alarm, set: set("alarm"), format: percent },
      ] },
      { heading: "More", items: [
        choice("tone", "Ringtone", { disabled: values.ringMode !== "ring" }),
        { kind: "link", id: "open-dnd", to: "#/dnd", title: "Do not disturb", summary: values.dnd ? `On, ${values.dndFrom} to ${values.dndTo}` : "Off" },
        valueSwitch("touchSounds", "Touch sounds"),
      ] },
    ],
  }),

  dnd: () => ({
    title: "Do not disturb", up: "#/sound",
    groups: [
      { items: [valueSwitch("dnd", "Use the schedule", null, { master: true })] },
      { heading: "Schedule", items: [
        { kind: "time", id: "dndFrom", title: "From", value: values.dndFrom, set: set("dndFrom"), disabled: !values.dnd },
        { kind: "time", id: "dndTo", title: "To", summary: values.dndTo <= values.dndFrom ? "The next day" : "The same day", value: values.dndTo, set: set("dndTo"), disabled: !values.dnd },
      ] },
      { heading: "Let through", items: [valueSwitch("dndAlarms", "Alarms", null, { disabled: !values.dnd }), valueSwitch("dndRepeat", "Second call within 15 minutes", null, { disabled: !values.dnd })] },
    ],
  }),

  notifications: () => {
    const apps = tables.apps.filter((app) => appFilter === "all" || !app.notify).sort((a, b) => (values.appSort === "name" ? 0 : b.daily - a.daily) || byName(a, b));
    return {
      title: "Notifications", up: "#/",
      groups: [
        { items: [choice("lockScreen", "On the lock screen"), valueSwitch("bubbles", "Bubbles", "Conversations float over other apps", { disabled: values.lockScreen === "none" })] },
        { items: [
          { kind: "segments", id: "appSort", title: "Order", options: [["name", "By name"], ["daily", "Most often"]], value: values.appSort, set: set("appSort") },
          { kind: "segments", id: "appFilter", title: "Show", options: [["all", "All apps"], ["off", "Turned off"]], value: appFilter, set: (value) => { appFilter = value; } },
        ] },
        { heading: "Apps", items: apps.length ? apps.map((app) => ({
          kind: "pair", id: `notify-${app.id}`, to: `#/notifications/${app.id}`, title: app.name, label: `Notifications of ${app.name}`, value: app.notify,
          summary: app.notify ? `About ${app.daily} a day` : "Off", set: (value) => { app.notify = value; } })) : [{ kind: "note", id: "none-off", text: "No app is turned off." }] },
      ],
    };
  },

  "notifications/:id": (id) => {
    const app = find("apps", id);
    if (!app) return null;
    const channels = tables.channels.filter((channel) => channel.appId === app.id);
    return {
      title: app.name, up: "#/notifications",
      groups: [
        { items: [{ kind: "switch", id: "app-notify", title: "Allow notifications", summary: `${channels.filter((channel) => channel.on).length} of ${channels.length} kinds on`, value: app.notify, master: true, set: (value) => { app.notify = value; } }] },
        { heading: "Kinds", items: channels.map((channel) => ({ kind: "switch", id: `channel-${channel.id}`, title: channel.name, value: channel.on, disabled: !app.notify, set: (value) => { channel.on = value; } })) },
        { items: [{ kind: "link", id: "app-storage", to: `#/storage/${app.id}`, title: "Storage", summary: megabytes(app.size + app.cache) }] },
      ],
    };
  },

  storage: () => {
    const parts = [["Apps", appsSize()], ...FILES];
    const tones = ["blue", "rose", "amber", "teal", "indigo", "grey"];
    const apps = [...tables.apps].sort((a, b) => (values.storageSort === "size" ? b.size + b.cache - a.size - a.cache : 0) || byName(a, b));
    return {
      title: "Storage", up: "#/",
      groups: [
        { plain: true, items: [{ kind: "meter", id: "meter", used: megabytes(usedSize()), total: megabytes(CAPACITY), label: `${Math.round((usedSize() / CAPACITY) * 100)} % of the storage is used`, parts: parts.map(([, size], index) => [(size / CAPACITY) * 100, tones[index]]) }] },
        { heading: "What takes the space", items: parts.map(([title, size], index) => ({ kind: "fact", id: `part-${title.toLowerCase()}`, title, value: megabytes(size), tone: tones[index] })) },
        { items: [{ kind: "open", id: "clear-caches", title: "Clear all caches", summary: cacheSize() ? `Frees ${megabytes(cacheSize())}` : "Nothing to clear", dialog: { name: "cache" }, disabled: cacheSize() === 0 }] },
        { heading: "Apps", items: [
          { kind: "segments", id: "storageSort", title: "Order", options: [["size", "Largest"], ["name", "By name"]], value: values.storageSort, set: set("storageSort") },
          ...apps.map((app) => ({ kind: "link", id: `app-${app.id}`, to: `#/storage/${app.id}`, title: app.name, value: megabytes(app.size + app.cache) })),
        ] },
      ],
    };
  },

  "storage/:id": (id) => {
    const app = find("apps", id);
    return app ? {
      title: app.name, up: "#/storage",
      groups: [
        { items: [
          { kind: "fact", id: "app-size", title: "App", value: megabytes(app.size) },
          { kind: "fact", id: "app-cache", title: "Cache", value: megabytes(app.cache) },
          { kind: "fact", id: "app-total", title: "Total", value: megabytes(app.size + app.cache) },
        ] },
        { items: [
          { kind: "act", id: "app-clear", title: "Clear cache", disabled: app.cache === 0, run: () => { app.cache = 0; save(); notice("Cache cleared"); changed(); } },
          { kind: "open", id: "app-uninstall", title: "Uninstall", danger: true, dialog: { name: "uninstall", id: app.id } },
        ] },
      ],
    } : null;
  },

  accounts: () => ({
    title: "Accounts", up: "#/",
    groups: [
      { items: tables.accounts.length
        ? tables.accounts.map((account) => ({ kind: "link", id: `account-${account.id}`, to: `#/accounts/${account.id}`, title: account.address, summary: `${account.kind} · ${plural(SYNCED.filter(([key]) => account[key]).length, "thing")} synced`, glyph: account.kind[0], tone: "teal" }))
        : [{ kind: "note", id: "no-accounts", text: "There is no account on this phone." }] },
      { items: [{ kind: "link", id: "add-account", to: "#/accounts/new", title: "Add account", glyph: "+" }] },
    ],
  }),

  "accounts/new": () => ({ title: "Add account", up: "#/accounts", form: accountForm }),

  "accounts/:id": (id) => {
    const account = find("accounts", id);
    return account ? {
      title: account.kind, up: "#/accounts",
      groups: [
        { items: [{ kind: "fact", id: "account-address", title: account.address }] },
        { heading: "Sync", items: SYNCED.map(([key, title]) => ({ kind: "switch", id: `sync-${key}`, title, value: account[key], set: (value) => { account[key] = value; } })) },
        { items: [{ kind: "open", id: "account-remove", title: "Remove account", danger: true, dialog: { name: "account", id: account.id } }] },
      ],
    } : null;
  },

  languages: () => ({
    title: "Languages", up: "#/",
    groups: [
      { items: [{ kind: "note", id: "language-note", text: "Apps use the first of these that they know." }] },
      { heading: "In this order", items: tables.languages.flatMap((code, index) => [
        { kind: "fact", id: `language-${code}`, title: `${index + 1}. ${languageOf(code)[1]}`, summary: languageOf(code)[2] },
        ...(index ? [{ kind: "act", id: `first-${code}`, title: `Use ${languageOf(code)[2]} first`, run: () => {
          tables.languages = [code, ...tables.languages.filter((other) => other !== code)];
          save();
          changed();
        } }] : []),
        ...(tables.languages.length > 1 ? [{ kind: "open", id: `remove-${code}`, title: `Remove ${languageOf(code)[2]}`, danger: true, dialog: { name: "language", code } }] : []),
      ]) },
      { items: [{ kind: "link", id: "add-language", to: "#/languages/add", title: "Add a language", glyph: "+" }] },
    ],
  }),

  "languages/add": () => {
    const wanted = languageQuery.trim().toLowerCase();
    const found = LANGUAGES.filter(([code, own, english]) => !tables.languages.includes(code) && `${own} ${english}`.toLowerCase().includes(wanted));
    return {
      title: "Add a language", up: "#/languages",
      groups: [
        { plain: true, items: [{ kind: "search", id: "find-language", placeholder: "Search languages", value: languageQuery, set: (text) => { languageQuery = text; changed(); } }] },
        { items: found.length ? found.map(([code, own, english]) => ({ kind: "act", id: `pick-${code}`, title: own, summary: english, run: () => {
          tables.languages.push(code);
          languageQuery = "";
          save();
          notice(`${own} added`);
          goBack("#/languages");
        } })) : [{ kind: "note", id: "no-language", text: `No language matches “${languageQuery.trim()}”.` }] },
      ],
    };
  },

  about: () => ({
    title: "About phone", up: "#/",
    groups: [
      { items: [
        { kind: "open", id: "about-name", title: "Name", summary: values.phoneName, dialog: { name: "name" } },
        { kind: "fact", id: "model", title: "Model", value: "MD-5 (2025)" },
        { kind: "fact", id: "system", title: "System", value: "Meadow OS 14" },
        { kind: "fact", id: "serial", title: "Serial number", value: "R58-K20-4471" },
        { kind: "act", id: "build", title: "Build number", summary: "MOS14.0317.22", run: tapBuild },
      ] },
      { items: [{ kind: "open", id: "reset", title: "Reset all settings", danger: true, dialog: { name: "reset" } }] },
    ],
  }),

  developer: () => (values.developer ? {
    title: "Developer options", up: "#/",
    groups: [
      { items: [{ kind: "switch", id: "developer", title: "Use developer options", value: true, master: true, set: () => {
        Object.assign(values, { developer: false, buildTaps: 0, stayAwake: false, showTaps: false });
        goBack("#/");
      } }] },
      { items: [valueSwitch("stayAwake", "Stay awake while charging"), valueSwitch("showTaps", "Show taps"), choice("slowMotion", "Animation speed")] },
    ],
  } : null),
};

const SYNCED = [["mail", "Mail"], ["contacts", "Contacts"], ["calendar", "Calendar"]];

function foundSettings(wanted) {
  const found = INDEX.filter(([title]) => title.toLowerCase().includes(wanted));
  return { heading: "Found", items: found.length
    ? found.map(([title, to]) => ({ kind: "link", id: `found-${title.toLowerCase().replace(/[^a-z]+/g, "-")}`, to: `#/${to}`, title, summary: PAGES[to]().title }))
    : [{ kind: "note", id: "nothing-found", text: `No setting matches “${homeQuery.trim()}”.` }] };
}

const TAPS_NEEDED = 7;

function tapBuild() {
  if (values.developer) return notice("You are a developer already.");
  values.buildTaps += 1;
  const left = TAPS_NEEDED - values.buildTaps;
  if (left <= 0) values.developer = true;
  save();
  if (left <= 0) notice("You are a developer now!");
  else if (left <= 4) notice(`${plural(left, "tap")} left to become a developer.`);
}

function accountForm() {
  const kind = node("select", { id: "account-kind" }, ["Mail", "Cloud", "Work"].map((name) => node("option", { value: name }, name)));
  const address = node("input", { id: "new-address", type: "email", maxlength: "60", autocomplete: "off", "aria-describedby": "new-address-error" });
  return node("form", { id: "account-form", class: "card form", noValidate: true, onsubmit: (event) => {
    event.preventDefault();
    const text = address.value.trim().toLowerCase();
    const taken = tables.accounts.some((account) => account.address === text && account.kind === kind.value);
    const problem = !text ? "Enter your address." : !/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(text) ? "An address looks like name@example.org." : taken ? "This account is on the phone already." : "";
    const bad = complain("new-password", passwordProblem(el("new-password").value));
    if (complain("new-address", problem) || bad) return; // asked last, so that it has the focus where both are wrong
    insert("accounts", { kind: kind.value, address: text, mail: kind.value !== "Cloud", contacts: true, calendar: kind.value === "Work" });
    notice("Account added");
    goBack("#/accounts");
  } }, label("account-kind", "Kind", kind, false), label("new-address", "Address", address), passwordField("new-password"), node("button", { id: "save-account", type: "submit", class: "big" }, "Add account"));
}
