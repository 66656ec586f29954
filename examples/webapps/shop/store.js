// What the shop remembers, and the sums that follow from it.

import { COUPONS, DELIVERIES, FREE_DELIVERY_FROM, findProduct } from "./catalogue.js";

const DAY_MS = 24 * 60 * 60 * 1000;
const PREFIX = "shop.";

function load(name, fallback) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name)) ?? fallback;
  } catch {
    return fallback; // not JSON: someone edited it by hand
  }
}

function firstOrders(now) {
  const address = { name: "Ada Marlow", email: "ada@marlow.example", street: "14 Quay Street", postcode: "20417", city: "Harbourton", phone: "" };
  return {
    orders: [
      { id: 1001, placed: now - 23 * DAY_MS, status: "Delivered", sum: 4350, discount: 0, deliveryPrice: 450, total: 4800, delivery: "standard", payment: "invoice", coupon: null, address },
      { id: 1002, placed: now - 2 * DAY_MS, status: "Preparing", sum: 10700, discount: 1070, deliveryPrice: 0, total: 9630, delivery: "standard", payment: "card", coupon: "WELCOME10", address },
    ],
    orderLines: [
      { id: 1, orderId: 1001, productId: 1, options: ["Moss"], price: 1450, quantity: 3 },
      { id: 2, orderId: 1002, productId: 10, options: ["Smoke"], price: 8800, quantity: 1 },
      { id: 3, orderId: 1002, productId: 11, options: [], price: 950, quantity: 2 },
    ],
  };
}

const fresh = firstOrders(Date.now());

export const state = {
  cart: load("cart", []), // {id, productId, options: [value names], price, quantity}
  orders: load("orders", fresh.orders),
  orderLines: load("orderLines", fresh.orderLines),
  saved: load("saved", [5, 10]), // product ids, the last saved last
  address: load("address", null),
  coupon: load("coupon", null),
  checkout: load("checkout", { delivery: "standard", payment: "invoice" }),
  preferences: load("preferences", { newsletter: false, reminders: true }),
  next: load("next", { cartLine: 1, order: 1003, orderLine: 4 }),
};

export function save() {
  for (const [name, value] of Object.entries(state)) localStorage.setItem(PREFIX + name, JSON.stringify(value));
}

export const money = (cents) => `${cents < 0 ? "−" : ""}$${(Math.abs(cents) / 100).toFixed(2)}`;

const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
/** "March 7, 2026" in local time. */
export function longDate(ms) {
  const date = new Date(ms);
  return `${MONTHS[date.getMonth()]} ${date.getDate()}, ${date.getFullYear()}`;
}

export const plural = (count, one, many) => `${count} ${count === 1 ? one : many}`;

// ---------------------------------------------------------------- cart

export const cartCount = () => state.cart.reduce((count, line) => count + line.quantity, 0);

/** How many of a product may still go into the cart. */
export function roomFor(productId) {
  const held = state.cart.filter((line) => line.productId === productId).reduce((count, line) => count + line.quantity, 0);
  return findProduct(productId).stock - held;
}

export function addToCart(productId, options, price, quantity) {
  const same = (line) => line.productId === productId && line.options.join() === options.join();
  const line = state.cart.find(same);
  if (line) line.quantity += quantity;
  else state.cart.push({ id: state.next.cartLine++, productId, options, price, quantity });
  save();
}

export function removeLine(id) {
  const index = state.cart.findIndex((line) => line.id === id);
  const [line] = state.cart.splice(index, 1);
  save();
  return () => {
    state.cart.splice(index, 0, line);
    save();
  };
}

/** The sums of the cart; `blocked` says why an entered coupon does not count. */
export function totals(delivery = state.checkout.delivery) {
  const sum = state.cart.reduce((total, line) => total + line.price * line.quantity, 0);
  const coupon = state.coupon && COUPONS[state.coupon];
  const blocked = coupon && sum < coupon.least ? `Counts from ${money(coupon.least)}` : "";
  const discount = coupon && !blocked ? Math.min(coupon.off(sum), sum) : 0;
  const free = (coupon && coupon.freeDelivery) || (delivery === "standard" && sum - discount >= FREE_DELIVERY_FROM);
  const deliveryPrice = free || sum === 0 ? 0 : DELIVERIES[delivery].price;
  return { sum, discount, blocked, deliveryPrice, total: sum - discount + deliveryPrice };
}

/** Takes a coupon; returns what is wrong with it, or "". */
export function applyCoupon(text) {
  const code = text.trim().toUpperCase();
  const coupon = Object.hasOwn(COUPONS, code) ? COUPONS[code] : null;
  if (code === "") return "Enter a coupon code";
  if (!coupon) return `“${code}” is not a valid coupon`;
  if (coupon.expired) return `${code} has expired`;
  if (totals().sum < coupon.least) return `${code} needs an order of ${money(coupon.least)} or more`;
  state.coupon = code;
  save();
  return "";
}

// ---------------------------------------------------------------- orders

export function placeOrder() {
  const { sum, discount, blocked, deliveryPrice, total } = totals();
  const order = {
    id: state.next.order++, placed: Date.now(), status: "Preparing", sum, discount, deliveryPrice, total,
    delivery: state.checkout.delivery, payment: state.checkout.payment, coupon: blocked ? null : state.coupon, address: { ...state.address },
  };
  state.orders.push(order);
  for (const { productId, options, price, quantity } of state.cart) {
    state.orderLines.push({ id: state.next.orderLine++, orderId: order.id, productId, options, price, quantity });
  }
  state.cart = [];
  state.coupon = null;
  save();
  return order;
}

export const findOrder = (id) => state.orders.find((order) => order.id === id);
export const linesOf = (orderId) => state.orderLines.filter((line) => line.orderId === orderId);

// ---------------------------------------------------------------- saved

/** Saves a product or forgets it; returns whether it is saved now. */
export function toggleSaved(productId) {
  const isSaved = state.saved.includes(productId);
  state.saved = isSaved ? state.saved.filter((id) => id !== productId) : [...state.saved, productId];
  save();
  return !isSaved;
}

// ---------------------------------------------------------------- address

/** What is wrong with each field of an address; an empty object where nothing is. */
export function addressErrors(address) {
  const errors = {};
  if (address.name === "") errors.name = "Enter your name";
  else if (address.name.length < 3) errors.name = "Use at least 3 characters";
  if (address.email === "") errors.email = "Enter your email";
  else if (!/^[^\s@]+@[^\s@]+\.[^\s@]{2,}$/.test(address.email)) errors.email = "Enter an email such as name@site.com";
  if (address.street === "") errors.street = "Enter street and number";
  else if (!/\d/.test(address.street)) errors.street = "Add the house number";
  if (address.postcode === "") errors.postcode = "Enter a postcode";
  else if (!/^\d{5}$/.test(address.postcode)) errors.postcode = "Use 5 digits";
  if (address.city === "") errors.city = "Enter a city";
  if (address.phone !== "" && !/^\+?[\d ]{7,16}$/.test(address.phone)) errors.phone = "Use digits and spaces only, at least 7";
  return errors;
}
