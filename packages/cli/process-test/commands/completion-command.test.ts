/** `toolenv completion`: what shells complete. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { completionsOf } from '../../src/commands/completion-command.ts';
import { runCli } from '../../test/run-cli.ts';
import { cli } from '../../test/start-cli.ts';

const wordsFor = async (...words: string[]) => (await completionsOf(words)).map(([word]) => word);

it.each([
  [['tr'], ['train']],
  [['help', 'inf'], ['info']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [
    ['baseline', 'bridge', '--kind', ''],
    ['direct', 'naive-rag', 'base-tool-call'],
  ],
  [
    ['serve', '--protocol', 'o'],
    ['openenv', 'ors'],
  ],
  [['train', 'brid'], ['bridge-v1']],
  [['train', '--trainer', 'pp'], ['ppo-v1']],
  [['train', '@toolenv/envs-qa/brid'], ['@toolenv/envs-qa/bridge-v1']],
  // An option of the environment that was named.
  [['train', 'bridge-v1', '--env-top'], ['--env-top-k']],
  [['eval', 'no-such-v1', '--max-tok'], ['--max-tokens']],
  // Files, which the shell knows.
  [['show', ''], []],
  [['train', '--out', 'r'], []],
  [['nonsense', ''], []],
])('%j → %j', async (words, completions) => {
  expect(await wordsFor(...words)).toEqual(completions);
});

it('refuses other shells', async () => {
  expect(await runCli('completion', 'tcsh')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Allowed choices are bash, zsh, fish'),
  });
});

/** A folder with the program, under its name. */
let bin: string;
beforeAll(async () => {
  bin = await mkdtemp(join(tmpdir(), 'toolenv-bin-'));
  // npm makes the program executable as it installs it.
  await writeFile(join(bin, 'toolenv'), `#!/bin/sh\nexec "${process.execPath}" "${cli}" "$@"\n`, {
    mode: 0o755,
  });
  await writeFile(join(bin, 'typed.txt'), '');
});

function environment(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) };
}

const lines = [
  ['toolenv tra', ['train']],
  ['toolenv train --trainer gr', ['grpo-v1']],
  ['toolenv eval bridge-v1 --tempe', ['--temperature']],
  ['toolenv info @toolenv/envs-qa/brid', ['@toolenv/envs-qa/bridge-v1']],
] as const;

it('bash completes commands, names and references', () => {
  for (const [line, completions] of lines) {
    // What readline does: it breaks words at @ and at spaces, and replaces the last one.
    const program = `source <(toolenv completion bash)
COMP_LINE='${line}' COMP_POINT=${line.length}
COMP_WORDS=('${line.split(/ |(?<=@)/).join("' '")}')
COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
_toolenv
printf '%s\\n' "\${COMPREPLY[@]/#/${line.includes('@') ? '@' : ''}}"`;
    const printed = execFileSync('bash', ['-c', program], { env: environment(), encoding: 'utf8' });
    expect(printed.trim().split('\n'), line).toEqual(completions);
  }
});

const has = (shell: string) => spawnSync(shell, ['--version']).status === 0;

it.skipIf(!has('fish'))('fish completes the same', async () => {
  const home = await mkdtemp(join(tmpdir(), 'toolenv-fish-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  for (const [line, completions] of lines) {
    const program = `toolenv completion fish | source; complete -C '${line}'`;
    const env = { ...environment(), HOME: home, XDG_CONFIG_HOME: home };
    const printed = execFileSync('fish', ['-c', program], { env, encoding: 'utf8' });
    expect(
      printed
        .trim()
        .split('\n')
        .map((each) => each.split('\t')[0]),
      line,
    ).toEqual(completions);
  }
});

it.skipIf(!has('zsh'))('zsh completes the same', () => {
  for (const [line, completions] of lines) {
    const program = `compdef() { : }
source <(toolenv completion zsh)
compadd() { print -l -- $names }
words=(${line
      .split(' ')
      .map((word) => `'${word}'`)
      .join(' ')}) CURRENT=$#words PREFIX=$words[-1]
_toolenv`;
    const printed = execFileSync('zsh', ['-f', '-c', program], { env: environment(), encoding: 'utf8' });
    expect(printed.trim().split('\n'), line).toEqual(completions);
  }
});
