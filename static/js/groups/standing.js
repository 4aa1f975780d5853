/**
 * How much of a group's document is fresh, how much is old, and why. Documents of an
 * older version lack some fields: then it is only known whether a broker has answered.
 */

/** The last values of a queue, if its offsets are not known now; else null. */
export function lastOf(queue) {
  return queue.last ?? null;
}

/** True if nothing is known of the queue, and nothing ever was. */
export function isNever(queue) {
  return queue.max === null && !lastOf(queue);
}

/** A value as it is shown: the last known one if none is known now. Never summed. */
export function shown(queue, field) {
  return queue[field] ?? lastOf(queue)?.[field] ?? null;
}

/**
 * Who holds a queue, how that is known, and whether it is from before: what members
 * themselves report of a queue may be fresh while its broker is away.
 */
export function holdersOf(queue) {
  const last = lastOf(queue);
  const old = Boolean(last && !queue.owners.length && !queue.owner_source);
  const { owners, owner_source: source } = old ? last : queue;
  return { owners, source: source ?? "assumed", old };
}

export function brokerState({ state, answered }) {
  return state ?? (answered ? "answered" : "silent");
}

/** Whether a broker answered everything itself, listed or not. */
export function answers(broker) {
  return broker.answered && ["answered", "missing"].includes(brokerState(broker));
}

/**
 * @returns {{complete: boolean, fresh: number, old: number, never: number,
 *     unseen: number, queues: number, troubles: any[], answering: string[],
 *     brokers: number, held: any, fault: string|null, asOf: number|null,
 *     reason: string|null}}
 */
export function standingOf(state) {
  const troubles = state.brokers
    .filter((broker) => brokerState(broker) !== "answered")
    .map((broker) => trouble(broker, state));
  const old = state.queues.filter(lastOf).length;
  const never = state.queues.filter(isNever).length;
  const { held = null, fault = null } = state;
  const fresh = state.queues.length - old - never;
  return {
    complete: state.complete ?? !troubles.length,
    fresh,
    old,
    never,
    unseen: old + never,
    queues: state.queues.length,
    troubles,
    answering: state.brokers.filter(answers).map(({ name }) => name),
    brokers: state.brokers.length,
    held,
    fault,
    asOf: held?.as_of ?? (fault ? state.taken_at : null),
    reason: fresh || !troubles.length ? null : reasonOf(troubles[0]),
  };
}

function trouble(broker, state) {
  const mine = state.queues.filter((queue) => queue.broker === broker.name);
  const older = !broker.state && broker.age_ms !== null;
  return {
    name: broker.name,
    state: brokerState(broker),
    answers: answers(broker),
    since: older ? state.taken_at - broker.age_ms : (broker.since ?? null),
    address: broker.address ?? null,
    error: broker.error ?? null,
    old: mine.filter(lastOf).length,
    never: mine.filter(isNever).length,
    lastLag: broker.last_lag ?? null,
  };
}

function reasonOf({ state }) {
  return state === "missing" ? "missing" : "no_answer";
}
