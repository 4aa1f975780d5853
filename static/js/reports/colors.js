/** Colours of the theme for figures. Report files carry a copy of this script. */

/**
 * Return a copy of a figure in which every `--name` is that property's present value.
 * `--name/14` is the colour at 14 % opacity.
 */
export function colored(figure) {
  const probe = document.body.appendChild(document.createElement("i"));
  const found = replaced(figure, probe, getComputedStyle(probe));
  probe.remove();
  return found;
}

/**
 * @param {unknown} value
 * @param {HTMLElement} probe has each colour in turn, since light-dark() is resolved
 *   only on an element
 * @param {CSSStyleDeclaration} style the probe's
 */
function replaced(value, probe, style) {
  if (Array.isArray(value)) return value.map((each) => replaced(each, probe, style));
  if (value && typeof value === "object") {
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, replaced(each, probe, style)]),
    );
  }
  if (typeof value !== "string" || !/^--[a-z]/.test(value)) return value;
  const [name, percent] = value.split("/");
  const text = style.getPropertyValue(name).trim();
  if (!CSS.supports("color", text)) return text;
  probe.style.color = text;
  return percent ? translucent(style.color, Number(percent) / 100) : style.color;
}

/** Add an opacity to rgb(…). */
function translucent(color, opacity) {
  return color.replace("rgb", "rgba").replace(")", `, ${opacity})`);
}

const LETTER_PX = 6;
const IDEOGRAPH_PX = 11;
const MARGINS_PX = 90;
const LEFT_PX = 72;
const RIGHT_PX = 12;
/** The most of a figure's width that names may take beside its time axis. */
const MOST_LEFT = 0.35;
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
 * Shorten, in place, the labels of epochs that are wider than their epoch, remove those
 * that never fit, and make room below the axis for the lines of the legend.
 */
export function fitted(layout, width, data = []) {
  if (layout.showlegend) {
    const more = LEGEND_LINE_PX * legendLines(data, width);
    layout.height += more;
    layout.margin.b += more;
  }
  if (layout.margin) {
    layout.margin.l = Math.min(layout.margin.l, Math.max(LEFT_PX, width * MOST_LEFT));
  }
  const plot = width - (layout.margin?.l ?? LEFT_PX) - RIGHT_PX;
  layout.annotations = (layout.annotations ?? []).filter((note) => {
    const [kind, share, number, members] = (note.name ?? "").split(" ");
    if (kind !== "epoch") return true;
    const fits = (text) => share * plot > widthOf(text) + 4;
    note.text = [note.text, `${number} · ${members}`, number].find(fits) ?? "";
    return note.text !== "";
  });
  return layout;
}
