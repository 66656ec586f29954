// The browser's history is the only back stack. Each entry's state keeps the trail of addresses that led to it, and the
// sheet that is open on it, if any: so a sheet closes with Back, and a finished checkout can be stepped over.

let trail = [];
let afterPop = null;
let render = () => {};

export const currentSheet = () => history.state?.sheet ?? null;
const here = () => location.hash || "#/";

export function go(hash) {
  if (hash !== here()) location.hash = hash;
}

export function replace(hash) {
  trail = [...trail.slice(0, -1), hash];
  history.replaceState({ trail }, "", hash);
  render(false);
}

/** One step back, or to the parent screen where nothing of the app lies behind. */
export function back(parent) {
  if (trail.length > 1) history.back();
  else replace(parent);
}

export function openSheet(name, subject = null) {
  trail = [...trail, here()];
  history.pushState({ trail, sheet: { name, subject } }, "");
  render(false);
}

/** Closes the sheet, then does something on the screen below it. */
export function closeSheet(then = null) {
  afterPop = then;
  history.back();
}

/** Goes to a tab: Back from it leads to the first screen, whatever was opened in between. */
export function switchTab(hash) {
  const enter = () => (hash === "#/" ? replace("#/") : go(hash));
  if (here() === hash) return;
  if (trail.length === 1) return trail[0] === "#/" ? go(hash) : replace(hash);
  afterPop = trail[0] === "#/" && hash === "#/" ? null : trail[0] === "#/" ? enter : () => replace(hash);
  history.go(1 - trail.length);
}

/** Drops the entries since an address was last shown, that one included, and shows another in their place. */
export function replaceSince(hash, by) {
  const at = trail.lastIndexOf(hash);
  if (at < 0 || at === trail.length - 1) return replace(by);
  afterPop = () => replace(by);
  history.go(at - (trail.length - 1));
}

export function start(show) {
  render = show;
  history.scrollRestoration = "manual";
  trail = history.state?.trail ?? [here()];
  history.replaceState({ trail, sheet: currentSheet() }, "", here());
  window.addEventListener("popstate", () => {
    const isNew = history.state === null; // made by a link or by location.hash
    if (isNew) history.replaceState({ trail: [...trail, here()] }, "");
    trail = history.state.trail;
    const then = afterPop;
    afterPop = null;
    render(!isNew);
    if (then) then();
  });
  render(false);
}
