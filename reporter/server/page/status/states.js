// The states of a subject, the worst first.

export const STATES = ["Failed", "Unknown", "InProgress", "Terminating", "Current"];

// The words for people, as State.word of the program has them; the documents have those of kstatus.
const WORDS = { Current: "Ready", InProgress: "Progressing" };

export const stateWord = (state) => WORDS[state] ?? state;

// A state that this page does not know counts as Unknown, and is shown by its own name.
export const knownState = (state) => (STATES.includes(state) ? state : "Unknown");

export const severity = (state) => STATES.indexOf(knownState(state));
