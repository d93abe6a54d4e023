import { expect, test } from 'vitest';
import { reuseMemory } from '../src/reuse-memory.ts';

test("the user's own settings of malloc come last, so that they win", () => {
  const ours =
    'glibc.malloc.hugetlb=1:glibc.malloc.mmap_max=0:glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=1099511627776';
  expect(reuseMemory(undefined)).toEqual({ GLIBC_TUNABLES: ours });
  expect(reuseMemory('glibc.malloc.hugetlb=0')).toEqual({ GLIBC_TUNABLES: `${ours}:glibc.malloc.hugetlb=0` });
});
