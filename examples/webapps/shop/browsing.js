// Finding things: the catalogue with its search, sort and filters, a product, the saved products.

import { CATEGORIES, PRICE_RANGES, PRODUCTS, SORTS, findProduct } from "./catalogue.js";
import { el, empty, header, icon, picture, radioRows, stepper, switchRow } from "./dom.js";
import { back, closeSheet, go, openSheet } from "./router.js";
import { addToCart, money, plural, roomFor, save, state, toggleSaved } from "./store.js";
import { refresh, toast } from "./main.js";

// Lasts until the page is closed: a new visit starts with everything.
const NO_FILTER = { price: "any", inStock: false };
const browse = { query: "", category: "All", sort: "featured", filter: { ...NO_FILTER } };

const filterCount = () => Number(browse.filter.price !== "any") + Number(browse.filter.inStock);

function found(filter = browse.filter) {
  const wanted = browse.query.trim().toLowerCase();
  return PRODUCTS
    .filter((product) => browse.category === "All" || product.category === browse.category)
    .filter((product) => `${product.name} ${product.text}`.toLowerCase().includes(wanted))
    .filter((product) => PRICE_RANGES[filter.price].holds(product.price))
    .filter((product) => !filter.inStock || product.stock > 0)
    .sort(SORTS[browse.sort].compare);
}

function card(product) {
  return el("li", { class: "card" },
    el("a", { id: `product-${product.id}`, href: `#/product/${product.id}` }, picture(product),
      el("h3", {}, product.name),
      el("p", { class: "price" }, product.options.some((option) => option.ask) ? `from ${money(product.price)}` : money(product.price)),
      el("p", { class: "note" }, product.stock === 0 ? "Sold out" : `★ ${product.rating.toFixed(1)}`)));
}

function showAll() {
  Object.assign(browse, { query: "", category: "All", filter: { ...NO_FILTER } });
  refresh();
}

function results() {
  const products = found();
  if (products.length === 0) {
    return [empty("icon-search", "No matches", "Try other words, or fewer filters.",
      el("button", { id: "show-all", class: "button", type: "button", onclick: showAll }, "Show everything"))];
  }
  return [
    el("p", { id: "result-count", class: "note count", role: "status" }, plural(products.length, "item", "items")),
    el("ul", { id: "products", class: "grid", "aria-label": "Products" }, products.map(card)),
  ];
}

export function catalogueScreen() {
  const list = el("div", { id: "results" }, results());
  const update = () => list.replaceChildren(...results());
  const search = el("input", { id: "search", type: "search", value: browse.query, placeholder: "Search the shop", "aria-label": "Search the shop", autocomplete: "off", enterkeyhint: "search",
    oninput: () => { browse.query = search.value; update(); } });
  return [
    header("Hearthside"),
    el("form", { class: "search", role: "search", onsubmit: (event) => { event.preventDefault(); search.blur(); } }, icon("icon-search"), search),
    el("div", { class: "chips", role: "group", "aria-label": "Category" }, CATEGORIES.map((name) =>
      el("button", { id: `category-${name.toLowerCase()}`, type: "button", "aria-pressed": String(browse.category === name), onclick: () => { browse.category = name; refresh(); } }, name))),
    el("div", { class: "tools" },
      el("button", { id: "open-sort", type: "button", onclick: () => openSheet("sort") }, icon("icon-sort"), SORTS[browse.sort].label),
      el("button", { id: "open-filter", type: "button", onclick: () => openSheet("filter", { ...browse.filter }) }, icon("icon-filter"), filterCount() ? `Filter (${filterCount()})` : "Filter")),
    list,
  ];
}

export const SHEETS = {
  sort: {
    title: "Sort by",
    body: () => [radioRows("sort", "Order of the list", Object.entries(SORTS).map(([key, { label }]) => ({ key, label })), browse.sort,
      (key) => { browse.sort = key; closeSheet(); })],
  },
  filter: {
    title: "Filter",
    body: (chosen) => {
      const show = el("button", { id: "filter-apply", class: "button solid", type: "button", onclick: () => { browse.filter = { ...chosen }; closeSheet(); } });
      const count = () => { show.textContent = `Show ${plural(found(chosen).length, "item", "items")}`; };
      count();
      return [
        radioRows("price", "Price", Object.entries(PRICE_RANGES).map(([key, { label }]) => ({ key, label })), chosen.price, (key) => { chosen.price = key; count(); }),
        switchRow("filter-stock", "In stock only", "", chosen.inStock, (on) => { chosen.inStock = on; count(); }),
        el("div", { class: "actions" },
          el("button", { id: "filter-reset", class: "button", type: "button", onclick: () => { browse.filter = { ...NO_FILTER }; closeSheet(); } }, "Reset"), show),
      ];
    },
  },
};

// ---------------------------------------------------------------- one product

let choice = { productId: null, values: [], quantity: 1, error: "" };

function choose(product) {
  choice = { productId: product.id, values: product.options.map((option) => (option.ask ? null : option.values[0])), quantity: 1, error: "" };
}

/** A visit begins with the first choices; drawing the same visit again keeps them. */
export function leaveProduct() {
  choice.productId = null;
}

function add(product, price) {
  const open = product.options.findIndex((option, index) => choice.values[index] === null);
  if (open >= 0) {
    choice.error = `Choose a ${product.options[open].name.toLowerCase()} first`;
  } else if (choice.quantity > roomFor(product.id)) {
    choice.error = `Only ${product.stock} in stock, and your cart holds ${product.stock - roomFor(product.id)}`;
  } else {
    addToCart(product.id, choice.values.map((value) => value.name), price, choice.quantity);
    choose(product);
    toast("Added to cart", "View cart", () => go("#/cart"));
  }
  refresh();
}

export function productScreen(id) {
  const product = findProduct(id);
  if (!product) return [header("Not found", () => back("#/")), empty("icon-search", "We don't sell that", "The link may be out of date.")];
  if (choice.productId !== id) choose(product);
  const price = product.price + choice.values.reduce((extra, value) => extra + (value?.extra ?? 0), 0);
  const isSaved = state.saved.includes(id);
  const soldOut = product.stock === 0;
  return [
    header("Product", () => back("#/"),
      el("button", { id: "save-product", class: "round", type: "button", "aria-label": "Save for later", "aria-pressed": String(isSaved),
        onclick: () => { toast(toggleSaved(id) ? "Saved for later" : "No longer saved"); refresh(); } }, icon("icon-heart"))),
    picture(product, "large"),
    el("div", { class: "product" },
      el("p", { class: "note" }, `${product.category} · ★ ${product.rating.toFixed(1)}`),
      el("h2", { id: "product-name" }, product.name),
      el("p", { id: "product-price", class: "price" }, money(price)),
      el("p", { class: "text" }, product.text),
      product.options.map((option, index) => el("fieldset", { class: "options" }, el("legend", {}, option.name),
        option.values.map((value, position) => {
          const key = `option-${option.name.toLowerCase()}-${position + 1}`;
          return el("label", { for: key },
            el("input", { type: "radio", id: key, name: option.name, disabled: soldOut, checked: choice.values[index] === value,
              onchange: () => { choice.values[index] = value; choice.error = ""; refresh(`#${key}`); } }),
            el("span", {}, value.extra ? `${value.name} +${money(value.extra)}` : value.name));
        }))),
      el("p", { id: "stock", class: "note" }, soldOut ? "Sold out" : product.stock <= 3 ? `Only ${product.stock} left` : "In stock"),
      el("p", { id: "option-error", class: "error", role: "alert" }, choice.error),
      el("div", { class: "buy" },
        stepper("quantity", "Quantity", choice.quantity, { min: 1, max: Math.max(1, product.stock), onstep: (quantity) => { choice.quantity = quantity; choice.error = ""; refresh(); } }),
        el("button", { id: "add-to-cart", class: "button solid", type: "button", disabled: soldOut, onclick: () => add(product, price) },
          soldOut ? "Sold out" : `Add · ${money(price * choice.quantity)}`))),
  ];
}

// ---------------------------------------------------------------- saved

export function savedScreen() {
  const products = [...state.saved].reverse().map(findProduct);
  if (products.length === 0) {
    return [header("Saved"), empty("icon-heart", "Nothing saved", "Tap the heart on a product to keep it here.",
      el("a", { id: "go-shop", class: "button", href: "#/" }, "Look around"))];
  }
  const remove = (product) => () => {
    const before = [...state.saved];
    toggleSaved(product.id);
    refresh();
    toast(`${product.name} removed`, "Undo", () => { state.saved = before; save(); refresh(); });
  };
  return [
    header("Saved"),
    el("p", { id: "saved-count", class: "note count" }, plural(products.length, "product", "products")),
    el("ul", { id: "saved", class: "lines", "aria-label": "Saved products" }, products.map((product) => el("li", { class: "line" },
      el("a", { href: `#/product/${product.id}`, "aria-label": product.name }, picture(product, "small")),
      el("a", { class: "line-text", id: `saved-${product.id}`, href: `#/product/${product.id}` }, el("h3", {}, product.name), el("p", {}, product.stock ? money(product.price) : "Sold out")),
      el("button", { id: `unsave-${product.id}`, class: "round", type: "button", "aria-label": `Remove ${product.name}`, onclick: remove(product) }, icon("icon-close"))))),
  ];
}
