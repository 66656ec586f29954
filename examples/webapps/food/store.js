// What the mini-app keeps: cart, coupons, addresses, orders. Money is in fen.

import { dishOf, shopOf } from "./catalog.js";

const seed = () => ({
  cart: [],
  coupons: [
    { id: 1, title: "新客立减 Welcome", off: 800, least: 3000, shopId: null, state: "owned" },
    { id: 2, title: "面食券 Noodle day", off: 500, least: 2500, shopId: 1, state: "owned" },
    { id: 3, title: "大单满减 Big order", off: 2000, least: 8000, shopId: null, state: "owned" },
    { id: 4, title: "茶饮券 Tea time", off: 300, least: 1500, shopId: 4, state: "offered" },
    { id: 5, title: "夜宵券 Midnight", off: 600, least: 2000, shopId: 5, state: "offered" },
  ],
  addresses: [
    { id: 1, name: "林晓 Lin Xiao", phone: "13800014725", area: "桂园小区", detail: "6 栋 1203", tag: "家 Home" },
    { id: 2, name: "林晓 Lin Xiao", phone: "13800014725", area: "云杉科技园 Spruce Park", detail: "B 座 8 层", tag: "公司 Work" },
  ],
  orders: [
    {
      id: 1, shopId: 3, lines: [{ dishId: 12, picks: [0], count: 1 }, { dishId: 15, picks: [], count: 1 }], couponId: null, off: 0, addressId: 1, where: "桂园小区 6 栋 1203",
      when: "尽快 As soon as possible", note: "", placed: Date.now() - 3 * 86400000, step: 4, cancelled: false, stars: 5,
    },
  ],
  state: { addressId: 1, pinned: false, favourites: [3], nextCart: 1, nextAddress: 3, nextOrder: 2 },
});

function load(key) {
  try {
    return JSON.parse(localStorage.getItem(`food.${key}`));
  } catch {
    return null; // not JSON: someone edited it by hand
  }
}

export const db = seed();
for (const key of Object.keys(db)) db[key] = load(key) ?? db[key];

export function save() {
  for (const [key, value] of Object.entries(db)) localStorage.setItem(`food.${key}`, JSON.stringify(value));
}

export const addressOf = (id) => db.addresses.find((address) => address.id === Number(id));
export const orderOf = (id) => db.orders.find((order) => order.id === Number(id));
export const couponOf = (id) => db.coupons.find((coupon) => coupon.id === Number(id));
export const sum = (rows, value) => rows.reduce((total, row) => total + value(row), 0);
export const yuan = (fen) => `¥${(fen / 100).toFixed(2).replace(/\.?0+$/, "")}`;

// ---------------------------------------------------------------- cart

export const cartOf = (shopId) => db.cart.filter((line) => line.shopId === shopId);
export const countOf = (lines) => sum(lines, (line) => line.count);
export const unitPrice = ({ dishId, picks }) => dishOf(dishId).price + sum(picks.map((pick, index) => dishOf(dishId).options[index].choices[pick]), (choice) => choice.extra);
export const linesPrice = (lines) => sum(lines, (line) => unitPrice(line) * line.count);
export const pickTexts = ({ dishId, picks }) => picks.map((pick, index) => dishOf(dishId).options[index].choices[pick].text).join("，");

/** Adds `count` of a dish; a line with the same choices takes it in. */
export function addToCart(dishId, picks, count) {
  const { shopId } = dishOf(dishId);
  const same = db.cart.find((line) => line.dishId === dishId && line.picks.join() === picks.join());
  if (same) same.count += count;
  else {
    db.cart.push({ id: db.state.nextCart, shopId, dishId, picks, count });
    db.state.nextCart += 1;
  }
  save();
}

export function changeCount(lineId, by) {
  const line = db.cart.find((other) => other.id === lineId);
  if (!line) return;
  line.count += by;
  if (line.count <= 0) db.cart = db.cart.filter((other) => other !== line);
  save();
}

export function emptyCart(shopId) {
  db.cart = db.cart.filter((line) => line.shopId !== shopId);
  save();
}

// ---------------------------------------------------------------- prices and coupons

const PACKING = 100; // for each portion

/** Why a coupon cannot be used for goods of this price in this shop, or "". */
export function couponProblem(coupon, shopId, goods) {
  if (coupon.shopId !== null && coupon.shopId !== shopId) return `仅限 ${shopOf(coupon.shopId).name} Only there`;
  if (goods < coupon.least) return `还差 ${yuan(coupon.least - goods)} more needed`;
  return "";
}

/** What an order of these lines costs. */
export function bill(shopId, lines, couponId) {
  const goods = linesPrice(lines);
  const packing = countOf(lines) * PACKING;
  const { fee } = shopOf(shopId);
  const coupon = couponOf(couponId);
  const off = coupon && !couponProblem(coupon, shopId, goods) ? coupon.off : 0;
  return { goods, packing, fee, off, total: Math.max(goods + packing + fee - off, 0) };
}

// ---------------------------------------------------------------- orders

export const STEPS = ["已下单 Placed", "商家已接单 Accepted", "制作中 Cooking", "配送中 On the way", "已送达 Delivered"];

export const orderState = (order) => (order.cancelled ? "已取消 Cancelled" : STEPS[order.step]);
export const orderKind = (order) => (order.cancelled ? "cancelled" : order.step === 4 ? "done" : "active");
export const orderTotal = (order) => {
  const { goods, packing, fee } = bill(order.shopId, order.lines, null);
  return Math.max(goods + packing + fee - order.off, 0);
};

export function placeOrder({ shopId, couponId, addressId, when, note }) {
  const lines = cartOf(shopId).map(({ dishId, picks, count }) => ({ dishId, picks, count }));
  const address = addressOf(addressId);
  const order = {
    id: db.state.nextOrder, shopId, lines, couponId, off: bill(shopId, lines, couponId).off, addressId, where: `${address.area} ${address.detail}`, when, note,
    placed: Date.now(), step: 0, cancelled: false, stars: 0,
  };
  db.state.nextOrder += 1;
  db.orders.push(order);
  if (order.off) couponOf(couponId).state = "used";
  emptyCart(shopId);
  return order;
}

export function cancelOrder(order) {
  order.cancelled = true;
  if (order.off) couponOf(order.couponId).state = "owned";
  save();
}

// ---------------------------------------------------------------- addresses

/** What the fields of an address lack: a message for each field that is wrong. */
export function checkAddress({ name, phone, area, detail }) {
  return {
    name: name.trim() ? "" : "请填写联系人 Enter a name",
    phone: !phone.trim() ? "请填写手机号 Enter a phone number" : /^1\d{10}$/.test(phone.trim()) ? "" : "手机号为 11 位，以 1 开头 Eleven digits, the first is 1",
    area: area.trim() ? "" : "请填写小区或大厦 Enter a building",
    detail: detail.trim() ? "" : "请填写门牌号 Enter the door number",
  };
}

export function putAddress(id, fields) {
  const clean = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, value.trim()]));
  if (id === null) {
    db.addresses.push({ id: db.state.nextAddress, ...clean });
    db.state.addressId ??= db.state.nextAddress;
    db.state.nextAddress += 1;
  } else {
    Object.assign(addressOf(id), clean);
  }
  save();
}

export function removeAddress(id) {
  db.addresses = db.addresses.filter((address) => address.id !== id);
  if (db.state.addressId === id) db.state.addressId = db.addresses[0]?.id ?? null;
  save();
}
