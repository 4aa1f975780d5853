/** Colours of the theme for figures. Report files carry a copy of this script. */

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

const LETTER_PX = 6;
const IDEOGRAPH_PX = 11;
const MARGINS_PX = 90;
const widthOf = (text) =>
  [...text].reduce((sum, sign) => sum + (sign > "\u2e7f" ? IDEOGRAPH_PX : LETTER_PX), 0);

const SWATCH_PX = 56;
const LEGEND_LINE_PX = 19;

/** Return how many lines the legend takes below a figure of that width. */
function legendLines(data, width) {
  const names = data.filter((trace) => trace.name && trace.showlegend !== false);
  const widest = Math.max(0, ...names.map((trace) => widthOf(trace.name) + SWATCH_PX));
  const columns = Math.max(1, Math.floor((width - MARGINS_PX) / Math.max(widest, 1)));
  return Math.ceil(names.length / columns);
}

/**
 * Leave out the labels of epochs, in place, that are wider than their epoch, and make
 * room below the axis for the lines of the legend.
 */
export function fitted(layout, width, data = []) {
  if (layout.showlegend) {
    const more = LEGEND_LINE_PX * legendLines(data, width);
    layout.height += more;
    layout.margin.b += more;
  }
  layout.annotations = (layout.annotations ?? []).filter(({ name, text }) => {
    const [kind, share] = (name ?? "").split(" ");
    return kind !== "epoch" || share * (width - MARGINS_PX) > widthOf(text);
  });
  return layout;
}
