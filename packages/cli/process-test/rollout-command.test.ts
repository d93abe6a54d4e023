/** `toolenv rollout`: real worker processes that share a folder, killed at random moments. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRng } from '@toolenv/core';
import { expect, it, onTestFinished } from 'vitest';
import { fixture } from '../test/fixture.ts';
import { runCli } from '../test/run-cli.ts';
import { startCli } from '../test/start-cli.ts';

const env = join(import.meta.dirname, '../test/slow-lamp/env.ts');

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-rollout-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function worker(out: string, share: string, ...more: string[]): ReturnType<typeof startCli> {
  const args = ['--policy', fixture.policy, '--out', out, '--worker', share, '--json'];
  const plan = ['--count', '60', '--samples', '2', '--concurrency', '4', '--milliseconds', '300'];
  const started = startCli(['rollout', env, ...args, ...plan, '--lease', '3', ...more]);
  onTestFinished(() => void started.child.kill('SIGKILL'));
  return started;
}

const groupsOf = async (out: string): Promise<string[]> => readdir(join(out, 'groups')).catch(() => []);

it('loses no episode and plays none twice that counts, whenever workers are killed', async () => {
  const out = join(await makeFolder(), 'rollouts');
  const rng = createRng(5, 'kills');
  let running = ['1/2', '2/2'].map((share) => ({ share, ...worker(out, share) }));
  let kills = 0;
  for (; kills < 4 || (await groupsOf(out)).length < 10; kills++) {
    const before = (await groupsOf(out)).length;
    // A worker that starts has played nothing yet: wait until one of them has.
    await expect.poll(async () => (await groupsOf(out)).length, { timeout: 60_000 }).toBeGreaterThan(before);
    await sleep(Math.round(800 * rng.float()));
    const [victim, other] = rng.float() < 0.5 ? running : [...running].reverse();
    victim!.child.kill('SIGKILL');
    await victim!.finished;
    running = [other!, { share: victim!.share, ...worker(out, victim!.share) }];
  }
  const ended = await Promise.all(running.map(({ finished }) => finished));
  expect(ended.map(({ code }) => code)).toEqual([0, 0]);
  const lines = (await readFile(join(out, 'trajectories.jsonl'), 'utf8')).trim().split('\n');
  const places = lines.map((line) => {
    const { group, sample, task } = JSON.parse(line);
    expect(task).toEqual({ index: group });
    return `${group}/${sample}`;
  });
  const all = Array.from({ length: 60 }, (_, group) => [`${group}/0`, `${group}/1`]).flat();
  expect(places).toEqual(all);
  expect(JSON.parse(ended[0]!.stdout)).toMatchObject({ episodes: 120, aborted: 0 });
  // Nothing but whole groups is left, and what a worker was writing when it was killed.
  const isWhole = (name: string) => !/\.[0-9a-f]+\.partial$/.test(name);
  expect((await readdir(join(out, 'leases'))).filter(isWhole)).toEqual([]);
  // A worker that is killed after it wrote its last group leaves a lease, and the next that ends removes it.
  await writeFile(join(out, 'leases', '7.0'), 'killed');
  expect((await worker(out, '1/2').finished).code).toBe(0);
  expect((await readdir(join(out, 'leases'))).filter(isWhole)).toEqual([]);
  const groups = (await groupsOf(out)).filter(isWhole);
  expect(groups.filter((name) => !/^\d+\.jsonl$/.test(name))).toEqual([]);
}, 300_000);

it('after SIGTERM, ends the groups that it plays, begins no other and leaves the rest to others', async () => {
  const out = join(await makeFolder(), 'rollouts');
  const { child, finished } = worker(out, '1/1', '--status-port', '0', '--milliseconds', '1500');
  const [line] = (await once(child.stderr!, 'data')) as [string];
  const url = /^Status at (\S+)\/metrics\n$/.exec(line)![1]!;
  await expect.poll(async () => (await groupsOf(out)).length, { timeout: 60_000 }).toBeGreaterThan(0);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  await expect.poll(async () => (await readdir(join(out, 'leases'))).length).toBeGreaterThan(0);
  const leased = (await readdir(join(out, 'leases'))).map((name) => name.split('.')[0]!);
  child.kill('SIGTERM');
  await expect
    .poll(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status ?? 503)
    .toBe(503);
  expect((await finished).code).toBe(143);
  for (const group of leased) expect(existsSync(join(out, 'groups', `${group}.jsonl`))).toBe(true);
  expect((await groupsOf(out)).length).toBeLessThan(60);
  expect(await readdir(join(out, 'workers'))).toEqual([]);
  expect(await readdir(join(out, 'leases'))).toEqual([]);
});

it('mistakes are one line', async () => {
  const out = join(await makeFolder(), 'rollouts');
  const run = (...more: string[]) =>
    runCli('rollout', fixture.env, '--policy', fixture.policy, '--out', out, '--count', '1', ...more);
  expect(await run('--worker', '9/8')).toMatchObject({ code: 2, stderr: expect.stringContaining('as 3/8') });
  const address = await runCli('rollout', fixture.env, '--policy', fixture.policy, '--out', 's3://bucket/x');
  expect(address).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^toolenv: s3:.*JuiceFS over a bucket\.\n$/),
  });
  expect((await run()).code).toBe(0);
  const other = await run('--seed', '2');
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('seed 1 → 2') });
  // A worker of a trainer does not play a plan.
  const versions = await runCli('rollout', fixture.env, '--policy', 'p/{version}', '--out', out);
  expect(versions).toMatchObject({ code: 2, stderr: expect.stringContaining('without {version}') });
});
