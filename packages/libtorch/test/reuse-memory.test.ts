import { expect, test } from 'vitest';
import { reuseMemory } from '../src/reuse-memory.ts';

test("the user's own settings win", () => {
  const ours =
    'glibc.malloc.hugetlb=1:glibc.malloc.mmap_max=0:glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=1099511627776';
  expect(reuseMemory({})).toEqual({ GLIBC_TUNABLES: ours, ONEDNN_PRIMITIVE_CACHE_CAPACITY: '64' });
  const own = { GLIBC_TUNABLES: 'glibc.malloc.hugetlb=0', ONEDNN_PRIMITIVE_CACHE_CAPACITY: '1024' };
  // The last of two values for one setting of malloc counts.
  expect(reuseMemory(own)).toEqual({ ...own, GLIBC_TUNABLES: `${ours}:${own.GLIBC_TUNABLES}` });
});
