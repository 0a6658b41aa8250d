// Make the tree of subjects from a document of /status/v1. No DOM, no clock.

import { severity } from "./states.js";

function subject(id, kind, name, data, children = []) {
  const state = data.state ?? "Unknown";
  return { id, kind, name, data, state, blocking: data.blocking ?? null, children };
}

const byName = (a, b) => (a.name < b.name ? -1 : Number(a.name > b.name));

const byState = (a, b) => severity(a.state) - severity(b.state) || byName(a, b);

function namespaceOf(data) {
  const children = (data.inferenceSets ?? []).map((each) =>
    subject(`set/${data.name}/${each.name}`, "InferenceSet", each.name, each),
  );
  children.sort(byState);
  if (data.harness)
    children.unshift(subject(`harness/${data.name}`, "harness", "harness", data.harness));
  for (const each of children) Object.assign(each, { namespace: data.name, parent: `namespace/${data.name}` });
  // A model that is Current and not available is not folded away.
  const { unavailable = 0, unknown = 0 } = data.availableCounts ?? {};
  const hasHindered = unavailable + unknown > 0;
  return { ...subject(`namespace/${data.name}`, "namespace", data.name, data, children), hasHindered };
}

function clusterOf(data) {
  const components = (data.components ?? []).map((each) => {
    const name = `${each.namespace}/${each.name}`;
    return subject(`component/${name}`, "component", name, each);
  });
  const layers = (data.unlistedLayers ?? []).map((each) =>
    subject(`layer/${each.layer}`, "layer", each.layer, each),
  );
  return subject("cluster", "cluster", "cluster", data, [...layers, ...components.sort(byState)]);
}

// What a hub answers has no ages and messages of its own in what blocks a namespace.
function memberOf(data) {
  const parent = `member/${data.name}`;
  const timed = (blocking) => blocking && { message: "", ...blocking };
  const children = (data.namespaces ?? []).map((each) =>
    subject(`${parent}/${each.name}`, "namespace of a cluster", each.name, {
      ...each,
      blocking: timed(each.blocking),
    }),
  );
  for (const each of children) Object.assign(each, { namespace: data.name, parent });
  const own = { ...data, blocking: timed(data.blocking) };
  return subject(parent, "member", data.name, own, children.sort(byState));
}

export const isFleet = (document) => document?.scope === "fleet";

// Return the roots: the cluster, then one group for each state that a namespace has. Of a fleet: one
// group for each state that a cluster has.
export function buildTree(document) {
  const groups = new Map();
  const members = isFleet(document)
    ? (document.clusters ?? []).map(memberOf)
    : (document.namespaces ?? []).map(namespaceOf);
  for (const made of members) {
    if (!groups.has(made.state)) groups.set(made.state, []);
    groups.get(made.state).push(made);
  }
  const roots = document.cluster ? [clusterOf(document.cluster)] : [];
  for (const state of [...groups.keys()].sort((a, b) => severity(a) - severity(b))) {
    const children = groups.get(state).sort(byName);
    const hasHindered = children.some((each) => each.hasHindered);
    roots.push({ ...subject(`group/${state}`, "group", state, { state }, children), hasHindered });
  }
  return roots;
}

export function pathOf(each) {
  if (!each.namespace) return each.name;
  return each.kind === "harness"
    ? `harness of ${each.namespace}`
    : `${each.namespace}/${each.name}`;
}

// Return the ids of what is above a subject in the tree.
export function idsAbove(roots, each) {
  const parent = each.parent ?? "";
  const root = roots.find((one) => one.children.some(({ id }) => id === (parent || each.id)));
  return [root?.id, parent].filter(Boolean);
}
