// Where the app is: the address after "#" is a path and, after "?", the name of what lies over the screen. Both are history
// entries, so Back closes a dialog as it leaves a screen. `history.state.depth` counts our entries below this one.

let depth = 0;
let afterPop = null;
let whenMoved = () => {};

/** { path: "/thread/3", over: "menu" } of "#/thread/3?menu". */
export function place() {
  const [path, over = ""] = (location.hash || "#/").slice(1).split("?");
  return { path, over };
}

export const go = (to) => { location.hash = to; };
export const show = (over) => go(`${place().path}?${over}`);

export function replace(to) {
  history.replaceState({ depth }, "", `#${to}`);
  whenMoved();
}

/** Goes back so many entries, or to a parent where fewer of them are ours. */
export function back(steps, parent) {
  if (depth >= steps) return history.go(-steps);
  if (depth === 0) return replace(parent);
  afterPop = () => replace(parent);
  return history.go(-depth);
}

export const close = () => back(1, place().path);

/** Closes what lies over the screen, then goes elsewhere from there. */
export function closeThen(to) {
  if (depth === 0) return replace(to);
  afterPop = () => go(to);
  return history.back();
}

export function start(run) {
  whenMoved = run;
  if (history.state === null) history.replaceState({ depth: 0 }, "", location.hash || "#/");
  depth = history.state.depth;
  window.addEventListener("popstate", () => {
    if (history.state === null) history.replaceState({ depth: depth + 1 }, ""); // made by location.hash
    depth = history.state.depth;
    const then = afterPop;
    afterPop = null;
    if (then) then();
    else whenMoved();
  });
  whenMoved();
}
