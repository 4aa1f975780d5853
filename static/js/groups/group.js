/** The pages of one group: loads the document, follows its changes, draws all parts. */

import { MemberActions } from "./actions.js";
import { KindBanner } from "./banners.js";
import { applyUpdate, isHandover, loadGroup } from "./document.js";
import { readJson } from "../frame/dom.js";
import { Drawer } from "./drawer.js";
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
import { Shown } from "./shown.js";
import { answers } from "./standing.js";
import { Tiles } from "./tiles.js";
import { Topics } from "./topics.js";

const page = readJson("page");
let state = readJson("state");

const queues = part(
  "[data-queues]",
  (element) => new QueueTable(element, { onOpen: (key) => drawer?.open(key) }),
);
const map = part(
  "[data-map]",
  (element) =>
    new AllocationMap(element, {
      onLight: (key) => queues?.light(key),
      onOpen: goToRow,
    }),
);
const findings = part(
  "[data-findings]",
  (element) => new Findings(element, { page, onShow: queues && showFinding }),
);
const shown = part(
  "[data-shown-queues]",
  (element) =>
    new Shown(element, (keys, finding) => {
      map?.found.show(keys);
      queues?.show(keys);
      findings?.markShown(finding);
    }),
);
const drawer = part(
  "[data-drawer]",
  (element) =>
    new Drawer(element, {
      page,
      onChange: openRow,
      back: (key) => queues?.mark(key, { focus: true }),
    }),
);

/** From a cell of the map to the queue's row, which takes the focus. */
function goToRow(key) {
  if (shown?.finding && !queues?.rowOf(key)) shown.choose("");
  queues?.mark(key, { focus: true });
}

/** Show the queues of a finding, in the map if it has cells for them. */
function showFinding(key) {
  shown?.choose(key);
  map?.found.reveal();
}

function openRow(key) {
  if (!queues) return;
  queues.open = key;
  if (queues.state) queues.draw(queues.state);
}

const parts = [
  ...headParts(),
  part("[data-kind]", (element) => new KindBanner(element)),
  part("[data-mixed]", (element) => new MixedBanner(element, page.change)),
  part("[data-tiles]", (element) => new Tiles(element, page)),
  part("[data-topics]", (element) => new Topics(element)),
  map,
  part("[data-facts]", (element) => new Facts(element, page)),
  findings,
  queues,
  shown,
  drawer,
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
