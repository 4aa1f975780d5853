/** The heads of the grid: topic, broker, queue ids, and the trouble of a broker. */

import { s } from "../frame/dom.js";
import { clock } from "../frame/format.js";
import { ui } from "../frame/words.js";
import { oldestOf } from "./model.js";
import { cutMiddle } from "./text.js";

const ROOM_FOR_ID = 16;
const LETTER = 6.5;
/** Chinese characters are about twice as wide. */
const WIDE = /[\u2e80-\uffff]/g;
const SIGN = 15;

export function drawHeads(model, xs, size) {
  let topic = null;
  return model.groups.flatMap((group) => {
    const [x1, x2] = [xs[group.from], xs[group.to] + size.pitch - size.gap];
    const room = Math.max(3, Math.floor((x2 - x1) / LETTER));
    const y = size.topics + 12;
    const parts = brokerHead(model, group, x1, x2, y);
    if (size.topics && group.topic !== topic) {
      parts.push(
        s("text", { class: "strong", x: x1, y: 12 }, cutMiddle(group.topic, room + 8)),
      );
    }
    topic = group.topic;
    return [...parts, ...ids(model, group, xs, size, y + 21)];
  });
}

function brokerHead(model, group, x1, x2, y) {
  const { broker } = group;
  const trouble = model.troubles.get(broker);
  const said = trouble ? saidOf(trouble, model, group) : [broker];
  const css = trouble && "trouble";
  const fits = trouble && said.find((each) => widthOf(each) <= x2 - x1 - SIGN);
  const text = fits ?? cutMiddle(broker, Math.max(3, Math.floor((x2 - x1) / LETTER)));
  return [
    fits && s("path", { class: css, d: `M${x1} ${y}h11l-5.5 -10Z` }),
    s("text", { class: css, x: fits ? x1 + SIGN : x1, y }, text, s("title", {}, said[0])),
    s("line", { class: `axis ${css ?? ""}`, x1, x2, y1: y + 7.5, y2: y + 7.5 }),
  ].filter(Boolean);
}

/** What a head may say of a broker in trouble, longest first. */
function saidOf({ name, state }, model, { from, to }) {
  const at = oldestOf(model.columns.slice(from, to + 1));
  const what = ui(`broker_${state}`, { name });
  if (at === null) return [what, name];
  const time = clock(at);
  const values = ui("values_of", { time });
  return [`${what} · ${values}`, `${what} · ${time}`, `${name} · ${time}`, name];
}

function widthOf(text) {
  const wide = text.match(WIDE)?.length ?? 0;
  return (text.length - wide) * LETTER + wide * 12;
}

/** Every queue id if there is room, else every eighth. */
function ids(model, group, xs, size, y) {
  const step = size.pitch >= ROOM_FOR_ID ? 1 : 8;
  const labels = [];
  for (let at = group.from; at <= group.to; at += 1) {
    const id = model.columns[at].queue.queue_id;
    if (id % step) continue;
    const x = xs[at] + (size.pitch - size.gap) / 2;
    labels.push(
      s("text", { class: "tick", x, y, "text-anchor": "middle" }, String(id)),
    );
  }
  return labels;
}
