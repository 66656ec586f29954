// Pigeon: short messages. Each change draws the whole app anew as a description; vdom.js finds what differs.

import * as people from "./people.js";
import { place, replace, start, close } from "./router.js";
import { change, db, onChange, onOpenThread, resume } from "./store.js";
import * as talks from "./talks.js";
import { h, mount } from "./vdom.js";

const ROUTES = [
  { path: /^\/$/, screen: talks.listScreen },
  { path: /^\/thread\/(\d+)$/, screen: talks.threadScreen, over: talks.threadOver, enter: talks.enterThread },
  { path: /^\/to\/(\d+)$/, screen: talks.firstScreen },
  { path: /^\/new$/, screen: talks.pickScreen },
  { path: /^\/search$/, screen: talks.searchScreen },
  { path: /^\/contacts$/, screen: people.contactsScreen },
  { path: /^\/contacts\/new$/, screen: () => people.contactForm(null) },
  { path: /^\/contact\/(\d+)$/, screen: people.contactScreen, over: people.contactOver },
  { path: /^\/contact\/(\d+)\/edit$/, screen: people.contactForm },
  { path: /^\/blocked$/, screen: people.blockedScreen },
  { path: /^\/settings$/, screen: people.settingsScreen },
  { path: /^\/about$/, screen: people.aboutScreen },
];

const render = mount(document.getElementById("root"));
let notice = "";
let noticeTimer = null;
let drawnPath = null;
let drawnOver = "";
let lastMessage = null;

function routeOf(path) {
  const route = ROUTES.find((one) => one.path.test(path));
  return route && { ...route, numbers: route.path.exec(path).slice(1).map(Number) };
}

/** Draws the app as it is now. */
export function draw() {
  const { path, over } = place();
  const { screen, over: overScreen, numbers } = routeOf(path);
  const above = over && overScreen ? overScreen(...numbers, over) : null;
  document.documentElement.dataset.theme = db.settings.light ? "light" : "dark";
  render(h("div", { class: db.settings.bigText ? "app big" : "app" },
    h("main", { key: path, inert: Boolean(above) }, screen(...numbers)),
    h("div", { key: "over" }, above),
    h("p", { id: "notice", key: "notice", role: "status", hidden: notice === "" }, notice)));
  if (above && drawnOver !== over) document.querySelector(".over button").focus();
  drawnOver = above ? over : "";
  document.title = `${document.getElementById("title").textContent || "Pigeon"}`;
  const newest = document.querySelector("#messages > li:last-child");
  if (newest !== lastMessage && newest) window.scrollTo(0, document.documentElement.scrollHeight);
  lastMessage = newest;
}

/** Says what was done, for 2.5 seconds. */
export function say(text) {
  clearTimeout(noticeTimer);
  notice = text;
  noticeTimer = setTimeout(() => {
    notice = "";
    draw();
  }, 2500);
  draw();
}

function moved() {
  const { path } = place();
  const route = routeOf(path);
  if (!route) return replace("/");
  const isNew = path !== drawnPath;
  drawnPath = path;
  if (isNew) {
    talks.leave();
    people.leave();
    if (route.enter) route.enter(...route.numbers);
  }
  draw();
  if (isNew && !path.startsWith("/thread/")) window.scrollTo(0, 0);
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && place().over) close();
});
onChange(draw);
onOpenThread(() => {
  const match = /^\/thread\/(\d+)$/.exec(place().path);
  return match && Number(match[1]);
});
history.scrollRestoration = "manual";
start(moved);
change(() => {}); // keeps the first content and its dates
resume();
