/** Leases and group files under kills at any moment: every group is written once, by somebody. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolEnvError, type Trajectory } from '@toolenv/core';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { GroupFiles, mergedEpisodes, mergeGroups } from '../../../src/rollouts/workers/group-files.ts';
import { Leases } from '../../../src/rollouts/workers/leases.ts';
import {
  openSharedFolder,
  type SharedFolder,
  writeOnce,
} from '../../../src/rollouts/workers/shared-folder.ts';
import { memoryFolder } from './memory-folder.ts';

let root: string;
beforeEach(async () => {
  root = await memoryFolder('leases-');
});
afterEach(() => rm(root, { recursive: true, force: true }));

const expiry = 1_000;

/** An episode that says who played it. */
function episode(group: number, sample: number, worker: string): Trajectory {
  return {
    version: 1,
    env: 'none-v1',
    policy: worker,
    episodeId: `${group}-${sample}`,
    index: 2 * group + sample,
    task: group,
    group,
    sample,
    seed: 1,
    rewardSpec: {},
    steps: [],
    outcome: { kind: 'truncated', reason: 'deadline' },
    rewards: {},
    reward: 0,
  };
}

test('of many writers one makes the file, whole', async () => {
  const file = join(root, 'file');
  const texts = Array.from({ length: 20 }, (_, i) => `${i}`.repeat(10_000));
  const made = await Promise.all(texts.map((text) => writeOnce(file, text)));
  expect(made.filter(Boolean)).toHaveLength(1);
  expect(await readFile(file, 'utf8')).toBe(texts[made.indexOf(true)]);
  expect(await readdir(root)).toEqual(['file']);
});

test('a group belongs to one worker until its heartbeat stands still for the expiry', async () => {
  const folder = await openSharedFolder(root);
  let time = 0;
  const of = async (worker: string) => {
    const leases = new Leases(folder, { worker, expiry, now: () => time });
    await leases.beat();
    return leases;
  };
  const [first, second, third] = [await of('first'), await of('second'), await of('third')];
  expect(await first.claim(7)).toBe(true);
  expect(await first.claim(7)).toBe(false);
  expect(await second.claim(7)).toBe(false);
  time += expiry;
  expect(await second.claim(7)).toBe(false);
  await first.beat();
  time += 10;
  expect(await second.claim(7)).toBe(false);
  time += expiry + 1;
  // Only now has the second seen the same heartbeat for the whole expiry; the third sees it for the first time.
  expect(await third.claim(7)).toBe(false);
  expect(await second.claim(7)).toBe(true);
  expect(second.takenOver).toBe(1);
  expect(await third.claim(7)).toBe(false);
  // A worker that ends leaves its groups at once.
  await second.close();
  expect(await third.claim(7)).toBe(true);
  await third.release(7);
  expect(await readdir(folder.leases)).toEqual([]);
});

test('of the workers that find a dead one, a single one takes over', async () => {
  const folder = await openSharedFolder(root);
  await writeFile(join(folder.leases, '3.0'), 'dead');
  const all = await Promise.all(
    Array.from({ length: 10 }, async (_, i) => {
      const leases = new Leases(folder, { worker: `w${i}`, expiry });
      await leases.beat();
      return leases;
    }),
  );
  const claims = await Promise.all(all.map((leases) => leases.claim(3)));
  expect(claims.filter(Boolean)).toHaveLength(1);
});

/** A worker as a program of steps, between any of which it may be killed or held up. */
class Steps {
  readonly name: string;
  readonly #leases: Leases;
  readonly #files: GroupFiles;
  #at: 'claim' | 'play' | 'write' | 'release' = 'claim';
  #group = 0;
  #looked = 0;
  written = 0;

  constructor(folder: SharedFolder, name: string, now: () => number) {
    this.name = name;
    this.#leases = new Leases(folder, { worker: name, expiry, now });
    this.#files = new GroupFiles(folder.groups);
  }

  beat(): Promise<void> {
    return this.#leases.beat();
  }

  async step(groups: number): Promise<void> {
    if (this.#at === 'claim') {
      this.#group = this.#looked++ % groups;
      if (this.#files.has(this.#group)) return;
      if (await this.#leases.claim(this.#group)) this.#at = 'play';
    } else if (this.#at === 'play') {
      this.#at = this.#files.has(this.#group) ? 'release' : 'write';
    } else if (this.#at === 'write') {
      const episodes = [1, 0].map((sample) => episode(this.#group, sample, this.name));
      const counts = await this.#files.write(this.#group, episodes, {
        taskIndex: this.#group,
        worker: this.name,
      });
      if (counts) this.written += 1;
      this.#at = 'release';
    } else {
      await this.#leases.release(this.#group);
      this.#at = 'claim';
    }
  }
}

test('no episode is lost and none counts twice, whenever workers are killed or held up', async () => {
  const groups = 4;
  // Which worker steps, is killed and started anew, or sees a second pass without its own heartbeat.
  const action = fc.oneof(
    { weight: 12, arbitrary: fc.record({ do: fc.constant('step' as const), worker: fc.nat(2) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('kill' as const), worker: fc.nat(2) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('hold' as const), worker: fc.nat(2) }) },
  );
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 80 }), async (actions) => {
      const at = join(root, `run-${run++}`);
      const folder = await openSharedFolder(at);
      let time = 0;
      let started = 0;
      let written = 0;
      const start = async () => {
        const worker = new Steps(folder, `w${started++}`, () => time);
        await worker.beat();
        return worker;
      };
      const workers = [await start(), await start(), await start()];
      for (const { do: what, worker: i } of actions) {
        const worker = workers[i]!;
        if (what === 'step') await worker.step(groups);
        else if (what === 'kill') {
          written += worker.written;
          workers[i] = await start();
          const seen: string[] = [];
          for await (const { group, sample } of mergedEpisodes(folder.groups))
            seen.push(`${group}/${sample}`);
          expect(seen.length % 2).toBe(0);
          expect(new Set(seen).size).toBe(seen.length);
        } else {
          time += 0.6 * expiry;
          for (const each of workers) if (each !== worker) await each.beat();
        }
      }
      // All die. A new worker finishes what is left, once the heartbeats have stood still for long enough.
      for (const worker of workers) written += worker.written;
      const last = await start();
      for (let i = 0; i < 6 * groups; i++) {
        await last.step(groups);
        await last.beat();
        time += 0.2 * expiry;
      }
      expect(written + last.written).toBe(groups);
      const merged: string[] = [];
      for await (const { group, sample } of mergedEpisodes(folder.groups)) merged.push(`${group}/${sample}`);
      expect(merged).toEqual([0, 1, 2, 3].flatMap((group) => [`${group}/0`, `${group}/1`]));
      await rm(at, { recursive: true });
    }),
    { numRuns: 30 },
  );
}, 240_000);

test('a damaged group is set aside, so that it is played again', async () => {
  const folder = await openSharedFolder(root);
  const files = new GroupFiles(folder.groups);
  await files.write(0, [episode(0, 0, 'a')], { taskIndex: 0, worker: 'a' });
  await writeFile(files.file(1), '{"version":1,"env"');
  await files.write(2, [episode(2, 0, 'a'), episode(2, 0, 'b')], { taskIndex: 2, worker: 'a' });
  await files.write(3, [episode(4, 0, 'a')], { taskIndex: 4, worker: 'a' });
  await mergeGroups(folder.groups, folder.merged);
  expect((await readFile(folder.merged, 'utf8')).split('\n')).toHaveLength(2);
  expect([1, 2, 3].map((group) => files.has(group))).toEqual([false, false, false]);
  expect(files.has(0)).toBe(true);
});

const spec = { right: { kind: 'outcome', range: [0, 1], weight: 1 } } as const;

/** An answered episode with its tokens. */
function answered(sample: number, changes: Partial<Trajectory> = {}, tokens: object = {}): Trajectory {
  const sampled = {
    prompt: Int32Array.of(1, 2),
    action: Int32Array.of(3, 4),
    logprobs: Float32Array.of(-0.5, -1),
  };
  const action = { text: 'a', toolCalls: [], stopReason: 'stop' as const, tokens: { ...sampled, ...tokens } };
  const observation = { messages: [{ role: 'user' as const, content: 'q' }], tools: [] };
  return {
    ...episode(0, sample, 'a'),
    rewardSpec: spec,
    steps: [{ observation, action, calls: [], rewards: { right: 1 }, info: {} }],
    outcome: { kind: 'terminated', reason: 'answered' },
    rewards: { right: 1 },
    reward: 1,
    ...changes,
  };
}

const failed = new ToolEnvError('infrastructure.tool_failed', 'no server');

test.each<[string, RegExp | undefined, Trajectory[]]>([
  ['two sound episodes', undefined, [answered(0), answered(1)]],
  ['one episode of two', /each episode of one group once/, [answered(0)]],
  ['an episode beyond the group', /each episode of one group once/, [answered(0), answered(2)]],
  [
    'an aborted episode with a reward',
    /episode 1 breaks TRAJ-4/,
    [answered(0), answered(1, { outcome: { kind: 'aborted', cause: failed, retryable: true } })],
  ],
  [
    'a reward against its components',
    /TRAJ-3: expected reward 1/,
    [answered(0), answered(1, { reward: 0.5 })],
  ],
  [
    'components against the steps',
    /TRAJ-3: expected "right" 1/,
    [answered(0), answered(1, { rewards: { right: 0 } })],
  ],
  ['a running episode', /TRAJ-5/, [answered(0), answered(1, { outcome: { kind: 'running' } })]],
  [
    'log-probabilities of NaN',
    /POL-3 in step 0: a log-probability is NaN/,
    [answered(0), answered(1, {}, { logprobs: new Float32Array(2).fill(Number.NaN) })],
  ],
  [
    'a log-probability of 50',
    /POL-3 in step 0: a log-probability is 50/,
    [answered(0), answered(1, {}, { logprobs: Float32Array.of(-1, 50) })],
  ],
  ['one log-probability of two', /TRAJ-6/, [answered(0), answered(1, {}, { logprobs: Float32Array.of(-1) })]],
  [
    'a token beyond the vocabulary',
    /POL-3 in step 0: token 5 is beyond the vocabulary of 5/,
    [answered(0), answered(1, {}, { prompt: Int32Array.of(1, 5) })],
  ],
])('a group with %s is read with the rules of trajectories', async (_, damage, episodes) => {
  const { groups } = await openSharedFolder(root);
  const files = new GroupFiles(groups, { samples: 2, vocabularySize: 5 });
  await files.write(0, episodes, { taskIndex: 0, worker: 'a' });
  const read = await files.read(0);
  if (!damage) {
    expect(read).toMatchObject(episodes);
    return;
  }
  expect(read).toBeUndefined();
  expect(files.damage).toMatch(damage);
  expect(files.has(0)).toBe(false);
  expect(await readdir(groups)).toEqual(['0.jsonl.damaged']);
});

test('an address of an object store is refused with the name of the remedy', async () => {
  await expect(openSharedFolder('s3://bucket/runs')).rejects.toThrow(
    /^s3:\/\/bucket\/runs is an address.*JuiceFS/,
  );
});
