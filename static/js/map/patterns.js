/**
 * The patterns of the map: without an owner, and an old value. Their ids are used inside
 * the SVG that has them, so each drawing brings its own.
 */

import { s } from "../frame/dom.js";

/** @returns {SVGElement} everything that cells and bars may be filled with */
export function patterns() {
  return s(
    "defs",
    {},
    hatch(),
    stripes("old", 8, "old-line"),
    stripes("old-lag", 4, "lag-bar"),
  );
}

/** Cells without an owner. */
function hatch() {
  return s(
    "pattern",
    {
      id: "hatch",
      width: 5,
      height: 5,
      patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)",
    },
    s("rect", { class: "hatch-ground", width: 5, height: 5 }),
    s("rect", { class: "hatch-line", width: 1.4, height: 5 }),
  );
}

/** Stripes, half of them open: over a cell that shows an old value, and as its bar. */
function stripes(id, size, css) {
  return s(
    "pattern",
    {
      id,
      width: size,
      height: size,
      patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)",
    },
    s("rect", { class: css, width: size / 2, height: size }),
  );
}
