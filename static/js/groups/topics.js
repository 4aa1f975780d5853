/** The topics that a group consumes, beside the title of its map. */

import { compareText } from "./status.js";

export class Topics {
  constructor(element) {
    this.element = element;
  }

  draw({ queues }) {
    const topics = [...new Set(queues.map(({ topic }) => topic))];
    const text = topics.sort(compareText).join(", ");
    if (this.element.textContent === text) return;
    this.element.textContent = text;
    this.element.title = text;
  }
}
