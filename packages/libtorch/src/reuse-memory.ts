/** reuseMemory: settings with which an engine starts, so that it keeps the memory of freed tensors. */

/** Operations that oneDNN keeps prepared: more than the layers of a model have, since all layers have the same. By default it keeps 1,024. */
const prepared = 64;

/**
 * Settings of glibc's malloc (GLIBC_TUNABLES) that keep freed memory, in huge pages. By default, each large tensor is mapped anew, which
 * takes up to a third of a step: the kernel clears each small page. `mapLarge` excepts tensors above 32 MiB, the most that glibc accepts as a
 * threshold. Other C libraries ignore the variable. oneDNN prepares an operation for each number of rows, in hundreds of small objects that lie
 * among tensors, so it keeps few. The user's own settings win.
 */
export function reuseMemory({
  GLIBC_TUNABLES: own,
  ONEDNN_PRIMITIVE_CACHE_CAPACITY = String(prepared),
}: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const settings = ['hugetlb=1', 'mmap_max=0', `mmap_threshold=${2 ** 25}`, `trim_threshold=${2 ** 40}`];
  const named = settings.map((setting) => `glibc.malloc.${setting}`);
  return { GLIBC_TUNABLES: [...named, ...(own ? [own] : [])].join(':'), ONEDNN_PRIMITIVE_CACHE_CAPACITY };
}
