/** node:os in a tab. */

/** Streams of tasks are kept there. */
export function tmpdir(): string {
  return '/tmp';
}

/** Where the folder for caches would be; a tab keeps none. */
export function homedir(): string {
  return '/home';
}

/** Locks of folders name their host, which must have a name. */
export function hostname(): string {
  return 'tab';
}

/** A tab does not know its memory. */
export function totalmem(): number {
  return 0;
}
