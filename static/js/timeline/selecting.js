/**
 * Selecting a span of the timeline: by dragging over the picture, or with the arrow keys
 * and Shift while it has the focus. Enter, or the end of the drag, shows the span on the
 * timeline's own page, whose address carries it; Escape gives the selection up.
 */

import { find, s } from "../frame/dom.js";
import { clock } from "../frame/format.js";
import { ui } from "../frame/words.js";
import { placed, selection, step, timeAt } from "./span.js";

export class Selecting {
  /** @type {{cursor: number, anchor: number}|null} */ at = null;
  dragging = false;

  /** @param {HTMLElement} box what the server draws into, again and again */
  constructor(box) {
    this.box = box;
    this.say = find("[data-timeline-say]");
    box.addEventListener("pointerdown", (event) => this.press(event));
    box.addEventListener("pointermove", (event) => this.drag(event));
    box.addEventListener("pointerup", () => this.drop());
    box.addEventListener("pointercancel", () => this.clear());
    box.addEventListener("keydown", (event) => this.key(event));
    box.addEventListener("focusout", () => this.dragging || this.clear());
  }

  /** Whether the picture must stay as it is. */
  get busy() {
    return this.at !== null;
  }

  get picture() {
    return find("[data-picture]", this.box);
  }

  get span() {
    const { since, until } = this.picture.dataset;
    return { since: Number(since), until: Number(until) };
  }

  press(event) {
    const { picture } = this;
    if (event.button || !picture?.contains(event.target)) return;
    if (event.target.closest("a")) return;
    const share = this.shareAt(event.clientX);
    if (share < 0 || share > 1) return;
    const time = timeAt(this.span, share);
    this.at = { cursor: time, anchor: time };
    this.dragging = true;
    picture.setPointerCapture(event.pointerId);
  }

  drag(event) {
    if (!this.dragging || !this.at) return;
    this.at.cursor = timeAt(this.span, this.shareAt(event.clientX));
    this.mark();
  }

  drop() {
    if (!this.dragging) return;
    this.dragging = false;
    this.show();
  }

  key(event) {
    const { picture } = this;
    if (event.target !== picture) return;
    if (event.key === "Escape" && this.at) {
      event.preventDefault();
      return this.clear();
    }
    if (event.key === "Enter" && this.at) return this.show();
    const { until } = this.span;
    const next = step(this.span, this.at ?? { cursor: until, anchor: until }, event);
    if (!next) return;
    event.preventDefault();
    this.at = next;
    this.mark();
    this.tell();
  }

  /** Go to the selected span, or give up what is too short to be one. */
  show() {
    const found = this.at && selection(this.at.cursor, this.at.anchor);
    const { zoom, by } = this.picture.dataset;
    this.clear();
    if (!found) return;
    const params = new URLSearchParams({
      since: String(found.since),
      until: String(found.until),
    });
    if (by) params.set("by", by);
    location.assign(`${zoom}?${params}`);
  }

  clear() {
    this.at = null;
    this.dragging = false;
    find("[data-selection]", this.box)?.remove();
  }

  mark() {
    if (!this.at) return;
    const bands = find("[data-bands]", this.box);
    const { cursor, anchor } = this.at;
    const { x, width } = placed(this.span, {
      since: Math.min(cursor, anchor),
      until: Math.max(cursor, anchor),
    });
    find("[data-selection]", bands)?.remove();
    bands.append(
      s("rect", {
        class: "timeline-selection",
        "data-selection": true,
        x: `${x}%`,
        width: `${Math.max(0.2, width)}%`,
        height: "100%",
      }),
    );
  }

  tell() {
    if (!this.say || !this.at) return;
    const { cursor, anchor } = this.at;
    const found = selection(cursor, anchor);
    this.say.textContent = found
      ? ui("span_selected", { since: clock(found.since), until: clock(found.until) })
      : clock(cursor);
  }

  shareAt(x) {
    const { left, width } = find("[data-bands]", this.box).getBoundingClientRect();
    return (x - left) / width;
  }
}
