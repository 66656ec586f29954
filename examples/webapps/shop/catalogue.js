// What the shop sells and on what terms. Money is in cents throughout.

export const CATEGORIES = ["All", "Kitchen", "Table", "Living", "Garden"];

const sizes = (...values) => ({ name: "Size", ask: true, values });
const colours = (...values) => ({ name: "Colour", ask: false, values: values.map((name) => ({ name, extra: 0 })) });
const size = (name, extra = 0) => ({ name, extra });

/** `ask`: nothing is chosen at first and the customer has to; otherwise the first value is. */
export const PRODUCTS = [
  { id: 1, name: "Speckled mug", category: "Table", art: "mug", tint: "#e6d5bd", price: 1450, rating: 4.7, stock: 9, options: [colours("Sand", "Moss", "Ink")],
    text: "Thrown by hand in small batches, so no two are quite alike. Holds 320 ml and keeps its heat." },
  { id: 2, name: "Carbon steel pan", category: "Kitchen", art: "pan", tint: "#cfd3cf", price: 5200, rating: 4.8, stock: 4, options: [sizes(size("24 cm"), size("28 cm", 1200))],
    text: "Light enough to toss with one hand. Season it once and it will outlast the stove." },
  { id: 3, name: "Linen apron", category: "Kitchen", art: "apron", tint: "#dfd0c3", price: 3600, rating: 4.4, stock: 6, options: [sizes(size("S"), size("M"), size("L", 200)), colours("Oat", "Rust")],
    text: "Washed linen with one deep pocket and long ties that go round twice." },
  { id: 4, name: "Stovetop kettle", category: "Kitchen", art: "kettle", tint: "#d8c9b4", price: 6400, rating: 4.2, stock: 3, options: [],
    text: "A slow, even pour and a whistle that does not shout. 1.4 litres." },
  { id: 5, name: "Olive wood board", category: "Kitchen", art: "board", tint: "#e2cfa9", price: 2950, rating: 4.6, stock: 5, options: [],
    text: "Cut from one piece, finished with walnut oil. Wipe clean, never soak." },
  { id: 6, name: "Serving bowl", category: "Table", art: "bowl", tint: "#d3d9cf", price: 3800, rating: 4.5, stock: 4, options: [colours("Chalk", "Fern")],
    text: "Wide and low, for salads that want room. Safe in the dishwasher." },
  { id: 7, name: "Tumblers, set of two", category: "Table", art: "glass", tint: "#cddbe0", price: 1800, rating: 4.1, stock: 8, options: [],
    text: "Recycled glass with a faint green edge. They stack." },
  { id: 8, name: "Cotton napkins", category: "Table", art: "napkin", tint: "#e5d9dc", price: 2200, rating: 3.9, stock: 0, options: [colours("Plain", "Striped")],
    text: "Four to a pack, hemmed, soft from the first wash." },
  { id: 9, name: "Paper shade lamp", category: "Living", art: "lamp", tint: "#ecdcb4", price: 7900, rating: 4.3, stock: 2, options: [sizes(size("Table"), size("Floor", 4500))],
    text: "A warm, even light through folded paper. The cord is two metres long and switches at the foot." },
  { id: 10, name: "Wool throw", category: "Living", art: "throw", tint: "#d9c2b6", price: 8800, rating: 4.9, stock: 5, options: [colours("Clay", "Smoke")],
    text: "Woven from undyed wool at a mill by the coast. 130 by 180 cm." },
  { id: 11, name: "Beeswax candle", category: "Living", art: "candle", tint: "#f0deac", price: 950, rating: 4.0, stock: 9, options: [],
    text: "Burns for about thirty hours and smells of honey, not of perfume." },
  { id: 12, name: "Terracotta pot", category: "Garden", art: "pot", tint: "#e3c3ac", price: 1250, rating: 4.4, stock: 9, options: [sizes(size("Small"), size("Large", 800))],
    text: "Frost-proof clay with a hole and a saucer. The plant is not included." },
  { id: 13, name: "Watering can", category: "Garden", art: "can", tint: "#c9d6c5", price: 4150, rating: 4.6, stock: 3, options: [],
    text: "Long spout, good balance, five litres. The rose comes off for a single stream." },
  { id: 14, name: "Harvest basket", category: "Garden", art: "basket", tint: "#decdab", price: 3300, rating: 3.8, stock: 0, options: [],
    text: "Split willow on an ash frame. It creaks a little, as it should." },
];

export const findProduct = (id) => PRODUCTS.find((product) => product.id === id);

export const SORTS = {
  featured: { label: "Featured", compare: (a, b) => a.id - b.id },
  cheap: { label: "Price: low to high", compare: (a, b) => a.price - b.price || a.id - b.id },
  dear: { label: "Price: high to low", compare: (a, b) => b.price - a.price || a.id - b.id },
  rating: { label: "Best rated", compare: (a, b) => b.rating - a.rating || a.id - b.id },
  name: { label: "Name", compare: (a, b) => a.name.localeCompare(b.name, "en") },
};

export const PRICE_RANGES = {
  any: { label: "Any price", holds: () => true },
  low: { label: "Under $20", holds: (price) => price < 2000 },
  middle: { label: "$20 to $50", holds: (price) => price >= 2000 && price <= 5000 },
  high: { label: "Over $50", holds: (price) => price > 5000 },
};

export const COUPONS = {
  WELCOME10: { label: "10% off", least: 0, expired: false, off: (sum) => Math.round(sum / 10) },
  HEARTH5: { label: "$5 off", least: 3000, expired: false, off: () => 500 },
  FREESHIP: { label: "Free delivery", least: 0, expired: false, off: () => 0, freeDelivery: true },
  SUMMER25: { label: "25% off", least: 0, expired: true, off: () => 0 },
};

export const FREE_DELIVERY_FROM = 6000;

export const DELIVERIES = {
  standard: { label: "Standard", hint: "3 to 5 working days", price: 450 },
  express: { label: "Express", hint: "Next working day", price: 990 },
  pickup: { label: "Pick up", hint: "Mill Lane workshop, ready tomorrow", price: 0 },
};

export const PAYMENTS = { invoice: "Invoice", card: "Card on delivery", cash: "Cash on pickup" };
