/** The browser's version of within-deadline.ts. A browser cannot interrupt a computation, but a person can close the tab. */

/** @returns The result of `compute`, however long it takes. */
export function withinDeadline<T extends object>(compute: () => T): T {
  return compute();
}
