// Choose the subjects to show, and the rows of the tree for them. No DOM, no clock.

import { knownState, stateWord } from "./states.js";

function wordsOf({ namespace, name, kind, state, data, blocking }) {
  const own = [namespace, name, kind, state, stateWord(state), data.reason, data.why];
  own.push(data.package?.name, data.package?.revision, data.paused && "paused");
  own.push(data.available === false && "not available", ...(data.gateways ?? []));
  const { notAvailable: hindrance } = data;
  if (hindrance) own.push(hindrance.reason, hindrance.code, hindrance.object, hindrance.message);
  if (!blocking) return own;
  const { reason, code, object, message, actionability, via = [] } = blocking;
  own.push(reason, code, object, message, actionability, ...via);
  own.push(blocking.stalled && "stalled", blocking.held && "held");
  own.push(blocking.pointer && "suppressed");
  return own;
}

function textOf(each) {
  each.text ??= wordsOf(each).filter(Boolean).join("\n").toLowerCase();
  return each.text;
}

// *text*: words that must all occur. *states*: a Set, empty for any state.
export function makeFilter(text, states) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return {
    key: JSON.stringify([words, [...states]]),
    isActive: words.length > 0 || states.size > 0,
    hasText: words.length > 0,
    hasState: (each) => states.size === 0 || states.has(knownState(each.state)),
    hasWords: (each, above = "") =>
      words.every((word) => textOf(each).includes(word) || above.includes(word)),
  };
}

// Return {subject, children, matches} of what is shown; null if nothing of it matches. A subject
// below a match by name is shown as well: the name of a namespace stands for what is in it.
export function choose(each, filter) {
  if (each.kind === "group") {
    const children = each.children.map((child) => choose(child, filter)).filter(Boolean);
    return children.length ? { subject: each, children, matches: false } : null;
  }
  const name = each.name.toLowerCase();
  const children = each.children
    .filter((child) => filter.hasState(child) && filter.hasWords(child, name))
    .map((child) => ({ subject: child, children: [], matches: true }));
  const matches = filter.hasState(each) && filter.hasWords(each);
  return matches || children.length ? { subject: each, children, matches } : null;
}

// Count the matches: subjects, and not groups.
export function countMatches(chosen) {
  let found = 0;
  for (const each of chosen) found += Number(each.matches) + countMatches(each.children);
  return found;
}

// Return the rows of the tree in order, of all that *isOpen*.
export function rowsOf(chosen, isOpen) {
  const rows = [];
  const add = ({ subject, children }, level, position, size, parent) => {
    const isExpandable = children.length > 0;
    const open = isExpandable && isOpen(subject);
    const shown = children.length;
    rows.push({ subject, level, position, size, parent, isExpandable, open, shown });
    if (!open) return;
    children.forEach((child, at) => add(child, level + 1, at + 1, children.length, subject.id));
  };
  chosen.forEach((each, at) => add(each, 1, at + 1, chosen.length, null));
  return rows;
}
