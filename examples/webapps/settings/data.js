// What the phone remembers. `values` are single settings by name; the others are tables with ids that are never used twice.

"use strict";

const DEFAULTS = {
  airplane: false, wifi: true, wifiNotify: true, mobileData: true, roaming: false, hotspot: false, dataSaver: false, dataLimit: 20,
  bluetooth: true, phoneName: "Meadow 5", brightness: 62, adaptive: false, dark: false, accent: "blue", timeout: "60", textSize: 1, rotate: true,
  media: 55, ring: 80, alarm: 70, ringMode: "ring", tone: "Brook", touchSounds: true, dnd: false, dndAlarms: true, dndRepeat: false,
  dndFrom: "22:30", dndTo: "06:45", lockScreen: "all", bubbles: true, appSort: "name", storageSort: "size", developer: false, buildTaps: 0,
  stayAwake: false, showTaps: false, slowMotion: "1",
};

const SEED = {
  networks: [
    { id: 1, name: "Larkspur", secure: true, signal: 4, saved: true, auto: true },
    { id: 2, name: "Café Lumen guests", secure: false, signal: 3, saved: false, auto: false },
    { id: 3, name: "Flat 12 upstairs", secure: true, signal: 2, saved: false, auto: false },
    { id: 4, name: "Office-Nord", secure: true, signal: 1, saved: true, auto: true },
    { id: 5, name: "HP-Print-8A", secure: true, signal: 3, saved: false, auto: false },
  ],
  devices: [
    { id: 1, name: "Sparrow Buds", kind: "Earphones", battery: 74, paired: true, connected: true, code: "" },
    { id: 2, name: "Kitchen radio", kind: "Speaker", battery: 100, paired: true, connected: false, code: "" },
    { id: 3, name: "Trail watch", kind: "Watch", battery: 38, paired: true, connected: true, code: "" },
    { id: 4, name: "Folding keyboard", kind: "Keyboard", battery: 90, paired: false, connected: false, code: "418 207" },
    { id: 5, name: "Golf hands-free", kind: "Car", battery: 100, paired: false, connected: false, code: "930 566" },
  ],
  apps: [
    { id: 1, name: "Camera", size: 212, cache: 64, notify: true, daily: 1 },
    { id: 2, name: "Fieldbook", size: 88, cache: 21, notify: true, daily: 3 },
    { id: 3, name: "Letterbox", size: 145, cache: 130, notify: true, daily: 14 },
    { id: 4, name: "Maps & Ways", size: 960, cache: 355, notify: false, daily: 0 },
    { id: 5, name: "Podcatcher", size: 1840, cache: 512, notify: true, daily: 5 },
    { id: 6, name: "Tram times", size: 37, cache: 8, notify: false, daily: 0 },
    { id: 7, name: "Weather", size: 54, cache: 17, notify: true, daily: 2 },
  ],
  channels: [
    { id: 1, appId: 1, name: "Backups", on: true }, { id: 2, appId: 1, name: "Tips", on: false },
    { id: 3, appId: 2, name: "Due tasks", on: true }, { id: 4, appId: 2, name: "Weekly summary", on: true },
    { id: 5, appId: 3, name: "New letters", on: true }, { id: 6, appId: 3, name: "Newsletters", on: false }, { id: 7, appId: 3, name: "Delivery problems", on: true },
    { id: 8, appId: 4, name: "Traffic ahead", on: true }, { id: 9, appId: 5, name: "New episodes", on: true }, { id: 10, appId: 5, name: "Downloads", on: true },
    { id: 11, appId: 6, name: "Disruptions", on: true }, { id: 12, appId: 7, name: "Storm warnings", on: true }, { id: 13, appId: 7, name: "Rain soon", on: true },
  ],
  accounts: [
    { id: 1, kind: "Mail", address: "ines.marek@posthorn.example", mail: true, contacts: true, calendar: false },
    { id: 2, kind: "Cloud", address: "ines@driftcloud.example", mail: false, contacts: true, calendar: true },
  ],
  languages: ["en-GB", "cs"],
  connected: 1, // id of the network in use, or null
};

const FILES = [["Photos", 18400], ["Videos", 23150], ["Music", 6200], ["Documents", 740], ["System", 14300]]; // MB
const CAPACITY = 128000;

const LANGUAGES = [
  ["ar", "العربية", "Arabic"], ["cs", "Čeština", "Czech"], ["da", "Dansk", "Danish"], ["de", "Deutsch", "German"],
  ["el", "Ελληνικά", "Greek"], ["en-GB", "English (UK)", "English, United Kingdom"], ["en-US", "English (US)", "English, United States"],
  ["es", "Español", "Spanish"], ["fi", "Suomi", "Finnish"], ["fr", "Français", "French"], ["hi", "हिन्दी", "Hindi"], ["it", "Italiano", "Italian"],
  ["ja", "日本語", "Japanese"], ["ko", "한국어", "Korean"], ["nl", "Nederlands", "Dutch"], ["pl", "Polski", "Polish"], ["pt", "Português", "Portuguese"],
  ["sv", "Svenska", "Swedish"], ["tr", "Türkçe", "Turkish"], ["uk", "Українська", "Ukrainian"], ["zh", "中文", "Chinese"],
];

const CHOICES = {
  accent: [["blue", "Harbour blue"], ["green", "Fern green"], ["rose", "Rose"], ["orange", "Apricot"]],
  timeout: [["15", "15 seconds"], ["30", "30 seconds"], ["60", "1 minute"], ["300", "5 minutes"], ["0", "Never"]],
  tone: [["Brook", "Brook"], ["Carillon", "Carillon"], ["Marimba steps", "Marimba steps"], ["Old telephone", "Old telephone"], ["None", "None"]],
  lockScreen: [["all", "Show everything"], ["private", "Hide private content"], ["none", "Show nothing"]],
  slowMotion: [["0.5", "Half speed"], ["1", "Normal speed"], ["2", "Twice as fast"], ["off", "No animation"]],
};
const TEXT_SIZES = ["Small", "Default", "Large", "Largest"];
const nameOf = (key) => CHOICES[key].find(([value]) => value === values[key])[1];

const storeKey = (name) => `settings.${name}`;

function load(name, fallback) {
  try {
    return JSON.parse(localStorage.getItem(storeKey(name))) ?? fallback;
  } catch {
    return fallback; // not JSON: someone edited it by hand
  }
}

const values = { ...DEFAULTS, ...load("values", {}) };
const tables = { ...structuredClone(SEED), ...load("tables", {}) };
const counters = load("counters", { networks: 6, accounts: 3 });

function save() {
  localStorage.setItem(storeKey("values"), JSON.stringify(values));
  localStorage.setItem(storeKey("tables"), JSON.stringify(tables));
  localStorage.setItem(storeKey("counters"), JSON.stringify(counters));
}

/** Adds a row with the next id of its table; returns it. */
function insert(table, row) {
  const added = { id: counters[table], ...row };
  counters[table] += 1;
  tables[table].push(added);
  save();
  return added;
}

function remove(table, id) {
  tables[table] = tables[table].filter((row) => row.id !== id);
  if (table === "apps") tables.channels = tables.channels.filter((channel) => channel.appId !== id);
  if (table === "networks" && tables.connected === id) tables.connected = null;
  save();
}

function resetAll() {
  Object.assign(values, DEFAULTS);
  Object.assign(tables, structuredClone(SEED));
  save();
}

const find = (table, id) => tables[table].find((row) => row.id === Number(id));
const byName = (a, b) => a.name.localeCompare(b.name, "en");
const wifiOn = () => values.wifi && !values.airplane;
const bluetoothOn = () => values.bluetooth && !values.airplane;
const network = () => (wifiOn() ? find("networks", tables.connected) : undefined);
const appsSize = () => tables.apps.reduce((sum, app) => sum + app.size + app.cache, 0);
const cacheSize = () => tables.apps.reduce((sum, app) => sum + app.cache, 0);
const usedSize = () => appsSize() + FILES.reduce((sum, [, size]) => sum + size, 0);
const megabytes = (size) => (size >= 1000 ? `${(size / 1000).toFixed(size >= 10000 ? 1 : 2)} GB` : `${size} MB`);
const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
