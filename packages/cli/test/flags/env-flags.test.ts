/** The options of an environment are flags: their names where names collide, their values, and what is refused. */
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EnvDefinition } from '@toolenv/core';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { firstArgument } from '../../src/flags/first-argument.ts';
import { envFlags } from '../../src/flags/plugin-flags.ts';
import { fixture } from '../fixture.ts';
import { helpOf } from '../help-of.ts';
import { runCli } from '../run-cli.ts';

const folder = process.cwd();
beforeEach(() => process.chdir(fixture.folder));
afterEach(() => process.chdir(folder));

const schema = {
  type: 'object',
  properties: {
    topK: { type: 'integer', minimum: 1, default: 3, description: 'documents' },
    hard: { type: 'boolean', default: true },
    option: { type: 'string' },
    path: { type: 'string' },
    'odd name': { type: 'string' },
  },
};

/** The environment's flags on a command that has `--top-k`, `--hard` and `--env-option` already. */
function flagged(argv: string[]) {
  const definition = { options: schema } as unknown as EnvDefinition;
  const taken = new Map([
    ['topK', 'toolenv eval'],
    ['hard', 'a/b-v1'],
    ['option', 'toolenv check'],
    ['envOption', 'toolenv eval'],
  ]);
  const env = envFlags('a/env-v1', definition, 'a/env-v1', taken);
  const command = new Command('eval').exitOverride().option('--env-option <key=value...>');
  env.addTo(command, new Map());
  command.parse(argv, { from: 'user' });
  return { env, options: env.chosen(command.opts()).options, command };
}

describe('a flag of an environment', () => {
  it('has the name of its option, with the prefix env where another flag has that name', () => {
    const { env, command } = flagged([]);
    expect(env.flags.map(({ option, name }) => [option, name])).toEqual([
      ['topK', 'envTopK'],
      ['hard', 'envHard'],
      ['option', undefined],
      ['path', 'path'],
      ['odd name', undefined],
    ]);
    const help: string[] = [];
    command.configureOutput({ writeOut: (text) => help.push(text) }).outputHelp();
    expect(help.join('')).toMatch(
      /Options of a\/env-v1:\n +--env-top-k <n> +documents \(default: 3\) \(--top-k is a\s+flag of/,
    );
    expect(help.join('')).toMatch(/--no-env-hard +\(--hard is a flag of a\/b-v1\)/);
    expect(help.join('')).toContain('Option "option" of a/env-v1 has no flag: set it with --env-option.');
  });

  it('sets the option, as --env-option does for every option', () => {
    const flags = ['--env-top-k', '5', '--no-env-hard', '--env-option', 'option=x', 'odd name=y'];
    expect(flagged(flags).options).toEqual({ topK: 5, hard: false, option: 'x', 'odd name': 'y' });
    expect(flagged([]).options).toEqual({ topK: 3, hard: true });
  });

  it.each([
    [['--env-top-k', '0'], 'usage.bad_flag', '--env-top-k 0: give a whole number from 1 up.'],
    [
      ['--env-top-k', '2', '--env-option', 'topK=3'],
      'usage.arguments',
      '--env-option topK and --env-top-k set the same option: give one of them.',
    ],
  ])('%j is refused', (flags, code, message) => {
    expect(() => flagged(flags)).toThrow(expect.objectContaining({ code, message }));
  });
});

describe('firstArgument', () => {
  const command = new Command('eval').option('--count <n>').option('--tool <pair...>').option('--json');
  it.each([
    ['a/b-v1 --count 3', 'a/b-v1'],
    ['--count 3 a/b-v1', 'a/b-v1'],
    ['--count=3 a/b-v1', 'a/b-v1'],
    ['--json a/b-v1', 'a/b-v1'],
    ['--tool x=y z=w --json a/b-v1', 'a/b-v1'],
    ['--count --json a/b-v1', 'a/b-v1'],
    ['--max-turns 3 a/b-v1', 'a/b-v1'],
    ['--max-turns 3 --unknown a/b-v1', 'a/b-v1'],
    ['--max-turns 3', undefined],
    ['--count 3', undefined],
    ['', undefined],
  ])('of "%s" is %s', (line, expected) => {
    expect(firstArgument(command, line.split(' ').filter(Boolean))).toBe(expected);
  });
});

describe('commands that open an environment', () => {
  it.each(['eval', 'train', 'serve', 'check'])(
    '%s --help lists the options of the environment',
    async (name) => {
      expect(await helpOf(name, fixture.env)).toMatch(
        /\n\nOptions of fixture-plugin\/lamp-v1:\n +--size <n> +\(default: 30\)/,
      );
    },
  );

  it('give an option the same flag, whichever of them has the name already', async () => {
    const bridge = '@toolenv/envs-qa/bridge-v1';
    for (const name of ['eval', 'train', 'serve', 'check']) {
      const help = (await helpOf(name, bridge)).replace(/\s+/g, ' ');
      expect(help).toContain(
        '--env-top-k <n> documents per search (default: 3) (--top-k is a flag of toolenv eval)',
      );
    }
  });

  it('show their help where the environment is not installed', async () => {
    expect(await helpOf('eval', 'nobody/none-v1')).toContain(
      'nobody/none-v1 cannot be loaded: its options are not listed.',
    );
  });

  it('record the complete options of the environment', async () => {
    const out = join(await mkdtemp(join(tmpdir(), 'toolenv-env-flags-')), 'run');
    const named = [fixture.env, '--policy', fixture.policy, '--trainer', fixture.trainer];
    const { code } = await runCli('train', '--size', '7', ...named, '--steps', '1', '--out', out);
    expect(code).toBe(0);
    expect(JSON.parse(await readFile(join(out, 'config.json'), 'utf8'))).toMatchObject({
      envOptions: { size: 7 },
    });
    const resumed = await runCli('train', ...named, '--size', '30', '--out', out, '--resume');
    expect(resumed.stderr).toContain('differs: envOptions.size 7 → 30. Give the same');
    const wrong = await runCli('eval', fixture.env, '--policy', fixture.policy, '--size', 'big');
    expect(wrong).toEqual({
      code: 2,
      stdout: '',
      stderr: 'toolenv: --size big: give a whole number from 1 up.\n',
    });
  });

  it('take a module that no package lists, and refuse a module without an environment', async () => {
    const out = join(await mkdtemp(join(tmpdir(), 'toolenv-env-module-')), 'run');
    const module = join(fixture.folder, 'env.ts');
    const named = [module, '--policy', fixture.policy, '--trainer', fixture.trainer, '--size', '7'];
    expect(await runCli('train', ...named, '--steps', '1', '--out', out)).toMatchObject({ code: 0 });
    expect(JSON.parse(await readFile(join(out, 'config.json'), 'utf8'))).toMatchObject({
      env: 'lamp',
      envOptions: { size: 7 },
    });
    expect(await runCli('train', ...named, '--steps', '2', '--out', out, '--resume')).toMatchObject({
      code: 0,
    });
    const played = await runCli('eval', module, '--policy', fixture.policy, '--count', '3', '--json');
    expect(JSON.parse(played.stdout)).toMatchObject({ env: module, episodes: 3 });
    const trainer = await runCli('eval', join(fixture.folder, 'trainer.ts'), '--policy', fixture.policy);
    expect(trainer).toMatchObject({ code: 2, stdout: '' });
    expect(trainer.stderr).toMatch(
      /trainer\.ts is not an environment: give a reference, .* or a file whose default export/,
    );
  });
});
