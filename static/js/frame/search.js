/**
 * The search field as a combobox: it offers groups, topics, clients and brokers while
 * one types. Arrow keys move through what is offered, Enter opens it, or all results
 * where nothing is chosen, Escape closes the list. The server writes what is offered.
 */

import { find, findAll } from "./dom.js";
import { fragment } from "./fragment.js";
import { plural } from "./words.js";

const PAUSE_MS = 120;

/** Make comboboxes of all search fields of the page. */
export function offerNames() {
  findAll("[data-search]").forEach((field) => new Combobox(field));
}

class Combobox {
  /** @param {HTMLInputElement} field */
  constructor(field) {
    this.field = field;
    this.form = /** @type {HTMLFormElement} */ (field.form);
    this.list = find("[data-suggestions]", this.form);
    this.status = find("[data-suggested]", this.form);
    this.chosen = -1;
    this.timer = 0;
    /** @type {AbortController|null} */
    this.asking = null;
    this.describe();
    field.addEventListener("input", () => this.askSoon());
    field.addEventListener("focus", () => this.askSoon());
    field.addEventListener("keydown", (event) => this.press(event));
    this.form.addEventListener("focusout", (event) => this.left(event));
  }

  describe() {
    const attributes = {
      role: "combobox",
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": this.list.id,
    };
    for (const [name, value] of Object.entries(attributes))
      this.field.setAttribute(name, value);
    this.list.setAttribute("role", "listbox");
    const label = find(`label[for="${this.field.id}"]`).textContent;
    this.list.setAttribute("aria-label", label);
  }

  get options() {
    return findAll("[role=option]", this.list);
  }

  askSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), PAUSE_MS);
  }

  /** Ask for what matches; an answer that comes after the next question is dropped. */
  async ask() {
    this.asking?.abort();
    if (!this.field.value.trim()) return this.close();
    const asking = (this.asking = new AbortController());
    const fields = new FormData(this.form);
    const query = new URLSearchParams([...fields].map(([k, v]) => [k, String(v)]));
    try {
      const found = await fragment(`${this.form.action}?${query}`, {
        signal: asking.signal,
      });
      if (asking === this.asking) this.show(found);
    } catch {
      if (!asking.signal.aborted) this.close();
    }
  }

  /** @param {DocumentFragment} found */
  show(found) {
    if (!this.form.contains(document.activeElement)) return;
    this.list.replaceChildren(found);
    this.list.hidden = false;
    this.options.forEach((option, at) => (option.id = `${this.list.id}-${at}`));
    this.field.setAttribute("aria-expanded", "true");
    this.choose(-1);
    const none = find("[data-none]", this.list)?.textContent;
    const told = none ?? plural("names_offered", this.options.length);
    const unsearched = findAll("[data-unsearched]", this.list);
    this.status.textContent = [told, ...unsearched.map((p) => p.textContent)].join(" ");
  }

  close() {
    clearTimeout(this.timer);
    this.asking?.abort();
    this.list.hidden = true;
    this.list.replaceChildren();
    this.field.setAttribute("aria-expanded", "false");
    this.status.textContent = "";
    this.choose(-1);
  }

  /** @param {number} at which option; -1 is the field itself */
  choose(at) {
    this.chosen = at;
    this.options.forEach((option, index) =>
      option.setAttribute("aria-selected", String(index === at)),
    );
    const option = this.options[at];
    if (option) {
      this.field.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    } else this.field.removeAttribute("aria-activedescendant");
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.isComposing) return;
    const open = !this.list.hidden;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      if (open) this.move(step);
      else this.ask();
    } else if (event.key === "Enter" && this.options[this.chosen]) {
      event.preventDefault();
      this.options[this.chosen].click();
    } else if (event.key === "Escape" && open) {
      // The field keeps what was typed; a second Escape leaves it.
      event.preventDefault();
      event.stopPropagation();
      this.close();
    }
  }

  /** Move through field and options in a circle. */
  move(step) {
    const places = this.options.length + 1;
    this.choose(((this.chosen + 1 + step + places) % places) - 1);
  }

  /** @param {FocusEvent} event */
  left(event) {
    if (!this.form.contains(/** @type {Node|null} */ (event.relatedTarget)))
      this.close();
  }
}
