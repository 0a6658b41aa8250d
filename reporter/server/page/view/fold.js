// What can be unfolded. It is drawn when it is opened for the first time.

import { el } from "./dom.js";

export class Folds {
  constructor() {
    this.open = new Set();
  }

  // *draw()* returns the content. What is open stays so when it is made anew with the same *key*.
  make(key, title, draw) {
    const made = el("details", { class: "fold", open: this.open.has(key) });
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

  // Run *redraw*, and give the focus back to the fold that had it.
  keepFocus(section, redraw) {
    const focused = section.contains(document.activeElement) && document.activeElement;
    const key = focused && focused.closest("details")?.dataset.key;
    redraw();
    if (!focused) return;
    const again = [...section.querySelectorAll("details")].find((each) => each.dataset.key === key);
    (again?.querySelector("summary") ?? section).focus({ preventScroll: true });
  }
}
