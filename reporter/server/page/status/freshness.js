// Tell whether the status that is shown still holds: is the reporter reached, and does it evaluate?

export const DEFAULT_STALE_AFTER_MS = 90_000;

// Times are those of clock.js.
export class Freshness {
  constructor() {
    this.staleAfterMs = DEFAULT_STALE_AFTER_MS;
    Object.assign(this, { evaluatedAt: "", evaluatedHere: 0, failedAt: null, failure: "" });
  }

  // The clocks of reporter and browser are compared for the first answer alone; later ones count
  // from when *evaluatedAt* was seen to change.
  read(evaluatedAt, serverTime, now) {
    this.failedAt = null;
    if (evaluatedAt && evaluatedAt !== this.evaluatedAt) {
      const before = this.evaluatedAt ? 0 : Math.max(0, serverTime - Date.parse(evaluatedAt)) || 0;
      this.evaluatedHere = now - before;
    }
    this.evaluatedAt = evaluatedAt;
  }

  failed(message, now) {
    this.failedAt ??= now;
    this.failure = message;
  }

  // Return why the status may not hold: {kind, since}, or null.
  problem(now) {
    if (this.failedAt !== null) return { kind: "unreachable", since: this.failedAt };
    if (!this.evaluatedAt) return { kind: "unevaluated", since: now };
    const isStale = now - this.evaluatedHere > this.staleAfterMs;
    return isStale ? { kind: "stale", since: this.evaluatedHere } : null;
  }
}
