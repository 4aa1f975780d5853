/**
 * The script of a report file. It is put into the file after plotly.js and colors.js,
 * without its import, and loads nothing: the figures are in the file as JSON.
 */

import { colored, fitted } from "./colors.js";

const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset" };
const root = document.documentElement;
/** @type {any} The parts of the page that this uses are in the template. */
const page = document;
const figures = JSON.parse(page.getElementById("figures").textContent);

function draw() {
  for (const place of page.querySelectorAll("[data-figure]")) {
    const { data, layout } = colored(figures[place.dataset.figure]);
    const fit = fitted(layout, place.clientWidth, data);
    place.style.height = `${fit.height}px`;
    globalThis.Plotly.react(place, data, fit, CONFIG);
    place.dataset.state = "drawn";
  }
}

const systemDark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () =>
  root.dataset.theme === "dark" || (root.dataset.theme === "auto" && systemDark.matches);

page.querySelector("[data-theme-button]").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  draw();
});
systemDark.addEventListener("change", draw);
// Paper is white, whatever the theme is.
/** @type {string|undefined} */
let before;
addEventListener("beforeprint", () => {
  before = root.dataset.theme;
  root.dataset.theme = "light";
  draw();
});
addEventListener("afterprint", () => {
  root.dataset.theme = before;
  draw();
});
draw();
