/** The queues that a finding is about: framed in the map, while the others are dim. */

import { find, findAll } from "../frame/dom.js";

export class Found {
  /** @param {Element} frame @param {(key: string) => Element|null} cellOf */
  constructor(frame, cellOf) {
    this.frame = frame;
    this.cellOf = cellOf;
    /** @type {Set<string>} */
    this.keys = new Set();
  }

  /** Frame these queues; null frames none. */
  show(keys) {
    this.keys = new Set(keys ?? []);
    this.mark();
  }

  /** Bring the first of them into view. */
  reveal() {
    find(".is-found", this.frame)?.scrollIntoView({ block: "nearest" });
  }

  mark() {
    findAll(".is-found", this.frame).forEach((cell) =>
      cell.classList.remove("is-found"),
    );
    for (const key of this.keys) this.cellOf(key)?.classList.add("is-found");
    this.frame.classList.toggle("has-found", Boolean(find(".is-found", this.frame)));
  }
}
