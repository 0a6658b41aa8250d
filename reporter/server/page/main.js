// Read the status, show it, and show when it cannot be read.

import { now } from "./status/clock.js";
import { makeFilter } from "./status/filter.js";
import { Freshness } from "./status/freshness.js";
import { Poll } from "./status/poll.js";
import { STATES, stateWord } from "./status/states.js";
import { buildTree, idsAbove, isFleet } from "./status/subjects.js";
import { Causes } from "./view/causes.js";
import { Details } from "./view/details.js";
import { byId, el, setText } from "./view/dom.js";
import {
  fleetNotices,
  showBanner,
  showCluster,
  showEvaluated,
  showFleet,
  showNotices,
  rightsNotices,
  unlistedNotices,
} from "./view/summary.js";
import { Tree } from "./view/tree.js";
import { badge, plural, showAges } from "./view/words.js";

const TICK_MS = 1000;
const TYPING_MS = 120;
const AWAKE_MS = 10_000;

class Page {
  constructor() {
    this.status = null;
    this.roots = [];
    this.receivedAt = 0;
    this.selected = null;
    this.isOutdated = true;
    this.states = new Set();
    this.freshness = new Freshness();
    this.tree = new Tree({
      onSelect: (subject) => this.select(subject),
      onEnter: () => byId("details").focus(),
      onClose: () => this.deselect(),
    });
    this.details = new Details(byId("details"), () => this.tree.focus());
    this.causes = new Causes(byId("causes"), (subject) => this.reveal(subject));
  }

  start() {
    this.wireFilter();
    this.details.showNothing(false);
    this.readSettings();
    this.poll = new Poll({
      changed: (document, serverTime) => this.changed(document, serverTime),
      unchanged: (evaluatedAt, serverTime) => {
        this.freshness.read(evaluatedAt, serverTime, now());
        this.update();
      },
      failed: (message) => {
        this.freshness.failed(message, now());
        this.update();
      },
    });
    this.poll.start();
    setInterval(() => this.tick(), TICK_MS);
  }

  changed(document, serverTime) {
    this.status = document;
    this.receivedAt = now();
    this.roots = buildTree(document);
    this.freshness.read(document.evaluatedAt ?? "", serverTime, this.receivedAt);
    this.updateHealth();
    this.draw();
  }

  // ------------------------------------------------------------ health of what is shown

  tick() {
    const before = this.tickedAt ?? now();
    this.tickedAt = now();
    // After a sleep of the computer the request that waits may never be answered.
    if (this.tickedAt - before > AWAKE_MS) this.poll.restart();
    this.update();
  }

  update() {
    const wasOutdated = this.isOutdated;
    this.updateHealth();
    if (this.status && wasOutdated !== this.isOutdated) this.draw();
    showAges();
  }

  updateHealth() {
    const time = now();
    const { freshness, status } = this;
    const isWaiting = !status && freshness.failedAt === null;
    const problem = isWaiting ? null : freshness.problem(time);
    this.isOutdated = isWaiting || problem !== null;
    showBanner(problem, freshness.failure, Boolean(status?.evaluatedAt), time);
    document.body.classList.toggle("outdated", problem !== null);
    if (isWaiting) return;
    showEvaluated(freshness, time);
    if (!status) showCluster(null, true);
  }

  async readSettings() {
    try {
      const { staleAfterSeconds } = await (await fetch("page/settings.json")).json();
      if (staleAfterSeconds > 0) this.freshness.staleAfterMs = staleAfterSeconds * 1000;
    } catch {
      // The default holds. That the reporter cannot be reached is shown by the poll.
    }
  }

  // ------------------------------------------------------------ drawing

  draw() {
    const { status, roots, receivedAt } = this;
    const filter = makeFilter(byId("text").value, this.states);
    const found = this.tree.show(roots, filter, receivedAt);
    setText(byId("matches"), this.matchesText(found));
    setText(byId("subjects-title"), this.isOutdated ? "Subjects, last known" : "Subjects");
    if (isFleet(status)) {
      showFleet(status.fleet, this.isOutdated);
      showNotices(fleetNotices(status.fleet));
    } else {
      showCluster(status.cluster, this.isOutdated);
      const { unlistedLayers = [], unobserved = {} } = status.cluster ?? {};
      showNotices([...unlistedNotices(unlistedLayers), ...rightsNotices(unobserved.missingRights ?? [])]);
    }
    const causes = this.causes.show(roots, receivedAt, this.nothingText());
    this.announce(causes);
    this.drawSelected();
  }

  // Said to those who do not see the page: the state, and only when it changes.
  announce(causes) {
    const whole = this.status.cluster ?? this.status.fleet;
    const state = this.isOutdated || !whole ? "Unknown" : whole.state;
    const number = causes ? `${plural(causes, "cause")} shown.` : this.nothingText();
    setText(byId("announcement"), `${isFleet(this.status) ? "Fleet" : "Cluster"} ${stateWord(state)}. ${number}`);
  }

  matchesText(found) {
    if (found !== null) return found ? plural(found, "match", "matches") : "Nothing matches.";
    const { cluster, namespaces = [], clusters = [] } = this.status;
    if (isFleet(this.status)) return clusters.length ? "" : "No cluster is answered for.";
    const isListed = !this.isOutdated && !cluster?.unlistedLayers?.length;
    return namespaces.length || !isListed ? "" : "There is no workload namespace.";
  }

  nothingText() {
    const whole = this.status.cluster ?? this.status.fleet;
    const isUnknown = this.isOutdated || !whole || whole.state === "Unknown";
    if (isUnknown || whole.unlistedLayers?.length)
      return "Nothing is known to block, but not all is known.";
    return "Nothing blocks.";
  }

  select(subject) {
    this.selected = subject.id;
    this.details.show(subject, this.receivedAt);
  }

  deselect() {
    this.selected = null;
    this.tree.deselect();
    this.details.showNothing(false);
  }

  drawSelected() {
    const row = this.tree.rows.find(({ subject }) => subject.id === this.selected);
    if (row) this.details.show(row.subject, this.receivedAt);
    else this.details.showNothing(this.selected !== null);
  }

  reveal(subject) {
    if (byId("text").value || this.states.size) this.clearFilter();
    this.tree.reveal(subject.id, idsAbove(this.roots, subject));
  }

  // ------------------------------------------------------------ filter

  wireFilter() {
    let timer = 0;
    const redraw = () => this.status && this.draw();
    byId("filter").addEventListener("submit", (event) => event.preventDefault());
    byId("text").addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(redraw, TYPING_MS);
    });
    for (const state of STATES) {
      const box = el("input", { type: "checkbox", value: state });
      box.addEventListener("change", () => {
        this.states[box.checked ? "add" : "delete"](state);
        redraw();
      });
      byId("states").append(el("label", { class: "state" }, box, badge(state)));
    }
  }

  clearFilter() {
    byId("text").value = "";
    this.states.clear();
    document.querySelectorAll("#states input").forEach((each) => (each.checked = false));
    this.draw();
  }
}

new Page().start();
