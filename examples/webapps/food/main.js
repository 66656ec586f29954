// Shows what the address says, and does what is tapped and typed: one listener for each kind of event, on the document.
// The browser's history is the only back stack; a sheet has an entry of its own in it.

import { dishOf, shopOf } from "./catalog.js";
import { fill } from "./html.js";
import { AddressForm, Addresses, Confirm, Coupons, Favourites, Home, Host, Loading, Me, Missing, Orders, Search, Shop, UseCoupon, orderPage, tagOf, ui } from "./screens.js";
import { sheetOf } from "./sheets.js";
import {
  addToCart, addressOf, cancelOrder, cartOf, changeCount, checkAddress, couponOf, db, emptyCart, orderOf, placeOrder, putAddress, removeAddress, save,
} from "./store.js";

const ASAP = "尽快 As soon as possible";
const app = document.getElementById("app");
const overlay = document.getElementById("overlay");

// ---------------------------------------------------------------- what is shown

const withShop = (draw) => (id) => (shopOf(id) ? draw(shopOf(id)) : Missing());
const emptyForm = () => ({ name: "", phone: "", area: "", detail: "", tag: tagOf(0) });

function confirmPage(shop) {
  if (ui.order?.shopId !== shop.id) ui.order = { shopId: shop.id, couponId: null, when: ASAP, note: "" };
  return Confirm(shop);
}

function addressPage(id) {
  if (id !== null && !addressOf(id)) return Missing();
  if (ui.form === null) ui.form = id === null ? emptyForm() : (({ id: _, ...fields }) => fields)(addressOf(id));
  return AddressForm(id);
}

const ROUTES = [
  [/^#\/$/, Host],
  [/^#\/home$/, Home],
  [/^#\/search$/, Search],
  [/^#\/shop\/(\d+)$/, withShop(Shop)],
  [/^#\/confirm\/(\d+)$/, withShop(confirmPage)],
  [/^#\/use-coupon\/(\d+)$/, withShop(UseCoupon)],
  [/^#\/coupons$/, Coupons],
  [/^#\/addresses$/, () => Addresses(false)],
  [/^#\/choose-address$/, () => Addresses(true)],
  [/^#\/address\/new$/, () => addressPage(null)],
  [/^#\/address\/(\d+)$/, (id) => addressPage(Number(id))],
  [/^#\/orders$/, Orders],
  [/^#\/order\/(\d+)$/, orderPage],
  [/^#\/me$/, Me],
  [/^#\/favourites$/, Favourites],
];

let shownHash = null;
let shownSheet = "";
let loading = false;

function show() {
  const isNew = shownHash !== location.hash;
  if (isNew) Object.assign(ui, { form: null, errors: {} });
  const route = ROUTES.map(([pattern, screen]) => [pattern.exec(location.hash), screen]).find(([match]) => match);
  if (!route) {
    history.replaceState({ depth }, "", "#/");
    return show();
  }
  const { title, body } = loading ? Loading() : route[1](...route[0].slice(1));
  document.title = title;
  fill(app, body);
  shownHash = location.hash;
  const sheet = history.state?.sheet ?? "";
  fill(overlay, sheetOf(sheet));
  app.inert = overlay.childElementCount > 0;
  const heading = overlay.querySelector("h2") ?? app.querySelector("h1");
  if (isNew || shownSheet !== sheet) heading?.focus({ preventScroll: true });
  shownSheet = sheet;
}

// ---------------------------------------------------------------- history

let depth = 0;
let afterPop = null;
const scrolls = [];

const go = (hash) => { location.hash = hash; };

/** Goes back over `steps` entries; then shows `target` in place of where it arrived, if there is one. */
function back(steps, target = null) {
  const land = target && (() => history.replaceState({ depth }, "", target));
  if (depth === 0) {
    land?.();
    show();
  } else {
    afterPop = land;
    history.go(-Math.min(steps, depth));
  }
}

function openSheet(sheet) {
  scrolls[depth] = window.scrollY;
  depth += 1;
  history.pushState({ depth, sheet }, "");
  show();
}

window.addEventListener("popstate", () => {
  scrolls[depth] = window.scrollY;
  const isNew = history.state === null; // made by a link or by location.hash
  if (isNew) history.replaceState({ depth: depth + 1 }, "");
  depth = history.state.depth;
  afterPop?.();
  afterPop = null;
  show();
  window.scrollTo(0, isNew ? 0 : scrolls[depth] ?? 0);
});

// ---------------------------------------------------------------- what is done

let toastTimer = null;

function toast(text) {
  const box = document.getElementById("toast");
  clearTimeout(toastTimer);
  box.textContent = text;
  box.hidden = false;
  toastTimer = setTimeout(() => { box.hidden = true; }, 2000);
}

function enter() {
  loading = true;
  setTimeout(() => { loading = false; show(); }, 500);
}

function pay() {
  if (ui.pin === "000000") {
    Object.assign(ui, { pin: "", pinError: "密码过于简单 This PIN is too simple" });
    return show();
  }
  const order = placeOrder({ ...ui.order, addressId: db.state.addressId });
  Object.assign(ui, { order: null, pin: "", pinError: "" });
  toast("支付成功 Paid");
  back(1, `#/order/${order.id}`);
}

const DO = {
  back: (parent) => (depth > 0 ? back(1) : back(0, parent)),
  close: () => back(1),
  "close-mask": (_, event) => { if (event.target.matches(".mask")) back(1); },
  sheet: (key) => openSheet(key),
  exit: () => back(depth, "#/"),
  open: (key) => {
    if (key !== "fandian") return openSheet("update");
    enter();
    go("#/home");
  },
  "pin-app": () => {
    db.state.pinned = !db.state.pinned;
    toast(db.state.pinned ? "已添加 Added" : "已移出 Removed");
    back(1);
  },
  restart: () => { enter(); back(1, "#/home"); },
  kind: (kind) => { ui.kind = kind; show(); },
  sort: (sort) => { ui.sort = sort; show(); },
  category: (arg) => { const [shopId, category] = arg.split(":"); ui.category[shopId] = category; show(); },
  "shop-tab": (arg) => { const [shopId, tab] = arg.split(":"); ui.shopTab[shopId] = tab; show(); },
  favourite: (id) => {
    const shopId = Number(id);
    const has = db.state.favourites.includes(shopId);
    db.state.favourites = has ? db.state.favourites.filter((other) => other !== shopId) : [...db.state.favourites, shopId];
    toast(has ? "已取消收藏 Removed" : "已收藏 Saved");
    show();
  },
  dish: (id) => { Object.assign(ui, { picks: dishOf(id).options.map(() => 0), count: 1 }); openSheet(`dish:${id}`); },
  count: (by) => { ui.count = Math.min(Math.max(ui.count + Number(by), 1), 20); show(); },
  "add-dish": (id) => { addToCart(Number(id), [...ui.picks], ui.count); toast("已加入购物车 Added"); back(1); },
  add: (id) => { addToCart(Number(id), [], 1); show(); },
  "line-less": (id) => {
    changeCount(Number(id), -1);
    const [name, shopId] = (history.state.sheet ?? "").split(":");
    if (name === "cart" && cartOf(Number(shopId)).length === 0) back(1);
    else show();
  },
  "line-more": (id) => { changeCount(Number(id), 1); show(); },
  "clear-cart": (id) => { emptyCart(Number(id)); back(2); },
  checkout: (id) => { ui.order = null; go(`#/confirm/${id}`); },
  "submit-order": (id) => {
    ui.errors = { address: addressOf(db.state.addressId) ? "" : "请先选择地址 Choose an address first" };
    if (ui.errors.address) return show();
    Object.assign(ui, { pin: "", pinError: "" });
    openSheet(`pay:${id}`);
  },
  pin: (digit) => {
    ui.pinError = "";
    ui.pin = digit === "delete" ? ui.pin.slice(0, -1) : ui.pin + digit;
    if (ui.pin.length === 6) pay();
    else show();
  },
  "use-coupon": (id) => { if (ui.order) ui.order.couponId = id ? Number(id) : null; back(1, depth ? null : "#/home"); },
  "coupon-tab": (tab) => { ui.coupons = tab; show(); },
  collect: (id) => { couponOf(id).state = "owned"; toast("领取成功 Collected"); show(); },
  "choose-address": (id) => { db.state.addressId = Number(id); back(1, depth ? null : "#/home"); },
  tag: (index) => { ui.form.tag = tagOf(index); show(); },
  "remove-address": (id) => { removeAddress(Number(id)); toast("已删除 Deleted"); back(2, depth >= 2 ? null : "#/addresses"); },
  "order-tab": (tab) => { ui.orders = tab; show(); },
  refresh: (id) => { orderOf(id).step += 1; show(); },
  receive: (id) => { orderOf(id).step = 4; toast("祝用餐愉快 Enjoy your meal"); show(); },
  "cancel-order": (id) => { cancelOrder(orderOf(id)); toast("订单已取消 Cancelled"); back(1); },
  rate: (id) => { ui.stars = 0; openSheet(`rate:${id}`); },
  star: (stars) => { ui.stars = Number(stars); show(); },
  "send-rating": (id) => { orderOf(id).stars = ui.stars; toast("谢谢评价 Thank you"); back(1); },
  again: (id) => {
    const { shopId, lines } = orderOf(id);
    for (const line of lines) if (!dishOf(line.dishId).soldOut) addToCart(line.dishId, [...line.picks], line.count);
    go(`#/shop/${shopId}`);
  },
};

const IN = {
  query: (_, input) => { ui.query = input.value; show(); },
  note: (_, input) => { ui.order.note = input.value; },
  form: (key, input) => { ui.form[key] = input.value; },
  pick: (arg) => { const [index, at] = arg.split(":").map(Number); ui.picks[index] = at; show(); },
  when: (_, input) => { ui.order.when = input.value; back(1); },
};

const SUBMIT = {
  blur: (form) => form.querySelector("input").blur(),
  "save-address": () => {
    ui.errors = checkAddress(ui.form);
    const wrong = Object.keys(ui.errors).find((key) => ui.errors[key]);
    show();
    if (wrong) return document.getElementById(`form-${wrong}`).focus();
    const [, id] = /^#\/address\/(\d+)$/.exec(location.hash) ?? [];
    putAddress(id ? Number(id) : null, ui.form);
    toast("已保存 Saved");
    back(1, depth ? null : "#/addresses");
  },
};

document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-do]");
  if (!target || target.disabled) return;
  DO[target.dataset.do](target.dataset.arg, event);
  save();
});
document.addEventListener("input", (event) => {
  const { in: name, arg } = event.target.dataset;
  if (name) IN[name](arg, event.target);
});
document.addEventListener("submit", (event) => {
  event.preventDefault();
  SUBMIT[event.target.dataset.submit](event.target);
});
document.addEventListener("keydown", (event) => { if (event.key === "Escape" && overlay.childElementCount) back(1); });

history.scrollRestoration = "manual";
if (history.state === null) history.replaceState({ depth: 0 }, "", location.hash || "#/");
depth = history.state.depth;
// A sheet that lives on what was chosen a moment ago cannot be shown again after the page was loaded anew.
if (/^(dish|pay|rate|when)/.test(history.state.sheet ?? "")) history.replaceState({ depth }, "");
save(); // keeps the first order's date
show();
