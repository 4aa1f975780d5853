/**
 * The card that tells everything about one queue, on hover or focus of its cell. It
 * opens after 150 ms, stands under or over its row, and Escape closes it.
 */

import { known, ownerCell, queueState } from "../groups/cells.js";
import { membersById } from "../groups/document.js";
import { h } from "../frame/dom.js";
import { clock, count, duration, rate } from "../frame/format.js";
import { queueName } from "../groups/queue_rows.js";
import { lastOf, shown } from "../groups/standing.js";
import { inHand, isUnowned, reasonOf } from "../groups/status.js";
import { ui } from "../frame/words.js";

const OPEN_AFTER_MS = 150;
const WIDTH = 260;

export class Card {
  constructor(frame) {
    this.frame = frame;
    this.element = h("div", { class: "card", role: "presentation", hidden: true });
    frame.append(this.element);
    this.element.addEventListener("pointerenter", () => clearTimeout(this.closing));
    this.element.addEventListener("pointerleave", () => this.close());
  }

  open(state, queue, anchor, { at = OPEN_AFTER_MS } = {}) {
    clearTimeout(this.opening);
    clearTimeout(this.closing);
    this.opening = setTimeout(() => {
      this.element.replaceChildren(...content(state, queue));
      this.element.hidden = false;
      this.place(anchor);
    }, at);
  }

  /** Leave time to move the pointer from the cell onto the card. */
  closeSoon() {
    clearTimeout(this.opening);
    clearTimeout(this.closing);
    this.closing = setTimeout(() => this.close(), 120);
  }

  close() {
    clearTimeout(this.opening);
    this.element.hidden = true;
  }

  place(anchor) {
    const frame = this.frame.getBoundingClientRect();
    const cell = anchor.getBoundingClientRect();
    const below = cell.bottom + this.element.offsetHeight + 12 < innerHeight;
    const top = below
      ? cell.bottom - frame.top + 6
      : cell.top - frame.top - this.element.offsetHeight - 6;
    const left = Math.min(
      Math.max(0, cell.left - frame.left - 20),
      Math.max(0, frame.width - WIDTH),
    );
    this.element.style.setProperty("top", `${top}px`);
    this.element.style.setProperty("left", `${left}px`);
  }
}

function content(state, queue) {
  const members = membersById(state);
  const value = (column, write) =>
    known(shown(queue, column), write, reasonOf(queue, column));
  const owner = ownerCell(queue, members, isUnowned(state, queue));
  const pairs = [
    ["owner", [...owner.childNodes]],
    ["lag", value("lag", count)],
    ["oldest", value("lag_ms", duration)],
    ["minimum", value("min", count)],
    ["committed", value("committed", count)],
    ["maximum", value("max", count)],
    ["in_hand", known(inHand(queue), count, reasonOf(queue, "pulled"))],
    ["in_per_second", value("rate_in", rate)],
    ["out_per_second", value("rate_out", rate)],
    ["sampled", clock(lastOf(queue)?.at ?? state.taken_at)],
  ];
  return [
    h(
      "div",
      { class: "card-head" },
      h("strong", {}, queueName(queue, false)),
      queueState(state, queue),
    ),
    h("p", { class: "dim small card-topic" }, queue.topic),
    h(
      "dl",
      { class: "evidence" },
      ...pairs.flatMap(([key, value]) => [h("dt", {}, ui(key)), h("dd", {}, value)]),
    ),
  ];
}
