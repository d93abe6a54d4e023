/** The tools and sandboxes in which a model's code or commands run, each with its attempts. */
import { existsSync } from 'node:fs';
import { openEnv, type Scripted, type Tool } from '@toolenv/core';
import code from '@toolenv/envs-code/code-v1';
import math from '@toolenv/envs-code/math-v1';
import terminal from '@toolenv/envs-code/terminal-v1';
import { createPython } from '@toolenv/tools-code';
import fileEnv from './file-env.ts';
import type { Setting } from './play-attempts.ts';
import { pythonAttempts } from './python-attempts.ts';
import { shellAttempts } from './shell-attempts.ts';

const call = (name: string, args: Record<string, unknown>): Scripted => [{ name, arguments: args }];
const python = (program: string) => call('python', { code: program });
const bash = (command: string) => call('bash', { command });
const files = (action: string, rest: Record<string, unknown>) =>
  call('files', { action, path: 'a.txt', ...rest });

/** Milliseconds of a call, so that attempts end soon. */
const timeout = 1_000;

/** References of sandboxes, with limits that attempts reach soon. */
const sandboxes = {
  virtual: `@toolenv/sandbox/virtual-v1?memory=128&disk=8&timeout=${timeout}`,
  bubblewrap: `@toolenv/sandbox/bubblewrap-v1?memory=128&disk=8&processes=64&timeout=${timeout}`,
} as const;

type Kind = keyof typeof sandboxes;

const missingBubblewrap: string | undefined = existsSync('/usr/bin/bwrap')
  ? undefined
  : 'bwrap is not installed';

const lacking = (kind: Kind) => (kind === 'bubblewrap' ? missingBubblewrap : undefined);
const hurried = async () => (await createPython({}, { timeout })) as Tool;

/** A program that makes an attempt of a shell by `python3`. */
const inShell = (command: string) =>
  `import subprocess\nprint(subprocess.run(["bash", "-c", ${JSON.stringify(command.replaceAll('\0', ''))}]))`;

const kinds = Object.keys(sandboxes) as Kind[];

export const settings: readonly Setting[] = [
  {
    name: 'math-v1',
    attempts: pythonAttempts,
    open: () => openEnv(math, {}, { tools: { python: hurried } }),
    script: (attempt) => [python(attempt), python('1'), python('print(1 + 1)'), 'I do not know.'],
  },
  {
    name: 'code-v1',
    attempts: pythonAttempts,
    open: () => openEnv(code, {}, { tools: { python: hurried, tests: hurried } }),
    script: (attempt) => [
      python(attempt),
      python('print(1 + 1)'),
      `\`\`\`python\n# solve\n${attempt}\ndef solve(x): return None\n\`\`\``,
    ],
  },
  {
    name: 'math-v1 with the python3 of bubblewrap',
    attempts: shellAttempts,
    missing: missingBubblewrap ?? (existsSync('/usr/bin/python3') ? undefined : 'python3 is not installed'),
    open: () =>
      openEnv(
        math,
        {},
        {
          tools: {
            python: async () => (await createPython({}, { timeout, sandbox: sandboxes.bubblewrap })) as Tool,
          },
        },
      ),
    script: (attempt) => [python(inShell(attempt)), python('print(1 + 1)'), 'I do not know.'],
  },
  ...kinds.map(
    (kind): Setting => ({
      name: `terminal-v1 in ${kind}`,
      attempts: shellAttempts,
      missing: lacking(kind),
      open: () => openEnv(terminal, { sandbox: sandboxes[kind] }),
      script: (attempt) => [bash(attempt), bash('echo on; ls; cat a.txt'), 'Done.'],
    }),
  ),
  ...kinds.map(
    (kind): Setting => ({
      name: `shell and files in ${kind}`,
      attempts: shellAttempts,
      missing: lacking(kind),
      open: () => openEnv(fileEnv, { sandbox: sandboxes[kind] }),
      script: (attempt) => [
        bash(attempt),
        files('read', {}),
        files('write', { content: 'two\n' }),
        files('edit', { old: 'two', content: 'three' }),
        files('search', { path: '.', pattern: 'three' }),
        bash('echo on'),
        'Done.',
      ],
    }),
  ),
];
