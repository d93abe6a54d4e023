/** `toolenv play` in the terminal: what a person types, and what is kept. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Trajectory } from '@toolenv/core';
import { readTrajectories } from '@toolenv/core/recording';
import { beforeAll, describe, expect, it } from 'vitest';
import { fixture } from '../../test/fixture.ts';
import { runCli } from '../../test/run-cli.ts';
import { startCli } from '../../test/start-cli.ts';

function play(input: string, ...args: string[]) {
  return startCli(['play', fixture.env, ...args], fixture.folder, process.env, input).finished;
}

it('plays episodes, shows what they earn, and keeps those that end', async () => {
  const out = join(await mkdtemp(join(tmpdir(), 'toolenv-play-')), 'played.jsonl');
  // The second episode is left in its middle: the lines end.
  const typed = ['press', '?', 'press {oops', 'press {"hard":true}', ': press', '', 'press'];
  const { code, stdout, stderr } = await play(typed.join('\n'), '--task', '2', '--out', out);
  expect([code, stderr]).toEqual([0, '']);
  for (const text of [
    'Press 2 times.',
    'press()  Press the switch.',
    'click',
    'The arguments of press are not JSON',
    '✘ invalid_arguments',
    'terminated:answered',
    'reward    1.500 from em 1.000 × 1 · tidy 1.000 × 0.5',
    `kept in ${out}`,
    'another episode? [Y/n]',
    'Press 0 times.',
  ])
    expect(stdout).toContain(text);
  const kept: Trajectory[] = [];
  for await (const trajectory of readTrajectories(out)) kept.push(trajectory);
  expect(kept.map(({ policy, reward, task }) => [policy, reward, task])).toEqual([
    ['person', 1.5, { presses: 2 }],
  ]);
  expect(kept[0]!.steps.map(({ action }) => action.text)).toEqual(['', '', 'press']);
});

describe('a recorded episode', () => {
  let played: string;
  beforeAll(async () => {
    played = join(await mkdtemp(join(tmpdir(), 'toolenv-play-')), 'played.jsonl');
    await play('press\npress\npress\ndone\nn\n', '--task', '2', '--out', played);
  });

  it('is gone on from', async () => {
    const again = await play('press\ndone\nn\n', '--episode', `${played}:0`, '--turns', '1', '--out', played);
    expect([again.code, again.stderr]).toEqual([
      0,
      'Replays 1 of 4 turns of episode 0; the next is yours.\n',
    ]);
    expect(again.stdout).toMatch(/user\n {2}Press 2 times\.\n.*→ press \{\}\ntool press .*\n {2}click/s);
    // All but the last turn, which the person takes; then another task.
    const whole = await play('press\ny\n', '--episode', played, '--out', played);
    expect(whole.stdout.match(/Press \d times\./g)).toEqual(['Press 2 times.', 'Press 1 times.']);
    const kept: Trajectory[] = [];
    for await (const trajectory of readTrajectories(played)) kept.push(trajectory);
    expect(kept.map(({ steps }) => steps.length)).toEqual([4, 3, 4]);
    expect(kept.map(({ rewards }) => rewards.em)).toEqual([0, 1, 0]);
  });

  it.each([
    ['that the file lacks', fixture.env, ':70', 'so there is no episode 70: they are counted from 0.'],
    ['of no file', fixture.env, 'x:0', 'x does not exist: give a run folder or a file of trajectories.'],
    [
      'of another environment',
      '@toolenv/envs-classic/bank-v1',
      '',
      `The episode is of ${fixture.env}, not of`,
    ],
  ])('%s is refused', async (_, env, place, message) => {
    const { code, stderr } = await runCli('play', env, '--episode', `${played}${place}`);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

it('ends when no more episodes are wanted', async () => {
  const { code, stdout } = await play('done\nno\npress\n');
  expect(code).toBe(0);
  expect(stdout.match(/Press \d times\./g)).toEqual(['Press 0 times.']);
});

it('takes only a yes for a yes, so that a late call begins no episode', async () => {
  const { code, stdout } = await play('done\npress {"hard":true}\npress\ny\ndone\nno\n');
  expect(code).toBe(0);
  expect(stdout.match(/Press \d times\./g)).toEqual(['Press 0 times.', 'Press 1 times.']);
  expect(stdout.match(/Write y for another episode, or n to end\./g)).toHaveLength(2);
});

it('asks again after a mistyped tool, and shows how the task is won once the episode has ended', async () => {
  const args = ['play', '@toolenv/envs-classic/arithmetic-v1'];
  const typed = 'calculat 1\nno idea\nn\n';
  const { code, stdout } = await startCli(args, fixture.folder, process.env, typed).finished;
  expect(code).toBe(0);
  expect(stdout).toContain('There is no tool calculat. Did you mean "calculate"?');
  const [before, after] = stdout.split('terminated:answered');
  expect(after).toMatch(
    /\nsolution {2}→ calculate \{"expression":".+"\}\n {10}.+ = -?\d+\n {10}#### -?\d+\n/,
  );
  expect(before).not.toContain('solution');
});

it('refuses wrong flags', async () => {
  const { code, stderr } = await runCli('play', fixture.env, '--task', '-1');
  expect([code, stderr]).toEqual([2, expect.stringContaining('--task')]);
});
