/** The queues that a finding is about, framed in the map until requested again. */

import { find, findAll } from "../frame/dom.js";

export class Found {
  /** @param {Element} frame @param {(key: string) => Element|null} cellOf */
  constructor(frame, cellOf) {
    this.frame = frame;
    this.cellOf = cellOf;
    /** @type {Set<string>} */
    this.keys = new Set();
  }

  /** Frame these queues, or none if they are framed; false if no cell shows them. */
  show(keys) {
    const again = keys.length === this.keys.size && keys.every((k) => this.keys.has(k));
    this.keys = new Set(again ? [] : keys);
    this.mark();
    const first = find(".is-found", this.frame);
    first?.scrollIntoView({ block: "nearest" });
    return again || first !== null;
  }

  mark() {
    findAll(".is-found", this.frame).forEach((cell) =>
      cell.classList.remove("is-found"),
    );
    for (const key of this.keys) this.cellOf(key)?.classList.add("is-found");
  }
}
