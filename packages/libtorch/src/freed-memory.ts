/** What becomes of the memory of freed tensors while the engine runs, where the C library is glibc. The settings that it starts with: reuse-memory.ts. */
import koffi from 'koffi';

/** Parameters of malloc.h. */
const [trimThreshold, mmapThreshold, mmapMax] = [-1, -3, -4];
/** glibc's default: so many tensors may be mapped alone. */
const most = 65_536;
/** glibc's. */
const defaults = [
  [trimThreshold, 128 * 1024],
  [mmapThreshold, 128 * 1024],
  [mmapMax, most],
] as const;

/** Gives all that is free back to the system. */
export function giveMemoryBack(): void {
  glibc?.trim(0);
}

/** Less available memory than this share of it is little. */
const little = 0.1;
/** Milliseconds after which memory is given back again. What an update needs again soon is mapped anew, which takes seconds. */
const pause = 30_000;

let last = Number.NEGATIVE_INFINITY;

/**
 * Gives free memory back if the system, or the process's limit, has little left. Freed tensors leave gaps that a larger tensor does not
 * fit in, so a long rollout would take more and more memory.
 */
export function giveBackIfLittle(available: number, total: number, now: number): boolean {
  if (available >= little * total || now - last < pause) return false;
  last = now;
  giveMemoryBack();
  return true;
}

let mapsLarge: boolean | undefined;
let isDecided = false;

/** Leaves malloc's settings as they are, because the user has chosen them. */
export function leaveSettings(): void {
  isDecided = true;
}

/**
 * Whether tensors above 32 MiB are mapped alone from now on. A cache of keys and values lives long, and would leave gaps among the tensors of
 * updates: over ten steps of GRPO, a step took twice the memory and time. An update makes such tensors anew in each batch: mapped, their
 * pages are cleared each time, which takes a third of its time.
 */
export function mapLarge(maps: boolean): void {
  if (isDecided || maps === mapsLarge) return;
  mapsLarge = maps;
  glibc?.set(mmapMax, maps ? most : 0);
}

/** For an engine that lacked memory: from now on, malloc maps each large tensor alone again, and no gaps between tensors are lost. */
export function saveMemory(): void {
  isDecided = true;
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
