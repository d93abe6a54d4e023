/** What a policy fixes when a run begins is recorded, and a resumed run keeps it. */
import { definePolicy } from '@toolenv/core/plugins';
import { expect, test } from 'vitest';
import { beginPolicy } from '../../src/run/recorded-options.ts';

const open = () => Promise.reject(new Error('nothing opens it'));
const begin = async () => ({ date: '2026-07-02' });
const plugin = definePolicy({ name: 'dated-v1', description: '', options: {}, begin, open });

function options(given: object, recorded?: object): Promise<Record<string, unknown>> {
  const chosen = { plugin, options: { size: 3, ...given }, source: 'dated-v1' };
  return beginPolicy(chosen as never, recorded).then((begun) => begun.options);
}

const measuring = definePolicy({
  name: 'measuring-v1',
  description: '',
  options: { properties: { precision: { mayChange: true } } },
  begin: async ({ precision }, recorded) =>
    precision === 'auto' ? { precision: recorded?.precision ?? 'measured' } : {},
  open,
});

function begun(given: object, recorded?: object): ReturnType<typeof beginPolicy> {
  return beginPolicy({ plugin: measuring, options: given, source: 'measuring-v1' } as never, recorded);
}

test('what is taken in place of auto is recorded as a choice, which a resumed run goes on with', async () => {
  const auto = { precision: 'auto' };
  const first = await begun(auto);
  expect(first).toMatchObject({ options: { precision: 'measured' }, choices: { precision: 'measured' } });
  const recorded = { policyOptions: {}, policyChoices: { precision: 'coarse' } };
  expect(await begun(auto, recorded)).toMatchObject({
    options: { precision: 'coarse' },
    choices: { precision: 'coarse' },
  });
  expect(await begun(auto, { policyOptions: {} })).toMatchObject({ options: { precision: 'measured' } });
  const fixed = await begun({ precision: 'fine' }, recorded);
  expect(fixed.options).toEqual({ precision: 'fine' });
  expect(fixed).not.toHaveProperty('choices');
});

test('a new run has the option of its first day', async () => {
  expect(await options({})).toEqual({ size: 3, date: '2026-07-02' });
  expect(await options({ date: '2026-01-01' })).toEqual({ size: 3, date: '2026-01-01' });
});

test('a resumed run has the recorded option', async () => {
  expect(await options({}, { policyOptions: { size: 3, date: '2026-07-01' } })).toEqual({
    size: 3,
    date: '2026-07-01',
  });
});

test('a run that recorded no such option goes on without it', async () => {
  expect(await options({}, { policyOptions: { size: 3 } })).toEqual({ size: 3 });
  expect(await options({}, {})).toEqual({ size: 3 });
});

test('a given option stays, so that a resumed run can be refused for it', async () => {
  const recorded = { policyOptions: { size: 3, date: '2026-07-01' } };
  expect(await options({ date: '2026-01-01' }, recorded)).toEqual({ size: 3, date: '2026-01-01' });
});
