/**
 * Words that are explained where they stand: a small button beside the word opens its
 * meaning, which the page has once (`templates/frame/terms.html`).
 *
 * The browser opens and closes the box, by key as by touch (`popover`); all that is left
 * to do is to place it at its button, since not every browser can do that by itself.
 */

import { h, icon } from "./dom.js";
import { ui, word } from "./words.js";

const WIDEST = 340;
const APART = 6;
const ROOM_BELOW = 180;

/** The button beside a word; the tag `explain` draws the same one. */
export function explain(key) {
  const label = ui("explain", { name: word("term", key) });
  return h(
    "button",
    { class: "explain", type: "button", popovertarget: `term-${key}`, "aria-label": label },
    icon("info", "icon-small"),
  );
}

/** Place each box at the button that opens it. */
export function tendTerms() {
  /** @type {Element|null} */
  let button = null;
  const note = (event) => {
    button = event.target.closest(".explain") ?? button;
  };
  document.addEventListener("click", note, { capture: true });
  const opening = (/** @type {ToggleEvent} */ event) => {
    const box = /** @type {HTMLElement} */ (event.target);
    if (event.newState === "open" && box.matches(".term") && button) place(box, button);
  };
  document.addEventListener("beforetoggle", opening, { capture: true });
}

/** Below its button, above it near the lower edge, and within the page's width. */
function place(box, button) {
  const { top, bottom, left } = button.getBoundingClientRect();
  const page = document.documentElement;
  const most = page.clientWidth - WIDEST - APART;
  const below = bottom + ROOM_BELOW < page.clientHeight;
  const height = `${(below ? bottom : page.clientHeight - top) + APART}px`;
  box.style.setProperty("left", `${Math.max(APART, Math.min(left, most))}px`);
  box.style.setProperty("top", below ? height : "auto");
  box.style.setProperty("bottom", below ? "auto" : height);
  // Scrolled, it would no longer stand at its button.
  const close = () => box.hidePopover();
  document.addEventListener("scroll", close, { capture: true, once: true });
}
