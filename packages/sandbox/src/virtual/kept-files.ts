/** KeptFiles: a copy of the files of a thread, from which a new thread can begin. */

/** An entry as the thread reports it. */
export interface KeptEntry {
  path: string;
  type: 'file' | 'folder' | 'link';
  mode: number;
  content?: Uint8Array;
  target?: string;
}

/** What a request changed: the paths, all below them included, and what is there now. */
export interface FileChanges {
  paths: readonly string[];
  entries: readonly KeptEntry[];
}

export class KeptFiles {
  readonly #entries: Map<string, KeptEntry> = new Map();

  apply({ paths, entries }: FileChanges): void {
    for (const path of paths) {
      this.#entries.delete(path);
      const below = path === '/' ? path : `${path}/`;
      for (const kept of this.#entries.keys()) if (kept.startsWith(below)) this.#entries.delete(kept);
    }
    for (const entry of entries) this.#entries.set(entry.path, entry);
  }

  /** Outermost first. */
  all(): KeptEntry[] {
    return [...this.#entries.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }
}
