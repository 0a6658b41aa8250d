// What blocks: each cause with who must act, and what is suppressed under it.

import { findCauses, sizeOf } from "../status/causes.js";
import { pathOf } from "../status/subjects.js";
import { describe, describeTimes } from "./blocking.js";
import { button, el, fill } from "./dom.js";
import { Folds } from "./fold.js";
import { actor, age, badge, code, mark, plural, quiet } from "./words.js";

const CAUSES_AT_ONCE = 20;
const SUBJECTS_AT_ONCE = 50;

export class Causes {
  // *reveal(subject)* moves the tree to a subject.
  constructor(section, reveal) {
    Object.assign(this, { section, reveal, folds: new Folds() });
    Object.assign(this, { limit: CAUSES_AT_ONCE, signature: null });
  }

  // *nothing*: the text if there is no cause.
  show(roots, receivedAt, nothing) {
    const causes = findCauses(roots);
    const signature = JSON.stringify([this.limit, nothing, causes.map(signatureOf)]);
    if (signature === this.signature) return;
    Object.assign(this, { signature, receivedAt });
    this.folds.keepFocus(this.section, () => this.draw(causes, nothing));
  }

  draw(causes, nothing) {
    const held = causes.filter((each) => each.held);
    const sure = causes.filter((each) => !each.held);
    const left = sure.length - this.limit;
    const showMore = () => {
      this.limit += CAUSES_AT_ONCE;
      this.draw(causes, nothing);
    };
    fill(
      this.section,
      causes.length ? "" : el("p", {}, nothing),
      sure.slice(0, this.limit).map((each) => this.card(each)),
      left > 0 ? button(`Show more: ${plural(left, "cause")} left`, showMore) : "",
      held.length ? this.heldOnes(held) : "",
    );
  }

  heldOnes(held) {
    const title = `Held: ${plural(held.length, "cause")} that may be a normal change`;
    const draw = () => held.slice(0, this.limit).map((each) => this.card(each));
    return this.folds.make("held", title, draw);
  }

  card(cause) {
    const { blocking, key, followers } = cause;
    const suppressed = followers.length ? `, ${followers.length} of them suppressed` : "";
    const more = `Blocks ${plural(sizeOf(cause), "subject")}${suppressed}`;
    return el(
      "article",
      {},
      el("h3", { class: "title" }, this.title(cause)),
      el("p", {}, blocking.message),
      blocking.remedy ? el("p", {}, el("b", {}, "Remedy: "), blocking.remedy) : "",
      this.folds.make(key, more, () => this.body(cause)),
    );
  }

  title(cause) {
    const { blocking } = cause;
    return [
      badge(cause.state),
      el("span", {}, blocking.reason || blocking.code),
      quiet(blocking.object),
      el("span", { class: "plain" }, `acts: ${blocking.actionability}`),
      quiet(age(blocking, this.receivedAt)),
      cause.held ? mark("held") : "",
      cause.stalled ? mark("stalled", "stalled") : "",
    ];
  }

  body({ key, blocking, own, followers }) {
    const found = `${plural(own.length, "subject")} with this finding`;
    const others = plural(followers.length, "subject");
    const suppressed = `Suppressed: ${others} whose findings follow from it`;
    const rows = [
      describe("Who must act", actor(blocking.actionability)),
      describeTimes(blocking, this.receivedAt),
      describe("Code", code(blocking.code)),
      describe("Layer", blocking.layer),
    ];
    return [
      el("dl", {}, rows),
      own.length ? this.folds.make(`own\n${key}`, found, () => this.list(own)) : "",
      followers.length
        ? this.folds.make(`followers\n${key}`, suppressed, () => this.list(followers))
        : "",
    ];
  }

  list(subjects) {
    const items = subjects.slice(0, SUBJECTS_AT_ONCE).map((each) => this.item(each));
    const left = subjects.length - items.length;
    const rest = left > 0 ? el("li", {}, `and ${left} more: filter by the reason`) : "";
    return el("ul", {}, items, rest);
  }

  item(subject) {
    const { via = [], held, stalled } = subject.blocking;
    return el(
      "li",
      {},
      badge(subject.state),
      " ",
      button(pathOf(subject), () => this.reveal(subject), { class: "link" }),
      via.length ? quiet(` ↳ ${via.join(" ↳ ")} `) : " ",
      held ? mark("held") : "",
      stalled ? mark("stalled", "stalled") : "",
    );
  }
}

function signatureOf({ key, state, own, followers, held, stalled, blocking }) {
  const ids = (subjects) => subjects.map((each) => [each.id, each.state, each.blocking.via]);
  const { since, message, remedy, actionability } = blocking;
  const shown = [key, state, held, stalled, since, message, remedy, actionability];
  return [...shown, ids(own), ids(followers)];
}
