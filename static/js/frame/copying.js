/**
 * Buttons that copy a text to the clipboard, on every page.
 *
 * `<button data-copy="TEXT">` copies its own text, and `<button data-copy-from="#ID">`
 * the content of an element (the value, if it is a field). A button with `data-copy`
 * and neither of the two belongs to a page's own script, which calls `copyText`.
 *
 * Pages served without TLS have no clipboard of the modern kind, and browsers may refuse
 * it; then the older command is used. If that fails as well, the text is selected, so
 * that the reader's own key copies it. The notes of the page are a live region: screen
 * readers say what became of it.
 */

import { find, h, icon, note } from "./dom.js";
import { ui } from "./words.js";

const DONE_MS = 2000;
const LONGEST_SAID = 60;

/** Listen for all buttons of the page, also for those that are drawn later. */
export function tendCopying() {
  document.addEventListener("click", (event) => {
    const target = /** @type {Element} */ (event.target);
    /** @type {HTMLElement|null} */
    const button = target.closest("[data-copy], [data-copy-from]");
    const { copy = "", copyFrom = "" } = button?.dataset ?? {};
    const source = copyFrom ? find(copyFrom) : null;
    const text = copy || textOf(source);
    if (button && text) void copyText(text, { button, source });
  });
}

/**
 * Copy a text, and say so beside the button and to screen readers.
 * @param {string} text
 * @param {{button?: HTMLElement|null, source?: Element|null, said?: string}} [options]
 *   `said` is the sentence for success, `source` the element that shows the text
 * @returns {Promise<boolean>} whether it was copied
 */
export async function copyText(text, { button = null, source = null, said } = {}) {
  const copied = (await write(text)) || writeAsBefore(text, button);
  if (copied) {
    note(said ?? ui("copied", { text: shortened(text) }));
    if (button) mark(button);
  } else {
    if (source) select(source);
    note(ui(source ? "copy_selected" : "copy_refused", { text }), 12);
  }
  return copied;
}

/**
 * A small button that copies `text`; `name` says what that is.
 * @param {string} text @param {string} name
 */
export function copyButton(text, name) {
  const label = ui("copy_name", { name });
  return h(
    "button",
    {
      class: "copy",
      type: "button",
      "data-copy": text,
      "aria-label": label,
      title: label,
    },
    icon("copy", "icon-small"),
  );
}

/** A text as a note can show it: its first line, cut. */
export function shortened(text) {
  const line = text.trim().split("\n")[0];
  const whole = line === text.trim() && line.length <= LONGEST_SAID;
  return whole ? line : `${line.slice(0, LONGEST_SAID - 1)}…`;
}

function textOf(source) {
  return source ? (source.value ?? source.textContent).trim() : "";
}

async function write(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // There is none, or it is not permitted.
  }
}

/** Copy through a field that is selected; the focus goes back to where it was. */
function writeAsBefore(text, button) {
  const field = h("textarea", { class: "unseen", readonly: true, tabindex: "-1" });
  field.value = text;
  // Outside an open dialog nothing can be selected.
  (button?.closest("dialog") ?? document.body).append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  button?.focus();
  return copied;
}

function select(source) {
  if (typeof source.select === "function") source.select();
  else getSelection()?.selectAllChildren(source);
}

/** Show a tick in the place of the button's symbol for a moment. */
function mark(button) {
  const use = find("use", button);
  if (!use || button.classList.contains("copied")) return;
  const before = use.getAttribute("href");
  use.setAttribute("href", before.replace(/#.*/, "#ok"));
  button.classList.add("copied");
  setTimeout(() => {
    use.setAttribute("href", before);
    button.classList.remove("copied");
  }, DONE_MS);
}
