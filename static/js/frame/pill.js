/**
 * The pill in the top bar: live, paused, reconnecting or stale, with the age of the
 * data. The age ticks visibly each second; screen readers read it only when the state
 * changes.
 */

import { serverNow } from "./clock.js";
import { find, findAll, h, icon } from "./dom.js";
import { clock, duration } from "./format.js";
import { plural, ui } from "./words.js";

const STALE_AFTER_MS = 25_000;

export class Pill {
  /** When the data was taken, ms of the server; 0 before there is any. */
  takenAt = 0;
  /** @type {number|undefined} */
  answered;
  /** @type {number|undefined} */
  brokers;
  of = "of_brokers";

  /** @param {(paused: boolean) => unknown} onPause called when the button is pressed */
  constructor(onPause) {
    this.element = find("[data-pill]");
    this.buttons = findAll("[data-pause]");
    this.connected = null;
    this.refusal = "";
    this.paused = false;
    this.onPause = onPause;
    this.buttons.forEach((button) =>
      button.addEventListener("click", () => this.toggle()),
    );
    setInterval(() => this.tick(), 1000);
  }

  /**
   * Take what is known of the data: when it was taken, and how many brokers answered.
   * Where `of` is the word for clusters, those are counted instead.
   * @param {{takenAt: number, answered?: number, brokers?: number, of?: string}} known
   */
  show({ takenAt, answered, brokers, of = "of_brokers" }) {
    Object.assign(this, { takenAt, answered, brokers, of });
    this.tick();
  }

  /** @param {boolean} connected @param {string} [refusal] why it will not be tried again */
  setConnected(connected, refusal = "") {
    this.connected = connected;
    this.refusal = refusal;
    this.tick();
  }

  toggle() {
    this.paused = !this.paused;
    const label = ui(this.paused ? "resume" : "pause");
    for (const button of this.buttons) {
      button.setAttribute("aria-pressed", String(this.paused));
      button.setAttribute("aria-label", label);
      button.title = label;
      button.replaceChildren(icon(this.paused ? "play" : "pause"));
    }
    this.tick();
    this.onPause(this.paused);
  }

  tick() {
    if (!this.element) return;
    const age = this.takenAt ? Math.max(0, serverNow() - this.takenAt) : null;
    const [state, word] = this.state(age);
    const withAge = age !== null && (state === "live" || state === "paused");
    find("[data-pill-word]", this.element).replaceChildren(
      state === "partial" ? h("span", { class: "wide-only" }, `${ui("live")} · `) : "",
      word,
      withAge ? ` · ${ui("age", { age: duration(age) })}` : "",
    );
    this.element.dataset.state = state;
    if (this.last === state) return;
    this.last = state;
    find("[data-pill-status]", this.element).textContent = word;
  }

  state(age) {
    const time = this.takenAt ? clock(this.takenAt) : "";
    if (this.paused) return ["paused", ui("paused")];
    if (this.refusal) return ["stale", ui("not_live", { reason: this.refusal })];
    if (this.connected === null) return ["connecting", ui("connecting")];
    if (!this.takenAt) return ["connecting", ui("waiting")];
    if (!this.connected) return ["reconnecting", ui("reconnecting", { time })];
    if (age > STALE_AFTER_MS) return ["stale", ui("stale", { time })];
    if (this.brokers && (this.answered ?? 0) < this.brokers) {
      return ["partial", plural(this.of, this.brokers, { n: this.answered, all: this.brokers })];
    }
    return ["live", ui("live")];
  }
}
