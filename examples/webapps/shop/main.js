// Hearthside: a shop in one page. Draws the screen that the address names; the screens are in the other files.

import * as account from "./account.js";
import * as browsing from "./browsing.js";
import * as buying from "./buying.js";
import { el, icon } from "./dom.js";
import { closeSheet, currentSheet, replace, start, switchTab } from "./router.js";
import { cartCount, save } from "./store.js";

const $ = (id) => document.getElementById(id);

const ROUTES = [
  { path: /^#\/$/, tab: "shop", title: "Hearthside", draw: browsing.catalogueScreen },
  { path: /^#\/product\/(\d+)$/, tab: "shop", title: "Product", draw: browsing.productScreen },
  { path: /^#\/saved$/, tab: "saved", title: "Saved", draw: browsing.savedScreen },
  { path: /^#\/cart$/, tab: "cart", title: "Cart", draw: buying.cartScreen },
  { path: /^#\/checkout\/address$/, tab: null, title: "Address", draw: buying.addressScreen },
  { path: /^#\/checkout\/delivery$/, tab: null, title: "Delivery", draw: buying.deliveryScreen },
  { path: /^#\/checkout\/review$/, tab: null, title: "Review", draw: buying.reviewScreen },
  { path: /^#\/placed\/(\d+)$/, tab: null, title: "Order placed", draw: buying.placedScreen },
  { path: /^#\/account$/, tab: "account", title: "Account", draw: account.accountScreen },
  { path: /^#\/address$/, tab: "account", title: "My address", draw: buying.savedAddressScreen },
  { path: /^#\/orders$/, tab: "account", title: "My orders", draw: account.ordersScreen },
  { path: /^#\/order\/(\d+)$/, tab: "account", title: "Order", draw: account.orderScreen },
  { path: /^#\/help$/, tab: "account", title: "Help and terms", draw: account.helpScreen },
];
const SHEETS = { ...browsing.SHEETS, ...buying.SHEETS, ...account.SHEETS };

let drawn = null; // the address of the screen that is drawn
const scrolled = new Map(); // how far down each address was left

function drawNav(tab) {
  $("tabs").hidden = tab === null;
  document.body.classList.toggle("no-tabs", tab === null);
  for (const button of $("tabs").children) {
    if (button.id === `tab-${tab}`) button.setAttribute("aria-current", "page");
    else button.removeAttribute("aria-current");
  }
  const count = cartCount();
  $("cart-badge").hidden = count === 0;
  $("cart-badge").textContent = String(count);
  $("tab-cart").setAttribute("aria-label", count ? `Cart, ${count}` : "Cart");
}

function drawSheet() {
  const open = currentSheet();
  const wasOpen = !$("sheet-scrim").hidden;
  $("sheet-scrim").hidden = !open;
  $("view").inert = $("tabs").inert = Boolean(open);
  if (!open) return;
  const { title, body } = SHEETS[open.name];
  $("sheet").replaceChildren(
    el("header", {}, el("h2", { id: "sheet-title", tabindex: "-1" }, title),
      el("button", { id: "sheet-close", class: "round", type: "button", "aria-label": "Close", onclick: () => closeSheet() }, icon("icon-close"))),
    ...body(open.subject));
  if (!wasOpen) $("sheet-title").focus();
}

/** Shows what the address says; a screen that one came back to is shown where it was left. */
function show(cameBack) {
  const hash = location.hash || "#/";
  const route = ROUTES.find(({ path }) => path.test(hash));
  if (!route) return replace("#/");
  const isNew = hash !== drawn;
  if (isNew && drawn !== null) scrolled.set(drawn, window.scrollY);
  if (isNew) {
    browsing.leaveProduct();
    buying.leaveForms();
  }
  const parts = route.draw(...route.path.exec(hash).slice(1).map(Number));
  if (!parts) return; // it has shown another in its place
  drawn = hash;
  $("view").replaceChildren(...parts);
  document.title = route.title === "Hearthside" ? route.title : `${route.title} · Hearthside`;
  drawNav(route.tab);
  drawSheet();
  if (isNew) {
    window.scrollTo(0, cameBack ? scrolled.get(hash) ?? 0 : 0);
    $("heading").focus({ preventScroll: true });
  }
}

/** Draws the screen again after a change; the element that `focus` selects, or the one of the same id, keeps the focus. */
export function refresh(focus = "") {
  const id = document.activeElement?.id;
  show(false);
  const target = focus ? document.querySelector(focus) : id && $(id);
  if (target && target !== document.activeElement) target.focus({ preventScroll: true });
}

let toastTimer = null;

function hideToast() {
  $("toast").hidden = true;
  document.body.classList.remove("has-toast");
}

/** Says what was done, for 4 seconds, with a button where there is an action. */
export function toast(text, action = "", run = null) {
  clearTimeout(toastTimer);
  $("toast-text").textContent = text;
  $("toast-action").textContent = action;
  $("toast-action").hidden = action === "";
  $("toast-action").onclick = () => {
    hideToast();
    if (run) run();
  };
  $("toast").hidden = false;
  document.body.classList.add("has-toast");
  toastTimer = setTimeout(hideToast, 4000);
}

for (const button of $("tabs").children) button.addEventListener("click", () => switchTab(button.dataset.hash));
$("sheet-scrim").addEventListener("click", (event) => {
  if (event.target === $("sheet-scrim")) closeSheet();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && currentSheet()) closeSheet();
});

save(); // keeps the first orders and their dates
start(show);
