// What blocks: each cause with who must act, and what follows from it indented under it.

import { findCauses, sizeOf } from "../status/causes.js";
import { pathOf } from "../status/subjects.js";
import { describe, describeTimes } from "./blocking.js";
import { button, el, fill } from "./dom.js";
import { Folds } from "./fold.js";
import { actor, age, availabilityBadge, badge, code, mark, plural, quiet } from "./words.js";

const CAUSES_AT_ONCE = 20;
const SUBJECTS_AT_ONCE = 50;

export class Causes {
  // *reveal(subject)* moves the tree to a subject.
  constructor(section, reveal) {
    Object.assign(this, { section, reveal, folds: new Folds() });
    Object.assign(this, { limit: CAUSES_AT_ONCE, signature: null });
    this.folds.closeOnEscape(section, () => {});
  }

  // *nothing*: the text if there is no cause. Return the number of causes.
  show(roots, receivedAt, nothing) {
    const causes = findCauses(roots);
    const signature = JSON.stringify([this.limit, nothing, causes.map(signatureOf)]);
    if (signature !== this.signature) {
      Object.assign(this, { signature, receivedAt });
      this.folds.keepFocus(this.section, () => this.draw(causes, nothing));
    }
    return causes.length;
  }

  draw(causes, nothing) {
    const held = causes.filter((each) => each.held);
    const sure = causes.filter((each) => !each.held);
    const left = sure.length - this.limit;
    const showMore = () => {
      this.limit += CAUSES_AT_ONCE;
      this.folds.keepFocus(this.section, () => this.draw(causes, nothing));
    };
    const more = `Show more: ${plural(left, "cause")} left`;
    fill(
      this.section,
      causes.length ? "" : el("p", { class: "calm" }, nothing),
      sure.slice(0, this.limit).map((each) => this.card(each)),
      left > 0 ? button(more, showMore, { "data-key": "more" }) : "",
      held.length ? this.heldOnes(held) : "",
    );
  }

  heldOnes(held) {
    const title = `Held: ${plural(held.length, "cause")} that may be a normal change`;
    const draw = () => held.slice(0, this.limit).map((each) => this.card(each));
    return this.folds.make("held", title, draw);
  }

  card(cause) {
    const { blocking } = cause;
    return el(
      "article",
      { class: `cause of-${cause.state}` },
      el("h3", { class: "title" }, this.title(cause)),
      blocking.message ? el("p", { class: "said" }, blocking.message) : "",
      blocking.remedy ? el("p", {}, el("b", {}, "Remedy: "), blocking.remedy) : "",
      el("div", { class: "follows" }, this.suppressed(cause), this.unavailable(cause)),
      this.folds.make(cause.key, moreTitle(cause), () => this.body(cause)),
    );
  }

  title(cause) {
    const { blocking } = cause;
    return [
      sizeOf(cause) ? badge(cause.state) : availabilityBadge(cause.state === "NotAvailable" ? false : null),
      el("span", {}, blocking.reason || blocking.code),
      quiet(blocking.object),
      mark(`acts: ${blocking.actionability}`, "acts"),
      quiet(age(blocking, this.receivedAt)),
      cause.held ? mark("held") : "",
      cause.stalled ? mark("stalled", "stalled") : "",
    ];
  }

  suppressed({ key, suppressed }) {
    return [...suppressed].map(([reason, findings]) => {
      const title = ["↳ ", code(reason), ` ${findings.length} suppressed`];
      const draw = () =>
        this.list(findings, ({ subject, finding }) => [this.link(subject), " ", finding.message]);
      return this.folds.make(`suppressed\n${reason}\n${key}`, title, draw);
    });
  }

  unavailable({ key, unavailable }) {
    return [false, null].map((available) => {
      const models = unavailable.filter((each) => (each.data.available ?? null) === available);
      if (!models.length) return "";
      const number = plural(models.length, "model");
      const title = available === false ? `${number} not available` : `availability of ${number} not known`;
      const draw = () =>
        this.list(models, (each) => [badge(each.state), " ", this.link(each), quiet(through(each))]);
      return this.folds.make(`available ${available}\n${key}`, ["↳ ", title], draw);
    });
  }

  body({ blocking, own, followers }) {
    const rows = [
      describe("Who must act", actor(blocking.actionability)),
      describeTimes(blocking, this.receivedAt),
      describe("Code", code(blocking.code)),
      describe("Layer", blocking.layer),
    ];
    return [el("dl", {}, rows), this.list([...own, ...followers], (each) => this.blocked(each))];
  }

  blocked(subject) {
    const { via = [], held, stalled } = subject.blocking;
    return [
      badge(subject.state),
      " ",
      this.link(subject),
      via.length ? quiet(` ↳ ${via.join(" ↳ ")} `) : " ",
      held ? mark("held") : "",
      stalled ? mark("stalled", "stalled") : "",
    ];
  }

  list(items, draw) {
    const shown = items.slice(0, SUBJECTS_AT_ONCE).map((each) => el("li", {}, draw(each)));
    const left = items.length - shown.length;
    const rest = left > 0 ? el("li", {}, `and ${left} more: filter by the reason`) : "";
    return el("ul", {}, shown, rest);
  }

  link(subject) {
    const attributes = { class: "link", "data-key": subject.id };
    return button(pathOf(subject), () => this.reveal(subject), attributes);
  }
}

function moreTitle(cause) {
  return sizeOf(cause) ? `Blocks ${plural(sizeOf(cause), "subject")}` : "Blocks no subject: about requests alone";
}

function through({ data }) {
  const { gateways = [] } = data;
  return gateways.length ? ` through Gateway ${gateways.join(" or ")}` : "";
}

function signatureOf({ key, state, own, followers, suppressed, unavailable, held, stalled, blocking }) {
  const ids = (subjects) => subjects.map((each) => [each.id, each.state, each.blocking?.via]);
  const { since, message, remedy, actionability } = blocking;
  const shown = [key, state, held, stalled, since, message, remedy, actionability];
  const hidden = [...suppressed].map(([reason, findings]) => [
    reason,
    findings.map(({ subject, finding }) => [subject.id, finding.message]),
  ]);
  const hindered = unavailable.map(({ id, state: own_, data }) => [id, own_, data.available, data.gateways]);
  return [...shown, ids(own), ids(followers), hidden, hindered];
}
