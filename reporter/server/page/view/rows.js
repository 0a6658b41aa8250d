// Draw one row of the tree.

import { hindranceOf, keyOf } from "../status/causes.js";
import { stateWord } from "../status/states.js";
import { el } from "./dom.js";
import { age, availabilityBadge, badge, mark, plural, quiet } from "./words.js";

// Return a text that changes with all that a row shows, but for its age.
export function signatureOf(row, isActive, isSelected) {
  const { subject, level, position, size, open, shown } = row;
  const { data, blocking } = subject;
  const own = [data.replicas, data.lastKnown, data.paused, data.why, data.version, data.skewed];
  own.push(data.available, data.availableCounts, data.notAvailable?.reason, data.notAvailable?.code);
  if (blocking) {
    const { reason, code, pointer, held, stalled, actionability, since } = blocking;
    own.push(reason, code, pointer, held, stalled, actionability, since);
  }
  const place = [level, position, size, open, shown, isActive, isSelected];
  return JSON.stringify([...place, subject.state, ...own]);
}

export function drawRow(row, isActive, isSelected, receivedAt) {
  const { subject, level, position, size, open, isExpandable } = row;
  const element = el(
    "div",
    {
      role: "treeitem",
      class: `row level-${level} kind-${subject.kind}`,
      tabindex: isActive ? "0" : "-1",
      "aria-level": level,
      "aria-posinset": position,
      "aria-setsize": size,
      "aria-expanded": isExpandable ? String(open) : null,
      "aria-selected": String(isSelected),
    },
    el("span", { class: "twisty", "aria-hidden": "true" }, twisty(row)),
    badge(subject.state),
    el("span", { class: "content" }, content(row)),
    why(subject, receivedAt),
    availability(subject),
  );
  element.dataset.id = subject.id;
  return element;
}

const twisty = ({ isExpandable, open }) => (isExpandable ? (open ? "▾" : "▸") : "");

function content(row) {
  const { subject } = row;
  const name = el("span", { class: "name" }, subject.name);
  if (subject.kind === "group") return quiet(groupText(row));
  if (subject.kind === "layer") return [name, `layer: not all is known: ${subject.data.why}`];
  return [name, facts(subject.data)];
}

// What blocks it and, if that is another cause, what keeps its requests from an answer.
function why(subject, receivedAt) {
  const { blocking } = subject;
  const hindrance = hindranceOf(subject);
  const isSame = blocking && hindrance && keyOf(blocking) === keyOf(hindrance);
  return [
    blocking ? el("span", { class: "line" }, cause(blocking, receivedAt)) : "",
    hindrance && !isSame ? el("span", { class: "line" }, hindered(subject.data, hindrance)) : "",
  ];
}

function hindered({ available }, { reason, code, actionability }) {
  const words = available === false ? "not available: " : "availability unknown: ";
  return [el("span", { class: "why" }, words, reason || code), quiet(actionability)];
}

// At the end of the row: whether a request to a model is answered; of a namespace, of how many.
function availability(subject) {
  const { kind, data } = subject;
  if (kind === "namespace") return ofNamespace(data.availableCounts ?? {});
  if (kind !== "InferenceSet" || data.paused || subject.state === "Terminating") return "";
  if (data.notAvailable && !hindranceOf(subject)) return mark("no route");
  return availabilityBadge(data.available);
}

function ofNamespace({ available = 0, unavailable = 0, unknown = 0 }) {
  const all = available + unavailable + unknown;
  if (unavailable) return availabilityBadge(false, `${unavailable} of ${all} not available`);
  return unknown ? availabilityBadge(null, `${unknown} of ${all} not known`) : "";
}

function groupText({ subject, shown }) {
  const noun = subject.children[0]?.kind === "member" ? "cluster" : "namespace";
  const all = plural(subject.children.length, noun);
  return shown === subject.children.length ? all : `${shown} of ${all}`;
}

function facts(data) {
  const { replicas, lastKnown, paused, version, skewed } = data;
  return [
    version ? quiet(version) : "",
    skewed ? mark("clock differs") : "",
    lastKnown ? quiet(`last known: ${stateWord(lastKnown)}`) : "",
    replicas ? quiet(`ready ${replicas.ready ?? "?"}/${replicas.desired ?? "?"}`) : "",
    paused ? mark("paused") : "",
  ];
}

function cause(blocking, receivedAt) {
  return [
    el("span", { class: "why" }, blocking.pointer ? "↳ " : "", blocking.reason || blocking.code),
    quiet(age(blocking, receivedAt)),
    quiet(blocking.actionability),
    blocking.pointer ? mark("suppressed") : "",
    blocking.held ? mark("held") : "",
    blocking.stalled ? mark("stalled", "stalled") : "",
  ];
}
