/** node:os in a tab. */

/** Streams of tasks are kept there. */
export function tmpdir(): string {
  return '/tmp';
}

/** Locks of folders name their host, which must have a name. */
export function hostname(): string {
  return 'tab';
}
