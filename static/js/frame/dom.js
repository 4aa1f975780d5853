/** Small builders of elements. Text is always set as text, never parsed as HTML. */

const SVG = "http://www.w3.org/2000/svg";
const ICONS = new URL("../../img/icons.svg", import.meta.url).pathname;

/**
 * Make an HTML element. Attributes that are null or false are left out.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...(Node|string|number|null)} children
 */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Make an SVG element, by the same rules as `h`. */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Draw a symbol of the icon sheet. */
export function icon(name, extra = "") {
  return s(
    "svg",
    { class: `icon ${extra}`, "aria-hidden": "true" },
    s("use", { href: `${ICONS}#${name}` }),
  );
}

/** The dash of a value that is not known, with the reason. */
export function dash(reason) {
  return h(
    "span",
    { class: "unknown", tabindex: "0", title: reason },
    "—",
    h("span", { class: "unseen" }, ` ${reason}`),
  );
}

/**
 * Find the first matching element; templates and scripts agree on what it is.
 * @param {string} selector
 * @param {ParentNode} [root]
 * @returns {any}
 */
export function find(selector, root = document) {
  return root.querySelector(selector);
}

/**
 * @param {string} selector
 * @param {ParentNode} [root]
 * @returns {any[]}
 */
export function findAll(selector, root = document) {
  return [...root.querySelectorAll(selector)];
}

/** Read a document that the server put into the page. */
export function readJson(id) {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent ?? "") : null;
}

/** Show a message for some seconds at the edge of the page. */
export function note(text, seconds = 6) {
  const box = find("[data-notes]");
  if (!box) return;
  const element = h("p", { class: "note" }, text);
  box.append(element);
  setTimeout(() => element.remove(), seconds * 1000);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}
