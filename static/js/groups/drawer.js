/**
 * The drawer of one queue: its owner and since when, offsets, lag, rates, its last moves,
 * and where its messages and offsets are. The address says which queue is open, Escape
 * closes the drawer, and the focus goes back to the row.
 */

import { addressed, readdress } from "../frame/address.js";
import { copyButton } from "../frame/copying.js";
import { find, h } from "../frame/dom.js";
import { clock, count, duration, rate } from "../frame/format.js";
import { ask } from "../frame/fragment.js";
import { morph } from "../frame/morph.js";
import { known, ownerCell, queueState } from "./cells.js";
import { apiUrl, membersById } from "./document.js";
import { between, fact, links, params, span, topic } from "./queue_facts.js";
import { drained, queueLine, queueName } from "./queue_rows.js";
import { holdersOf, lastOf, shown } from "./standing.js";
import { inHand, isUnowned, queueKey, reasonOf } from "./status.js";
import { ui } from "../frame/words.js";

/** Moves are asked for again when a queue moves, and else no more often than this. */
const ASK_MS = 15_000;

export class Drawer {
  /** @type {any} */ state;
  /** @type {{events: any[], events_left_out: number, since: any, movedAt: any}|null} */ moves = null;
  failed = false;
  asked = -Infinity;
  movedAt = null;

  /**
   * @param {HTMLElement} element
   * @param {{page: any, onChange: (key: string) => void, back: (key: string) => void}} use
   *   `onChange` is told which queue is open, "" for none; `back` takes the focus
   */
  constructor(element, { page, onChange, back }) {
    this.element = element;
    this.page = page;
    this.onChange = onChange;
    this.back = back;
    this.body = find("[data-drawer-body]", element);
    this.key = addressed("queue");
    onChange(this.key);
    find("[data-drawer-close]", element).addEventListener("click", () => this.close());
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented && this.key) this.close();
    });
    addEventListener("popstate", () => this.turn(addressed("queue")));
  }

  /** Open the drawer for a queue, as a step that the browser can go back. */
  open(key) {
    if (key === this.key) return;
    readdress({ queue: key }, { push: !this.key });
    this.turn(key);
    this.element.focus();
  }

  close() {
    const { key } = this;
    readdress({ queue: "" });
    this.turn("");
    this.back(key);
  }

  turn(key) {
    this.key = key;
    this.moves = null;
    this.failed = false;
    this.asked = -Infinity;
    this.onChange(key);
    if (this.state) this.draw(this.state);
  }

  draw(state) {
    this.state = state;
    const queue = this.key && state.queues.find((each) => queueKey(each) === this.key);
    this.element.hidden = !this.key;
    if (!this.key) return;
    if (queue) this.keepMoves(queue);
    const parts = queue ? this.parts(queue) : [h("p", {}, ui("no_such_queue"))];
    find("[data-drawer-title]", this.element).textContent = queue
      ? queueName(queue, false)
      : this.key.split("|").slice(1).join(" / ");
    morph(this.body, h("div", { "data-drawer-body": true }, ...parts));
  }

  parts(queue) {
    const { state } = this;
    const line = queueLine(state, queue, { width: 300, height: 48 });
    return [
      h("p", { class: "drawer-head" }, queueState(state, queue), topic(queue)),
      h("div", { class: "drawer-line" }, line, line ? span() : null),
      h("dl", { class: "facts" }, ...this.facts(queue).map(fact)),
      h("h3", {}, ui("last_moves")),
      this.moveList(),
      h("ul", { class: "drawer-links" }, ...links(queue, this.page.urls)),
    ];
  }

  /** @returns {[string, any][]} */
  facts(queue) {
    const value = (column, write) =>
      known(shown(queue, column), write, reasonOf(queue, column));
    const fresh = (column, write) =>
      known(queue[column], write, reasonOf(queue, column));
    return [
      ["owner", this.owner(queue)],
      ["owner_since", this.since(queue)],
      ["lag", value("lag", count)],
      ["oldest", fresh("lag_ms", duration)],
      ["in_per_second", fresh("rate_in", rate)],
      ["out_per_second", fresh("rate_out", rate)],
      ["drains_in", drained(queue)],
      ["minimum", value("min", count)],
      ["committed", value("committed", count)],
      ["pulled", known(queue.pulled, count, reasonOf(queue, "pulled"))],
      ["maximum", value("max", count)],
      ["in_hand", known(inHand(queue), count, reasonOf(queue, "pulled"))],
      ["sampled", clock(lastOf(queue)?.at ?? this.state.taken_at)],
    ];
  }

  owner(queue) {
    const cell = ownerCell(queue, membersById(this.state), isUnowned(this.state, queue));
    const buttons = holdersOf(queue).owners.map((id) => copyButton(id, ui("client_id")));
    return h("span", {}, ...cell.childNodes, ...buttons);
  }

  /** Since when the owner holds the queue; not known while that is asked anew. */
  since(queue) {
    const asked = this.moves?.movedAt === queue.moved_at;
    if (!this.moves || !asked) return known(null, String, "not_asked");
    const { since: at } = this.moves;
    return at ? between({ at }) : known(null, String, "not_seen");
  }

  moveList() {
    const missing = this.failed ? "not_answered" : "loading";
    if (!this.moves) return h("p", { class: "dim small" }, ui(missing));
    const { events, events_left_out: older } = this.moves;
    if (!events.length) return h("p", { class: "dim small" }, ui("no_moves"));
    const members = membersById(this.state);
    const name = (ids) =>
      ids.map((id) => members.get(id)?.label ?? id).join(", ") || ui("no_owner");
    return h(
      "ol",
      { class: "drawer-moves" },
      ...events.map((event) =>
        h(
          "li",
          { "data-key": `${event.at} ${event.kind}` },
          h("span", { class: "dim" }, `${between(event)} `),
          `${name(event.before)} → ${name(event.after)}`,
        ),
      ),
      older > 0 && h("li", { class: "dim" }, ui("older_moves", { n: count(older) })),
    );
  }

  /** Ask for the moves of the open queue when they may have changed. */
  async keepMoves(queue) {
    const { key } = this;
    const due = performance.now() - this.asked > ASK_MS;
    if (!due && queue.moved_at === this.movedAt) return;
    this.asked = performance.now();
    const movedAt = (this.movedAt = queue.moved_at);
    const { cluster, group } = this.page;
    const place = { topic: queue.topic, broker: queue.broker, queue_id: queue.queue_id };
    try {
      const answer = await ask(apiUrl(cluster, group, `/moves?${params(place)}`));
      const moves = await answer.json();
      if (key === this.key) this.moves = { ...moves, movedAt };
      this.failed = false;
    } catch {
      this.failed = true; // The server is away, as the pill says; it is asked again.
    }
    if (key === this.key) this.draw(this.state);
  }
}
