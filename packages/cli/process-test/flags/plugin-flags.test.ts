/** The options of a policy and a trainer are flags: which options, in which command, and what is refused. */
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fixture } from '../../test/fixture.ts';
import { helpOf, run } from '../../test/help-of.ts';
import { runCli } from '../../test/run-cli.ts';

const checkpoint = join(import.meta.dirname, '../../../checkpoints/tiny');
const transformer = '@toolenv/policy/transformer-v1';

// Plugins are looked for from the working folder.
const folder = process.cwd();
beforeEach(() => process.chdir(fixture.folder));
afterEach(() => process.chdir(folder));

it.each([
  ['chooses a device by itself', '--policy', checkpoint, '--device', 'auto'],
  ['computes in another precision', '--policy', checkpoint, '--precision', 'float16'],
  ['names the plugin and the folder apart', '--policy', transformer, '--checkpoint', checkpoint],
])('%s', async (_, ...flags) => {
  const args = ['eval', '@toolenv/envs-qa/lookup-v1', ...flags, '--count', '2', '--json'];
  const { code, stdout } = await runCli(...args);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ episodes: 2, policyOptions: { checkpoint, runtime: 'onnx' } });
});

it('takes a policy and a trainer from files', async () => {
  const out = join(await mkdtemp(join(tmpdir(), 'modules-')), 'run');
  const files = ['--policy', './policy.ts', '--trainer', './trainer.ts', '--weight', '0.5'];
  const trained = await runCli('train', fixture.env, ...files, '--out', out, '--steps', '1', '--json');
  expect(trained).toMatchObject({ code: 0 });
  const config = JSON.parse(await readFile(join(out, 'config.json'), 'utf8'));
  expect(config).toMatchObject({
    policy: './policy.ts',
    trainer: './trainer.ts',
    policyOptions: { weight: 0.5 },
  });
  const args = ['--policy', './policy.ts', '--weight', '1', '--count', '2', '--json'];
  const evaluated = await runCli('eval', fixture.env, ...args);
  expect(JSON.parse(evaluated.stdout)).toMatchObject({ episodes: 2, reward: 1.5, policy: './policy.ts' });
});

it('refuses a file with another plugin in one line', async () => {
  const { code, stderr } = await runCli('eval', fixture.env, '--policy', './trainer.ts');
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'toolenv: The default export of ./trainer.ts is not a policy: use definePolicy.\n',
  });
});

const training = ['--trainer', fixture.trainer, '--out', 'never-made'];

it.each([
  ['eval', checkpoint, ['--device', 'tpu'], '--device tpu: give auto, cpu, webgpu, cuda, dml or coreml.'],
  [
    'eval',
    checkpoint,
    ['--lora-rank', '4'],
    "Unknown option '--lora-rank' (It is a flag of train.) See --help.",
  ],
  ['eval', checkpoint, ['--checkpoint', 'x'], "Unknown option '--checkpoint'. See --help."],
  ['eval', fixture.policy, ['--device', 'cpu'], "Unknown option '--device'. See --help."],
  ['eval', fixture.policy, ['--runtime', 'tfjs'], "Unknown option '--runtime'. See --help."],
  [
    'train',
    fixture.policy,
    ['--token-budget', '9', ...training],
    "Unknown option '--token-budget'. See --help.",
  ],
  ['train', fixture.policy, ['--weight', 'heavy', ...training], '--weight heavy: give a number.'],
  [
    'eval',
    transformer,
    [],
    `${transformer} needs --checkpoint <text> (Hugging Face folder, or a model of the Hugging Face Hub).`,
  ],
  [
    'train',
    checkpoint,
    ['--lora-alpha', '3', ...training],
    `${transformer}: option "loraAlpha": give loraRank too, such as 16.`,
  ],
  [
    'eval',
    checkpoint,
    ['--precision', 'float16', '--runtime', 'tfjs'],
    `${transformer}: option "precision": runtime "tfjs" has no such choice, because the installed package decides; leave one of the two out.`,
  ],
  [
    'eval',
    'fixture-plugin/wait-v1',
    [],
    'Unknown policy "fixture-plugin/wait-v1". Did you mean "fixture-plugin/weight-v1"?',
  ],
  [
    'eval',
    'x',
    ['--record', 'a', '--replay', 'b'],
    "Option '--replay <file>' cannot be used with option '--record <file>'. See --help.",
  ],
])('%s with %s and %j is refused', async (command, policy, flags, message) => {
  const refusal = { code: expect.stringMatching(/^usage\./), message };
  await expect(run(command, fixture.env, '--policy', policy, ...flags)).rejects.toMatchObject(refusal);
});

it.each([
  ['precise-v1', checkpoint, 'precision', '--precision', transformer],
  ['seeded-v1', fixture.policy, 'seed', '--seed', 'toolenv train'],
  ['seeded-v1', checkpoint, 'noTrajectories', '--no-trajectories', 'toolenv train'],
])('%s with %s is refused for its option %s', async (name, policy, option, flag, owner) => {
  const trainer = `fixture-plugin/${name}`;
  const message = `Option "${option}" of ${trainer} is the flag ${flag}, which ${owner} has already: ${trainer} must rename its option.`;
  const named = ['train', fixture.env, '--policy', policy, '--trainer', trainer];
  expect(await helpOf(...named)).toContain(message);
  // The command refuses to run for the first collision.
  if (option === 'noTrajectories') return;
  const refusal = { code: 'usage.flag_collision', message };
  await expect(run(...named, '--out', 'never-made')).rejects.toMatchObject(refusal);
});

it('has no collision where another policy is named', async () => {
  const out = join(await mkdtemp(join(tmpdir(), 'toolenv-flags-')), 'run');
  const named = ['--policy', fixture.policy, '--trainer', 'fixture-plugin/precise-v1'];
  const { code } = await runCli('train', fixture.env, ...named, '--precision', '4', '--out', out);
  expect(code).toBe(0);
});

it('lists the options in the help, under the plugins that have them', async () => {
  const evaluation = await helpOf('eval');
  expect(evaluation).toMatch(/\n\nOptions of @toolenv\/policy\/transformer-v1:\n +--checkpoint <text> /);
  expect(evaluation).toContain('--device <auto|cpu|');
  expect(evaluation).not.toContain('--lora-rank');
  expect(await helpOf('train')).toContain('--lora-rank <n>');
  const training = await helpOf('train', '--trainer', fixture.trainer, '--policy', fixture.policy);
  expect(training).toMatch(
    /\n\nOptions of fixture-plugin\/weight-v1:\n +--weight <x> +\(default: 0\.3\)\n\nOptions of fixture-plugin\/nudge-v1:/,
  );
});

it('shows help where a plugin is not installed', async () => {
  const args = ['train', '--policy', 'nobody/none-v1', '--trainer', 'nobody/nothing-v1'];
  const help = await helpOf(...args);
  expect(help).toContain('nobody/none-v1 cannot be loaded: its options are not listed.');
  expect(help).toContain('nobody/nothing-v1 cannot be loaded: its options are not listed.');
  await expect(run(...args)).rejects.toThrow('Package nobody is not installed: npm install nobody');
});
