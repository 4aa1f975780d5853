/** The row of figures at the top of a group's page. */

import { known, stateBadge } from "./cells.js";
import { find, h } from "./dom.js";
import { count, duration, rate, ratio } from "./format.js";
import { ui, word } from "./words.js";

export class Tiles {
  constructor(list) {
    this.list = list;
  }

  draw(state) {
    const { totals } = state;
    const some = totals.lag_partial ? "≥ " : "";
    this.put("status", stateBadge(state.status), statusNote(state));
    this.put("members", count(totals.members), memberNote(state));
    this.put("queues", count(totals.queues), queueNote(state));
    this.put(
      "lag",
      known(totals.lag, (lag) => some + count(lag)),
      lagNote(totals),
    );
    this.put("oldest", known(totals.oldest_ms, duration), oldestNote(state));
    this.put("in", perSecond(totals.rate_in), "");
    this.put("out", perSecond(totals.rate_out), "");
    this.put(
      "skew",
      state.kind === "owned" ? known(totals.skew, ratio) : known(null, ratio, "shared"),
      ui("max_mean_lag"),
    );
  }

  put(name, value, sub) {
    const tile = find(`[data-tile="${name}"]`, this.list);
    if (!tile) return;
    swap(find("dd", tile), value);
    swap(find(".sub", tile), sub);
  }
}

/** Replace what is inside only when it reads differently, so that hovers survive. */
function swap(element, value) {
  const fresh = h(element.tagName, {}, value);
  if (fresh.innerHTML !== element.innerHTML)
    element.replaceChildren(...fresh.childNodes);
}

function perSecond(value) {
  return value === null
    ? known(null, rate, "first_sample")
    : h("span", {}, rate(value), h("small", {}, "/s"));
}

function statusNote(state) {
  const { totals } = state;
  if (state.kind === "owned" && totals.unowned) {
    return ui("of_queues", { n: totals.unowned, all: totals.queues });
  }
  return word("kind", state.kind);
}

function memberNote(state) {
  const idle = state.members.filter((member) => member.idle).length;
  return idle ? ui("n_idle", { n: idle }) : "";
}

function queueNote({ kind, totals }) {
  if (kind !== "owned") return "";
  return totals.unowned
    ? ui("owned_unowned", { owned: totals.owned, unowned: totals.unowned })
    : ui(totals.owned === totals.queues ? "all_owned" : "owned_known", {
        owned: totals.owned,
      });
}

function lagNote({ rate_in: rateIn, rate_out: rateOut }) {
  if (rateIn === null || rateOut === null) return "";
  const growth = rateIn - rateOut;
  if (Math.abs(growth) < 1) return "";
  const text = `${growth > 0 ? "▲ +" : "▼ −"}${rate(Math.abs(growth))}/s`;
  return h("span", { class: growth > 0 ? "rising" : "" }, text);
}

function oldestNote(state) {
  const known = state.queues.filter((queue) => queue.lag_ms);
  if (!known.length) return "";
  const oldest = known.reduce((a, b) => (b.lag_ms > a.lag_ms ? b : a));
  return `${oldest.broker} / ${oldest.queue_id}`;
}
