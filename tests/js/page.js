/**
 * As much of a page as the modules under test need: its words, and the server's time.
 * Import it before them.
 */

const WORDS = {
  ui: {
    seconds: "{seconds} s",
    minutes: "{minutes} m {seconds} s",
    hours: "{hours} h {minutes} m",
    days: "{days} d {hours} h",
    greeting: "{name} has left {left}",
    things_one: "1 thing",
    things_other: "{n} things",
    names: "{names}",
  },
};

globalThis.document = {
  documentElement: { dataset: { now: "0" } },
  getElementById: (id) =>
    id === "catalog" ? { textContent: JSON.stringify(WORDS) } : null,
};
