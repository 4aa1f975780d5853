/**
 * Draws the figures of a page: fetches each, puts in the theme's colours and plots it.
 * A zoom on one zooms all that share the time axis; each is then fetched again for that
 * span, which brings finer steps if there are any.
 */

import { ask } from "../frame/fragment.js";
import { ui } from "../frame/words.js";
import { colored, fitted } from "./colors.js";

const CONFIG = { displayModeBar: false, responsive: true, doubleClick: false };
const ZOOM_PAUSE_MS = 200;

/** One figure: its place on the page, and its document once it has arrived. */
class Figure {
  constructor(place) {
    this.place = place;
    this.box = place.parentElement;
    this.document = null;
    this.asked = 0;
    this.listens = false;
  }

  /** Fetch the document, of the whole period or of a span, and draw it. */
  async load(span = null) {
    const number = ++this.asked;
    try {
      const found = await (await ask(this.address(span))).json();
      if (number !== this.asked) return; // a later zoom was faster
      this.document = found;
      this.draw();
      this.tell(span);
    } catch (error) {
      if (number !== this.asked) return;
      this.place.dataset.state = "failed";
      this.place.textContent = ui("action_failed", { reason: error.message });
    }
  }

  address(span) {
    const url = new URL(this.place.dataset.figure, location.href);
    if (span) {
      url.searchParams.set("from", span[0]);
      url.searchParams.set("to", span[1]);
    }
    return url;
  }

  draw() {
    if (!this.document) return;
    const { data, layout } = colored(this.document);
    const fit = fitted(layout, this.place.clientWidth, data);
    this.place.style.height = `${fit.height}px`;
    globalThis.Plotly.react(this.place, data, fit, CONFIG);
    this.listen();
    this.place.dataset.state = "drawn";
  }

  get hasTime() {
    return this.document?.layout.xaxis?.type === "date";
  }

  listen() {
    if (this.listens || !this.hasTime) return;
    this.listens = true;
    this.place.on("plotly_relayout", (change) => {
      const range = rangeOf(change);
      if (range) zoom(range);
    });
    this.place.on("plotly_doubleclick", () => zoom(null));
  }

  /** Say below the figure in which steps it is shown, and where these come from. */
  tell(span) {
    const note = this.box.querySelector("[data-zoom-note]");
    const reset = this.box.querySelector("[data-zoom-reset]");
    const meta = this.document.meta;
    if (!note || !reset) return;
    reset.hidden = !span;
    note.textContent = this.hasTime ? (meta?.text ?? "") : "";
    this.place.dataset.step = meta?.step_seconds ?? "";
    this.offer(span);
  }

  /** Offer a report for what only a report can compute, if the span was not read. */
  offer(span) {
    const link = this.box.querySelector("[data-zoom-report]");
    if (!link) return;
    link.hidden = !span || this.document.meta?.closer;
    if (link.hidden) return;
    const url = new URL(link.href);
    url.searchParams.set("since", minute(span[0]));
    url.searchParams.set("until", minute(span[1]));
    link.href = url.href;
  }
}

/** A local time as a form field takes it: 2026-03-13T08:05. */
const minute = (text) => text.replace(" ", "T").slice(0, 16);

function rangeOf(change) {
  if (change["xaxis.range"]) return change["xaxis.range"];
  const range = [change["xaxis.range[0]"], change["xaxis.range[1]"]];
  return range[0] && range[1] ? range : null;
}

const figures = [...document.querySelectorAll("[data-figure]")].map((place) => new Figure(place));

let timer = 0;
let shown = null;
figures.forEach((figure) => begin(figure));

/** Draw a figure; if another was zoomed before it arrived, it follows that zoom. */
async function begin(figure) {
  await figure.load();
  if (shown && figure.hasTime) await figure.load(shown);
}

/** Show a span, or with null the whole period, on every figure with a time axis. */
function zoom(span) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    shown = span;
    figures.filter((figure) => figure.hasTime).forEach((figure) => figure.load(span));
  }, ZOOM_PAUSE_MS);
}

document.querySelectorAll("[data-zoom-reset]").forEach((button) => {
  button.addEventListener("click", () => zoom(null));
});

const redraw = () => figures.forEach((figure) => figure.draw());
addEventListener("themechange", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
