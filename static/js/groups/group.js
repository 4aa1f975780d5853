/** The pages of one group: loads the document, follows its changes, draws all parts. */

import { MemberActions } from "./actions.js";
import { KindBanner } from "./banners.js";
import { applyUpdate, isHandover, loadGroup } from "./document.js";
import { readJson } from "../frame/dom.js";
import { Facts } from "./facts.js";
import { Findings } from "./findings.js";
import { headParts, part } from "./head.js";
import { Feed } from "../frame/live.js";
import { AllocationMap } from "../map/map.js";
import { MemberTable } from "./members.js";
import { MixedBanner } from "./mixed.js";
import { Pill } from "../frame/pill.js";
import { QueueTable } from "./queues.js";
import { scheduler } from "../frame/schedule.js";
import { answers } from "./standing.js";
import { Tiles } from "./tiles.js";
import { Topics } from "./topics.js";

const page = readJson("page");
let state = readJson("state");

const queues = part("[data-queues]", (element) => new QueueTable(element));
const map = part(
  "[data-map]",
  (element) =>
    new AllocationMap(element, {
      onLight: (key) => queues?.light(key),
      onOpen: (key) => queues?.mark(key),
    }),
);

/** Show a finding's queues in the map, or in the table if the map has no cells. */
function showQueues(keys) {
  const wanted = keys.map(decodeURIComponent);
  if (!map?.found.show(wanted)) queues?.mark(wanted[0]);
}

const parts = [
  ...headParts(),
  part("[data-kind]", (element) => new KindBanner(element)),
  part("[data-mixed]", (element) => new MixedBanner(element, page.change)),
  part("[data-tiles]", (element) => new Tiles(element)),
  part("[data-topics]", (element) => new Topics(element)),
  map,
  part("[data-facts]", (element) => new Facts(element, page)),
  part("[data-findings]", (element) => new Findings(element, { onQueue: showQueues })),
  queues,
  part("[data-members]", (element) => new MemberTable(element)),
].filter(Boolean);

const pill = new Pill((paused) => paused || draw());
const draw = scheduler(() => {
  if (!state || pill.paused) return;
  parts.forEach((each) => each.draw(state));
});

function show(next, { soon = true } = {}) {
  const first = state === null;
  state = next;
  if (first) return location.reload();
  showAge();
  draw({ soon });
}

function showAge() {
  if (!state) return;
  const answered = state.brokers.filter(answers).length;
  pill.show({ takenAt: state.taken_at, answered, brokers: state.brokers.length });
}

new MemberActions({ ...page, page: document });
showAge();
if (state) parts.forEach((each) => each.draw(state));
new Feed({
  watch: { cluster: page.cluster, group: page.group },
  load: () => loadGroup(page.cluster, page.group),
  replace: show,
  apply: (update) =>
    show(applyUpdate(state, update), { soon: isHandover(state, update) }),
  connection: (...state) => pill.setConnected(...state),
}).start(state);
