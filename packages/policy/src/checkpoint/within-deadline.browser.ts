/** As within-deadline.ts, in a browser: nothing there interrupts a computation. A person can close the tab. */

/** @returns The result of `compute`, however long it takes. */
export function withinDeadline<T extends object>(compute: () => T): T {
  return compute();
}
