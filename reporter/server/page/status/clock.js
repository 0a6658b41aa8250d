// The one clock of the page: milliseconds that only go forward, also while the computer sleeps.

const SLEEP_MS = 5000;
const start = Date.now() - performance.now();
let slept = 0;

// performance.now() may stand still during sleep, and Date.now() follows changes of the time. A
// leap of the latter counts as sleep: a status that is taken for too old is harmless.
export function now() {
  const drift = Date.now() - performance.now() - start;
  if (drift - slept > SLEEP_MS) slept = drift;
  return performance.now() + slept;
}
