/** testKinds: the kind of each test task of the environments that tell kinds apart. */
import { openEnv } from '@toolenv/core';
import { environments, testSeed } from './environments.ts';

/** By environment. */
export type TestKinds = Readonly<Record<string, readonly string[]>>;

export async function testKinds(): Promise<TestKinds> {
  const found: Record<string, string[]> = {};
  for (const [name, { ref, options, reportedKindOf: kindOf, count }] of Object.entries(environments)) {
    if (!kindOf) continue;
    await using env = await openEnv(ref, options, { seed: testSeed });
    const tasks = await Promise.all(Array.from({ length: count }, (_, index) => env.tasks.test.get(index)));
    found[name] = tasks.map(kindOf);
  }
  return found;
}
