// Elements, icons and the browser's history, which is the only back stack.

const ICONS = {
  back: "M19 12H5m6.5-6.5L5 12l6.5 6.5",
  close: "M6 6l12 12M18 6L6 18",
  plus: "M12 5v14M5 12h14",
  search: "M15.2 15.2L20 20M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13z",
  gear: "M4 7h7m5 0h4M4 17h3m5 0h8M13.5 9.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM9.5 19.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z",
  days: "M5 6h14M5 12h14M5 18h9",
  month: "M4 9.5h16M8 3.5v4m8-4v4M5.5 5.5h13A1.5 1.5 0 0 1 20 7v12a1.5 1.5 0 0 1-1.5 1.5h-13A1.5 1.5 0 0 1 4 19V7a1.5 1.5 0 0 1 1.5-1.5z",
  bell: "M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 1.5h-15zM10 20.5h4",
  layers: "M12 4l8.5 4.5L12 13 3.5 8.5zM4 13l8 4.3 8-4.3M4 16.8l8 4.2 8-4.2",
  edit: "M4.5 19.5l.8-4L16 4.8a1.7 1.7 0 0 1 2.4 0l.8.8a1.7 1.7 0 0 1 0 2.4L8.5 18.7zM14 6.8l3.2 3.2",
  trash: "M4.5 7h15M9.5 7V4.5h5V7M6.5 7l1 13h9l1-13M10.3 11v5M13.7 11v5",
  left: "M14.5 6l-6 6 6 6",
  right: "M9.5 6l6 6-6 6",
  place: "M12 21s6.5-6.2 6.5-11a6.5 6.5 0 0 0-13 0c0 4.8 6.5 11 6.5 11zM12 12.3a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6z",
  repeat: "M5 11V9.5A2.5 2.5 0 0 1 7.5 7H18m-3-3l3 3-3 3M19 13v1.5a2.5 2.5 0 0 1-2.5 2.5H6m3 3l-3-3 3-3",
  clock: "M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17zM12 7.5V12l3 2",
  text: "M5 7h14M5 12h14M5 17h8",
};

/** An element: `on…` properties are listeners, `true` and `false` set or leave out an attribute, the rest are attributes. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") element[name] = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child || child === 0));
  return element;
}

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

export const iconButton = (id, label, name, onclick) =>
  h("button", { id, type: "button", class: "icon-button", "aria-label": label, onclick }, icon(name));

export const options = (pairs, chosen) =>
  pairs.map(([value, text]) => h("option", { value, selected: String(value) === String(chosen) }, text));

// history.state is { depth, dialog }: how many entries of ours lie behind, and the dialog over the screen, if any.
let depth = 0;
let afterPop = null;
let onShow = () => {};
const scrolls = [];

export const openedDialog = () => history.state?.dialog ?? null;
export const go = (hash) => { location.hash = hash; };

export function replace(hash) {
  history.replaceState({ depth }, "", hash);
  onShow();
}

/** Goes back over `steps` entries and then runs `then`; shows `fallback` where fewer of them are ours. */
export function back(steps = 1, fallback = "#/", then = null) {
  afterPop = depth >= steps ? then : () => { replace(fallback); then?.(); };
  if (depth === 0) {
    const run = afterPop;
    afterPop = null;
    run();
  } else {
    history.go(-Math.min(steps, depth));
  }
}

export function openDialog(dialog) {
  scrolls[depth] = window.scrollY;
  depth += 1;
  history.pushState({ depth, dialog }, "");
  onShow();
}

/** Starts to follow the history; `show` draws what the address and the history say. */
export function start(show) {
  onShow = show;
  history.scrollRestoration = "manual";
  if (history.state === null) history.replaceState({ depth: 0 }, "");
  depth = history.state.depth;
  window.addEventListener("popstate", () => {
    scrolls[depth] = window.scrollY;
    const isNew = history.state === null; // made by a link or by location.hash
    if (isNew) history.replaceState({ depth: depth + 1 }, "");
    depth = history.state.depth;
    show();
    window.scrollTo(0, isNew ? 0 : scrolls[depth] ?? 0);
    const run = afterPop;
    afterPop = null;
    run?.();
  });
  show();
}

let toastTimer = null;

/** Reports something for a few seconds, with an Undo button where there is an `undo`. */
export function toast(text, undo = null) {
  const box = document.getElementById("toast");
  clearTimeout(toastTimer);
  const hide = () => { box.hidden = true; };
  const button = undo && h("button", { id: "undo", type: "button", onclick: () => { hide(); undo(); } }, "Undo");
  box.replaceChildren(h("span", {}, text), ...(button ? [button] : []));
  box.hidden = false;
  toastTimer = setTimeout(hide, undo ? 6000 : 3000);
}
