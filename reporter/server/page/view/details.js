// The details of the selected subject.

import { hindranceOf, keyOf } from "../status/causes.js";
import { stateWord } from "../status/states.js";
import { pathOf } from "../status/subjects.js";
import { describe, describeBlocking } from "./blocking.js";
import { el, fill } from "./dom.js";
import { Folds } from "./fold.js";
import {
  actor,
  availabilityBadge,
  badge,
  code,
  countsText,
  duration,
  plural,
  quiet,
  timeText,
} from "./words.js";

const NOTHING = "Select a subject to see what blocks it, who must act, and what to do.";
const GONE = "The selected subject is not there any more, or is filtered out.";

export class Details {
  // *leave()* is called when Escape is pressed and no fold is open.
  constructor(section, leave) {
    Object.assign(this, { section, folds: new Folds(), signature: null });
    this.folds.closeOnEscape(section, leave);
  }

  show(subject, receivedAt) {
    const signature = JSON.stringify([subject.id, subject.data], withoutAges);
    if (signature === this.signature) return;
    this.signature = signature;
    this.section.classList.add("chosen");
    this.folds.keepFocus(this.section, () => fill(this.section, this.parts(subject, receivedAt)));
  }

  showNothing(wasSelected) {
    this.signature = null;
    this.section.classList.remove("chosen");
    fill(this.section, el("p", { class: "quiet" }, wasSelected ? GONE : NOTHING));
  }

  parts(subject, receivedAt) {
    const { kind, data, blocking } = subject;
    const members = subject.children[0]?.kind === "member" ? " clusters" : " namespaces";
    if (kind === "group") return el("h3", {}, badge(subject.state), members);
    return [
      el("h3", {}, quiet(kind === "member" ? "cluster" : kind), " ", pathOf(subject)),
      el("dl", {}, facts(subject)),
      whyNotAvailable(subject),
      blocking ? el("h4", {}, "What blocks") : "",
      blocking ? el("dl", {}, describeBlocking(blocking, receivedAt)) : "",
      suppressed(data.suppressed ?? []),
      this.via(blocking?.via ?? []),
      this.contributing(data.contributing ?? [], data.contributingCount ?? 0),
    ];
  }

  via(reasons) {
    if (!reasons.length) return "";
    const title = `Suppressed under this cause: ${plural(reasons.length, "reason")}`;
    const draw = () => el("ol", {}, reasons.map((each) => el("li", {}, code(each))));
    return this.folds.make("via", title, draw);
  }

  contributing(causes, count) {
    if (!causes.length) return "";
    const left = count - causes.length;
    const draw = () => [
      el("ul", {}, causes.map(contributingItem)),
      left > 0 ? el("p", { class: "quiet" }, `and ${left} more`) : "",
    ];
    const title = plural(Math.max(count, causes.length), "further cause");
    return this.folds.make("contributing", title, draw);
  }
}

// Findings of the subject itself that are not announced, as they follow from others.
function suppressed(findings) {
  if (!findings.length) return "";
  const item = ({ reason, message, by }) =>
    el("li", {}, "↳ ", code(reason), quiet(` suppressed by ${by.join(", ")}`), el("p", {}, message));
  const title = el("h4", {}, `Suppressed: ${plural(findings.length, "finding")}`);
  return el("div", { class: "follows" }, title, el("ul", {}, findings.map(item)));
}

// Why no request of a model is answered, or why that is not known, with the way that requests take.
function whyNotAvailable(subject) {
  const { data, blocking, name } = subject;
  const cause = data.notAvailable;
  if (!cause) return "";
  const isSame = blocking !== null && keyOf(blocking) === keyOf(cause);
  const rows = [
    describe("Reason", code(cause.reason || cause.code), isSame && " blocks it too, see below"),
    describe("Message", !isSame && cause.message),
    describe("Remedy", !isSame && cause.remedy),
    describe("Who must act", !isSame && actor(cause.actionability)),
    describe("Request path", hindranceOf(subject) && requestPath(cause, data.gateways ?? [], name)),
  ];
  const title = data.available === false ? "Why it is not available" : "Why its availability is not known";
  return [el("h4", {}, title), el("dl", {}, rows)];
}

// The Gateways of its routes, what stands in the way, and the model.
function requestPath({ object = "", code: cause }, gateways, name) {
  const isGateway = object.startsWith("gateways.") && gateways.some((each) => object.endsWith(` ${each}`));
  const steps = [
    gateways.length && !isGateway ? el("li", {}, `Gateway ${gateways.join(" or ")}`) : "",
    el("li", { class: "stop" }, "✕ ", object || cause),
    el("li", {}, `model ${name}`),
  ];
  return el("ol", { class: "path" }, steps);
}

const AGES = new Set(["inStateSeconds", "answeredSeconds", "lastUpdateAgeSeconds", "evaluatedAt", "skewSeconds"]);

// The sets of a namespace are rows of their own.
function withoutAges(key, value) {
  const isLeftOut = AGES.has(key) || (key === "inferenceSets" && Array.isArray(value));
  return isLeftOut ? undefined : value;
}

function contributingItem({ state, reason, code: cause, subjects, pointer }) {
  const text = ` ${plural(subjects, "subject")}${pointer ? ", suppressed" : ""}`;
  return el("li", {}, badge(state), " ", code(reason || cause), text);
}

function facts({ kind, state, data }) {
  const { lastKnown, package: from, generation, observedGeneration } = data;
  const isWorkload = kind === "namespace" || kind === "InferenceSet";
  return [
    describe("State", badge(state), lastKnown && ` last known: ${stateWord(lastKnown)}`),
    describe("Why", data.why),
    describe("Available", isWorkload && availabilityBadge(data.available)),
    describe("Gateway", data.gateways?.join(", ")),
    describe("Answered", data.answeredSeconds !== undefined && `${duration(data.answeredSeconds)} ago`),
    describe("Replicas", data.replicas && replicasText(data.replicas)),
    describe("Generation", generation && `${generation}, observed ${observedGeneration ?? "?"}`),
    describe("Package", from && `${from.name} ${from.revision ?? ""}`),
    describe("Paused", data.paused && "yes: scaled to zero on purpose"),
    describe("Reason", code(data.reason)),
    describe("InferenceSets", countsOf(kind, data.counts)),
    describe("Harness", kind === "harness" && HARNESS),
    ...(kind === "member" ? memberFacts(data) : []),
  ];
}

const HARNESS = "the Gateway of the namespace, with its filters and authentication";

// Facts about a cluster of a fleet.
function memberFacts(data) {
  const { label, uid, otherUids = [], version, inferenceSets, packages = [] } = data;
  const from = packages.map((each) => `${each.name} ${each.revision ?? ""}: ${each.namespaces} ${stateWord(each.state)}`);
  return [
    describe("Label", code(label)),
    describe("UID", code(otherUids.join(", ") || uid)),
    describe("Version", version),
    describe("Evaluated", data.evaluatedAt && timeText(data.evaluatedAt)),
    describe("Clock", data.skewed && `seems ${Math.round(data.skewSeconds)} s ahead; this decides nothing`),
    describe("InferenceSets", countsText(inferenceSets)),
    describe("Not known", unobservedText(data.unobserved)),
    describe("Packages", from.join("; ")),
  ];
}

// The part below a control plane that is not known, as one sentence; null is not reported.
function unobservedText(unobserved = {}) {
  if (unobserved === null) return "not reported";
  const { namespaces, inferenceSets, unlisted, missingRights = [] } = unobserved;
  const unknown = [
    namespaces && plural(namespaces, "namespace"),
    inferenceSets && plural(inferenceSets, "InferenceSet"),
  ].filter(Boolean);
  const texts = [
    unknown.length && `Unknown below: ${unknown.join(" and ")}`,
    unlisted && "not all can be listed",
    missingRights.length && `missing permissions: ${missingRights.join(", ")}`,
  ];
  return texts.filter(Boolean).join("; ");
}

function countsOf(kind, counts) {
  if (kind === "namespace") return countsText(counts);
  return kind === "cluster" ? countsText(counts?.inferenceSets) : "";
}

function replicasText({ desired, updated, ready }) {
  const known = (number) => number ?? "not known";
  return `desired ${desired}, updated ${known(updated)}, ready ${known(ready)}`;
}
