/** Gives the memory of freed tensors back to the system, where the C library is glibc. Until then, the engine reuses it: reuse-memory.ts. */
import koffi from 'koffi';

/** M_TRIM_THRESHOLD, M_MMAP_THRESHOLD and M_MMAP_MAX of malloc.h, with glibc's defaults. */
const defaults = [
  [-1, 128 * 1024],
  [-3, 128 * 1024],
  [-4, 65_536],
] as const;

/** Gives all that is free back to the system. */
export function giveMemoryBack(): void {
  glibc?.trim(0);
}

/** Less available memory than this share of it is little. */
const little = 0.1;
/** Milliseconds between two times: what an update needs again soon is mapped anew, which takes seconds. */
const pause = 30_000;

let last = Number.NEGATIVE_INFINITY;

/**
 * Gives free memory back if the system, or the process's limit, has little left. Freed tensors leave gaps that a larger tensor does not
 * fit in, so a long rollout would take more and more memory.
 */
export function shareLittleMemory(available: number, total: number, now: number): boolean {
  if (available >= little * total || now - last < pause) return false;
  last = now;
  giveMemoryBack();
  return true;
}

/** For an engine that lacked memory: from now on, malloc maps each large tensor alone again, and no gaps between tensors are lost. */
export function saveMemory(): void {
  for (const [parameter, value] of defaults) glibc?.set(parameter, value);
  giveMemoryBack();
}

const glibc = (() => {
  try {
    const library = koffi.load(null);
    return {
      trim: library.func('malloc_trim', 'int', ['size_t']),
      set: library.func('mallopt', 'int', ['int', 'int']),
    };
  } catch {
    return undefined;
  }
})();
