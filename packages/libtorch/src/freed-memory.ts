/** What becomes of the memory of freed tensors, where the C library is glibc: the engine reuses it, and gives it back when it rests. */
import koffi from 'koffi';

/**
 * Settings of glibc's malloc (GLIBC_TUNABLES) that keep freed memory, in huge pages. By default, each large tensor is mapped anew, which
 * takes up to a third of a step: the kernel clears each small page. Other C libraries ignore the variable. The user's own settings win.
 */
export function reuseMemory(own: string | undefined): { GLIBC_TUNABLES: string } {
  const settings = ['hugetlb=1', 'mmap_max=0', `trim_threshold=${2 ** 40}`];
  const named = settings.map((setting) => `glibc.malloc.${setting}`);
  return { GLIBC_TUNABLES: [...named, ...(own ? [own] : [])].join(':') };
}

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

/** From now on, large tensors are mapped alone again, so that what lies between them is no loss. For an engine that lacked memory. */
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
