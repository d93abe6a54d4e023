/** node:os in a tab. */

/** Locks of folders name their host, which must have a name. */
export function hostname(): string {
  return 'tab';
}
