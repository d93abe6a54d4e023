/** reuseMemory: settings with which an engine starts, so that it keeps the memory of freed tensors. */

/**
 * Settings of malloc that keep freed memory, in huge pages. By default, each large tensor is mapped anew, which takes up to a third of a
 * step: the kernel clears each small page. The user's own settings win, and other C libraries ignore the variables.
 *
 * - GLIBC_TUNABLES: glibc. `mapLarge` excepts tensors above 32 MiB, the most that glibc accepts as a threshold.
 * - MALLOC_CONF: jemalloc, if the user preloads it. Freed memory goes back after a minute, that of large tensors too.
 */
export function reuseMemory(own: { GLIBC_TUNABLES?: string; MALLOC_CONF?: string }): Required<typeof own> {
  const glibc = ['hugetlb=1', 'mmap_max=0', `mmap_threshold=${2 ** 25}`, `trim_threshold=${2 ** 40}`];
  const jemalloc = ['thp:always', 'dirty_decay_ms:60000', 'muzzy_decay_ms:60000', 'oversize_threshold:0'];
  const named = glibc.map((setting) => `glibc.malloc.${setting}`);
  return {
    GLIBC_TUNABLES: [...named, ...(own.GLIBC_TUNABLES ? [own.GLIBC_TUNABLES] : [])].join(':'),
    MALLOC_CONF: [...jemalloc, ...(own.MALLOC_CONF ? [own.MALLOC_CONF] : [])].join(','),
  };
}
