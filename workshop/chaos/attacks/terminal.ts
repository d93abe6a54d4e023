/** Attacks on the terminal, by names and texts that packages, models and servers choose. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { serveView } from '@toolenv/view';
import type { Finished } from '../../../packages/cli/test/captured.ts';
import { startCli } from '../../../packages/cli/test/start-cli.ts';
import { readVisible } from '../../../packages/view/src/view/visible-text.ts';
import { controlCharacter } from '../files/subject.ts';
import { type Attack, holds, within } from './attack.ts';

const hostile = '\u001b]0;title\u0007\u001b[2J\u202e\u009b31m';
const noControl = 'no control character is printed';

export const terminal: Attack[] = [
  {
    name: 'hostile folder of a run',
    attack:
      'the name of the folder of a run, a question and an answer have control characters, characters that turn text around, and HTML',
    expected:
      'show and eval print none of them raw; the viewer answers with JSON that no browser reads as HTML, and its page turns no text',
    async run(folder) {
      const raw = `${hostile}\u2066<img src=x onerror=alert(1)>`;
      const out = join(folder, `run${raw.replaceAll('/', '')}`);
      const env = join(folder, 'hostile-v1.mjs');
      await writeFile(env, hostileEnv(raw));
      const root = join(import.meta.dirname, '../../..');
      await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
      const evaluated = await cli(['eval', env, '--policy', 'oracle', '--count', '2', '--out', out], folder);
      holds(evaluated.code === 0, `eval: exit code ${evaluated.code}: ${evaluated.stderr}`);
      const shown = await cli(['show', out], folder);
      holds(shown.code === 0 && shown.stdout.includes('<img'), `show: ${shown.code}: ${shown.stderr}`);
      for (const each of [evaluated, shown]) clean(each);
      await viewAnswers(out);
    },
  },
  {
    name: 'control characters in an error',
    attack: 'a user names a folder with control characters that does not exist',
    expected: noControl,
    async run(folder) {
      clean(await cli(['show', join(folder, hostile)], folder));
    },
  },
  {
    name: 'key that a server repeats',
    attack: 'a model server answers with the headers of the request, in texts and in errors',
    expected: 'the key is neither printed nor recorded',
    async run(folder) {
      const key = 'sk-chaos-never-printed';
      let asked = 0;
      const server = createServer(({ headers }, response) => {
        const said = JSON.stringify(headers);
        const message = { role: 'assistant', content: said };
        const isFault = ++asked > 4;
        response.writeHead(isFault ? 500 : 200, { 'content-type': 'application/json' });
        const reply = isFault
          ? { error: { message: said } }
          : { choices: [{ message }], data: [{ id: 'm' }] };
        response.end(JSON.stringify(reply));
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const out = join(folder, 'eval');
      const policy = `openai:http://127.0.0.1:${(server.address() as AddressInfo).port}/v1#m`;
      const flags = ['--policy', policy, '--api-key', 'CHAOS_KEY', '--request-retries', '0', '--out', out];
      process.env.CHAOS_KEY = key;
      const root = join(import.meta.dirname, '../../..');
      const { stdout, stderr } = await cli(
        ['eval', '@toolenv/envs-classic/arithmetic-v1', ...flags, '--count', '3', '--concurrency', '1'],
        root,
      ).finally(() => server.close());
      holds(existsSync(out), `recorded nothing: ${stdout} ${stderr}`);
      const files = readdirSync(out, { recursive: true, encoding: 'utf8' }).map((name) => join(out, name));
      const recorded = files
        .filter((file) => statSync(file).isFile())
        .map((file) => readFileSync(file, 'utf8'));
      const texts = [stdout, stderr, ...recorded];
      holds(!texts.some((text) => text.includes(key)), 'the key is printed or recorded');
      holds(
        texts.some((text) => text.includes('[redacted]')),
        `nothing was repeated: ${stdout} ${stderr}`,
      );
    },
  },
  {
    name: 'create-toolenv in /proc',
    attack: 'a user runs create-toolenv /proc/x',
    expected: 'it ends with one line within ten seconds',
    async run() {
      const main = join(import.meta.dirname, '../../../packages/create-toolenv/src/main.ts');
      const args = ['--import', 'tsx', '--conditions=@toolenv/source', main, '/proc/x', '--template', 'env'];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
      let stderr = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text;
      });
      const [code] = await within(10_000, once(child, 'close')).finally(() => child.kill('SIGKILL'));
      holds(code === 1 || code === 2, `exit code ${code}`);
      holds(stderr.trim().split('\n').length === 1, `wrote ${stderr}`);
    },
  },
];

const turning = /[\u202a-\u202e\u2066-\u2069]/;

/** Asks the viewer as its page does. */
async function viewAnswers(out: string): Promise<void> {
  const view = await serveView({ runs: [out] });
  try {
    const ask = async (path: string) => {
      const answer = await fetch(`${view.url}api/${path}`);
      const [type, sniff] = ['content-type', 'x-content-type-options'].map((name) =>
        answer.headers.get(name),
      );
      holds(type?.startsWith('application/json') && sniff === 'nosniff', `${path}: ${type}, ${sniff}`);
      return answer.text();
    };
    const [{ name }] = JSON.parse(await ask('runs'));
    const run = encodeURIComponent(name);
    let rows = '';
    await within(
      20_000,
      (async () => {
        while (!rows.includes('<img')) rows = await ask(`episodes?run=${run}&count=2`);
      })(),
    );
    const episode = await ask(`episode?run=${run}&number=0`);
    for (const text of [rows, episode]) {
      holds(turning.test(text), `the answer lacks the texts: ${text.slice(0, 200)}`);
      holds(!turning.test(JSON.stringify(readVisible(text))), 'the page turns a text');
    }
  } finally {
    await view.close();
  }
}

/** Asks a question and gets an answer with the text. */
function hostileEnv(text: string): string {
  return `import { defineToolEnv } from '@toolenv/core';
const text = ${JSON.stringify(text)};
export default defineToolEnv({
  name: 'hostile-v1',
  description: 'Answers.',
  tasks: { test: [text, text + 2] },
  rewards: { right: { kind: 'outcome' } },
  episode: () => ({ messages: text, onAnswer: () => ({ end: 'answered', rewards: { right: 1 }, info: { note: text } }) }),
  oracle: () => [text],
});
`;
}

function cli(args: string[], cwd: string): Promise<Finished> {
  const { child, finished } = startCli(args, cwd);
  return within(40_000, finished).finally(() => child.kill('SIGKILL'));
}

function clean({ stdout, stderr }: Finished): void {
  for (const text of [stdout, stderr]) {
    const control = controlCharacter(text);
    holds(
      control === undefined,
      `prints ${JSON.stringify(control)} in ${JSON.stringify(text.slice(0, 200))}`,
    );
  }
}
