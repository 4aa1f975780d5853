/**
 * The allocation map: it draws the largest form that fits, or the one chosen, and responds
 * to pointer and keyboard. The active cell and an open block survive every redraw.
 */

import { find, findAll, h, icon } from "../frame/dom.js";
import { UNMEASURED } from "../groups/status.js";
import { ui, word } from "../frame/words.js";
import { drawBlocks, partOf } from "./blocks.js";
import { Card } from "./card.js";
import { Choices } from "./choices.js";
import { Found } from "./found.js";
import { drawGrid, labelWidth } from "./grid.js";
import { drawLegend } from "./legend.js";
import { buildModel } from "./model.js";
import { drawPacked } from "./packed.js";
import { formsFor } from "./scale.js";
import { drawStrips } from "./strips.js";
import { cellSentence } from "./text.js";
import { drawTwin, mapLabel } from "./twin.js";
import { step } from "./walk.js";

const DRAW = {
  packed: drawPacked,
  strips: drawStrips,
  blocks: drawBlocks,
  table: drawTwin,
};

/** With more queues the map gets the whole width, and what was beside it goes below. */
const BESIDE = 24;

export class AllocationMap {
  /** @type {any} */ state;
  /** @type {any} */ model;
  /** @type {any} */ active;
  /** @type {any} */ block;

  /** @param {Element} panel @param {{onLight: Function, onOpen: Function}} callbacks */
  constructor(panel, { onLight, onOpen }) {
    this.panel = panel;
    this.stage = find("[data-map-stage]", panel);
    this.say = find("[data-map-say]", panel);
    this.onLight = onLight;
    this.onOpen = onOpen;
    this.frame = h("div", {
      class: "map-frame",
      tabindex: "0",
      role: "group",
      "aria-describedby": "map-keys",
    });
    this.legend = h("div");
    this.stage.replaceChildren(this.frame, this.legend);
    this.drawing = h("div");
    this.frame.append(this.drawing);
    this.card = new Card(this.frame);
    this.found = new Found(this.frame, (key) => this.cellOf(key));
    this.choices = new Choices(panel, () => this.draw(this.state));
    this.listen();
  }

  draw(state) {
    this.state = state;
    this.panel
      .closest(".columns")
      ?.classList.toggle("stacked", state.queues.length > BESIDE);
    const width = this.stage.clientWidth;
    if (!width) return;
    if (UNMEASURED.includes(state.kind)) return this.drawSentence(state);
    const whole = buildModel(state);
    const part = this.block && partOf(whole, this.block);
    this.model = part ? buildModel(state, part) : whole;
    const sizes = {
      queues: this.model.columns.length,
      members: this.model.rows.length,
      groups: this.model.groups.length,
      width,
    };
    const left = labelWidth(this.model.rows.map(({ member }) => member));
    const forms = part ? ["grid"] : formsFor({ ...sizes, left });
    this.form = this.choices.form(forms);
    this.drawForm(width, part);
    this.choices.show(part ? [] : forms, this.form);
    this.frame.setAttribute("aria-label", mapLabel(this.model));
  }

  drawForm(width, part) {
    const options = { width, measure: this.choices.measure };
    const drawn =
      (this.form === "grid" && drawGrid(this.model, options)) ||
      (DRAW[this.form] ?? DRAW.packed)(this.model, options);
    const look = { class: "button button-small", type: "button", "data-back": true };
    const back = part && h("button", look, ui("back_to_blocks"));
    this.drawing.replaceChildren(...[back, drawn].filter(Boolean));
    const legend =
      this.form === "table"
        ? h("div")
        : drawLegend(this.model, { form: this.form, measure: this.choices.measure });
    this.legend.replaceChildren(legend);
    this.markActive();
    this.found.mark();
  }

  drawSentence(state) {
    const text = word("kind_sentence", state.kind);
    this.drawing.replaceChildren(
      h("p", { class: "map-sentence" }, icon("info"), ` ${text}`),
    );
    this.legend.replaceChildren();
    this.choices.show([], "");
  }

  listen() {
    new ResizeObserver(() => this.state && this.draw(this.state)).observe(this.stage);
    this.panel.addEventListener("click", (event) => this.click(event));
    this.frame.addEventListener("pointerover", (event) => this.hover(event.target));
    this.frame.addEventListener("pointerleave", () => this.leave());
    this.frame.addEventListener("keydown", (event) => this.key(event));
    this.frame.addEventListener("focusout", () => this.leave());
  }

  click({ target }) {
    const block = target.closest("[data-block]");
    if (block || target.closest("[data-back]")) {
      this.block = block?.dataset.block ?? null;
      return this.draw(this.state);
    }
    const cell = target.closest("[data-key]");
    if (cell && this.frame.contains(cell)) this.onOpen(cell.dataset.key);
  }

  hover(target) {
    const cell = target.closest("[data-key]");
    if (!cell) return this.card.closeSoon();
    this.onLight(cell.dataset.key);
    this.card.open(this.state, this.queueOf(cell.dataset.key), cell);
  }

  leave() {
    this.card.closeSoon();
    this.onLight(null);
    if (document.activeElement !== this.frame) this.setActive(null);
  }

  key(event) {
    if (event.key === "Escape") this.card.close();
    if (event.key === "Enter" && this.active) {
      event.preventDefault(); // The row takes the focus, but not the key.
      return this.onOpen(this.active);
    }
    const next = this.model && step(this.model, this.active, event.key);
    if (next === null || next === undefined) return;
    event.preventDefault();
    this.setActive(this.model.columns[next].key);
    this.say.textContent = cellSentence(this.model.columns[next], this.model);
    const cell = this.cellOf(this.active);
    if (cell) this.card.open(this.state, this.queueOf(this.active), cell, { at: 0 });
  }

  setActive(key) {
    this.active = key;
    this.onLight(key);
    this.markActive();
  }

  markActive() {
    for (const cell of findAll(".is-active", this.frame))
      cell.classList.remove("is-active");
    if (this.active) this.cellOf(this.active)?.classList.add("is-active");
  }

  cellOf(key) {
    const named = `[data-key="${CSS.escape(key)}"]`;
    return find(`${named}.cell, .packed ${named}`, this.frame);
  }

  queueOf(key) {
    return this.model.columns.find((column) => column.key === key).queue;
  }
}
