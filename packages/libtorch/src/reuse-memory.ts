/** reuseMemory: settings with which an engine starts, so that it keeps the memory of freed tensors. */

/**
 * Settings of glibc's malloc (GLIBC_TUNABLES) that keep freed memory, in huge pages. By default, each large tensor is mapped anew, which
 * takes up to a third of a step: the kernel clears each small page. `mapLarge` excepts tensors above 32 MiB, the most that glibc accepts as a
 * threshold. Other C libraries ignore the variable. The user's own settings win.
 */
export function reuseMemory(own: string | undefined): { GLIBC_TUNABLES: string } {
  const settings = ['hugetlb=1', 'mmap_max=0', `mmap_threshold=${2 ** 25}`, `trim_threshold=${2 ** 40}`];
  const named = settings.map((setting) => `glibc.malloc.${setting}`);
  return { GLIBC_TUNABLES: [...named, ...(own ? [own] : [])].join(':') };
}
