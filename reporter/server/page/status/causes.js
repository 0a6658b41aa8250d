// Gather what blocks: each cause once, with the subjects that it blocks, the findings that are
// suppressed under it, and the models that are not available because of it. No DOM, no clock.

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

// The cluster, the harnesses and the models: what has findings of its own.
function* subjectsWithFindings(roots) {
  for (const root of roots) {
    if (root.kind === "cluster") yield root;
    if (root.kind === "group") for (const namespace of root.children) yield* namespace.children;
  }
}

// Progress without trouble, and what cannot be read, have no reason: one row for all such subjects.
export function keyOf({ layer, reason, code, object, message }) {
  return JSON.stringify(reason ? [layer, reason, code, object] : [layer, code, message]);
}

function newCause(key, blocking, state, held = true) {
  const found = { own: [], followers: [], suppressed: new Map(), unavailable: [] };
  return { key, blocking, state, held, stalled: false, ...found };
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

// ------------------------------------------------------------ what is not available

// Nobody is hindered by what somebody wants so: no replica, or no route.
const INTENDED = new Set(["ScaledToZero", "Unrouted"]);

// Return why a model is not available, or may not be; null if it is, is meant not to be, or goes.
export function hindranceOf({ data, state }) {
  const cause = data.notAvailable;
  if (!cause || state === "Terminating") return null;
  return !cause.reason && INTENDED.has(cause.code) ? null : cause;
}

function addUnavailable(causes, subjects) {
  for (const subject of subjects) {
    const hindrance = hindranceOf(subject);
    if (!hindrance) continue;
    const key = keyOf(hindrance);
    const state = subject.data.available === false ? "NotAvailable" : "Unknown";
    if (!causes.has(key)) causes.set(key, newCause(key, hindrance, state, Boolean(hindrance.held)));
    const cause = causes.get(key);
    if (cause.state === "Unknown" && !sizeOf(cause)) cause.state = state;
    cause.unavailable.push(subject);
  }
}

// ------------------------------------------------------------ what is suppressed

function groupBy(items, keyOfItem) {
  const groups = new Map();
  for (const each of items) {
    const key = keyOfItem(each);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(each);
  }
  return groups;
}

// A suppressed finding stands under the cause at the end of the reasons that it follows from.
function addSuppressed(causes, subjects) {
  const findings = subjects.flatMap((subject) =>
    (subject.data.suppressed ?? []).map((finding) => ({ subject, finding })),
  );
  const byReason = groupBy(causes.values(), (each) => each.blocking.reason);
  const upstream = new Map(findings.map(({ finding }) => [finding.reason, finding.by]));
  for (const { subject, finding } of findings) {
    const cause = rootOf(finding.by, subject, byReason, upstream);
    if (!cause) continue;
    const { suppressed } = cause;
    if (!suppressed.has(finding.reason)) suppressed.set(finding.reason, []);
    suppressed.get(finding.reason).push({ subject, finding });
  }
}

function rootOf(reasons, subject, byReason, upstream) {
  const isNear = ({ blocking, own }) =>
    blocking.layer === "cluster" || own.some((each) => each.namespace === subject.namespace);
  const left = [...reasons];
  const seen = new Set();
  while (left.length) {
    const reason = left.shift();
    if (seen.has(reason)) continue;
    seen.add(reason);
    const found = byReason.get(reason)?.find(isNear);
    if (found) return found;
    left.push(...(upstream.get(reason) ?? []));
  }
  return null;
}

// ------------------------------------------------------------ all together

// What fails comes first, then what hinders requests, then what is Unknown.
const urgency = ({ state }) => (state === "NotAvailable" ? 0.5 : severity(state));

// Return the causes, the worst first. *own*: subjects with the finding itself; *followers*: those
// whose findings are suppressed, as they follow from it; *suppressed*: these findings, by reason;
// *unavailable*: the models whose requests it hinders, or may hinder. *held*: so far of all of them.
export function findCauses(roots) {
  const causes = new Map();
  for (const subject of blockedSubjects(roots)) {
    const key = keyOf(subject.blocking);
    if (!causes.has(key)) causes.set(key, newCause(key, subject.blocking, subject.state));
    addTo(causes.get(key), subject);
  }
  const subjects = [...subjectsWithFindings(roots)];
  addUnavailable(causes, subjects);
  addSuppressed(causes, subjects);
  const order = (a, b) =>
    urgency(a) - urgency(b) || sizeOf(b) - sizeOf(a) || (a.key < b.key ? -1 : 1);
  return [...causes.values()].sort(order);
}
