/** `toolenv info`: environments that open, environments that need an option, other plugins, and what is not published. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { validate, wireSchemas } from '@toolenv/core/schemas';
import { beforeAll, describe, expect, it } from 'vitest';
import { fixture } from '../fixture.ts';
import { runCli } from '../run-cli.ts';

const bridge = '@toolenv/envs-qa/bridge-v1';
const hotpot = '@toolenv/envs-qa/hotpotqa-v1';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-info-'));
});

describe('toolenv info', () => {
  it('names the pictures that the model reads first', async () => {
    const { stdout } = await runCli(
      'info',
      join(import.meta.dirname, '../../../../examples/coloured-square.ts'),
    );
    expect(stdout).toMatch(/Which colour is the square: red, green or blue\?\n +\[image\/png, 0\.\d kB\]\n/);
  });

  it('shows an environment, its flags, and what the model reads first', async () => {
    const { code, stdout, stderr } = await runCli('info', bridge);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^@toolenv\/envs-qa\/bridge-v1 {2}environment, version \d+\.\d+\.\d+ of its package\n/,
    );
    expect(stdout).toMatch(
      /\nOptions\n {2}--world-seed <n> .*\n {2}--env-top-k <n> +documents per search \(default: 3\)/,
    );
    expect(stdout).toMatch(/\n {2}em +outcome, at the end; from 0 to 1; weight 1\n/);
    expect(stdout).toContain(
      '\n  5 turns, 1 tool call in each\n  10 s for a tool call, 2,048 characters of its result\n',
    );
    expect(stdout).toContain('\n  search  @toolenv/tools-search/search-v1\n');
    expect(stdout).toContain('\n  train 4,000 · validation 400 · test 800\n');
    expect(stdout).toMatch(/\n {2}search\(query\)\n {4}Find documents\.\n {4}query +string\n/);
    expect(stdout).toMatch(/\n {2}system\n {4}Answer the question\..*\n {2}user\n {4}Which .*\?\n$/);
  });

  it('opens the environment with the options that flags set', async () => {
    const { stdout } = await runCli('info', fixture.env, '--size', '7', '--json');
    const info = JSON.parse(stdout) as object;
    expect(validate(wireSchemas['plugin-details'], info)).toEqual([]);
    expect(info).toMatchObject({
      ref: fixture.env,
      kind: 'envs',
      package: 'fixture-plugin',
      version: '1.2.3',
      description: 'Press a switch',
      tasks: { train: 7, validation: 7, test: 7 },
      split: 'train',
      observation: { messages: [{ role: 'user', content: 'Press 0 times.' }], tools: [{ name: 'press' }] },
      toolTimeouts: { press: 900 },
    });
  });

  it('names the option that opening needs, and shows everything else', async () => {
    const { code, stdout } = await runCli('info', hotpot);
    expect(code).toBe(0);
    expect(stdout).toMatch(/\n {2}--path <text> /);
    expect(stdout).toMatch(
      /\n\nGive --path <text> to see its tasks, its tools and what the model reads first\. Download it with toolenv data \S+ --dir data, and give --path data\/hotpot_train_v1\.1\.json\.\n$/,
    );
    const { stdout: json } = await runCli('info', hotpot, '--json');
    expect(JSON.parse(json)).toMatchObject({ missingOptions: ['path'], rewards: { em: { weight: 1 } } });
  });

  it('fails after showing what it knows if the environment does not open', async () => {
    const { code, stdout, stderr } = await runCli('info', hotpot, '--path', join(folder, 'nowhere.json'));
    expect(code).toBe(2);
    expect(stdout).toContain('\nRewards\n');
    expect(stderr).toMatch(/^toolenv: .*nowhere\.json.*\n$/);
  });

  it('shows trainers, policies and tools', async () => {
    const trainer = await runCli('info', fixture.trainer);
    expect(trainer.stdout).toMatch(
      /^fixture-plugin\/nudge-v1 {2}trainer,.*\nNudges\n\nOptions\n {2}--steps <n> +updates/,
    );
    const tool = await runCli('info', '@toolenv/tools-search/search-v1', '--json');
    expect(JSON.parse(tool.stdout)).toMatchObject({ kind: 'tools', package: '@toolenv/tools-search' });
  });

  it('shows a module and a package folder that are not published', async () => {
    const module = await runCli('info', join(fixture.folder, 'env.ts'), '--size', '3');
    expect(module.stdout).toMatch(/^lamp {2}environment in .*env\.ts\n/);
    expect(module.stdout).toContain('train 3 · validation 3 · test 3');
    expect(module.stdout).toContain('\n    Press the switch.\n    0.9 s for a call\n');
    const whole = await runCli('info', fixture.folder, '--env-option', 'size=4', '--json');
    const plugins = JSON.parse(whole.stdout) as { ref: string; tasks?: object }[];
    expect(plugins.map(({ ref }) => ref)).toEqual([
      'fixture-plugin/idle-v1',
      'fixture-plugin/lamp-v1',
      'fixture-plugin/loop-v1',
      'fixture-plugin/nudge-v1',
      'fixture-plugin/precise-v1',
      'fixture-plugin/seeded-v1',
      'fixture-plugin/weight-v1',
    ]);
    expect(plugins[1]!.tasks).toEqual({ train: 4, validation: 4, test: 4 });
  });

  const wrong: [what: string, args: () => Promise<string[]>, message: RegExp][] = [
    [
      'an unknown reference',
      async () => ['fixture-plugin/lamb-v1'],
      /^toolenv: Unknown environment .* Did you mean "fixture-plugin\/lamp-v1"\?\n$/,
    ],
    ['an unknown flag', async () => [fixture.env, '--sise', '3'], /^toolenv: Unknown option '--sise'/],
    [
      'a file of episodes',
      async () => {
        const file = join(folder, 'trajectories.jsonl');
        await writeFile(file, '');
        return [file];
      },
      /^toolenv: .*trajectories\.jsonl has episodes: show them with toolenv show\.\n$/,
    ],
  ];
  it.each(wrong)('refuses %s in one line, with exit code 2', async (_what, args, message) => {
    const { code, stdout, stderr } = await runCli('info', ...(await args()));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });
});
