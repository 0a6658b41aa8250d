// Gather what blocks: each cause once, with the subjects that it blocks. No DOM, no clock.

import { severity } from "./states.js";

// A namespace only repeats what blocks its harness or a set; without these it has a cause itself. A
// cluster of a fleet has causes of its own beside those of its namespaces.
function* blockedSubjects(roots) {
  for (const root of roots) {
    if (root.kind === "cluster" && root.blocking) yield root;
    if (root.kind !== "group") continue;
    for (const namespace of root.children) {
      const parts = namespace.children.filter((each) => each.blocking);
      if (namespace.kind === "member" && namespace.blocking) yield namespace;
      if (parts.length) yield* parts;
      else if (namespace.kind === "member") continue;
      else if (namespace.blocking) yield namespace;
    }
  }
}

// Progress without trouble, and what cannot be read, have no reason: one row for all such subjects.
function keyOf({ layer, reason, code, object, message }) {
  return JSON.stringify(reason ? [layer, reason, code, object] : [layer, code, message]);
}

function newCause(key, { blocking, state }) {
  return { key, blocking, state, own: [], followers: [], held: true, stalled: false };
}

function addTo(cause, subject) {
  const { blocking, state } = subject;
  (blocking.pointer ? cause.followers : cause.own).push(subject);
  if (!blocking.pointer && cause.blocking.pointer) cause.blocking = blocking;
  if (severity(state) < severity(cause.state)) cause.state = state;
  cause.held &&= Boolean(blocking.held);
  cause.stalled ||= Boolean(blocking.stalled);
}

export const sizeOf = (cause) => cause.own.length + cause.followers.length;

// Return the causes, the worst first. *own*: subjects with the finding itself; *followers*: those
// whose findings are suppressed, as they follow from it. *held*: so far of all of them.
export function findCauses(roots) {
  const causes = new Map();
  for (const subject of blockedSubjects(roots)) {
    const key = keyOf(subject.blocking);
    if (!causes.has(key)) causes.set(key, newCause(key, subject));
    addTo(causes.get(key), subject);
  }
  const order = (a, b) =>
    severity(a.state) - severity(b.state) || sizeOf(b) - sizeOf(a) || (a.key < b.key ? -1 : 1);
  return [...causes.values()].sort(order);
}
