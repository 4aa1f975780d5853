/**
 * As much of a page as the modules under test need: its words, and the server's time.
 * Import it before them.
 */

const ROOMS = {
  ui: {
    seconds: "{seconds} s",
    minutes: "{minutes} m {seconds} s",
    hours: "{hours} h {minutes} m",
    days: "{days} d {hours} h",
    greeting: "{name} has left {left}",
    things: { one: "{n} thing", other: "{n} things" },
    left_by: { one: "{name} has left {left}", other: "{name}, {n} in all" },
    names: "{names}",
  },
};

globalThis.catalogue = { language: "en", rooms: ROOMS };
globalThis.document = {
  documentElement: { dataset: { now: "0" } },
  getElementById: () => null,
};
