// A virtual DOM in a hundred lines: `h` describes a node, `mount` draws a description into an element, changing only
// what differs from the one before. Children with a `key` keep their element when they move.

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "path", "circle"]);
const PROPERTIES = new Set(["value", "checked", "disabled", "hidden", "inert"]); // set on the element, not as attributes

/** Describes an element. Children are descriptions, strings or numbers, in lists as deep as one likes; null and false are left out. */
export function h(tag, props, ...children) {
  const kept = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== "");
  return { tag, props: props ?? {}, children: kept.map((child) => (typeof child === "object" ? child : { text: String(child) })) };
}

const isSame = (a, b) => a.tag === b.tag && a.props?.key === b.props?.key;

function setProp(element, name, value, before) {
  if (name === "key") return;
  if (name.startsWith("on")) {
    element[name] = value ?? null;
  } else if (PROPERTIES.has(name)) {
    const wanted = value ?? (name === "value" ? "" : false);
    if (element[name] !== wanted) element[name] = wanted; // typing changed it, not only we
  } else if (value !== before) {
    if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : value);
  }
}

function create(node) {
  if (node.text !== undefined) {
    node.element = document.createTextNode(node.text);
    return node.element;
  }
  const element = SVG_TAGS.has(node.tag) ? document.createElementNS(SVG, node.tag) : document.createElement(node.tag);
  node.element = element;
  element.append(...node.children.map(create));
  for (const [name, value] of Object.entries(node.props)) setProp(element, name, value, undefined);
  return element;
}

function update(old, node) {
  const { element } = old;
  node.element = element;
  if (node.text !== undefined) {
    if (node.text !== old.text) element.data = node.text;
    return;
  }
  updateChildren(element, old.children, node.children);
  for (const name of Object.keys(old.props)) {
    if (!(name in node.props)) setProp(element, name, undefined, old.props[name]);
  }
  for (const [name, value] of Object.entries(node.props)) setProp(element, name, value, old.props[name]);
}

function updateChildren(parent, before, after) {
  const left = [...before];
  for (const [index, node] of after.entries()) {
    const at = left.findIndex((old) => isSame(old, node));
    if (at >= 0) update(left.splice(at, 1)[0], node);
    else create(node);
    if (parent.childNodes[index] !== node.element) parent.insertBefore(node.element, parent.childNodes[index] ?? null);
  }
  for (const old of left) old.element.remove();
}

/** Returns a function that draws a description as the only child of an element. */
export function mount(root) {
  let drawn = [];
  return (node) => {
    updateChildren(root, drawn, [node]);
    drawn = [node];
  };
}
