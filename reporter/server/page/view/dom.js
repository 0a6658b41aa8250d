// Build DOM nodes. Texts become text nodes only: nothing here makes HTML of a string.

const shown = (children) =>
  children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== "");

export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...shown(children));
  return node;
}

export function fill(node, ...children) {
  node.replaceChildren(...shown(children));
}

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function button(text, onClick, attributes = {}) {
  const node = el("button", { type: "button", ...attributes }, text);
  node.addEventListener("click", onClick);
  return node;
}

export const byId = (id) => document.getElementById(id);
