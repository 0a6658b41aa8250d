// The tree of subjects: drawn in parts, and moved through by keys (WAI-ARIA pattern "tree view").

import { choose, countMatches, rowsOf } from "../status/filter.js";
import { byId } from "./dom.js";
import { drawRow, signatureOf } from "./rows.js";
import { plural } from "./words.js";

const ROWS_AT_ONCE = 200;
const ROWS_PER_FRAME = 100;
const OPEN_BY_DEFAULT = 10;
const NEXT_LETTER_MS = 700;

export class Tree {
  // *onSelect(subject)* is called for the one that is moved to, *onEnter()* for Enter on one that
  // opens nothing, and *onClose()* for Escape.
  constructor({ onSelect, onEnter, onClose }) {
    Object.assign(this, { onSelect, onEnter, onClose, root: byId("tree"), more: byId("more") });
    Object.assign(this, { rows: [], places: new Map(), drawn: new Map(), opened: new Map() });
    Object.assign(this, { active: null, selected: null, limit: ROWS_AT_ONCE, drawing: 0, typed: "" });
    this.root.addEventListener("click", (event) => this.onClick(event));
    this.root.addEventListener("keydown", (event) => this.onKey(event));
    this.root.addEventListener("focus", () => this.moveTo(this.active));
    this.more.addEventListener("click", () => this.showMore());
    const atEnd = (seen) => seen.some((each) => each.isIntersecting) && this.showMore();
    new IntersectionObserver(atEnd).observe(this.more);
  }

  // Show the roots, filtered. Return the number of matches, or null without a filter.
  show(roots, filter, receivedAt) {
    // What was opened or closed by hand stays so for this filter alone.
    if (filter.key !== this.filter?.key) this.openedInFilter = new Map();
    Object.assign(this, { filter, receivedAt });
    const troubled = roots.filter((each) => each.kind === "group" && each.state !== "Current");
    const namespaces = troubled.reduce((sum, each) => sum + each.children.length, 0);
    this.isCalm = namespaces <= OPEN_BY_DEFAULT;
    this.chosen = filter.isActive
      ? roots.map((each) => choose(each, filter)).filter(Boolean)
      : roots.map(unfiltered);
    this.draw();
    return filter.isActive ? countMatches(this.chosen) : null;
  }

  toggled() {
    return this.filter.isActive ? this.openedInFilter : this.opened;
  }

  isOpen({ id, kind, state, hasHindered }) {
    const byHand = this.toggled().get(id);
    if (byHand !== undefined) return byHand;
    if (this.filter.isActive && (kind === "group" || this.filter.hasText)) return true;
    if (state === "Current") return Boolean(hasHindered);
    return !["namespace", "member"].includes(kind) || this.isCalm;
  }

  // ------------------------------------------------------------ drawing

  draw() {
    const before = this.places.get(this.active) ?? 0;
    this.rows = rowsOf(this.chosen, (each) => this.isOpen(each));
    this.places = new Map(this.rows.map((row, at) => [row.subject.id, at]));
    // Where a row is gone, the one that has come into its place is moved to.
    const there = this.rows[Math.min(before, this.rows.length - 1)];
    if (!this.places.has(this.active)) this.active = there?.subject.id ?? null;
    this.hasFocus ||= this.root.contains(document.activeElement);
    const wanted = new Set(this.rows.slice(0, this.limit).map((row) => row.subject.id));
    for (const [id, { element }] of this.drawn) {
      if (wanted.has(id)) continue;
      element.remove();
      this.drawn.delete(id);
    }
    this.drawFrom(0, ++this.drawing);
  }

  // Draw some rows, and the others in later frames, so that no frame is late.
  drawFrom(start, drawing) {
    if (drawing !== this.drawing) return;
    const all = Math.min(this.limit, this.rows.length);
    const end = Math.min(start + ROWS_PER_FRAME, all);
    for (let at = start; at < end; at++) this.place(at);
    this.keepFocus();
    this.root.setAttribute("aria-busy", String(end < all));
    const left = this.rows.length - all;
    this.more.hidden = left === 0;
    this.more.textContent = `Show more: ${plural(left, "row")} left`;
    if (end < all) requestAnimationFrame(() => this.drawFrom(end, drawing));
    else this.hasFocus = false;
  }

  // Draw a row anew if it shows something else, and put it where it belongs.
  place(at) {
    const row = this.rows[at];
    const { id } = row.subject;
    const marks = [id === this.active, id === this.selected];
    const signature = signatureOf(row, ...marks);
    const known = this.drawn.get(id);
    let element = known?.element;
    if (known?.signature !== signature) {
      const made = drawRow(row, ...marks, this.receivedAt);
      element?.replaceWith(made);
      element = made;
      this.drawn.set(id, { element, signature });
    }
    const there = this.root.children[at] ?? null;
    if (there !== element) this.root.insertBefore(element, there);
  }

  // A row that is replaced or moved loses the focus. What a person has moved to keeps it.
  keepFocus() {
    const { activeElement, body } = document;
    if (activeElement !== body && !this.root.contains(activeElement)) this.hasFocus = false;
    const element = this.drawn.get(this.active)?.element;
    if (this.hasFocus && element && element !== activeElement)
      element.focus({ preventScroll: true });
  }

  showMore(atLeast = 0) {
    this.limit = Math.max(this.limit + ROWS_AT_ONCE, atLeast);
    this.draw();
  }

  // ------------------------------------------------------------ moving

  moveTo(id) {
    const at = this.places.get(id);
    if (at === undefined) return;
    if (at >= this.limit) this.showMore(at + ROWS_AT_ONCE);
    const before = [this.places.get(this.active), this.places.get(this.selected)];
    this.active = this.selected = id;
    for (let each = this.root.children.length; each < at; each++) this.place(each);
    for (const each of before) if (each < this.root.children.length) this.place(each);
    this.place(at);
    const { element } = this.drawn.get(id);
    element.focus({ preventScroll: true });
    element.scrollIntoView({ block: "nearest" });
    this.onSelect(this.rows[at].subject);
  }

  // Select nothing. The focus stays where it is.
  deselect() {
    this.selected = null;
    this.draw();
  }

  // Give the focus back to the row that had it last.
  focus() {
    this.drawn.get(this.active)?.element.focus({ preventScroll: true });
  }

  // Open what is above a subject, then move to it.
  reveal(id, above) {
    for (const each of above) this.toggled().set(each, true);
    this.draw();
    this.moveTo(id);
  }

  setOpen(row, open) {
    this.toggled().set(row.subject.id, open);
    this.draw();
    this.moveTo(row.subject.id);
  }

  onClick(event) {
    const id = event.target.closest("[role=treeitem]")?.dataset.id;
    const row = this.rows[this.places.get(id)];
    if (!row) return;
    const opens = event.target.closest(".twisty") || row.subject.kind === "group";
    if (row.isExpandable && opens) this.setOpen(row, !row.open);
    else this.moveTo(id);
  }

  onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const at = this.places.get(this.active);
    if (at === undefined) return;
    if (!this.moveBy(event.key, at) && !this.jumpTo(event.key, at)) return;
    event.preventDefault();
  }

  // Return whether the key is one that moves, opens or closes.
  moveBy(key, at) {
    const row = this.rows[at];
    const idAt = (place) => this.rows[place]?.subject.id;
    const moves = {
      ArrowDown: () => this.moveTo(idAt(at + 1)),
      ArrowUp: () => this.moveTo(idAt(at - 1)),
      ArrowLeft: () => (row.open ? this.setOpen(row, false) : this.moveTo(row.parent)),
      ArrowRight: () => (row.open ? this.moveTo(idAt(at + 1)) : this.openIfAny(row)),
      Home: () => this.moveTo(idAt(0)),
      End: () => this.moveTo(idAt(this.rows.length - 1)),
      Enter: () => (row.isExpandable ? this.setOpen(row, !row.open) : this.enter(row)),
      Escape: () => this.onClose(),
      "*": () => this.openBeside(row),
    };
    moves[" "] = moves.Enter;
    moves[key]?.();
    return key in moves;
  }

  enter(row) {
    this.moveTo(row.subject.id);
    this.onEnter();
  }

  openIfAny(row) {
    if (row.isExpandable) this.setOpen(row, true);
  }

  openBeside({ parent, subject }) {
    for (const each of this.rows)
      if (each.parent === parent && each.isExpandable) this.toggled().set(each.subject.id, true);
    this.draw();
    this.moveTo(subject.id);
  }

  // Move to the next name that begins with the letters typed so far.
  jumpTo(key, at) {
    if (key.length !== 1) return false;
    clearTimeout(this.typing);
    this.typing = setTimeout(() => (this.typed = ""), NEXT_LETTER_MS);
    this.typed += key.toLowerCase();
    const from = this.typed.length === 1 ? at + 1 : at;
    const around = [...this.rows.slice(from), ...this.rows.slice(0, from)];
    const begins = ({ subject }) => subject.name.toLowerCase().startsWith(this.typed);
    this.moveTo(around.find(begins)?.subject.id);
    return true;
  }
}

function unfiltered(each) {
  return { subject: each, children: each.children.map(unfiltered), matches: true };
}
