/** A group's document in the page, and how an update changes it. */

import { ask } from "../frame/fragment.js";
import { queueKey, queueOrder } from "./status.js";

/**
 * Return the document with an update's changes in place. Keys of `changes` replace
 * those of the document, except `queues`, which holds changed rows by key, and null for
 * rows that are gone.
 */
export function applyUpdate(state, update) {
  const { queues, ...replaced } = update.changes;
  const next = { ...state, ...replaced, run: update.run, seq: update.seq };
  if (queues) next.queues = applyQueues(state.queues, queues);
  return next;
}

function applyQueues(before, changes) {
  if (Array.isArray(changes)) return changes;
  const rows = new Map(before.map((queue) => [queueKey(queue), queue]));
  for (const [key, row] of Object.entries(changes)) {
    if (row === null) rows.delete(key);
    else rows.set(key, row);
  }
  return [...rows.values()].sort(queueOrder);
}

/** True if queues change hands or members come and go, not only figures. */
export function isHandover(state, { changes }) {
  if (Array.isArray(changes.queues)) return true;
  if (changes.members && idsOf(changes.members) !== idsOf(state.members)) return true;
  const owners = new Map(state.queues.map((queue) => [queueKey(queue), queue.owners]));
  return Object.entries(changes.queues ?? {}).some(
    ([key, row]) => String(row?.owners) !== String(owners.get(key)),
  );
}

function idsOf(members) {
  return members.map((member) => member.client_id).join();
}

/** Members by client id; of several connections with one id, the first. */
export function membersById(state) {
  const last = [...state.members].reverse();
  return new Map(last.map((member) => [member.client_id, member]));
}

export const LETTERS = "ABCDEFGHIJKL";

/** With more members than hues, letters and hues would repeat, so none are shown. */
export function hasHues(state) {
  return state.members.length <= LETTERS.length;
}

/** Get a group's document from the API; null if nothing has been collected yet. */
export async function loadGroup(cluster, group) {
  try {
    return await (await ask(apiUrl(cluster, group))).json();
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

export function apiUrl(cluster, group, rest = "") {
  // A slash in a name is encoded twice: servers decode a path before splitting it.
  const name = group.replaceAll("/", "%2F");
  const path = [cluster, "groups", name].map(encodeURIComponent).join("/");
  return `/api/v1/clusters/${path}${rest}`;
}
