import { expect, test } from 'vitest';
import { reuseMemory } from '../src/reuse-memory.ts';

const glibc =
  'glibc.malloc.hugetlb=1:glibc.malloc.mmap_max=0:glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=1099511627776';
const jemalloc = 'thp:always,dirty_decay_ms:60000,muzzy_decay_ms:60000,oversize_threshold:0';

test("the user's own settings of malloc come last, so that they win", () => {
  expect(reuseMemory({})).toEqual({ GLIBC_TUNABLES: glibc, MALLOC_CONF: jemalloc });
  expect(reuseMemory({ GLIBC_TUNABLES: 'glibc.malloc.hugetlb=0', MALLOC_CONF: 'thp:never' })).toEqual({
    GLIBC_TUNABLES: `${glibc}:glibc.malloc.hugetlb=0`,
    MALLOC_CONF: `${jemalloc},thp:never`,
  });
});
