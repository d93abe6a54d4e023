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

/** Gives all that is free back to the system, where glibc can. */
export const giveMemoryBack: () => void = (() => {
  try {
    const trim = koffi.load(null).func('malloc_trim', 'int', ['size_t']);
    return () => void trim(0);
  } catch {
    return () => {};
  }
})();
