import { expect, test } from 'vitest';
import { harnesses, harnessNamed } from '../src/index.ts';

test('an agent that nobody knows is refused, with the names of the others', () => {
  expect(() => harnessNamed('codes')).toThrow('There is no agent "codes". Did you mean "codex"?');
  expect(harnesses.map(({ name }) => harnessNamed(name))).toEqual(harnesses);
});

test('each agent names its package with the version that was tried', () => {
  for (const { package: name } of harnesses) expect(name).toMatch(/^(@[\w-]+\/)?[\w-]+@\d+\.\d+\.\d+$/);
  expect(new Set(harnesses.map(({ name }) => name)).size).toBe(harnesses.length);
});
