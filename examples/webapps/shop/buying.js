// From the cart to the placed order: cart, address, delivery, review, confirmation.

import { COUPONS, DELIVERIES, FREE_DELIVERY_FROM, PAYMENTS, findProduct } from "./catalogue.js";
import { el, empty, header, icon, orderLines, picture, radioRows, stepper, sumRows } from "./dom.js";
import { back, closeSheet, go, openSheet, replace, replaceSince } from "./router.js";
import { addressErrors, applyCoupon, cartCount, findOrder, longDate, money, placeOrder, plural, removeLine, roomFor, save, state, totals } from "./store.js";
import { refresh, toast } from "./main.js";

const perhapsFree = (cents) => (cents === 0 ? "Free" : money(cents));

export function sums({ sum, discount, deliveryPrice, total }, coupon) {
  return sumRows([
    { id: "sum", name: "Subtotal", value: money(sum) },
    discount > 0 && { id: "discount", name: `Coupon ${coupon}`, value: money(-discount) },
    { id: "delivery-price", name: "Delivery", value: perhapsFree(deliveryPrice) },
    { id: "total", name: "Total", value: money(total), strong: true },
  ]);
}

// ---------------------------------------------------------------- cart

const typed = { coupon: "", error: "" };

function cartLine(line) {
  const product = findProduct(line.productId);
  const step = (quantity) => {
    if (quantity === 0) return openSheet("remove", line.id);
    line.quantity = quantity;
    save();
    refresh();
  };
  return el("li", { class: "line" }, el("a", { href: `#/product/${product.id}`, "aria-label": product.name }, picture(product, "small")),
    el("div", { class: "line-text" }, el("h3", {}, product.name),
      el("p", {}, [...line.options, `${money(line.price)} each`].join(" · ")),
      stepper(`line-${line.id}`, `${product.name} quantity`, line.quantity, { min: 0, max: line.quantity + roomFor(product.id), onstep: step })),
    el("div", { class: "line-end" }, el("strong", { id: `line-${line.id}-total` }, money(line.price * line.quantity)),
      el("button", { id: `line-${line.id}-remove`, class: "round", type: "button", "aria-label": `Remove ${product.name}`, onclick: () => openSheet("remove", line.id) }, icon("icon-close"))));
}

function couponForm() {
  if (state.coupon) {
    const { blocked } = totals();
    return el("div", { class: "coupon applied" },
      el("p", {}, el("strong", { id: "coupon-code" }, state.coupon), el("small", { id: "coupon-state" }, blocked || COUPONS[state.coupon].label)),
      el("button", { id: "coupon-remove", class: "button", type: "button", onclick: () => { state.coupon = null; save(); refresh(); toast("Coupon removed"); } }, "Remove"));
  }
  const field = el("input", { id: "coupon", value: typed.coupon, autocomplete: "off", autocapitalize: "characters", enterkeyhint: "done", maxlength: "20",
    "aria-invalid": String(typed.error !== ""), "aria-describedby": "coupon-error", oninput: () => { typed.coupon = field.value; } });
  const apply = (event) => {
    event.preventDefault();
    typed.error = applyCoupon(field.value);
    if (typed.error === "") {
      typed.coupon = "";
      toast("Coupon applied");
    }
    refresh(typed.error && "#coupon");
  };
  return el("form", { class: "coupon", novalidate: true, onsubmit: apply },
    el("label", { for: "coupon" }, "Coupon code"),
    el("div", { class: "joined" }, field, el("button", { id: "coupon-apply", class: "button", type: "submit" }, "Apply")),
    el("p", { id: "coupon-error", class: "error", role: "alert" }, typed.error));
}

export function cartScreen() {
  if (state.cart.length === 0) {
    return [header("Cart"), empty("icon-cart", "Your cart is empty", "What you add in the shop waits here.",
      el("a", { id: "go-shop", class: "button", href: "#/" }, "Start shopping"))];
  }
  const now = totals();
  const missing = FREE_DELIVERY_FROM - (now.sum - now.discount);
  return [
    header("Cart"),
    el("p", { id: "cart-count", class: "note count" }, plural(cartCount(), "item", "items")),
    el("ul", { id: "cart", class: "lines", "aria-label": "Cart" }, state.cart.map(cartLine)),
    couponForm(),
    sums(now, state.coupon),
    now.deliveryPrice > 0 && missing > 0 ? el("p", { id: "free-from", class: "note count" }, `${money(missing)} more for free standard delivery`) : "",
    el("div", { class: "foot" }, el("button", { id: "checkout", class: "button solid wide", type: "button", onclick: () => go("#/checkout/address") }, "Check out")),
  ];
}

export const SHEETS = {
  remove: {
    title: "Remove from cart?",
    body: (lineId) => {
      const line = state.cart.find(({ id }) => id === lineId);
      if (!line) return [el("p", {}, "It is no longer there.")];
      const remove = () => {
        const undo = removeLine(line.id);
        closeSheet(() => toast("Removed from cart", "Undo", () => { undo(); refresh(); }));
      };
      return [
        el("p", { id: "sheet-text" }, `${findProduct(line.productId).name}, ${plural(line.quantity, "piece", "pieces")}.`),
        el("div", { class: "actions" },
          el("button", { id: "remove-cancel", class: "button", type: "button", onclick: () => closeSheet() }, "Keep it"),
          el("button", { id: "remove-confirm", class: "button solid", type: "button", onclick: remove }, "Remove")),
      ];
    },
  },
};

// ---------------------------------------------------------------- checkout

const FIELDS = [
  { name: "name", label: "Full name", autocomplete: "name" },
  { name: "email", label: "Email", type: "email", autocomplete: "email" },
  { name: "street", label: "Street and number", autocomplete: "street-address" },
  { name: "postcode", label: "Postcode", inputmode: "numeric", autocomplete: "postal-code", maxlength: "8" },
  { name: "city", label: "City", autocomplete: "address-level2" },
  { name: "phone", label: "Phone (optional)", type: "tel", autocomplete: "tel" },
];

/** The address form; `onsaved` is called once what was entered is valid and kept. */
function addressForm(submitLabel, onsaved) {
  const inputs = {};
  const mark = (name, message) => {
    inputs[name].setAttribute("aria-invalid", String(message !== ""));
    document.getElementById(`${name}-error`).textContent = message;
  };
  const submit = (event) => {
    event.preventDefault();
    const address = Object.fromEntries(FIELDS.map(({ name }) => [name, inputs[name].value.trim()]));
    const errors = addressErrors(address);
    for (const { name } of FIELDS) mark(name, errors[name] ?? "");
    const first = FIELDS.find(({ name }) => errors[name]);
    if (first) return inputs[first.name].focus();
    state.address = address;
    save();
    onsaved();
  };
  return el("form", { id: "address-form", class: "form", novalidate: true, onsubmit: submit },
    FIELDS.map(({ name, label, ...more }) => {
      inputs[name] = el("input", { id: name, name, value: state.address?.[name] ?? "", "aria-describedby": `${name}-error`, ...more, oninput: () => mark(name, "") });
      return el("div", { class: "field" }, el("label", { for: name }, label), inputs[name], el("p", { id: `${name}-error`, class: "error", role: "alert" }));
    }),
    el("button", { id: "address-save", class: "button solid wide", type: "submit" }, submitLabel));
}

const steps = (current) => el("ol", { class: "steps", "aria-label": "Checkout steps" }, ["Address", "Delivery", "Review"].map((name, index) =>
  el("li", { "aria-current": index === current ? "step" : null, class: index < current ? "past" : "" }, name)));

export function addressScreen() {
  if (state.cart.length === 0) return replace("#/cart");
  return [header("Address", () => back("#/cart")), steps(0), addressForm("Continue to delivery", () => go("#/checkout/delivery"))];
}

export function savedAddressScreen() {
  return [header("My address", () => back("#/account")), addressForm("Save address", () => { back("#/account"); toast("Address saved"); })];
}

function setDelivery(key) {
  state.checkout.delivery = key;
  if (key !== "pickup" && state.checkout.payment === "cash") state.checkout.payment = "invoice";
  save();
  refresh(`#delivery-${key}`);
}

export function deliveryScreen() {
  if (state.cart.length === 0) return replace("#/cart");
  if (!state.address) return replace("#/checkout/address");
  const { delivery, payment } = state.checkout;
  const payments = Object.entries(PAYMENTS).filter(([key]) => key !== "cash" || delivery === "pickup");
  return [
    header("Delivery", () => back("#/checkout/address")), steps(1),
    radioRows("delivery", "How it gets to you", Object.entries(DELIVERIES).map(([key, { label, hint }]) => ({ key, label, hint, side: perhapsFree(totals(key).deliveryPrice) })), delivery, setDelivery),
    radioRows("payment", "How you pay", payments.map(([key, label]) => ({ key, label })), payment, (key) => { state.checkout.payment = key; save(); }),
    sums(totals(), state.coupon),
    el("div", { class: "foot" }, el("button", { id: "to-review", class: "button solid wide", type: "button", onclick: () => go("#/checkout/review") }, "Continue to review")),
  ];
}

export function addressBlock(address) {
  return el("address", { id: "ship-to" }, [address.name, address.street, `${address.postcode} ${address.city}`, address.email].map((line) => el("span", {}, line)));
}

const terms = { agreed: false, error: "" };

/** What was entered and not applied is gone once the screen is left. */
export function leaveForms() {
  Object.assign(typed, { coupon: "", error: "" });
  Object.assign(terms, { agreed: false, error: "" });
}

export function reviewScreen() {
  if (state.cart.length === 0) return replace("#/cart");
  if (!state.address) return replace("#/checkout/address");
  const place = () => {
    terms.error = terms.agreed ? "" : "Agree to the terms to place the order";
    if (terms.error) return refresh();
    const order = placeOrder();
    replaceSince("#/cart", `#/placed/${order.id}`);
  };
  return [
    header("Review", () => back("#/checkout/delivery")), steps(2),
    orderLines(state.cart),
    el("section", { class: "block" }, el("h2", {}, state.checkout.delivery === "pickup" ? "Invoice to" : "Ship to"), addressBlock(state.address),
      el("a", { id: "change-address", class: "button", href: "#/checkout/address" }, "Change")),
    el("section", { class: "block" }, el("h2", {}, "Delivery and payment"), el("p", { id: "chosen-delivery" }, `${DELIVERIES[state.checkout.delivery].label}, ${PAYMENTS[state.checkout.payment].toLowerCase()}`)),
    sums(totals(), state.coupon),
    el("label", { class: "row", for: "terms" },
      el("input", { type: "checkbox", id: "terms", checked: terms.agreed, onchange: (event) => { terms.agreed = event.target.checked; terms.error = ""; refresh("#terms"); } }),
      el("span", { class: "row-text" }, "I agree to the terms of sale")),
    el("p", { id: "terms-error", class: "error", role: "alert" }, terms.error),
    el("div", { class: "foot" }, el("button", { id: "place-order", class: "button solid wide", type: "button", onclick: place }, `Place order · ${money(totals().total)}`)),
  ];
}

export function placedScreen(id) {
  const order = findOrder(id);
  if (!order) return replace("#/orders");
  return [
    header("Order placed", () => back("#/")),
    el("div", { class: "thanks" }, icon("icon-check"), el("h2", { id: "thanks" }, `Thank you, ${order.address.name.split(" ")[0]}`),
      el("p", { id: "placed-number" }, `Order ${order.id} is placed`),
      el("p", { class: "note" }, `${longDate(order.placed)} · ${money(order.total)}`),
      el("button", { id: "view-order", class: "button solid", type: "button", onclick: () => replace(`#/order/${order.id}`) }, "View order"),
      el("a", { id: "keep-shopping", class: "button", href: "#/" }, "Keep shopping")),
  ];
}
