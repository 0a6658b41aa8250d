// The head of the page: the banner, the state of the cluster, and what is not known.

import { stateWord } from "../status/states.js";
import { byId, el, fill, setText } from "./dom.js";
import { badge, clock, countsText, duration, timeText } from "./words.js";

// *problem*: that of Freshness; *isKnown*: whether there is a status to show.
export function showBanner(problem, failure, isKnown, now) {
  const text = problem ? bannerText(problem, failure, isKnown, now) : "";
  setText(byId("banner"), text);
  byId("banner").hidden = text === "";
}

function bannerText({ kind, since }, failure, isKnown, now) {
  const time = clock(new Date(Date.now() - (now - since)));
  const last = isKnown ? "What is shown is the last known status." : "Nothing is known.";
  if (kind === "unreachable")
    return `The reporter cannot be reached since ${time}: ${failure}. ${last}`;
  if (kind === "stale")
    return `The status is stale: the reporter has finished no pass since ${time}. ${last}`;
  return "The reporter has not finished its first pass: nothing is known yet.";
}

// A status that may not hold is Unknown, whatever it was.
export function showCluster(cluster, isOutdated) {
  const state = cluster && !isOutdated ? cluster.state : "Unknown";
  const lastKnown = isOutdated ? cluster?.state : cluster?.lastKnown;
  document.title = `${stateWord(state)}: production stack status`;
  const counts = cluster?.counts ?? {};
  const last = isOutdated ? "last known: " : "";
  fill(
    byId("cluster"),
    el("span", { class: "whole" }, "Cluster ", badge(state)),
    lastKnown ? el("span", {}, `last known: ${stateWord(lastKnown)}`) : "",
    cluster ? el("span", {}, `Namespaces: ${last}${countsText(counts.namespaces)}`) : "",
    cluster ? el("span", {}, `InferenceSets: ${last}${countsText(counts.inferenceSets)}`) : "",
    counts.available ? el("span", {}, `Available: ${last}${availableText(counts.available)}`) : "",
  );
}

function availableText({ available = 0, unavailable = 0, unknown = 0 }) {
  const rest = unknown ? ` (${unknown} not known)` : "";
  return `${available} of ${available + unavailable + unknown}${rest}`;
}

// The same of a fleet.
export function showFleet(fleet, isOutdated) {
  const state = isOutdated ? "Unknown" : fleet.state;
  document.title = `${stateWord(state)}: fleet of production stacks`;
  const last = isOutdated ? "last known: " : "";
  const counts = fleet.counts ?? (fleet.why ? null : {});
  fill(
    byId("cluster"),
    el("span", { class: "whole" }, "Fleet ", badge(state)),
    isOutdated ? el("span", {}, `last known: ${stateWord(fleet.state)}`) : "",
    el("span", {}, `Clusters: ${last}${countsText(counts)}`),
  );
}

// What the hub does not know, or leaves out.
export function fleetNotices({ why, queries = [], dropped = [] }) {
  const failed = queries.filter((each) => each.why);
  return [
    ...(why ? [` Not all is known of the clusters: ${why}.`] : []),
    ...failed.map((each) => ` The query ${each.query} has no complete answer: ${each.why}.`),
    ...dropped.map(
      (each) => ` ${each.series} series are left out (${each.why}): ${(each.names ?? []).join(", ")}.`,
    ),
  ];
}

export function showEvaluated({ evaluatedAt, evaluatedHere }, now) {
  const ago = duration((now - evaluatedHere) / 1000);
  const text = evaluatedAt ? `Evaluated ${ago} ago, at ${timeText(evaluatedAt)}` : "";
  setText(byId("evaluated"), text);
}

export function unlistedNotices(layers) {
  return layers.map(
    ({ layer, why }) =>
      ` Not all subjects of the layer ${layer} are known: ${why}. There may be more, in any state.`,
  );
}

export function rightsNotices(rights) {
  return rights.length ? [` The reporter lacks permissions: ${rights.join(", ")}.`] : [];
}

export function showNotices(texts) {
  const draw = (text) => el("p", { class: "notice" }, badge("Unknown"), text);
  byId("notices").hidden = texts.length === 0;
  fill(byId("notices"), texts.map(draw));
}
