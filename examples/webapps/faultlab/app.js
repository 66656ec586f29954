// Fault lab: one small page with what makes phones hard to record.
//
// The address after "#" says which screen is shown; the browser's history is the back stack.

"use strict";

const $ = (id) => document.getElementById(id);
const LATE_MS = 1200;
const HINT_MS = 2500;

let timers = [];
let answers = JSON.parse(localStorage.getItem("faultlab") ?? '{"colour": "", "deleted": 0, "name": ""}');

function save(change) {
  answers = { ...answers, ...change };
  localStorage.setItem("faultlab", JSON.stringify(answers));
}

function element(tag, fields = {}, text = "") {
  const made = Object.assign(document.createElement(tag), fields);
  made.textContent = text;
  return made;
}

function row(text, act) {
  return element("button", { className: "row", onclick: act }, text);
}

function later(ms, act) {
  timers.push(setTimeout(act, ms));
}

function spinner() {
  const made = element("div", { className: "spinner" });
  made.setAttribute("role", "progressbar");
  made.setAttribute("aria-label", "Loading");
  return made;
}

// A coach mark that is drawn, not written: it is on the screen and in no tree.
function showHint() {
  const canvas = $("hint");
  canvas.width = 480;
  canvas.height = 160;
  const pen = canvas.getContext("2d");
  pen.fillStyle = "#fff3b0";
  pen.fillRect(0, 0, 480, 160);
  pen.fillStyle = "#222";
  pen.font = "36px sans-serif";
  pen.fillText("Tap a row to begin", 60, 90);
  canvas.hidden = false;
  later(HINT_MS, () => { canvas.hidden = true; });
}

const SCREENS = {
  "": ["Fault lab", () => [
    row("Endless spinner", () => go("spinner")),
    row("Late content", () => go("late")),
    row("Dialogs", () => go("dialogs")),
    row("A choice", () => go("choice")),
    row("Account", () => go("account")),
    row("Show a hint", showHint),
  ]],
  spinner: ["Endless spinner", () => [element("p", {}, "This never ends."), spinner(), row("Give up", () => history.back())]],
  late: ["Late content", () => {
    const place = element("div");
    place.append(spinner());
    later(LATE_MS, () => {
      place.replaceChildren(element("p", {}, "Here at last"), row("Read again", () => show()));
    });
    return [place];
  }],
  dialogs: ["Dialogs", () => [
    row("Tell me", () => alert("It is told.")),
    row("Remove one", () => { if (confirm("Remove one of them?")) { save({ deleted: answers.deleted + 1 }); show(); } }),
    row("Name it", () => { const name = prompt("A name for it", answers.name); if (name !== null) { save({ name }); show(); } }),
    element("p", {}, `Removed: ${answers.deleted}`),
    element("p", {}, `Name: ${answers.name || "none"}`),
  ]],
  choice: ["A choice", () => {
    const list = element("select", { className: "row", onchange: () => { save({ colour: list.value }); show(); } });
    list.setAttribute("aria-label", "Colour");
    for (const colour of ["", "Red", "Green", "Blue"]) list.append(element("option", { value: colour }, colour || "Choose a colour"));
    list.value = answers.colour;
    return [list, element("p", {}, answers.colour ? `You chose ${answers.colour}` : "Nothing chosen")];
  }],
  account: ["Account", () => [
    element("p", {}, "Account number 4410 22 91"), element("p", {}, "Balance 1,204.50"), row("Hide it", () => history.back()),
  ]],
};

function go(name) {
  location.hash = name;
}

function show() {
  timers.forEach(clearTimeout);
  timers = [];
  $("hint").hidden = true;
  const [title, build] = SCREENS[location.hash.slice(1)] ?? SCREENS[""];
  $("title").textContent = title;
  $("back").hidden = !SCREENS[location.hash.slice(1)] || location.hash.length < 2;
  $("screen").replaceChildren(...build());
}

$("back").onclick = () => history.back();
addEventListener("hashchange", show);
show();
