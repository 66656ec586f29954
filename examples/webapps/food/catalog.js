// Shops and dishes: what the server of a real mini-app would send. Prices are in fen, hundredths of a yuan.

export const KINDS = [["all", "全部 All"], ["noodles", "面 Noodles"], ["rice", "饭 Rice"], ["dumplings", "饺 Dumplings"], ["drinks", "茶 Drinks"]];

export const SHOPS = [
  { id: 1, kind: "noodles", sign: "面", tone: "red", name: "巷口牛肉面", en: "Lane Corner Noodles", rating: 4.8, sales: 2310, minutes: 28, fee: 300, least: 2000, notice: "汤面分装，面不易坨 Soup is packed apart", address: "梧桐路 41 号" },
  { id: 2, kind: "rice", sign: "饭", tone: "amber", name: "阿珍煲仔饭", en: "Jen's Clay Pots", rating: 4.6, sales: 1105, minutes: 41, fee: 450, least: 2500, notice: "现煲现做，请耐心等候 Cooked to order", address: "南桥街 7 号" },
  { id: 3, kind: "dumplings", sign: "饺", tone: "blue", name: "北方人家饺子馆", en: "Northern Home Dumplings", rating: 4.9, sales: 3520, minutes: 35, fee: 200, least: 1800, notice: "手工现包 Made by hand", address: "槐树里 12 号" },
  { id: 4, kind: "drinks", sign: "茶", tone: "green", name: "半山茶铺", en: "Half Hill Tea", rating: 4.4, sales: 4876, minutes: 22, fee: 100, least: 1200, notice: "少冰少糖更清爽 Try it with less ice", address: "青石巷 3 号" },
  { id: 5, kind: "rice", sign: "粥", tone: "violet", name: "深夜粥屋", en: "Late Night Congee", rating: 4.5, sales: 640, minutes: 30, fee: 350, least: 1500, notice: "晚上十点后也送 Open until two", address: "星河路 88 号" },
];

const spice = ["辣度 Spice", ["不辣 None", 0], ["微辣 Mild", 0], ["重辣 Hot", 0]];
const size = (extra) => ["份量 Size", ["小份 Small", 0], ["大份 Large", extra]];
const sugar = ["糖度 Sugar", ["全糖 Full", 0], ["半糖 Half", 0], ["无糖 None", 0]];
const ice = ["温度 Ice", ["正常冰 Ice", 0], ["去冰 No ice", 0], ["热 Hot", 0]];

const ROWS = [
  [1, "招牌面 Noodles", "红烧牛肉面", "Braised beef noodles", 2200, 860, [size(500), spice]],
  [1, "招牌面 Noodles", "番茄鸡蛋面", "Tomato and egg noodles", 1500, 412, [size(300)]],
  [1, "招牌面 Noodles", "酸菜肉丝面", "Pickled greens noodles", 1700, 295, [size(300), spice]],
  [1, "小菜 Sides", "凉拌黄瓜", "Smashed cucumber", 800, 533, []],
  [1, "小菜 Sides", "卤蛋", "Braised egg", 300, 1204, []],
  [1, "饮料 Drinks", "酸梅汤", "Plum drink", 600, 377, []],
  [2, "煲仔饭 Clay pots", "腊味煲仔饭", "Cured sausage pot", 2600, 402, [size(600)]],
  [2, "煲仔饭 Clay pots", "香菇滑鸡饭", "Chicken and mushroom pot", 2400, 388, [size(600), spice]],
  [2, "煲仔饭 Clay pots", "豉汁排骨饭", "Black bean rib pot", 2800, 0, [], true],
  [2, "例汤 Soups", "老火例汤", "Soup of the day", 900, 256, []],
  [2, "例汤 Soups", "紫菜蛋花汤", "Seaweed egg soup", 600, 190, []],
  [3, "水饺 Boiled", "猪肉白菜水饺", "Pork and cabbage dumplings", 1900, 1320, [["数量 Pieces", ["12 只 12 pcs", 0], ["18 只 18 pcs", 800]]]],
  [3, "水饺 Boiled", "韭菜鸡蛋水饺", "Chive and egg dumplings", 1800, 845, [["数量 Pieces", ["12 只 12 pcs", 0], ["18 只 18 pcs", 700]]]],
  [3, "煎饺 Fried", "三鲜锅贴", "Three delicacies potstickers", 2100, 610, []],
  [3, "凉菜 Cold", "老醋花生", "Peanuts in vinegar", 900, 421, []],
  [3, "凉菜 Cold", "拍黄瓜", "Garlic cucumber", 800, 366, []],
  [4, "奶茶 Milk tea", "炭焙乌龙奶茶", "Roasted oolong milk tea", 1400, 2210, [sugar, ice, ["加料 Topping", ["不加 None", 0], ["珍珠 Pearls", 200], ["椰果 Coconut", 150]]]],
  [4, "奶茶 Milk tea", "茉莉奶绿", "Jasmine milk tea", 1300, 1650, [sugar, ice]],
  [4, "果茶 Fruit tea", "满杯柠檬茶", "Lemon tea", 1200, 980, [sugar, ice]],
  [4, "果茶 Fruit tea", "葡萄冻冻", "Grape jelly tea", 1700, 0, [], true],
  [5, "粥 Congee", "皮蛋瘦肉粥", "Century egg congee", 1300, 280, [size(400)]],
  [5, "粥 Congee", "南瓜小米粥", "Pumpkin millet congee", 1000, 144, [size(300)]],
  [5, "点心 Snacks", "葱油饼", "Scallion pancake", 700, 320, []],
  [5, "点心 Snacks", "流沙包", "Custard buns", 1200, 201, []],
];

export const DISHES = ROWS.map(([shopId, category, name, en, price, sold, options, soldOut = false], index) => ({
  id: index + 1, shopId, category, name, en, price, sold, soldOut,
  options: options.map(([title, ...choices]) => ({ title, choices: choices.map(([text, extra]) => ({ text, extra })) })),
}));

export const REVIEWS = [
  { shopId: 1, who: "小鹿", stars: 5, text: "牛肉给得多，汤很香。Generous with the beef." },
  { shopId: 1, who: "Tobias", stars: 4, text: "Good noodles, arrived a little late." },
  { shopId: 2, who: "阿杰", stars: 5, text: "锅巴脆脆的！" },
  { shopId: 3, who: "Wenwen", stars: 5, text: "跟奶奶包的一样。Just like at home." },
  { shopId: 4, who: "M.", stars: 4, text: "半糖刚刚好。" },
];

export const shopOf = (id) => SHOPS.find((shop) => shop.id === Number(id));
export const dishOf = (id) => DISHES.find((dish) => dish.id === Number(id));
export const menuOf = (shopId) => DISHES.filter((dish) => dish.shopId === shopId);
