/** `toolenv show` on real runs: curves and facts, episodes, filters, tokens, JSON, and mistakes of the user. */
import { appendFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeTrajectory } from '@toolenv/core/recording';
import { beforeAll, describe, expect, it } from 'vitest';
import { fixture } from '../fixture.ts';
import { runCli } from '../run-cli.ts';

const tiny = join(import.meta.dirname, '../../../../packages/checkpoints/tiny');
const steps = 3;

let folder: string;
let trained: string;
let evaluated: string;
let transformer: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-show-'));
  [trained, evaluated, transformer] = [
    join(folder, 'trained'),
    join(folder, 'evaluated'),
    join(folder, 'transformer'),
  ];
  const policy = ['--policy', fixture.policy];
  const training = ['--trainer', fixture.trainer, '--steps', `${steps}`, '--out', trained];
  for (const args of [
    ['train', fixture.env, ...policy, ...training],
    ['eval', fixture.env, ...policy, '--weight', '0.5', '--count', '12', '--out', evaluated],
    ['eval', '@toolenv/envs-qa/lookup-v1', '--policy', tiny, '--count', '2', '--out', transformer],
  ])
    expect(await runCli(...args)).toMatchObject({ code: 0 });
}, 60_000);

/** The headings of the episodes that were shown. */
function headings(stdout: string): string[] {
  return stdout.split('\n').filter((line) => line.startsWith('── '));
}

describe('toolenv show', () => {
  it('shows the facts and the curves of a training run, then a few episodes', async () => {
    const { code, stdout, stderr } = await runCli('show', trained);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /\n {2}environment {2}fixture-plugin\/lamp-v1 1\.2\.3\n {2}policy {7}fixture-plugin\/weight-v1\n/,
    );
    expect(stdout).toMatch(/\n {2}steps {8}3 of 3\n {2}seed {9}1\n/);
    expect(stdout).toMatch(/\n {8}reward +EM\n/);
    expect(headings(stdout)).toEqual(
      [0, 1, 2].map((index) => expect.stringMatching(`^── step 1 · episode ${index} · task 0`)),
    );
    expect(stdout).toMatch(/\nend {7}terminated:answered\nreward /);
    expect(stdout.endsWith('\nMore episodes follow: --count shows more.\n')).toBe(true);
  });

  it('shows the scores of an evaluation', async () => {
    const { stdout } = await runCli('show', evaluated, '--count', '0');
    expect(stdout).toMatch(/\n {2}environment {2}fixture-plugin\/lamp-v1 1\.2\.3\n {2}split {8}test\n/);
    expect(stdout).toMatch(/\n {2}episodes {4}12, in /);
    expect(headings(stdout)).toEqual([]);
  });

  it('shows only what the filters let through, in the order asked for', async () => {
    const all = (await readFile(join(trained, 'trajectories.jsonl'), 'utf8')).trim().split('\n');
    const episodes = all.map((line) => decodeTrajectory(line));
    expect(episodes).toHaveLength(4 * steps);
    const json = await runCli(
      'show',
      trained,
      '--step',
      '2..3',
      '--sort',
      '-reward',
      '--count',
      '99',
      '--json',
    );
    const shown = json.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { step: number; reward: number });
    expect(shown.map(({ step }) => step).sort()).toEqual([2, 2, 2, 2, 3, 3, 3, 3]);
    expect(shown.map(({ reward }) => reward)).toEqual(
      episodes
        .slice(4)
        .map(({ reward }) => reward!)
        .sort((a, b) => b - a),
    );
    const file = join(trained, 'trajectories.jsonl');
    const good = await runCli('show', file, '--reward', '>1', '--count', '99');
    expect(headings(good.stdout)).toHaveLength(episodes.filter(({ reward }) => reward! > 1).length);
    // A file alone shows no curves.
    expect(good.stdout.startsWith('── ')).toBe(true);
  });

  it('prints the lines of the file as JSON', async () => {
    const file = join(trained, 'trajectories.jsonl');
    const { code, stdout, stderr } = await runCli('show', file, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(await readFile(file, 'utf8'));
  });

  it('says what there is if nothing matches', async () => {
    const { code, stdout } = await runCli('show', evaluated, '--text', 'no such words');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /\nNone of the 12 episodes matches\. The file has\n {2}outcomes {2}12 terminated:answered\n {2}mistakes {2}none\n {2}calls {5}\d+ press\n/,
    );
    expect(stdout).toMatch(/\n {2}steps {5}none: not a training run\n$/);
    const json = await runCli('show', evaluated, '--aborted', '--json');
    expect(json).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('None of the 12 episodes'),
    });
  });

  it('shows the texts of the tokens where the policy knows them, and ids elsewhere', async () => {
    const texts = await runCli('show', transformer, '--tokens', '--count', '1');
    expect(texts.stdout).toMatch(/\nTokens: «sampled by the policy, mask 1»; /);
    expect(texts.stdout).toMatch(
      /\n<\|im_start\|> system Answer the question\..*<\|im_start\|> assistant«<tool_call>.*<\|im_end\|>.*»\n/,
    );
    const ids = await runCli('show', trained, '--tokens', '--count', '1');
    expect(ids.stdout).toContain(
      'Tokens are shown as ids, because their texts are not known: fixture-plugin/weight-v1 does not say what its tokens mean.',
    );
    expect(ids.stdout).toContain('\n  « 3 [0.61]»\n');
    const named = await runCli('show', trained, '--tokens', '--policy', tiny, '--count', '1');
    expect(named.stdout).not.toContain('shown as ids');
  });

  it('tolerates a half-written last line, and a run that kept no episodes', async () => {
    const cut = join(folder, 'cut');
    await cp(trained, cut, { recursive: true });
    await appendFile(join(cut, 'trajectories.jsonl'), '{"version":1,"env":"fix');
    const { code, stdout } = await runCli('show', cut, '--count', '99');
    expect(code).toBe(0);
    expect(headings(stdout)).toHaveLength(4 * steps);
    await rm(join(cut, 'trajectories.jsonl'));
    const bare = await runCli('show', cut);
    expect(bare).toMatchObject({ code: 0, stdout: expect.stringMatching(/The run kept no episodes\.\n$/) });
  });

  const wrong: [what: string, args: () => Promise<string[]>, message: RegExp][] = [
    [
      'a path that does not exist',
      async () => [join(folder, 'nowhere')],
      /nowhere does not exist: give a run folder/,
    ],
    [
      'a folder that is not of a run',
      async () => {
        await mkdir(join(folder, 'empty'), { recursive: true });
        return [join(folder, 'empty')];
      },
      /empty is not a run folder: /,
    ],
    [
      'an unknown outcome',
      async () => [trained, '--outcome', 'won'],
      /^toolenv: --outcome won: give running, /,
    ],
    [
      'a bad range',
      async () => [trained, '--reward', 'high'],
      /^toolenv: --reward high: give a number or a range/,
    ],
    [
      'an unknown order',
      async () => [trained, '--sort', 'size'],
      /^toolenv: --sort size: give reward, -reward, step or -step\.\n$/,
    ],
    [
      'all lines in an order',
      async () => [trained, '--sort', 'step', '--json'],
      /^toolenv: --json with --sort step: give --count/,
    ],
    [
      'a broken line',
      async () => {
        await writeFile(join(folder, 'broken.jsonl'), 'nothing\n');
        return [join(folder, 'broken.jsonl')];
      },
      /^toolenv: .*broken\.jsonl:1: not a complete JSON record/,
    ],
  ];
  it.each(wrong)('refuses %s in one line, with exit code 2', async (_what, args, message) => {
    const { code, stderr } = await runCli('show', ...(await args()));
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd()).not.toContain('\n');
  });
});
