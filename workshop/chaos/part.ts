/** A part of the soak: what it receives, and what it reports. */

/** What a part receives. It is sent to the part's process as JSON. */
export interface PartInput {
  /** Does a tenth of the work or less, for CI. */
  quick: boolean;
  /** Draws every fault, mutation and moment. */
  seed: number;
}

/** Something that must hold. */
export interface Check {
  name: string;
  passed: boolean;
  /** What was counted or measured, or what went wrong. */
  detail: string;
}

/** How a part reports. What it has reported stays, even if the part hangs or dies later. */
export interface Reporter {
  /** Prints a line of progress. */
  say(line: string): void;
  report(check: Check): void;
}

export function check(name: string, passed: boolean, detail: string): Check {
  return { name, passed, detail };
}

/** A check that passes if nothing is wrong. Its detail names the first few things that are. */
export function checkNone(name: string, wrong: readonly string[], detail: string): Check {
  const shown = wrong.slice(0, 5).map((line) => (line.length > 300 ? `${line.slice(0, 299)}…` : line));
  const more = wrong.length > shown.length ? `; and ${wrong.length - shown.length} more` : '';
  return check(name, wrong.length === 0, wrong.length === 0 ? detail : `${shown.join('; ')}${more}`);
}
