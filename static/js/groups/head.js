/** The head of all pages of a group: its tags, its banners, its tabs. */

import { FaultBanner, StandingBanner } from "./banners.js";
import { find, findAll } from "../frame/dom.js";
import { FindingsTab } from "./findings.js";
import { Heading } from "./heading.js";
import { TabCounts } from "./tabs.js";

/** Call `make` with an element, if the page has that element. */
export function part(selector, make) {
  const element = find(selector);
  return element ? make(element) : null;
}

export function headParts() {
  return [
    part("[data-fault]", (element) => new FaultBanner(element)),
    part("[data-standing]", (element) => new StandingBanner(element)),
    part("[data-heading]", (element) => new Heading(element)),
    part("[data-findings-tab]", (element) => new FindingsTab(element)),
    new TabCounts(findAll("[data-tab-count]")),
  ].filter(Boolean);
}
