// The words of the page: states, actors, ages.

import { now } from "../status/clock.js";
import { knownState, stateWord } from "../status/states.js";
import { el, setText } from "./dom.js";

const SIGNS = {
  Failed: "✕",
  Unknown: "?",
  InProgress: "…",
  Terminating: "−",
  Current: "✓",
};

const ACTORS = {
  transient: "nobody yet; it may end by itself",
  user: "the owner of the namespace",
  platform: "the platform team",
};

const SINCE_FROM = {
  writer: "reported by the writer of the condition",
  episode: "time of the Event",
  process: "first seen by this process",
};

const COUNTS = {
  failed: "Failed",
  unknown: "Unknown",
  inProgress: "InProgress",
  terminating: "Terminating",
  current: "Current",
};

const UNITS = [
  [86_400, 172_800, "d"],
  [3600, 7200, "h"],
  [60, 120, "m"],
];

// A state has a sign and a word besides its colour.
export function badge(state) {
  const sign = el("span", { "aria-hidden": "true", class: "sign" }, SIGNS[state] ?? "?");
  return el("span", { class: `badge state-${knownState(state)}` }, sign, " ", stateWord(state));
}

const AVAILABILITY = {
  true: ["✓", "available", "Current"],
  false: ["✕", "not available", "Failed"],
  null: ["?", "availability unknown", "Unknown"],
};

// Beside the state: whether a request can reach a model and be answered. *text*: in place of the word.
export function availabilityBadge(available, text) {
  const [sign, word, state] = AVAILABILITY[available ?? null];
  const title = "Available: a request can reach it and be answered, as far as is known";
  return el(
    "span",
    { class: `badge available state-${state}`, title },
    el("span", { "aria-hidden": "true", class: "sign" }, sign),
    " ",
    text ?? word,
  );
}

const MEANINGS = {
  held: "it may still be a normal start or change",
  stalled: "it has lasted longer than such things take",
  suppressed: "it follows from something upstream",
  paused: "scaled to zero on purpose",
  "no route": "no HTTPRoute leads to it, so it may be called directly",
};

export const mark = (text, kind = "") =>
  el("span", { class: `mark ${kind}`.trim(), title: MEANINGS[text] }, text);

export const quiet = (...children) => el("span", { class: "quiet" }, children);

export const code = (text) => (text ? el("code", {}, text) : "");

export const actor = (actionability) =>
  `${actionability}: ${ACTORS[actionability] ?? "see the documentation"}`;

export const sinceFrom = (source) => SINCE_FROM[source] ?? source ?? "";

export function duration(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const [size, , unit] = UNITS.find(([, least]) => whole >= least) ?? [1, 0, "s"];
  return `${Math.floor(whole / size)}${unit}`;
}

export const clock = (date) => date.toLocaleTimeString("en-GB");

// Times are shown to the second.
export const timeText = (time) => time.replace(/\.\d+/, "");

export const plural = (number, one, many = `${one}s`) =>
  `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

// Without counts the numbers are not known: there may be some.
export function countsText(counts) {
  if (!counts) return "not known";
  const found = Object.keys(COUNTS).filter((key) => counts[key]);
  return found.map((key) => `${counts[key]} ${stateWord(COUNTS[key])}`).join(", ") || "none";
}

// An age that grows between two documents. *receivedAt*: when its document came.
export function age(blocking, receivedAt) {
  if (!blocking?.since) return null;
  const node = el("time", { datetime: blocking.since, title: blocking.since, class: "age" });
  node.dataset.seconds = String(blocking.inStateSeconds ?? 0);
  node.dataset.received = String(receivedAt);
  showAge(node);
  return node;
}

function showAge(node) {
  const passed = (now() - Number(node.dataset.received)) / 1000;
  setText(node, duration(Number(node.dataset.seconds) + passed));
}

export function showAges() {
  document.querySelectorAll("time.age").forEach(showAge);
}
