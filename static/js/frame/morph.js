/**
 * Make one tree of elements equal to another with as few changes as possible, so that
 * focus, selection, scroll position and open menus survive an update.
 *
 * Children with `data-key` are matched by it, the others by position; if one child has
 * a key, all its siblings need one. If several have the same key, they match in order.
 * A cell with `data-flash` flashes when its text changes. With `hold`, keyed children
 * keep their order.
 */

const GONE_MS = 5000;
const FLASH_MS = 900;

/** Attributes that the reader's actions set, which the server knows nothing about. */
const KEPT = { TR: "aria-current", DETAILS: "open" };

/**
 * @param {Element} from the element in the page @param {Element} to what it becomes
 * @param {{hold?: boolean}} [options]
 * @returns {boolean} whether an order was held back
 */
export function morph(from, to, options = {}) {
  if (from.isEqualNode(to)) return false;
  syncAttributes(from, to);
  if (from === document.activeElement && "value" in from) return false;
  const keyed = [...to.children].some((child) => child.hasAttribute("data-key"));
  return keyed ? syncKeyed(from, to, options) : syncPlaced(from, to, options);
}

function syncAttributes(from, to) {
  const kept = KEPT[from.tagName];
  for (const { name } of [...from.attributes]) {
    if (!to.hasAttribute(name) && name !== kept) from.removeAttribute(name);
  }
  for (const { name, value } of to.attributes) {
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
}

function syncPlaced(from, to, options) {
  let held = false;
  const wanted = [...to.childNodes];
  const had = [...from.childNodes];
  wanted.forEach((node, index) => {
    const old = had[index];
    if (!old) from.append(node);
    else if (!alike(old, node)) old.replaceWith(node);
    else if (node.nodeType === Node.ELEMENT_NODE)
      held = sync(old, node, options) || held;
    else if (old.nodeValue !== node.nodeValue) old.nodeValue = node.nodeValue;
  });
  had.slice(wanted.length).forEach((node) => node.remove());
  return held;
}

function sync(old, node, options) {
  const changed =
    node.dataset?.flash !== undefined && old.textContent !== node.textContent;
  const held = morph(old, node, options);
  if (changed) flash(old);
  return held;
}

/** The colour fades; if motion is unwelcome, a dot is shown for the same time. */
function flash(cell) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (still) {
    cell.classList.add("changed");
    setTimeout(() => cell.classList.remove("changed"), FLASH_MS);
  } else {
    const frames = [{ background: "var(--accent-soft)" }, { background: "transparent" }];
    cell.animate(frames, FLASH_MS);
  }
}

function alike(one, other) {
  return one.nodeType === other.nodeType && one.nodeName === other.nodeName;
}

function syncKeyed(from, to, options) {
  const had = byKey([...from.children].filter((child) => child.dataset.key));
  const wanted = byKey([...to.children]);
  const before = [...had.keys()].filter(
    (key) => !had.get(key).classList.contains("gone"),
  );
  const reordered =
    [...wanted.keys()].filter((key) => had.has(key)).join("\n") !==
    before.filter((key) => wanted.has(key)).join("\n");
  const hold = Boolean(options.hold && reordered);
  let heldInside = false;
  const result = [...wanted].map(([key, child]) => {
    const old = had.get(key);
    if (!old) return child;
    had.delete(key);
    old.classList.remove("gone");
    heldInside = sync(old, child, options) || heldInside;
    return old;
  });
  had.forEach((child) => leave(child));
  if (hold)
    result.filter((child) => !child.isConnected).forEach((child) => from.append(child));
  else place(from, result);
  return hold || heldInside;
}

/** Children by their key and, if others share it, by how many had it before. */
function byKey(children) {
  const times = new Map();
  return new Map(
    children.map((child) => {
      const { key } = child.dataset;
      const before = times.get(key) ?? 0;
      times.set(key, before + 1);
      return [`${before} ${key}`, child];
    }),
  );
}

/** A row that has left stays for five seconds, struck through. */
function leave(child) {
  if (child.classList.contains("gone") || child.tagName !== "TR") {
    if (child.tagName !== "TR") child.remove();
    return;
  }
  child.classList.add("gone");
  setTimeout(() => child.classList.contains("gone") && child.remove(), GONE_MS);
}

function place(parent, children) {
  let next = parent.firstElementChild;
  for (const child of children) {
    while (next?.classList.contains("gone")) next = next.nextElementSibling;
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
  }
}
