/**
 * The banner over the map while members of a group report different strategies. It says
 * since when: since the change being followed, else since this page first saw it.
 */

import { h, icon } from "../frame/dom.js";
import { clock } from "../frame/format.js";
import { ui } from "../frame/words.js";

export class MixedBanner {
  /** @param {HTMLElement} box @param {{at: number, strategy: string, url: string}|null} change */
  constructor(box, change) {
    this.box = box;
    this.change = change;
    /** @type {number|null} */
    this.since = box.dataset.since ? Number(box.dataset.since) : null;
  }

  draw(state) {
    const counts = strategies(state.members);
    this.box.hidden = counts.size < 2;
    if (counts.size < 2) {
      this.since = null;
      this.box.replaceChildren();
      return;
    }
    this.since ??= this.startedBy(counts) ?? state.taken_at;
    const parts = [...counts].map(([name, n]) => ui("strategy_of", { name, n }));
    const time = clock(this.since);
    const text = ui("mixed_since", { time, parts: parts.join(", ") });
    const link = this.startedBy(counts) && h("a", { href: this.change?.url }, ui("change"));
    this.box.replaceChildren(icon("warn"), h("span", {}, text, " ", link));
  }

  /** The change that a new strategy comes from, if it was the last change. */
  startedBy(counts) {
    const { change } = this;
    return change && counts.has(change.strategy.split("-")[0]) ? change.at : null;
  }
}

/** Count members by reported strategy; a member that reports none says nothing. */
function strategies(members) {
  const counts = new Map();
  for (const { strategy } of members) {
    const name = strategy?.split("-")[0];
    if (name) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}
