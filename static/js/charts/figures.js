/** Draws the figures of a page: fetches each, puts in the theme's colours, plots it. */

import { ui } from "../words.js";
import { colored, fitted } from "./colors.js";

const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset" };

/** One figure: its place on the page, and its document once it came. */
class Figure {
  constructor(place) {
    this.place = place;
    this.document = null;
  }

  async load() {
    try {
      const answer = await fetch(this.place.dataset.figure);
      if (!answer.ok) throw new Error(ui("server_said", { status: answer.status }));
      this.document = await answer.json();
      this.draw();
    } catch (error) {
      this.place.dataset.state = "failed";
      this.place.textContent = ui("action_failed", { reason: error.message });
    }
  }

  draw() {
    if (!this.document) return;
    const style = getComputedStyle(document.documentElement);
    const { data, layout } = colored(this.document, style);
    this.place.style.height = `${layout.height}px`;
    globalThis.Plotly.react(this.place, data, fitted(layout, this.place.clientWidth), CONFIG);
    this.place.dataset.state = "drawn";
  }
}

const figures = [...document.querySelectorAll("[data-figure]")].map((place) => new Figure(place));
figures.forEach((figure) => figure.load());

const redraw = () => figures.forEach((figure) => figure.draw());
addEventListener("themechange", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
