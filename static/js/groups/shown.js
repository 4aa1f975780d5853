/**
 * Which queues map and table show: all, or those of one finding. The address names the
 * finding. If it is found no longer, or names no queues, all are shown and the page says so.
 */

import { addressed, readdress } from "../frame/address.js";
import { h } from "../frame/dom.js";
import { count } from "../frame/format.js";
import { title } from "./found.js";
import { word } from "../frame/words.js";

export class Shown {
  /**
   * @param {HTMLElement} box
   * @param {(keys: string[]|null, finding: string) => void} apply
   */
  constructor(box, apply) {
    this.box = box;
    this.apply = apply;
    this.finding = addressed("finding");
    this.applied = "";
    box.addEventListener("click", (event) => {
      const target = /** @type {Element} */ (event.target);
      if (target.closest("button")) this.choose("");
    });
  }

  /** Show the queues of a finding; of the one that is shown already, all. */
  choose(key) {
    this.finding = key === this.finding ? "" : key;
    readdress({ finding: this.finding });
    if (this.state) this.draw(this.state);
  }

  draw(state) {
    this.state = state;
    const found = state.findings.find(({ key }) => key === this.finding);
    const keys = found?.queues.length ? found.queues : null;
    const text = this.finding ? said(this.finding, found, keys) : "";
    const applied = JSON.stringify([this.finding, keys]);
    if (applied !== this.applied) this.apply(keys, this.finding);
    this.applied = applied;
    if (this.box.dataset.said === text) return;
    this.box.dataset.said = text;
    this.box.hidden = !text;
    const look = { class: "button button-small", type: "button" };
    const back = h("button", look, word("finding", "show_all"));
    this.box.replaceChildren(...(text ? [`${text} `, back] : []));
  }
}

function said(key, found, keys) {
  const all = found?.queue_count ?? 0;
  const values = { title: title(key), n: count(keys?.length ?? 0), all: count(all) };
  if (!keys) return word("finding", found ? "shown_none" : "shown_gone", values);
  if (keys.length < all) return word("finding", "shown_first", values);
  return word("finding", "shown", values, all);
}
