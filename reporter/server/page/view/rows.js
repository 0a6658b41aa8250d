// Draw one row of the tree.

import { stateWord } from "../status/states.js";
import { el } from "./dom.js";
import { age, badge, mark, plural, quiet } from "./words.js";

// Return a text that changes with all that a row shows, but for its age.
export function signatureOf(row, isActive) {
  const { subject, level, position, size, open, shown } = row;
  const { data, blocking } = subject;
  const own = [data.replicas, data.lastKnown, data.paused, data.why, data.version, data.skewed];
  own.push(availabilityText(data), data.notAvailable?.reason, data.notAvailable?.code);
  if (blocking) {
    const { reason, code, pointer, held, stalled, actionability, since } = blocking;
    own.push(reason, code, pointer, held, stalled, actionability, since);
  }
  return JSON.stringify([level, position, size, open, shown, isActive, subject.state, ...own]);
}

export function drawRow(row, isActive, receivedAt) {
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
      "aria-selected": String(isActive),
    },
    el("span", { class: "twisty", "aria-hidden": "true" }, twisty(row)),
    badge(subject.state),
    el("span", { class: "content" }, content(row, receivedAt)),
  );
  element.dataset.id = subject.id;
  return element;
}

const twisty = ({ isExpandable, open }) => (isExpandable ? (open ? "▾" : "▸") : "");

function content(row, receivedAt) {
  const { subject } = row;
  const name = el("span", { class: "name" }, subject.name);
  if (subject.kind === "group") return quiet(groupText(row));
  if (subject.kind === "layer") return [name, `layer: not all is known: ${subject.data.why}`];
  return [name, facts(subject.data), why(subject, receivedAt)];
}

function why({ blocking, data }, receivedAt) {
  if (blocking) return cause(blocking, receivedAt);
  if (!availabilityText(data) || !data.notAvailable) return "";
  const { reason, code, actionability } = data.notAvailable;
  return [el("span", { class: "why" }, "↳ ", reason || code), quiet(actionability)];
}

// What a request meets, where that is not an answer: of a model, or of how many in a namespace.
function availabilityText({ available, notAvailable, paused, availableCounts }) {
  if (notAvailable && !paused) return available === false ? "not available" : "availability unknown";
  const { unavailable = 0, unknown = 0 } = availableCounts ?? {};
  return [unavailable && `${unavailable} not available`, unknown && `${unknown} not known to be available`]
    .filter(Boolean)
    .join(", ");
}

function groupText({ subject, shown }) {
  const noun = subject.children[0]?.kind === "member" ? "cluster" : "namespace";
  const all = plural(subject.children.length, noun);
  return shown === subject.children.length ? all : `${shown} of ${all}`;
}

function facts(data) {
  const { replicas, lastKnown, paused, version, skewed } = data;
  const hindered = availabilityText(data);
  return [
    version ? quiet(version) : "",
    skewed ? mark("clock differs") : "",
    lastKnown ? quiet(`last known: ${stateWord(lastKnown)}`) : "",
    replicas ? quiet(`ready ${replicas.ready ?? "?"}/${replicas.desired ?? "?"}`) : "",
    paused ? mark("paused") : "",
    hindered ? mark(hindered, "stalled") : "",
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
