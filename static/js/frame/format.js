/**
 * Numbers, rates and spans of time as people read them. The server writes the same
 * figures in `dashboard/wording/numbers.py`; both are tested with one list of examples.
 */

import { ui } from "./words.js";

/** @type {[number, string][]} */
const STEPS = [
  [1_000_000_000, "G"],
  [1_000_000, "M"],
  [1_000, "k"],
];

/** 161,898 */
export function count(value) {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ",");
}

/** At most four characters, truncated, not rounded up: 145, 7.9k, 128k */
export function compact(value) {
  const whole = Math.round(value);
  for (const [size, letter] of STEPS) {
    if (whole < size) continue;
    const tenths = Math.floor((whole * 10) / size);
    return tenths < 100
      ? `${(tenths / 10).toFixed(1)}${letter}`
      : `${Math.floor(whole / size)}${letter}`;
  }
  return String(whole);
}

/** Messages per second, without the unit: 0.4, 12, 3,331 */
export function rate(value) {
  return value > 0 && value < 10 ? Math.max(value, 0.1).toFixed(1) : count(value);
}

/** The two largest units: 0.8 s, 42 s, 3 m 29 s, 2 d 4 h */
export function duration(milliseconds) {
  const span = Math.max(0, Math.trunc(milliseconds));
  const seconds = Math.floor(span / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (seconds < 10) {
    return ui("seconds", { seconds: (Math.floor(span / 100) / 10).toFixed(1) });
  }
  if (minutes < 1) return ui("seconds", { seconds });
  if (hours < 1) return ui("minutes", { minutes, seconds: two(seconds % 60) });
  if (hours < 24) return ui("hours", { hours, minutes: two(minutes % 60) });
  return ui("days", { days: Math.floor(hours / 24), hours: hours % 24 });
}

/** A skew: 3.0× */
export function ratio(value) {
  return `${value.toFixed(1)}×`;
}

/** Time of day in the zone that the page shows. */
export function clock(milliseconds) {
  return new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZone: document.documentElement.dataset.zone || undefined,
  }).format(milliseconds);
}

/** Time of day, with the date in front where it is another day than `now`. */
export function moment(milliseconds, now) {
  const day = new Intl.DateTimeFormat("en-CA", {
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    timeZone: document.documentElement.dataset.zone || undefined,
  });
  const date = day.format(milliseconds);
  const time = clock(milliseconds);
  return date === day.format(now) ? time : `${date} ${time}`;
}

const two = (value) => String(value).padStart(2, "0");
