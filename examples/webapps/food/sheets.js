// What opens over a screen: sheets from the bottom, and dialogs in the middle.

import { dishOf, shopOf } from "./catalog.js";
import { html } from "./html.js";
import { Row, Stepper, ui } from "./screens.js";
import { bill, cartOf, countOf, db, linesPrice, orderOf, pickTexts, unitPrice, yuan } from "./store.js";

const Sheet = (title, body) => html`<div class="mask" data-do="close-mask"><section class="sheet" role="dialog" aria-modal="true" aria-labelledby="sheet-title">
  <header><h2 id="sheet-title" tabindex="-1">${title}</h2><button id="sheet-close" type="button" data-do="close" aria-label="关闭 Close">✕</button></header>${body}</section></div>`;

const Ask = (title, text, yes, arg, isDanger = true) => html`<div class="mask middle" data-do="close-mask"><section class="ask" role="alertdialog" aria-modal="true" aria-labelledby="sheet-title">
  <h2 id="sheet-title" tabindex="-1">${title}</h2><p id="ask-text">${text}</p><div><button id="ask-no" type="button" data-do="close">${yes ? "取消 Cancel" : "知道了 OK"}</button>
  ${yes && html`<button id="ask-yes" type="button" class="${isDanger ? "red" : "green-text"}" data-do="${yes[0]}" data-arg="${arg}">${yes[1]}</button>`}</div></section></div>`;

const DishSheet = (id) => {
  const dish = dishOf(id);
  const line = { dishId: dish.id, picks: ui.picks };
  return Sheet(dish.name, html`<p class="hint">${dish.en}</p>${dish.options.map((option, index) => html`<fieldset><legend>${option.title}</legend><div class="options">${option.choices.map((choice, at) => html`<label for="pick-${index}-${at}">
      <input id="pick-${index}-${at}" type="radio" name="pick-${index}" data-in="pick" data-arg="${index}:${at}" ${ui.picks[index] === at && html`checked`}><span>${choice.text}${choice.extra > 0 && ` +${yuan(choice.extra)}`}</span></label>`)}</div></fieldset>`)}
    <p class="hint" id="picked">已选 ${pickTexts(line)}</p>
    <footer class="between"><b class="price" id="dish-sum">${yuan(unitPrice(line) * ui.count)}</b>${Stepper({ id: "pick", name: dish.en, count: ui.count, less: ["count", -1], more: ["count", 1] })}
      <button id="add-dish" type="button" class="pay" data-do="add-dish" data-arg="${dish.id}">加入购物车 Add</button></footer>`);
};

const CartSheet = (shopId) => {
  const shop = shopOf(shopId);
  const lines = cartOf(shop.id);
  return Sheet("购物车 Cart", lines.length ? html`<ul class="lines">${lines.map((line) => html`<li id="line-${line.id}"><span class="grow">${dishOf(line.dishId).name}<small>${pickTexts(line)}</small></span><b>${yuan(unitPrice(line) * line.count)}</b>
      ${Stepper({ id: `line-${line.id}`, name: dishOf(line.dishId).en, count: line.count, less: ["line-less", line.id], more: ["line-more", line.id] })}</li>`)}</ul>
    <dl>${Row(`小计 ${countOf(lines)} 件 Subtotal`, yuan(linesPrice(lines)), "cart-subtotal")}</dl>
    <button id="clear-cart" type="button" class="wide ghost" data-do="sheet" data-arg="clear:${shop.id}">清空购物车 Empty the cart</button>` : html`<p class="hint">购物车是空的 The cart is empty</p>`);
};

const two = (number) => String(number).padStart(2, "0");

/** As soon as possible, and the half hours that begin one to three hours from now. */
function times() {
  const halfHour = 30 * 60 * 1000;
  const first = Math.ceil((Date.now() + 2 * halfHour) / halfHour) * halfHour;
  const clock = (ms) => `${two(new Date(ms).getHours())}:${two(new Date(ms).getMinutes())}`;
  return ["尽快 As soon as possible", ...Array.from({ length: 4 }, (_, index) => `${clock(first + index * halfHour)}–${clock(first + (index + 1) * halfHour)}`)];
}

const WhenSheet = () => Sheet("送达时间 Delivery time", html`<div class="options tall" role="radiogroup" aria-label="送达时间 Delivery time">${times().map((text, index) => html`<label for="when-${index}">
  <input id="when-${index}" type="radio" name="when" value="${text}" data-in="when" ${ui.order?.when === text && html`checked`}><span>${text}</span></label>`)}</div>`);

const PaySheet = (shopId) => {
  const { total } = bill(Number(shopId), cartOf(Number(shopId)), ui.order?.couponId);
  const key = (digit) => html`<button id="key-${digit}" type="button" data-do="pin" data-arg="${digit}" ${digit === "delete" && html`aria-label="删除 Delete"`}>${digit === "delete" ? "⌫" : digit}</button>`;
  return Sheet("输入支付密码 Payment PIN", html`<p class="hint">${shopOf(shopId).name}</p><p class="amount" id="pay-total">${yuan(total)}</p>
    <p class="pin" id="pin" role="img" aria-label="${ui.pin.length} of 6 digits">${Array.from({ length: 6 }, (_, index) => html`<i>${index < ui.pin.length && "●"}</i>`)}</p><p class="error" id="pin-error" role="alert">${ui.pinError}</p>
    <div class="keys">${["1", "2", "3", "4", "5", "6", "7", "8", "9"].map(key)}<span></span>${key("0")}${key("delete")}</div>`);
};

const RateSheet = (id) => Sheet("评价订单 Rate", html`<p class="hint">${shopOf(orderOf(id).shopId).name}</p><div class="rate" role="group" aria-label="星级 Stars">${[1, 2, 3, 4, 5].map((star) => html`<button id="star-${star}" type="button" aria-pressed="${star <= ui.stars}" data-do="star" data-arg="${star}" aria-label="${star} 星 stars">${star <= ui.stars ? "★" : "☆"}</button>`)}</div>
  <button id="send-rating" type="button" class="wide" data-do="send-rating" data-arg="${id}" ${ui.stars === 0 && html`disabled`}>提交 Send</button>`);

const MenuSheet = () => Sheet("饭点 Fandian", html`<ul class="list actions"><li><button id="menu-pin" type="button" class="cell" data-do="pin-app">${db.state.pinned ? "移出我的小程序 Remove from mine" : "添加到我的小程序 Add to mine"}</button></li>
  <li><button id="menu-restart" type="button" class="cell" data-do="restart">重新进入 Re-enter</button></li><li><button id="menu-about" type="button" class="cell" data-do="sheet" data-arg="about">关于 About</button></li></ul>`);

const SHEETS = {
  dish: (id) => DishSheet(id),
  cart: (id) => CartSheet(id),
  when: () => WhenSheet(),
  pay: (id) => PaySheet(id),
  rate: (id) => RateSheet(id),
  menu: () => MenuSheet(),
  about: () => Ask("饭点 Fandian 3.2", "演示用的点餐小程序。店铺、菜品和付款都是虚构的。Shops, dishes and payments are invented.", null, ""),
  update: () => Ask("正在升级 Being updated", "该小程序暂时无法打开。This mini program cannot be opened at the moment.", null, ""),
  clear: (id) => Ask("清空购物车？ Empty the cart?", `${shopOf(id).name}：${countOf(cartOf(Number(id)))} 件 items`, ["clear-cart", "清空 Empty"], id),
  cancel: (id) => Ask("取消订单？ Cancel the order?", "款项和优惠券将退回。Money and coupon come back.", ["cancel-order", "取消订单 Yes"], id),
  "remove-address": (id) => Ask("删除地址？ Delete the address?", "删除后无法恢复。This cannot be undone.", ["remove-address", "删除 Delete"], id),
};

/** The markup of a sheet such as "dish:3", or nothing. */
export function sheetOf(key) {
  const [name, id] = (key ?? "").split(":");
  return Object.hasOwn(SHEETS, name) ? SHEETS[name](id) : "";
}
