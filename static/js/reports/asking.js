/** The forms of reports: named periods fill the two moments, names are suggested. */

import { find } from "../frame/dom.js";
import { fragment } from "../frame/fragment.js";

const MS = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const CUSTOM = "custom";

/** A named period such as `6h` ends now; a typed moment makes the period a custom one. */
function tendPeriod(form) {
  const period = find("[data-period]", form);
  const since = find("[name=since]", form);
  const until = find("[name=until]", form);
  const loaded = Date.now();
  const fill = () => {
    const [, count, unit] = /^(\d+)([mhd])$/.exec(period.value) ?? [];
    if (!unit) return;
    // The moments are local times of the reader's zone, which only the server knows.
    const now = Date.parse(`${form.dataset.now}Z`) + Date.now() - loaded;
    until.value = moment(now);
    since.value = moment(now - Number(count) * MS[unit]);
  };
  period.addEventListener("change", fill);
  for (const field of [since, until])
    field.addEventListener("input", () => (period.value = CUSTOM));
  if (!since.value) fill();
}

const moment = (ms) => new Date(ms).toISOString().slice(0, 16);

/** Suggest the names of the cluster that is chosen. */
function tendNames(cluster) {
  cluster.addEventListener("change", async () => {
    const query = new URLSearchParams({ cluster: cluster.value });
    const fresh = await fragment(`${cluster.dataset.suggest}?${query}`).catch(() => null);
    for (const id of ["#known-groups", "#known-topics"]) {
      const list = fresh && find(id, fresh);
      if (list) find(id).replaceWith(list);
    }
  });
}

/** Spark takes seconds to start: it begins when the form is touched, once a visit. */
function startAhead(form) {
  const { warm } = form.dataset;
  const body = new URLSearchParams({
    csrfmiddlewaretoken: find("[name=csrfmiddlewaretoken]", form).value,
  });
  const ask = () => void fetch(warm, { method: "POST", body }).catch(() => null);
  if (warm) form.addEventListener("focusin", ask, { once: true });
}

const form = find("[data-report-form]");
if (form) tendPeriod(form);
if (form) startAhead(form);
const cluster = find("[data-suggest]");
if (cluster) tendNames(cluster);
