// What can be unfolded. It is drawn when it is opened for the first time.

import { el } from "./dom.js";

export class Folds {
  constructor() {
    this.open = new Set();
  }

  // *draw()* returns the content. What is open stays so when it is made anew with the same *key*.
  make(key, title, draw, attributes = {}) {
    const made = el("details", { class: "fold", ...attributes, open: this.open.has(key) });
    made.append(el("summary", {}, title));
    made.dataset.key = key;
    let isDrawn = false;
    const update = () => {
      if (isDrawn || !made.open) return;
      isDrawn = true;
      made.append(...[draw()].flat(Infinity).filter(Boolean));
    };
    update();
    made.addEventListener("toggle", () => {
      if (made.open) this.open.add(key);
      else this.open.delete(key);
      update();
    });
    return made;
  }

  // Escape closes the fold that has the focus; where none is open it runs *leave*.
  closeOnEscape(section, leave) {
    section.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      const fold = event.target.closest("details[open]");
      event.preventDefault();
      if (!fold || !section.contains(fold)) return leave();
      fold.open = false;
      summaryOf(fold).focus();
    });
  }

  // Run *redraw*, and give the focus back to what had it: by its key, or else to what is around it.
  keepFocus(section, redraw) {
    const focused = section.contains(document.activeElement) && document.activeElement;
    const keys = focused ? foldsAround(focused, section).map((each) => each.dataset.key) : [];
    const own = focused && focused.dataset.key;
    redraw();
    if (!focused) return;
    const folds = [...section.querySelectorAll("details")];
    const around = keys.map((key) => folds.find((each) => each.dataset.key === key)).find(Boolean);
    const within = [...(around ?? section).querySelectorAll("button[data-key]")];
    const again = within.find((each) => each.dataset.key === own);
    (again ?? (around ? summaryOf(around) : section)).focus({ preventScroll: true });
  }
}

const summaryOf = (fold) => fold.querySelector("summary");

// The folds around a node, the innermost first.
function foldsAround(node, section) {
  const found = [];
  for (let each = node.closest("details"); each && section.contains(each); )
    each = found[found.push(each) - 1].parentElement.closest("details");
  return found;
}
