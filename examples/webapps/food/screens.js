// Components and screens: functions from what is kept, and what is chosen at the moment (`ui`), to markup. `data-do` names
// what a tap does, `data-in` what typing does, `data-arg` says with what; main.js has the doing.

import { DISHES, KINDS, REVIEWS, SHOPS, dishOf, menuOf, shopOf } from "./catalog.js";
import { html } from "./html.js";
import {
  STEPS, addressOf, bill, cartOf, countOf, couponOf, couponProblem, db, linesPrice, orderKind, orderOf, orderState, orderTotal, pickTexts, sum, unitPrice, yuan,
} from "./store.js";

export const ui = {
  kind: "all", sort: "default", query: "", category: {}, shopTab: {}, orders: "all", coupons: "owned",
  order: null, form: null, errors: {}, picks: [], count: 1, pin: "", pinError: "", stars: 0,
};

// ---------------------------------------------------------------- components

const Capsule = () => html`<div class="capsule" role="group" aria-label="小程序 Mini program">
  <button id="capsule-menu" type="button" data-do="sheet" data-arg="menu" aria-label="菜单 Menu">•••</button>
  <button id="capsule-close" type="button" data-do="exit" aria-label="关闭 Close">◎</button></div>`;

const Nav = (title, parent = null) => html`<header class="nav">
  ${parent && html`<button id="back" class="back" type="button" data-do="back" data-arg="${parent}" aria-label="返回 Back">‹</button>`}
  <h1 tabindex="-1">${title}</h1>${Capsule()}</header>`;

const TABS = [["home", "首页", "Home", "⌂"], ["orders", "订单", "Orders", "≡"], ["me", "我的", "Me", "☺"]];
const TabBar = (current) => html`<nav class="tabbar" aria-label="主导航 Main">${TABS.map(([name, zh, en, sign]) =>
  html`<a id="tab-${name}" href="#/${name}" ${current === name && html`aria-current="page"`}><span aria-hidden="true">${sign}</span>${zh} ${en}</a>`)}</nav>`;

export const Empty = (sign, title, text) => html`<div class="empty"><span aria-hidden="true">${sign}</span><h2>${title}</h2><p>${text}</p></div>`;

/** Minus, number, plus; the minus and the number only where there is something to take away. */
export const Stepper = ({ id, name, count, less, more }) => html`<span class="stepper">
  ${count > 0 && html`<button id="less-${id}" type="button" class="less" data-do="${less[0]}" data-arg="${less[1]}" aria-label="减少 Less ${name}">−</button><b id="count-${id}">${count}</b>`}
  <button id="more-${id}" type="button" class="more" data-do="${more[0]}" data-arg="${more[1]}" aria-label="增加 More ${name}">+</button></span>`;

const Sign = (shop) => html`<span class="sign ${shop.tone}" aria-hidden="true">${shop.sign}</span>`;

const ShopCard = (shop) => {
  const count = countOf(cartOf(shop.id));
  return html`<li><a class="shop" id="shop-${shop.id}" href="#/shop/${shop.id}">${Sign(shop)}
    <span class="grow"><strong>${shop.name}</strong><small>${shop.en}</small>
      <span class="meta"><em>★ ${shop.rating}</em> 月售 ${shop.sales} · ${shop.minutes} 分钟 min</span>
      <span class="meta">起送 ${yuan(shop.least)} · 配送费 ${yuan(shop.fee)}</span></span>
    ${count > 0 && html`<b class="dot" id="shop-${shop.id}-count" aria-label="${count} in the cart">${count}</b>`}</a></li>`;
};

const Choice = ({ group, value, text, chosen, action }) => html`<button id="${group}-${value}" type="button" class="chip" aria-pressed="${chosen}" data-do="${action}" data-arg="${value}">${text}</button>`;

export const Row = (name, value, id) => html`<div class="bill"><dt>${name}</dt><dd ${id && html`id="${id}"`}>${value}</dd></div>`;

const Lines = (lines) => html`<ul class="lines">${lines.map((line) => html`<li><span class="grow">${dishOf(line.dishId).name}<small>${pickTexts(line)}</small></span>
  <span class="times">×${line.count}</span><b>${yuan(unitPrice(line) * line.count)}</b></li>`)}</ul>`;

const address = (entry) => `${entry.area} ${entry.detail}`;

// ---------------------------------------------------------------- the host app

const MINI = [["fandian", "饭点", "Fandian · Food nearby", "饭", "green"], ["steps", "步步", "Bubu · Walk together", "步", "blue"], ["parcel", "取件", "Qujian · Parcels", "件", "amber"]];

const MiniRow = ([key, name, text, sign, tone], prefix) => html`<li><button id="${prefix}-${key}" type="button" class="mini" data-do="open" data-arg="${key}">
  <span class="sign ${tone}" aria-hidden="true">${sign}</span><span class="grow"><strong>${name}</strong><small>${text}</small></span></button></li>`;

export const Host = () => ({
  title: "小程序 Mini programs",
  body: html`<header class="nav host"><h1 tabindex="-1">小程序 Mini programs</h1></header><main class="host">
    ${db.state.pinned && html`<section aria-labelledby="mine"><h2 id="mine">我的小程序 Mine</h2><ul class="list">${MiniRow(MINI[0], "mine")}</ul></section>`}
    <section aria-labelledby="recent"><h2 id="recent">最近使用 Recent</h2><ul class="list">${MINI.map((entry) => MiniRow(entry, "open"))}</ul></section></main>`,
});

export const Loading = () => ({ title: "饭点", body: html`<main class="loading" role="status"><span class="sign green" aria-hidden="true">饭</span><strong>饭点</strong><p>加载中 Loading…</p></main>` });

// ---------------------------------------------------------------- home and search

const SORTS = [["default", "综合 Best"], ["rating", "评分 Rating"], ["minutes", "最快 Fastest"], ["fee", "配送费 Fee"]];
const ORDER = { default: () => 0, rating: (a, b) => b.rating - a.rating, minutes: (a, b) => a.minutes - b.minutes, fee: (a, b) => a.fee - b.fee };

export const Home = () => {
  const shops = SHOPS.filter((shop) => ui.kind === "all" || shop.kind === ui.kind).sort((a, b) => ORDER[ui.sort](a, b) || a.id - b.id);
  const here = addressOf(db.state.addressId);
  const offered = db.coupons.filter((coupon) => coupon.state === "offered").length;
  return {
    title: "饭点 Fandian",
    body: html`${Nav("饭点 Fandian")}<main class="tabbed">
      <div class="hero"><a id="home-address" class="where" href="#/addresses"><span aria-hidden="true">◉</span> ${here ? address(here) : "选择地址 Choose an address"} ›</a>
        <a id="open-search" class="search" href="#/search">搜索店铺或菜品 Search shops and dishes</a></div>
      ${offered > 0 && html`<a id="coupon-banner" class="banner" href="#/coupons"><strong>领券中心 Coupons</strong><span id="offered-count">${offered} 张可领 to collect</span></a>`}
      <div class="chips" id="kinds" role="group" aria-label="分类 Kinds" data-scroll>${KINDS.map(([value, text]) => Choice({ group: "kind", value, text, chosen: ui.kind === value, action: "kind" }))}</div>
      <div class="chips plain" id="sorts" role="group" aria-label="排序 Order" data-scroll>${SORTS.map(([value, text]) => Choice({ group: "sort", value, text, chosen: ui.sort === value, action: "sort" }))}</div>
      <p class="count" id="shop-count">${shops.length} 家店 ${shops.length === 1 ? "shop" : "shops"}</p>
      <ul class="list" aria-label="店铺 Shops">${shops.map(ShopCard)}</ul></main>${TabBar("home")}`,
  };
};

export const Search = () => {
  const wanted = ui.query.trim().toLowerCase();
  const has = (...texts) => wanted !== "" && texts.some((text) => text.toLowerCase().includes(wanted));
  const shops = SHOPS.filter((shop) => has(shop.name, shop.en));
  const dishes = DISHES.filter((dish) => has(dish.name, dish.en));
  return {
    title: "搜索 Search",
    body: html`${Nav("搜索 Search", "#/home")}<main><form class="searchbox" data-submit="blur" role="search">
        <input id="search" type="search" value="${ui.query}" data-in="query" placeholder="面、茶、congee…" aria-label="搜索 Search" autocomplete="off"></form>
      <p class="count" id="search-count" role="status">${!wanted ? "输入关键词 Type to search" : shops.length + dishes.length ? `找到 ${shops.length + dishes.length} 个结果 found` : `没有“${ui.query.trim()}” Nothing found`}</p>
      <ul class="list" aria-label="结果 Results">${shops.map(ShopCard)}${dishes.map((dish) => html`<li><a class="shop" id="dish-found-${dish.id}" href="#/shop/${dish.shopId}">${Sign(shopOf(dish.shopId))}
        <span class="grow"><strong>${dish.name}</strong><small>${dish.en}</small><span class="meta">${shopOf(dish.shopId).name}</span></span><b class="price">${yuan(dish.price)}</b></a></li>`)}</ul></main>`,
  };
};

// ---------------------------------------------------------------- shop

const Dish = (dish) => {
  const lines = db.cart.filter((line) => line.dishId === dish.id);
  const count = countOf(lines);
  const control = dish.soldOut ? html`<span class="gone">售罄 Sold out</span>`
    : dish.options.length ? html`<span class="choose">${count > 0 && html`<b class="dot" id="count-dish-${dish.id}" aria-label="${count} in the cart">${count}</b>`}
      <button id="choose-${dish.id}" type="button" class="pill" data-do="dish" data-arg="${dish.id}" aria-label="选规格 Choose ${dish.en}">选规格</button></span>`
    : Stepper({ id: `dish-${dish.id}`, name: dish.en, count, less: ["line-less", lines[0]?.id], more: ["add", dish.id] });
  return html`<li class="dish ${dish.soldOut && "off"}" id="dish-${dish.id}"><span class="plate ${shopOf(dish.shopId).tone}" aria-hidden="true">${dish.name[0]}</span>
    <span class="grow"><strong>${dish.name}</strong><small>${dish.en}</small><small>月售 ${dish.sold}</small>
    <span class="foot"><b class="price">${yuan(dish.price)}${dish.options.some((option) => option.choices.some((choice) => choice.extra)) && html`<i> 起</i>`}</b>${control}</span></span></li>`;
};

const CartBar = (shop) => {
  const lines = cartOf(shop.id);
  const goods = linesPrice(lines);
  const missing = shop.least - goods;
  return html`<footer class="cartbar"><button id="open-cart" type="button" class="basket" data-do="sheet" data-arg="cart:${shop.id}" ${!lines.length && html`disabled`} aria-label="购物车 Cart">
      <span aria-hidden="true">🛒︎</span>${lines.length > 0 && html`<b class="dot" id="cart-count">${countOf(lines)}</b>`}</button>
    <span class="grow"><b id="cart-sum">${lines.length ? yuan(goods) : "未选购 Empty"}</b><small>配送费 Delivery ${yuan(shop.fee)}</small></span>
    <button id="checkout" type="button" class="pay" data-do="checkout" data-arg="${shop.id}" ${missing > 0 && html`disabled`}>${missing > 0 ? `差 ${yuan(missing)} 起送` : "去结算 Checkout"}</button></footer>`;
};

export const Shop = (shop) => {
  const dishes = menuOf(shop.id);
  const categories = [...new Set(dishes.map((dish) => dish.category))];
  const current = ui.category[shop.id] ?? categories[0];
  const tab = ui.shopTab[shop.id] ?? "menu";
  const reviews = REVIEWS.filter((review) => review.shopId === shop.id);
  const rated = db.orders.filter((order) => order.shopId === shop.id && order.stars > 0);
  const favourite = db.state.favourites.includes(shop.id);
  const inCategory = (category) => countOf(db.cart.filter((line) => dishOf(line.dishId).shopId === shop.id && dishOf(line.dishId).category === category));
  const menu = () => html`<div class="menu"><ul class="side" id="side" aria-label="菜单分类 Categories" data-scroll>${categories.map((category, index) => html`<li>
      <button id="category-${index}" type="button" aria-pressed="${category === current}" data-do="category" data-arg="${shop.id}:${category}">${category}${inCategory(category) > 0 && html`<b class="dot">${inCategory(category)}</b>`}</button></li>`)}</ul>
    <ul class="dishes" aria-label="${current}">${dishes.filter((dish) => dish.category === current).map(Dish)}</ul></div>`;
  const opinions = () => html`<ul class="list reviews" aria-label="评价 Reviews">
    ${rated.map((order) => html`<li><strong>我 Me</strong><span class="stars" aria-label="${order.stars} of 5 stars">${"★".repeat(order.stars)}</span></li>`)}
    ${reviews.map((review) => html`<li><strong>${review.who}</strong><span class="stars" aria-label="${review.stars} of 5 stars">${"★".repeat(review.stars)}</span><p>${review.text}</p></li>`)}
    ${reviews.length + rated.length === 0 && html`<li><p>还没有评价 No reviews yet</p></li>`}</ul>`;
  const facts = () => html`<dl class="list facts">${Row("地址 Address", shop.address)}${Row("起送 Minimum", yuan(shop.least))}${Row("配送费 Delivery", yuan(shop.fee))}${Row("公告 Notice", shop.notice)}</dl>`;
  return {
    title: shop.name,
    body: html`${Nav(shop.name, "#/home")}<main class="carted"><div class="shophead ${shop.tone}"><span class="grow"><strong>${shop.en}</strong><small>★ ${shop.rating} · ${shop.minutes} 分钟 min</small><small>${shop.notice}</small></span>
        <button id="favourite" type="button" class="heart" aria-pressed="${favourite}" aria-label="收藏 Favourite" data-do="favourite" data-arg="${shop.id}">${favourite ? "♥" : "♡"}</button></div>
      <div class="tabs" role="group" aria-label="店铺 Shop">${[["menu", "点餐 Menu"], ["reviews", "评价 Reviews"], ["info", "商家 Info"]].map(([value, text]) =>
        html`<button id="shoptab-${value}" type="button" aria-pressed="${tab === value}" data-do="shop-tab" data-arg="${shop.id}:${value}">${text}</button>`)}</div>
      ${{ menu, reviews: opinions, info: facts }[tab]()}</main>${CartBar(shop)}`,
  };
};

// ---------------------------------------------------------------- checkout

export const Confirm = (shop) => {
  const lines = cartOf(shop.id);
  if (!lines.length) return { title: "确认订单 Confirm", body: html`${Nav("确认订单 Confirm", `#/shop/${shop.id}`)}<main>${Empty("🛒︎", "购物车是空的", "The cart is empty")}</main>` };
  const { order } = ui;
  const costs = bill(shop.id, lines, order.couponId);
  const to = addressOf(db.state.addressId);
  const usable = db.coupons.filter((coupon) => coupon.state === "owned" && !couponProblem(coupon, shop.id, costs.goods)).length;
  const used = costs.off ? `−${yuan(costs.off)}` : usable ? `${usable} 张可用 usable` : "无可用 None usable";
  return {
    title: "确认订单 Confirm",
    body: html`${Nav("确认订单 Confirm", `#/shop/${shop.id}`)}<main class="carted">
      <div class="list"><a id="confirm-address" class="cell" href="#/choose-address"><span class="grow">${to ? html`<strong>${address(to)}</strong><small>${to.name} ${to.phone}</small>` : html`<strong>选择收货地址</strong><small>Choose where to deliver</small>`}</span>›</a>
        <p id="address-error" class="error" role="alert">${ui.errors.address}</p>
        <button id="confirm-when" type="button" class="cell" data-do="sheet" data-arg="when"><span class="grow">送达时间 Delivery</span><span id="when-value">${order.when}</span> ›</button></div>
      <section class="list pad" aria-label="${shop.name}"><h2>${shop.name}</h2>${Lines(lines)}
        <dl>${Row("商品 Dishes", yuan(costs.goods), "bill-goods")}${Row("打包费 Packing", yuan(costs.packing), "bill-packing")}${Row("配送费 Delivery", yuan(costs.fee), "bill-fee")}</dl></section>
      <div class="list"><a id="confirm-coupon" class="cell" href="#/use-coupon/${shop.id}"><span class="grow">优惠券 Coupon</span><span class="red" id="coupon-value">${used}</span> ›</a>
        <label class="cell" for="note"><span>备注 Note</span><input id="note" type="text" maxlength="40" value="${order.note}" data-in="note" placeholder="不要香菜 No coriander" autocomplete="off"></label></div>
      </main><footer class="cartbar"><span class="grow total">合计 Total <b id="bill-total">${yuan(costs.total)}</b></span><button id="submit-order" type="button" class="pay" data-do="submit-order" data-arg="${shop.id}">提交订单 Order</button></footer>`,
  };
};

const Ticket = (coupon, control, problem = "") => html`<li class="ticket ${(problem || coupon.state === "used") && "off"}" id="coupon-${coupon.id}"><span class="worth"><b>${yuan(coupon.off)}</b><small>满 ${yuan(coupon.least)} 可用</small></span>
  <span class="grow"><strong>${coupon.title}</strong><small>${coupon.shopId === null ? "全部店铺 All shops" : shopOf(coupon.shopId).name}</small><small>Minimum order ${yuan(coupon.least)}</small>${problem && html`<small class="error" id="coupon-${coupon.id}-problem">${problem}</small>`}</span>${control}</li>`;

export const UseCoupon = (shop) => {
  const goods = linesPrice(cartOf(shop.id));
  const owned = db.coupons.filter((coupon) => coupon.state === "owned").map((coupon) => [coupon, couponProblem(coupon, shop.id, goods)]).sort((a, b) => Boolean(a[1]) - Boolean(b[1]));
  return {
    title: "选择优惠券 Choose a coupon",
    body: html`${Nav("选择优惠券 Coupon", `#/confirm/${shop.id}`)}<main><p class="count" id="coupon-goods">商品金额 Dishes ${yuan(goods)}</p><ul class="tickets" aria-label="优惠券 Coupons">${owned.map(([coupon, problem]) =>
      Ticket(coupon, html`<button id="use-${coupon.id}" type="button" class="pill" data-do="use-coupon" data-arg="${coupon.id}" ${problem && html`disabled`} aria-label="使用 Use ${coupon.title}">${ui.order?.couponId === coupon.id ? "已选" : "使用"}</button>`, problem))}</ul>
      ${owned.length === 0 && Empty("券", "没有优惠券", "You have no coupons")}
      <button id="use-none" type="button" class="wide ghost" data-do="use-coupon" data-arg="">不使用优惠券 No coupon</button></main>`,
  };
};

// ---------------------------------------------------------------- coupons, addresses, orders, me

export const Coupons = () => {
  const tabs = [["owned", "可用 Mine"], ["offered", "领取 Collect"], ["used", "已用 Used"]];
  const shown = db.coupons.filter((coupon) => coupon.state === ui.coupons);
  return {
    title: "优惠券 Coupons",
    body: html`${Nav("优惠券 Coupons", "#/home")}<main><div class="tabs" role="group" aria-label="优惠券 Coupons">${tabs.map(([value, text]) =>
        html`<button id="coupons-${value}" type="button" aria-pressed="${ui.coupons === value}" data-do="coupon-tab" data-arg="${value}">${text} ${db.coupons.filter((coupon) => coupon.state === value).length}</button>`)}</div>
      <ul class="tickets" aria-label="优惠券 Coupons">${shown.map((coupon) => Ticket(coupon, coupon.state === "offered" && html`<button id="collect-${coupon.id}" type="button" class="pill" data-do="collect" data-arg="${coupon.id}" aria-label="领取 Collect ${coupon.title}">领取</button>`))}</ul>
      ${shown.length === 0 && Empty("券", "这里空空的", "Nothing here")}</main>`,
  };
};

export const Addresses = (isChoosing) => ({
  title: "收货地址 Addresses",
  body: html`${Nav(isChoosing ? "选择地址 Choose" : "收货地址 Addresses", "#/home")}<main><ul class="list" aria-label="收货地址 Addresses">${db.addresses.map((entry) => html`<li class="cell">
      <button id="address-${entry.id}" type="button" class="grow pick" aria-pressed="${entry.id === db.state.addressId}" data-do="choose-address" data-arg="${entry.id}"><span class="ring" aria-hidden="true"></span>
        <span class="grow"><strong>${address(entry)}</strong><small>${entry.name} ${entry.phone}</small><small class="tag">${entry.tag}</small></span></button>
      <a id="edit-address-${entry.id}" class="pen" href="#/address/${entry.id}" aria-label="编辑 Edit ${address(entry)}">✎</a></li>`)}</ul>
    ${db.addresses.length === 0 && Empty("◉", "还没有地址", "No address yet")}
    <a id="add-address" class="wide" href="#/address/new">新增地址 Add address</a></main>`,
});

const TAGS = ["家 Home", "公司 Work", "学校 School"];

export const AddressForm = (id) => {
  const { form } = ui;
  const field = (key, label, hint, type = "text") => html`<div class="field"><label for="form-${key}">${label}</label><input id="form-${key}" type="${type}" value="${form[key]}" data-in="form" data-arg="${key}" placeholder="${hint}" maxlength="40" autocomplete="off"
    ${ui.errors[key] && html`aria-invalid="true"`} aria-describedby="form-${key}-error"></div><p id="form-${key}-error" class="error" role="alert">${ui.errors[key]}</p>`;
  const title = id === null ? "新增地址 New address" : "编辑地址 Edit address";
  return {
    title,
    body: html`${Nav(title, "#/addresses")}<main><form id="address-form" data-submit="save-address" novalidate><div class="list">
        ${field("name", "联系人 Name", "姓名 Full name")}${field("phone", "手机号 Phone", "11 位手机号 11 digits", "tel")}${field("area", "小区 Building", "小区或大厦")}${field("detail", "门牌 Door", "楼号、门牌号")}
        <div class="field" role="group" aria-label="标签 Tag"><span>标签 Tag</span><span class="grow">${TAGS.map((tag, index) => Choice({ group: "tag", value: index, text: tag, chosen: form.tag === tag, action: "tag" }))}</span></div></div>
      <button id="save-address" type="submit" class="wide">保存 Save</button></form>
      ${id !== null && html`<button id="remove-address" type="button" class="wide ghost red" data-do="sheet" data-arg="remove-address:${id}">删除地址 Delete</button>`}</main>`,
  };
};

export const tagOf = (index) => TAGS[Number(index)];

const two = (number) => String(number).padStart(2, "0");
const stamp = (ms) => {
  const date = new Date(ms);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
};

export const Orders = () => {
  const tabs = [["all", "全部 All"], ["active", "进行中 Active"], ["done", "已完成 Done"], ["cancelled", "已取消 Off"]];
  const shown = db.orders.filter((order) => ui.orders === "all" || orderKind(order) === ui.orders).sort((a, b) => b.id - a.id);
  return {
    title: "订单 Orders",
    body: html`${Nav("订单 Orders")}<main class="tabbed"><div class="tabs" role="group" aria-label="订单 Orders">${tabs.map(([value, text]) => html`<button id="orders-${value}" type="button" aria-pressed="${ui.orders === value}" data-do="order-tab" data-arg="${value}">${text}</button>`)}</div>
      <ul class="cards" aria-label="订单 Orders">${shown.map((order) => html`<li class="list pad"><a id="order-${order.id}" href="#/order/${order.id}"><span class="between"><strong>${shopOf(order.shopId).name}</strong><span class="state" id="order-${order.id}-state">${orderState(order)}</span></span>
        <small>${order.lines.map((line) => dishOf(line.dishId).name).join("、")}</small><span class="between"><small>${stamp(order.placed)}</small><span>共 ${countOf(order.lines)} 件 <b>${yuan(orderTotal(order))}</b></span></span></a>
        <div class="right"><button id="again-${order.id}" type="button" class="pill ghost" data-do="again" data-arg="${order.id}">再来一单 Again</button></div></li>`)}</ul>
      ${shown.length === 0 && Empty("≡", "没有订单", "No orders here")}</main>${TabBar("orders")}`,
  };
};

export const Order = (order) => {
  const { goods, packing, fee } = bill(order.shopId, order.lines, null);
  const next = order.cancelled || order.step === 4 ? null : order.step === 3 ? ["receive", "确认收货 Received"] : ["refresh", "刷新状态 Refresh"];
  return {
    title: `订单 Order ${order.id}`,
    body: html`${Nav(`订单 Order #${order.id}`, "#/orders")}<main><div class="list pad status"><h2 id="order-state">${orderState(order)}</h2><p>${order.when}</p>
        ${!order.cancelled && html`<ol class="steps" aria-label="进度 Progress">${STEPS.map((step, index) => html`<li class="${index <= order.step && "past"}" ${index === order.step && html`aria-current="step"`}>${step}</li>`)}</ol>`}
        <div class="right">${!order.cancelled && order.step < 2 && html`<button id="cancel-order" type="button" class="pill ghost" data-do="sheet" data-arg="cancel:${order.id}">取消 Cancel</button>`}
          ${next && html`<button id="next-step" type="button" class="pill" data-do="${next[0]}" data-arg="${order.id}">${next[1]}</button>`}
          ${orderKind(order) === "done" && (order.stars ? html`<span class="stars" id="order-stars" aria-label="${order.stars} of 5 stars">${"★".repeat(order.stars)}${"☆".repeat(5 - order.stars)}</span>` : html`<button id="rate-order" type="button" class="pill" data-do="rate" data-arg="${order.id}">评价 Rate</button>`)}</div></div>
      <section class="list pad" aria-label="${shopOf(order.shopId).name}"><h2>${shopOf(order.shopId).name}</h2>${Lines(order.lines)}<dl>${Row("商品 Dishes", yuan(goods))}${Row("打包费 Packing", yuan(packing))}${Row("配送费 Delivery", yuan(fee))}
        ${order.off > 0 && Row(`优惠 ${couponOf(order.couponId).title}`, `−${yuan(order.off)}`)}${Row("实付 Paid", yuan(orderTotal(order)), "order-total")}</dl></section>
      <dl class="list pad">${Row("地址 Address", order.where)}${order.note && Row("备注 Note", order.note, "order-note")}${Row("下单时间 Placed", stamp(order.placed))}</dl></main>`,
  };
};

export const Me = () => {
  const paid = db.orders.filter((order) => !order.cancelled);
  const link = (to, text, value) => html`<a id="me-${to}" class="cell" href="#/${to}"><span class="grow">${text}</span><span id="me-${to}-count">${value}</span> ›</a>`;
  return {
    title: "我的 Me",
    body: html`${Nav("我的 Me")}<main class="tabbed"><div class="profile"><span class="sign green" aria-hidden="true">晓</span><span class="grow"><strong>林晓 Lin Xiao</strong><small id="spent">共 ${paid.length} 单 orders · 消费 ${yuan(sum(paid, orderTotal))}</small></span></div>
      <div class="list">${link("coupons", "优惠券 Coupons", db.coupons.filter((coupon) => coupon.state === "owned").length)}${link("addresses", "收货地址 Addresses", db.addresses.length)}${link("favourites", "收藏店铺 Favourites", db.state.favourites.length)}</div>
      <div class="list"><button id="me-about" type="button" class="cell" data-do="sheet" data-arg="about"><span class="grow">关于饭点 About</span>›</button></div></main>${TabBar("me")}`,
  };
};

export const Favourites = () => {
  const shops = SHOPS.filter((shop) => db.state.favourites.includes(shop.id));
  return { title: "收藏 Favourites", body: html`${Nav("收藏 Favourites", "#/me")}<main><ul class="list" aria-label="收藏 Favourites">${shops.map(ShopCard)}</ul>${shops.length === 0 && Empty("♡", "还没有收藏", "Tap the heart of a shop")}</main>` };
};

export const Missing = () => ({ title: "找不到 Not found", body: html`${Nav("找不到 Not found", "#/home")}<main>${Empty("?", "页面不存在", "This page does not exist")}</main>` });
export const orderPage = (id) => (orderOf(id) ? Order(orderOf(id)) : Missing());
