// What blocks a subject, as rows of a description list.

import { el } from "./dom.js";
import { actor, age, code, duration, mark, sinceFrom, timeText } from "./words.js";

const NO_REASON = "none: progress without trouble, or not known";

export function describe(term, ...values) {
  const found = values.flat(Infinity).filter(Boolean);
  return found.length ? [el("dt", {}, term), el("dd", {}, found)] : [];
}

export function describeBlocking(blocking, receivedAt) {
  return [
    describe("Reason", blocking.reason ? code(blocking.reason) : NO_REASON),
    describe("Message", blocking.message),
    describe("Remedy", blocking.remedy),
    describe("Who must act", actor(blocking.actionability)),
    ...describeTimes(blocking, receivedAt),
    describe("Held", blocking.held && "yes: it may be a normal change, and is not announced yet"),
    describe("Suppressed", blocking.pointer && "yes: its own findings only follow from this cause"),
    describe("Silenced", describeSilence(blocking)),
    describe("Object", code(blocking.object)),
    describe("Code", code(blocking.code)),
    describe("Layer", blocking.layer),
  ];
}

function describeSilence({ silenced, silencedUntil }) {
  // A hub knows the end alone.
  if (silencedUntil) return `not announced until ${timeText(silencedUntil)}`;
  if (!silenced) return "";
  const by = silenced.by ? ` by ${silenced.by}` : "";
  const why = silenced.why ? `: ${silenced.why}` : "";
  return `not announced until ${timeText(silenced.until)}${by}, in ${silenced.origin}${why}`;
}

export function describeTimes(blocking, receivedAt) {
  const { since, windowSeconds, stalled, pattern } = blocking;
  const source = since && ` (${timeText(since)}, ${sinceFrom(blocking.sinceFrom)})`;
  const window = windowSeconds ? ` (expected to last ${duration(windowSeconds)} at most)` : "";
  return [
    describe("Since", since ? [age(blocking, receivedAt), source] : "not known"),
    describe("Stalled", stalled ? mark("stalled", "stalled") : "no", window),
    describe("Pattern", code(pattern)),
  ];
}
