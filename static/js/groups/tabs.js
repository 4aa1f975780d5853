/** The numbers on a group's tabs: how many queues and members it has. */

import { count } from "../frame/format.js";

export class TabCounts {
  /** @param {HTMLElement[]} elements */
  constructor(elements) {
    this.elements = elements;
  }

  draw({ totals }) {
    for (const element of this.elements) {
      const number = totals[element.dataset.tabCount ?? ""];
      const text = typeof number === "number" ? count(number) : "";
      if (element.textContent !== text) element.textContent = text;
    }
  }
}
