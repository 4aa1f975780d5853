/**
 * The reader's choices for the map: its form and its measure. Both are in the URL, so
 * that a view can be linked and survives a reload.
 */

import { addressed, readdress } from "../frame/address.js";
import { find, findAll } from "../frame/dom.js";
import { MEASURES } from "./scale.js";

export class Choices {
  /** @param {Element} panel @param {() => void} onChange */
  constructor(panel, onChange) {
    this.views = find("[data-map-views]", panel);
    this.measures = find("[data-map-measures]", panel);
    this.onChange = onChange;
    this.listen(this.views, "view");
    this.listen(this.measures, "measure");
  }

  get measure() {
    const wanted = addressed("measure");
    return wanted && wanted in MEASURES ? wanted : "lag";
  }

  /** The form to draw: the chosen one if it fits, else the largest that does. */
  form(forms) {
    const wanted = addressed("view");
    return forms.includes(wanted) ? wanted : forms[0];
  }

  /** Offer the forms that fit, and mark the ones drawn. */
  show(forms, form) {
    this.views.hidden = forms.length < 2;
    findAll("button", this.views).forEach((button) => {
      button.hidden = !forms.includes(button.value);
    });
    mark(this.views, form);
    this.measures.hidden = !forms.length || form === "table";
    mark(this.measures, this.measure);
  }

  listen(box, name) {
    box.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (!button) return;
      readdress({ [name]: button.value });
      this.onChange();
    });
  }
}

function mark(box, value) {
  findAll("button", box).forEach((button) =>
    button.setAttribute("aria-pressed", String(button.value === value)),
  );
}
