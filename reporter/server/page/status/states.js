// The states of a subject, the worst first.

export const STATES = ["Failed", "Unknown", "InProgress", "Terminating", "Current"];

// A state that this page does not know counts as Unknown, and is shown by its own name.
export const knownState = (state) => (STATES.includes(state) ? state : "Unknown");

export const severity = (state) => STATES.indexOf(knownState(state));
