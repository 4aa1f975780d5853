/** The table of queues, worst first. */

import { known, numberCell, ownerCell, queueState } from "./cells.js";
import { serverNow } from "../frame/clock.js";
import { membersById } from "./document.js";
import { find, h } from "../frame/dom.js";
import { count, duration, rate } from "../frame/format.js";
import { morph } from "../frame/morph.js";
import { lastOf, shown } from "./standing.js";
import { drain, isUnowned, queueKey, reasonOf, worstFirst } from "./status.js";
import { ui } from "../frame/words.js";

/** Rows shown before the reader asks for all. */
const FIRST_ROWS = 100;
const DRAIN_CSS = { now: "", steady: "dim", never: "rising" };

export class QueueTable {
  constructor(table) {
    this.table = table;
    this.all = find("[data-all-queues]");
    this.limit = FIRST_ROWS;
    this.all?.addEventListener("click", () => this.showAll());
    this.body = find("tbody", table);
    this.apply = find("[data-apply-order]");
    this.apply?.addEventListener("click", () => this.draw(this.state, { hold: false }));
    table.addEventListener("pointerleave", () => this.held && this.draw(this.state));
  }

  draw(state, { hold = this.isHeld() } = {}) {
    this.state = state;
    const fresh = h("tbody", {}, ...queueRows(state, this.limit));
    this.held = morph(this.body, fresh, { hold });
    if (this.apply) this.apply.hidden = !this.held;
    this.offerAll(state.queues.length);
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

  /** Mark the row of a queue and bring it into view. */
  mark(key) {
    if (!this.rowOf(key)) this.showAll();
    const row = this.rowOf(key);
    if (!row) return;
    find("tr[aria-current]", this.body)?.removeAttribute("aria-current");
    row.setAttribute("aria-current", "true");
    row.scrollIntoView({ block: "center" });
  }

  light(key) {
    find("tr.lit", this.body)?.classList.remove("lit");
    if (key) this.rowOf(key)?.classList.add("lit");
  }

  rowOf(key) {
    return [...this.body.children].find((row) => row.dataset.key === key);
  }

  isHeld() {
    return this.table.matches(":hover") || Boolean(find("tr[aria-current]", this.body));
  }
}

/** The first rows of the table, in its order. */
export function queueRows(state, limit = Infinity) {
  const members = membersById(state);
  const topics = new Set(state.queues.map((queue) => queue.topic));
  const worst = worstFirst(state).slice(0, limit);
  return worst.map((queue) => queueRow(state, queue, members, topics.size > 1));
}

function queueRow(state, queue, members, withTopic) {
  const number = (column, write) =>
    numberCell(queue[column], write, reasonOf(queue, column));
  return h(
    "tr",
    { "data-key": queueKey(queue), class: lastOf(queue) && "striped" },
    h("td", { "data-flash": true }, queueState(state, queue)),
    h("td", { class: "strong cut", title: queue.topic }, queueName(queue, withTopic)),
    ownerCell(queue, members, isUnowned(state, queue)),
    numberCell(shown(queue, "lag"), count, reasonOf(queue, "lag"), "num strong"),
    number("lag_ms", duration),
    number("rate_in", rate),
    number("rate_out", rate),
    numberCell(inHand(queue), count, reasonOf(queue, "pulled")),
    h("td", { class: "num" }, drained(queue)),
    h("td", { class: "num dim" }, moved(queue)),
  );
}

export function queueName(queue, withTopic) {
  const name = `${queue.broker} / ${queue.queue_id}`;
  return withTopic ? `${queue.topic} · ${name}` : name;
}

/** Messages pulled and not yet committed. */
export function inHand({ pulled, committed }) {
  return pulled === null || committed === null ? null : Math.max(0, pulled - committed);
}

function drained(queue) {
  const { kind, ms, reason } = drain(queue);
  if (kind === "span") return duration(ms);
  if (kind === "unknown") return known(null, String, reason);
  return h("span", { class: DRAIN_CSS[kind] }, ui(kind));
}

function moved(queue) {
  if (queue.moved_at === null) return "";
  return ui("ago", { span: duration(serverNow() - queue.moved_at) });
}
