/** The row of figures at the top of a group's page. */

import { asOf, atLeast, known, stateBadge } from "./cells.js";
import { find, h } from "../frame/dom.js";
import { count, duration, rate, ratio } from "../frame/format.js";
import { standingOf } from "./standing.js";
import { plural, ui, word } from "../frame/words.js";

export class Tiles {
  /** @param {Element} list @param {any} [page] the server's words beside the document */
  constructor(list, page = {}) {
    this.list = list;
    this.page = page;
  }

  draw(state) {
    const { totals } = state;
    const standing = standingOf(state);
    const partial = totals.rate_partial ?? !standing.complete;
    const perSecond = (value) => perSecondOf(value, partial, standing);
    const { asOf: time } = standing;
    find('[data-tile="status"]', this.list)?.classList.toggle("striped", Boolean(time));
    const note = time ? asOf(time) : statusNote(state, standing);
    this.put("status", stateBadge(state.status), note);
    this.put("members", count(totals.members), memberNote(state));
    this.put("queues", count(totals.queues), queueNote(state, standing));
    this.put(
      "lag",
      known(totals.lag, atLeast(totals.lag_partial, count), standing.reason),
      leftOut(totals, standing) || (partial ? "" : growthNote(totals)),
    );
    this.putOldest(state, standing);
    this.put("in", perSecond(totals.rate_in), ratesNote(standing));
    this.put("out", perSecond(totals.rate_out), ratesNote(standing));
    this.put("skew", skew(state), ui("max_mean_lag"));
  }

  /** The age of the oldest message; where only the list of groups knows it, its value. */
  putOldest(state, standing) {
    const { totals } = state;
    const { oldest } = this.page;
    if (totals.oldest_ms === null && oldest && totals.lag !== 0) {
      this.put("oldest", `≥ ${duration(oldest.ms)}`, asOf(oldest.at));
      return;
    }
    const value = known(
      totals.oldest_ms,
      atLeast(totals.oldest_partial, duration),
      oldestReason(state, standing),
    );
    this.put("oldest", value, oldestNote(state));
  }

  put(name, value, sub) {
    const tile = find(`[data-tile="${name}"]`, this.list);
    if (!tile) return;
    swap(find("dd", tile), value);
    swap(find(".sub", tile), sub);
  }
}

/** Replace the content only if it reads differently, so that hovers survive. */
function swap(element, value) {
  const fresh = h(element.tagName, {}, value);
  if (fresh.innerHTML !== element.innerHTML)
    element.replaceChildren(...fresh.childNodes);
}

const of = (key, n, all) => plural(key, all, { n, all });

function perSecondOf(value, partial, { reason }) {
  return value === null
    ? known(null, rate, reason ?? "first_sample")
    : h("span", {}, (partial ? "≥ " : "") + rate(value), h("small", {}, "/s"));
}

function statusNote({ kind, totals }, { unseen, fresh, queues }) {
  if (kind === "owned" && totals.unowned) {
    return of("of_queues", totals.unowned, totals.queues);
  }
  return unseen ? of("judged_on", fresh, queues) : word("kind", kind);
}

function memberNote({ members }) {
  const idle = members.filter((member) => member.idle).length;
  const missing = members.filter((member) => member.missing_since).length;
  return [
    missing && ui("n_missing", { n: missing }),
    idle && ui("n_idle", { n: idle }),
  ]
    .filter(Boolean)
    .join(" · ");
}

function queueNote({ kind, totals }, { unseen, fresh, old, never }) {
  const { owned, unowned } = totals;
  const waiting = kind === "owned" && unowned;
  if (unseen) {
    return [
      waiting ? ui("n_waiting", { n: unowned }) : ui("n_fresh", { n: fresh }),
      old && ui("n_old", { n: old }),
      never && ui("n_never", { n: never }),
    ]
      .filter(Boolean)
      .join(" · ");
  }
  if (kind !== "owned") return "";
  if (waiting) return ui("owned_unowned", { owned, unowned });
  return ui(owned === totals.queues ? "all_owned" : "owned_known", { owned });
}

/** What the sum of the lag leaves out: it is shown beside the sum, never in it. */
function leftOut(totals, { troubles }) {
  const lags = troubles.filter(({ lastLag }) => lastLag !== null);
  const lag = count(lags.reduce((sum, { lastLag }) => sum + lastLag, 0));
  if (lags.length === 1) return ui("broker_had", { name: lags[0].name, lag });
  if (lags.length) return plural("brokers_had", lags.length, { lag });
  const { queues_known: n, queues: all } = totals;
  // All queues known to exist; a broker that was never heard may have more.
  return totals.lag_partial && n < all ? of("queues_known", n, all) : "";
}

function growthNote({ rate_in: rateIn, rate_out: rateOut }) {
  if (rateIn === null || rateOut === null) return "";
  const growth = rateIn - rateOut;
  if (Math.abs(growth) < 1) return "";
  const text = `${growth > 0 ? "▲ +" : "▼ −"}${rate(Math.abs(growth))}/s`;
  return h("span", { class: growth > 0 && "rising" }, text);
}

function ratesNote({ answering, brokers }) {
  const [name] = answering;
  if (answering.length === brokers) return "";
  return answering.length === 1
    ? ui("broker_only", { name })
    : of("of_brokers", answering.length, brokers);
}

function skew({ kind, totals }) {
  if (kind !== "owned") return known(null, ratio, kind === "offline" ? kind : "shared");
  const nothing = totals.lag === 0 && !totals.lag_partial;
  return known(totals.skew, ratio, nothing ? "no_lag" : "not_every_queue");
}

/** Why no age is known; the queues that have messages say so. */
function oldestReason({ totals, queues }, standing) {
  if (totals.lag === null) return standing.reason;
  const queue = queues.find(({ lag, lag_ms: age }) => lag !== 0 && age === null);
  return queue?.unknown.lag_ms ?? null;
}

function oldestNote(state) {
  const known = state.queues.filter((queue) => queue.lag_ms);
  if (!known.length) return "";
  const oldest = known.reduce((a, b) => (b.lag_ms > a.lag_ms ? b : a));
  return `${oldest.broker} / ${oldest.queue_id}`;
}
