// Ask for the status again and again: conditional requests that wait for a change.

const WAIT_SECONDS = 30;
const TIMEOUT_MS = 45_000;
const RETRY_MS = [1000, 2000, 4000, 8000, 15_000];
const JITTER_MS = 500;
const PAUSE_MS = 1000;
const LARGE_LENGTH = 1_000_000;
const LARGE_PAUSE_MS = 5000;
const TOO_MANY_REQUESTS = 429;
// A proxy on the way may ask for days; above 2^31 ms the next request would be sent at once.
const LONGEST_PAUSE_MS = 60_000;

class RequestFailed extends Error {
  constructor(message, { retryMs = null, isBusy = false } = {}) {
    super(message);
    Object.assign(this, { retryMs, isBusy });
  }
}

// *on.changed(document, serverTime)* for each new document, *on.unchanged(evaluatedAt, serverTime)*
// if its content is as it was, *on.failed(message)* if it cannot be read.
export class Poll {
  constructor(on) {
    Object.assign(this, { on, etag: "", failures: 0, stop: new AbortController() });
  }

  start() {
    // A hidden page asks for nothing: the reporter lets 32 requests wait.
    document.addEventListener("visibilitychange", () => this.restart());
    this.restart();
  }

  restart() {
    this.stop.abort();
    if (document.hidden) return;
    this.stop = new AbortController();
    this.run(this.stop.signal);
  }

  async run(signal) {
    let wait = 0;
    while (!signal.aborted) {
      let rest = 0;
      try {
        rest = await this.ask(wait, signal);
        [wait, this.failures] = [WAIT_SECONDS, 0];
      } catch (error) {
        if (signal.aborted) return;
        if (!error.isBusy) this.on.failed(error.message);
        // The next answer has to come at once, not with the next change.
        wait = 0;
        rest = error.retryMs ?? RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)];
        rest += Math.random() * JITTER_MS;
      }
      await pause(rest, signal);
    }
  }

  // Return how long to pause before the next request.
  async ask(wait, signal) {
    const isConditional = this.etag !== "";
    const path = isConditional && wait ? `status/v1?wait=${wait}` : "status/v1";
    const answer = await get(path, isConditional ? { "If-None-Match": this.etag } : {}, signal);
    if (answer.status === 304) {
      // Only a whole answer has the time of the last pass; this one is short.
      const short = await get("status/v1?state=Terminating", {}, signal);
      this.on.unchanged(decode(short.text).evaluatedAt ?? "", short.serverTime);
      return PAUSE_MS;
    }
    this.on.changed(decode(answer.text), answer.serverTime);
    this.etag = answer.etag;
    return answer.text.length > LARGE_LENGTH ? LARGE_PAUSE_MS : PAUSE_MS;
  }
}

async function get(path, headers, signal) {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  let response, text;
  try {
    response = await fetch(path, { headers, cache: "no-store", signal: limit });
    text = await response.text();
  } catch (error) {
    throw new RequestFailed(error.name === "TimeoutError" ? "it does not answer" : "no connection");
  }
  if (!response.ok && response.status !== 304) throw refusal(response);
  const serverTime = Date.parse(response.headers.get("Date") ?? "");
  const etag = response.headers.get("ETag") ?? "";
  return { status: response.status, text, etag, serverTime: serverTime || Date.now() };
}

function refusal(response) {
  const isBusy = response.status === TOO_MANY_REQUESTS;
  const seconds = Number(response.headers.get("Retry-After"));
  const retryMs = seconds > 0 ? Math.min(seconds * 1000, LONGEST_PAUSE_MS) : null;
  return new RequestFailed(`it answers HTTP ${response.status}`, { retryMs, isBusy });
}

function decode(text) {
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    throw new RequestFailed("its answer is no JSON");
  }
  if (found?.schema !== "v1") throw new RequestFailed("its answer has not the schema v1");
  return found;
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
