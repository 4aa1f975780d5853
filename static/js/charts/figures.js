/** Draws the figures of a page: fetches each, puts in the theme's colours, plots it. */

import { ui } from "../words.js";

const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset" };

/**
 * Return a copy of a figure in which every `--name` is that property's value.
 * `--name/14` is the colour at 14 % opacity.
 * @param {unknown} value
 * @param {CSSStyleDeclaration} style
 */
export function colored(value, style) {
  if (Array.isArray(value)) return value.map((each) => colored(each, style));
  if (value && typeof value === "object") {
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, colored(each, style)]),
    );
  }
  if (typeof value !== "string" || !/^--[a-z]/.test(value)) return value;
  const [name, percent] = value.split("/");
  const found = style.getPropertyValue(name).trim();
  return percent ? translucent(found, Number(percent) / 100) : found;
}

/** Turn #rrggbb into rgba. */
function translucent(hex, opacity) {
  const parts = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return `rgba(${parts.join(",")},${opacity})`;
}

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
    globalThis.Plotly.react(this.place, data, layout, CONFIG);
    this.place.dataset.state = "drawn";
  }
}

const figures = [...document.querySelectorAll("[data-figure]")].map((place) => new Figure(place));
figures.forEach((figure) => figure.load());

const redraw = () => figures.forEach((figure) => figure.draw());
addEventListener("themechange", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
