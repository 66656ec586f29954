// What belongs to the customer: the account, past orders, help.

import { DELIVERIES, FREE_DELIVERY_FROM, PAYMENTS, findProduct } from "./catalogue.js";
import { addressBlock, sums } from "./buying.js";
import { el, empty, header, icon, orderLines, switchRow } from "./dom.js";
import { back, closeSheet, go, openSheet } from "./router.js";
import { addToCart, findOrder, linesOf, longDate, money, plural, roomFor, save, state } from "./store.js";
import { refresh, toast } from "./main.js";

const linkRow = (id, href, label, hint) => el("a", { id, class: "row", href },
  el("span", { class: "row-text" }, el("span", {}, label), hint ? el("small", {}, hint) : null), icon("icon-next"));

export function accountScreen() {
  const open = state.orders.filter((order) => order.status === "Preparing").length;
  const flip = (name) => (on) => { state.preferences[name] = on; save(); };
  return [
    header("Account"),
    el("div", { class: "rows" },
      linkRow("open-orders", "#/orders", "My orders", open ? `${open} on the way` : "None on the way"),
      linkRow("open-address", "#/address", "My address", state.address ? `${state.address.street}, ${state.address.city}` : "Not entered yet"),
      linkRow("open-help", "#/help", "Help and terms", "Delivery, returns, coupons")),
    el("div", { class: "rows" },
      switchRow("newsletter", "Newsletter", "A letter from the workshop, once a month", state.preferences.newsletter, flip("newsletter")),
      switchRow("reminders", "Cart reminders", "When something waits for more than a day", state.preferences.reminders, flip("reminders"))),
  ];
}

// ---------------------------------------------------------------- orders

const STATUSES = ["All", "Preparing", "Delivered", "Cancelled"];
let shownStatus = "All";

function orderRow(order) {
  const count = linesOf(order.id).reduce((sum, line) => sum + line.quantity, 0);
  return el("li", {}, el("a", { id: `order-${order.id}`, class: "row", href: `#/order/${order.id}` },
    el("span", { class: "row-text" }, el("span", {}, `Order ${order.id}`), el("small", {}, `${longDate(order.placed)} · ${plural(count, "item", "items")}`)),
    el("span", { class: "row-side" }, el("strong", {}, money(order.total)), el("small", { class: `status ${order.status.toLowerCase()}` }, order.status))));
}

export function ordersScreen() {
  const orders = state.orders.filter(({ status }) => shownStatus === "All" || status === shownStatus).sort((a, b) => b.id - a.id);
  return [
    header("My orders", () => back("#/account")),
    el("div", { class: "chips", role: "group", "aria-label": "Status" }, STATUSES.map((status) =>
      el("button", { id: `status-${status.toLowerCase()}`, type: "button", "aria-pressed": String(status === shownStatus), onclick: () => { shownStatus = status; refresh(); } }, status))),
    orders.length ? el("ul", { id: "orders", class: "rows", "aria-label": "Orders" }, orders.map(orderRow))
      : empty("icon-cart", "No such orders", `Nothing here is ${shownStatus.toLowerCase()}.`),
  ];
}

/** Puts an order's lines back into the cart, as far as there is stock. */
function buyAgain(order) {
  let added = 0;
  for (const line of linesOf(order.id)) {
    const quantity = Math.min(line.quantity, roomFor(line.productId));
    if (quantity > 0) addToCart(line.productId, line.options, line.price, quantity);
    added += Math.max(quantity, 0);
  }
  refresh();
  toast(added ? `${plural(added, "item", "items")} added to cart` : "Nothing of it is in stock", added ? "View cart" : "", () => go("#/cart"));
}

export function orderScreen(id) {
  const order = findOrder(id);
  if (!order) return [header("Not found", () => back("#/orders")), empty("icon-search", "Order not found", "Check the number.")];
  return [
    header(`Order ${id}`, () => back("#/orders")),
    el("p", { class: "note count" }, el("span", { id: "order-status", class: `status ${order.status.toLowerCase()}` }, order.status), ` · ${longDate(order.placed)}`),
    orderLines(linesOf(id)),
    sums(order, order.coupon),
    el("section", { class: "block" }, el("h2", {}, "Sent to"), addressBlock(order.address)),
    el("section", { class: "block" }, el("h2", {}, "Delivery and payment"), el("p", {}, `${DELIVERIES[order.delivery].label}, ${PAYMENTS[order.payment].toLowerCase()}`)),
    el("div", { class: "foot" },
      el("button", { id: "buy-again", class: "button solid wide", type: "button", onclick: () => buyAgain(order) }, "Buy again"),
      order.status === "Preparing" && el("button", { id: "cancel-order", class: "button wide", type: "button", onclick: () => openSheet("cancel", id) }, "Cancel order")),
  ];
}

export const SHEETS = {
  cancel: {
    title: "Cancel this order?",
    body: (id) => {
      const order = findOrder(id);
      const cancel = () => {
        order.status = "Cancelled";
        save();
        closeSheet(() => toast(`Order ${id} cancelled`));
      };
      return [
        el("p", { id: "sheet-text" }, `${linesOf(id).map((line) => findProduct(line.productId).name).join(", ")}. You pay nothing.`),
        el("div", { class: "actions" },
          el("button", { id: "cancel-keep", class: "button", type: "button", onclick: () => closeSheet() }, "Keep order"),
          el("button", { id: "cancel-confirm", class: "button solid", type: "button", onclick: cancel }, "Cancel order")),
      ];
    },
  },
};

// ---------------------------------------------------------------- help

const QUESTIONS = [
  ["delivery", "What does delivery cost?", `Standard is ${money(DELIVERIES.standard.price)}, and free from ${money(FREE_DELIVERY_FROM)} after coupons. Express is ${money(DELIVERIES.express.price)}. Picking up is always free.`],
  ["returns", "Can I send something back?", "Yes, within thirty days, unused. We pay the postage if it arrived broken."],
  ["coupons", "Where do coupons come from?", "New customers may use WELCOME10. HEARTH5 takes $5 off orders of $30 or more, FREESHIP makes any delivery free. One coupon an order."],
  ["terms", "Terms of sale", "Prices include tax. An order can be cancelled for as long as we are preparing it."],
];
const unfolded = new Set();

export function helpScreen() {
  const flip = (key) => () => {
    if (!unfolded.delete(key)) unfolded.add(key);
    refresh(`#help-${key}`);
  };
  return [
    header("Help and terms", () => back("#/account")),
    el("div", { class: "rows" }, QUESTIONS.map(([key, question, answer]) => el("div", {},
      el("button", { id: `help-${key}`, class: "row", type: "button", "aria-expanded": String(unfolded.has(key)), "aria-controls": `answer-${key}`, onclick: flip(key) }, el("span", { class: "row-text" }, question), icon(unfolded.has(key) ? "icon-minus" : "icon-plus")),
      el("p", { id: `answer-${key}`, class: "answer", hidden: !unfolded.has(key) }, answer)))),
  ];
}
