/**
 * The table of queues: worst first, or in the order that the reader chose, all of them
 * or those of one finding. Both choices are in the address.
 */

import { addressed, readdress } from "../frame/address.js";
import { find, findAll, h } from "../frame/dom.js";
import { morph } from "../frame/morph.js";
import { sortOf, turned } from "./order.js";
import { queueRows, topicsOf } from "./queue_rows.js";
import { queueKey } from "./status.js";
import { ui } from "../frame/words.js";

/** Rows shown before the reader asks for all. */
const FIRST_ROWS = 100;

export class QueueTable {
  /** @type {any} */ state;
  /** @type {Set<string>|null} the queues that are shown; null for all */
  only = null;
  open = "";

  /** @param {HTMLElement} table @param {{onOpen?: (key: string) => void}} callbacks */
  constructor(table, { onOpen = () => {} } = {}) {
    this.table = table;
    this.all = find("[data-all-queues]");
    this.limit = FIRST_ROWS;
    this.all?.addEventListener("click", () => this.showAll());
    this.body = find("tbody", table);
    this.sort = sortOf(addressed("sort"));
    this.apply = find("[data-apply-order]");
    this.apply?.addEventListener("click", () => this.draw(this.state, { hold: false }));
    table.addEventListener("pointerleave", () => this.held && this.draw(this.state));
    this.listen(onOpen);
  }

  listen(onOpen) {
    this.table.addEventListener("click", (event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      /** @type {HTMLElement|null} */
      const heading = target.closest("[data-sort]");
      if (heading) return this.order(turned(this.sort, heading.dataset.sort));
      const row = target.closest("tbody tr");
      if (row instanceof HTMLElement && row.dataset.key) onOpen(row.dataset.key);
    });
    this.choice = find("[data-sort-by]");
    this.choice?.addEventListener("change", () => this.order(this.choice.value));
  }

  draw(state, { hold = this.isHeld() } = {}) {
    this.state = state;
    const { open, sort } = this;
    const part = this.part();
    const fresh = h("tbody", {}, ...queueRows(part, { limit: this.limit, sort, open }));
    this.held = morph(this.body, fresh, { hold });
    if (this.apply) this.apply.hidden = !this.held;
    this.offerAll(part.queues.length);
    this.markOrder();
  }

  /** The document with the queues that are shown. */
  part() {
    const { only, state } = this;
    if (!only) return state;
    const queues = state.queues.filter((queue) => only.has(queueKey(queue)));
    return { ...state, queues, topics: topicsOf(state) };
  }

  /** Sort by a column, or worst first. */
  order(sort) {
    this.sort = sort;
    readdress({ sort });
    this.redraw();
  }

  markOrder() {
    const column = this.sort.replace(/^-/, "") || "state";
    const falls = this.sort.startsWith("-") || column === "state";
    for (const button of findAll("[data-sort]", this.table)) {
      const on = button.dataset.sort === column;
      const heading = button.closest("th");
      if (on) heading.setAttribute("aria-sort", falls ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    }
    if (this.choice) this.choice.value = this.sort;
  }

  /** Show only these queues; null for all. */
  show(keys) {
    this.only = keys && new Set(keys);
    this.redraw();
  }

  /** Draw other rows: those of before have not left, and are not struck through. */
  redraw() {
    if (!this.state) return;
    this.body.replaceChildren();
    this.draw(this.state, { hold: false });
  }

  offerAll(n) {
    if (!this.all) return;
    this.all.hidden = n <= this.limit;
    this.all.textContent = ui("show_all_queues", { n });
  }

  showAll() {
    this.limit = Infinity;
    if (this.state) this.draw(this.state);
  }

  /** Mark the row of a queue, bring it into view and move the focus to it. */
  mark(key, { focus = false } = {}) {
    if (!this.rowOf(key)) this.showAll();
    const row = this.rowOf(key);
    if (!row) return;
    find("tr[aria-current]", this.body)?.removeAttribute("aria-current");
    row.setAttribute("aria-current", "true");
    row.scrollIntoView({ block: "center" });
    if (focus) find("[data-open]", row)?.focus({ preventScroll: true });
  }

  light(key) {
    find("tr.lit", this.body)?.classList.remove("lit");
    if (key) this.rowOf(key)?.classList.add("lit");
  }

  rowOf(key) {
    return [...this.body.children].find((row) => row.dataset.key === key);
  }

  isHeld() {
    const marked = Boolean(find("tr[aria-current]", this.body));
    return this.table.matches(":hover") || marked || Boolean(this.open);
  }
}
