/** A worker plays the newest version that it can open, and closes a version when its last group ends. */
import type { PolicyHandle } from '@toolenv/core/plugins';
import { expect, test, vi } from 'vitest';
import {
  checkVersioned,
  PolicyVersions,
  withVersion,
} from '../../../src/rollouts/workers/policy-versions.ts';
import { inOrderOf, type WantedGroup } from '../../../src/rollouts/workers/training-state.ts';

const version = (policyVersion: number) => ({ name: `version-${policyVersion}`, policyVersion, restart: 0 });

/** Versions that say in `log` when they open and close. */
function logged(missing: readonly string[] = []) {
  const log: string[] = [];
  const versions = new PolicyVersions(async (name = 'fixed') => {
    if (missing.includes(name)) throw new Error(`The server has no ${name}.`);
    log.push(`open ${name}`);
    return { spec: { name }, close: async () => void log.push(`close ${name}`) } as unknown as PolicyHandle;
  });
  return { versions, log };
}

test('a version opens once, stays open for its groups, and closes after the last of them', async () => {
  const { versions, log } = logged();
  const [a, b] = await Promise.all([versions.hold(version(1)), versions.hold(version(1))]);
  const c = await versions.hold(version(2));
  expect([a, b, c].map((held) => held.version?.policyVersion)).toEqual([1, 1, 2]);
  await a.release();
  expect(log).toEqual(['open version-1', 'open version-2']);
  await b.release();
  expect(log.at(-1)).toBe('close version-1');
  await c.release();
  expect(log).toHaveLength(3);
  const d = await versions.hold(version(3));
  expect(log.slice(3)).toEqual(['open version-3', 'close version-2']);
  await d.release();
  await versions.close();
  expect(log.at(-1)).toBe('close version-3');
});

test('while a server does not have the newest version, the version before goes on', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
  const missing = ['version-2'];
  const { versions, log } = logged(missing);
  await versions.hold(version(1));
  for (let i = 0; i < 3; i++) expect((await versions.hold(version(2))).version?.policyVersion).toBe(1);
  expect(warned).toHaveBeenCalledTimes(1);
  missing.pop();
  expect((await versions.hold(version(2))).version?.policyVersion).toBe(2);
  expect(log).toEqual(['open version-1', 'open version-2']);
  const { versions: none } = logged(['version-1']);
  await expect(none.hold(version(1))).rejects.toThrow('The server has no version-1.');
});

test('a policy without versions opens once', async () => {
  const { versions, log } = logged();
  expect((await versions.hold(undefined)).version).toBeUndefined();
  await versions.hold(undefined);
  expect(log).toEqual(['open fixed']);
});

test('{version} stands for the name, and is there exactly if a trainer publishes versions', () => {
  expect(withVersion('openai:http://host/v1#{version}', 'version-3')).toBe('openai:http://host/v1#version-3');
  expect(() => checkVersioned('p/{version}', true)).not.toThrow();
  expect(() => checkVersioned('p', false)).not.toThrow();
  expect(() => checkVersioned('p', true)).toThrow("put {version} in place of the version's name");
  expect(() => checkVersioned('p/{version}', false)).toThrow('name a policy without {version}');
});

test('workers begin with groups of their own, which together are all', () => {
  const groups = Array.from({ length: 10 }, (_, group): WantedGroup => [group, group]);
  const firsts = [0, 1, 2].map((index) => inOrderOf(groups, { index, count: 3 }).map(([group]) => group));
  expect(firsts).toEqual([
    [0, 3, 6, 9, 1, 4, 7, 2, 5, 8],
    [1, 4, 7, 2, 5, 8, 0, 3, 6, 9],
    [2, 5, 8, 0, 3, 6, 9, 1, 4, 7],
  ]);
});
