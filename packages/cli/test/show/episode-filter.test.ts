/** Which episodes a filter keeps, and in which order episodes come. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeTrajectory } from '@toolenv/core/recording';
import type { RecordedEpisode } from '@toolenv/view/recorded';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  EpisodeCounts,
  type FilterFlags,
  type Order,
  readFilter,
  selectEpisodes,
} from '../../src/show/select-episodes.ts';
import { abortedEpisode, failedCall, refusedCall, someEpisode } from './some-episode.ts';

describe('readFilter', () => {
  const good = someEpisode();
  const long = someEpisode({ outcome: { kind: 'truncated', reason: 'max_turns' }, reward: 0, step: 5 }, [
    failedCall,
  ]);
  const wrong = someEpisode({ reward: -0.5, step: undefined }, [refusedCall]);
  const all = { good, long, wrong, aborted: abortedEpisode };

  it.each<[FilterFlags, (keyof typeof all)[]]>([
    [{}, ['good', 'long', 'wrong', 'aborted']],
    [{ reward: '>=0' }, ['good', 'long']],
    [{ outcome: 'terminated' }, ['good', 'wrong']],
    [{ outcome: 'truncated:max_turns' }, ['long']],
    [{ outcome: 'truncated:deadline' }, []],
    [{ outcome: 'aborted:infrastructure.tool_failed' }, ['aborted']],
    [{ aborted: true }, ['aborted']],
    [{ mistake: true }, ['long', 'wrong']],
    [{ mistake: 'tool_error' }, ['long']],
    [{ mistake: 'invalid_arguments' }, ['wrong']],
    [{ tool: 'fetch' }, ['long']],
    [{ text: 'OFFLINE' }, ['long']],
    [{ text: 'who founded' }, ['good', 'long', 'wrong', 'aborted']],
    [{ step: '4..' }, ['long']],
    [{ outcome: 'terminated', mistake: true }, ['wrong']],
  ])('%j', (flags, expected) => {
    const filter = readFilter(flags);
    expect(Object.keys(all).filter((name) => filter(all[name as keyof typeof all]))).toEqual(expected);
  });

  it.each<[FilterFlags, string]>([
    [
      { outcome: 'answered' },
      '--outcome answered: give running, terminated, truncated, aborted, optionally with a reason',
    ],
    [{ mistake: 'runs/mine' }, '--mistake runs/mine: give malformed_call, unknown_tool,'],
  ])('refuses %j', (flags, message) => {
    expect(() => readFilter(flags)).toThrow(
      expect.objectContaining({ code: 'usage.bad_flag', message: expect.stringContaining(message) }),
    );
  });
});

describe('selectEpisodes', () => {
  async function select(
    episodes: RecordedEpisode[],
    { order, count, tail = '' }: { order?: Order; count: number; tail?: string },
  ): Promise<RecordedEpisode[]> {
    const file = join(await mkdtemp(join(tmpdir(), 'toolenv-select-')), 'trajectories.jsonl');
    await writeFile(file, episodes.map((each) => `${encodeTrajectory(each)}\n`).join('') + tail);
    const { signal } = new AbortController();
    const selection = { filter: () => true, order, count, signal };
    const selected: RecordedEpisode[] = [];
    for await (const each of selectEpisodes(file, selection, new EpisodeCounts())) selected.push(each);
    return selected;
  }

  it('begins with the smallest or largest, keeps the order of equals, and puts what has no value last', async () => {
    const rewards = fc.array(fc.option(fc.constantFrom(0, 0.5, 1)), { maxLength: 12 });
    const orders = fc.constantFrom<Order>('reward', '-reward');
    await fc.assert(
      fc.asyncProperty(rewards, orders, fc.integer({ min: 1, max: 12 }), async (values, order, count) => {
        const episodes = values.map((reward, index) => ({
          ...(reward === null ? abortedEpisode : someEpisode({ reward })),
          index,
        }));
        const sign = order === 'reward' ? 1 : -1;
        const key = ({ reward }: RecordedEpisode) => (reward === null ? 9 : sign * reward);
        const expected = [...episodes].sort((a, b) => key(a) - key(b)).slice(0, count);
        const selected = await select(episodes, { order, count });
        expect(selected.map(({ index }) => index)).toEqual(expected.map(({ index }) => index));
      }),
      { numRuns: 50 },
    );
  });

  it('skips a half-written last line, and stops reading after the last that is wanted', async () => {
    expect(await select([someEpisode()], { count: 5, tail: '{"version":1,"env' })).toHaveLength(1);
    expect(await select([someEpisode(), someEpisode()], { count: 1, tail: 'broken\n' })).toHaveLength(1);
    await expect(select([someEpisode()], { count: 5, tail: 'broken\n' })).rejects.toMatchObject({
      code: 'usage.broken_record',
    });
  });
});
