/** `toolenv train --trainer …/gepa-v1 --reflection openai:…`, and what the other commands make of `--prompts`. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Message } from '@toolenv/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCliIn } from '../../cli/test/run-cli.ts';
import { reflecting } from './missing-rules.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const env = join(import.meta.dirname, 'units-env.ts');
const policy = join(import.meta.dirname, 'obedient-policy.ts');

let folder: string;
let server: Server;
let reflection: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-gepa-cli-'));
  server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  reflection = `openai:http://127.0.0.1:${port}/v1#reflector?toolCalls=text&requestRetries=0`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

/** A model on a server of the API of OpenAI. */
function answer(...[request, response]: Parameters<NonNullable<Parameters<typeof createServer>[1]>>): void {
  let body = '';
  request.on('data', (part) => (body += part));
  request.on('end', async () => {
    const json = (value: unknown) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    if (request.method === 'GET') return json({ data: [{ id: 'reflector', max_model_len: 100_000 }] });
    const { messages } = JSON.parse(body) as { messages: Message[] };
    const isReflection = messages[0]?.content.startsWith('You improve a text');
    const options = { maxTokens: 1, temperature: 0, seed: 1 };
    const text = isReflection
      ? (await reflecting({ useless: 0 }).act({ messages, tools: [] }, options)).text
      : 'Hello';
    json({
      choices: [{ message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 100, completion_tokens: 10 },
    });
  });
}

const toolenv = (...args: string[]) => runCliIn(root, ...args);
const budget = ['--episodes', '30', '--pareto-tasks', '4', '--minibatch', '2'];
const train = (out: string, ...more: string[]) =>
  toolenv(
    'train',
    env,
    '--policy',
    policy,
    '--trainer',
    '@toolenv/trainer-gepa/gepa-v1',
    '--out',
    out,
    ...more,
  );

test('a run improves the texts, and the other commands take its file', async () => {
  const out = join(folder, 'run');
  const trained = await train(out, '--reflection', reflection, ...budget);
  expect(trained.stderr).not.toContain('Error');
  expect(trained.code).toBe(0);
  const texts = join(out, 'prompts.json');
  expect(trained.stdout).toContain(`The best texts are in ${texts}: use them with --prompts ${texts}\n`);
  expect(JSON.parse(await readFile(texts, 'utf8')).system).toContain('Answer with a unit');
  const config = JSON.parse(await readFile(join(out, 'config.json'), 'utf8'));
  expect(config.trainerOptions).toMatchObject({ reflection, episodes: 30, minibatch: 2 });
  expect(config.envIdentity).toEqual({ prompts: {} });

  const again = await train(out, '--reflection', reflection, ...budget, '--resume');
  expect(again.stdout).toContain('give more --episodes or --reflections to continue');
  const shown = await toolenv('show', out, '--count', '1');
  expect(shown.code).toBe(0);
  expect(shown.stdout).toContain('You convert lengths.');

  const score = async (...more: string[]) => {
    const { stdout, code } = await toolenv('eval', env, '--policy', policy, '--json', ...more);
    return code === 0 ? JSON.parse(stdout).reward : code;
  };
  expect(await score()).toBe(0);
  expect(await score('--prompts', texts)).toBe(1);

  const played = join(folder, 'played');
  const rollout = (...more: string[]) =>
    toolenv('rollout', env, '--policy', policy, '--out', played, '--count', '2', '--json', ...more);
  expect(JSON.parse((await rollout('--prompts', texts)).stdout).reward).toBe(1);
  const other = await rollout();
  expect(other.code).toBe(2);
  expect(other.stderr).toContain('prompts.system');
}, 120_000);

test('an evaluation and a run cannot go on with other texts', async () => {
  const texts = join(folder, 'unit.json');
  await writeFile(texts, JSON.stringify({ system: 'Answer with a unit: "<number> m".' }));
  const evaluated = join(folder, 'evaluated');
  const evaluate = (...more: string[]) =>
    toolenv('eval', env, '--policy', policy, '--out', evaluated, '--count', '2', ...more);
  expect((await evaluate('--prompts', texts)).code).toBe(0);
  const other = await evaluate('--resume');
  expect(other.code).toBe(2);
  expect(other.stderr).toContain('prompts');

  const out = join(folder, 'with-texts');
  expect((await train(out, ...budget, '--reflection', reflection, '--prompts', texts)).code).toBe(0);
  const resumed = await train(out, ...budget, '--reflection', reflection, '--resume');
  expect(resumed.code).toBe(2);
  expect(resumed.stderr).toContain('envIdentity.prompts');
}, 120_000);

test('a file of texts that cannot be used is one line', async () => {
  const wrong = join(folder, 'wrong.json');
  await writeFile(wrong, JSON.stringify({ sistem: 'x' }));
  const evaluate = (file: string) => toolenv('eval', env, '--policy', policy, '--prompts', file);
  expect(await evaluate(wrong)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: 'toolenv: units-v1 has no open text "sistem". Did you mean "system"?\n',
  });
  const absent = await evaluate(join(folder, 'absent.json'));
  expect(absent.code).toBe(2);
  expect(absent.stderr).toMatch(/^toolenv: .*absent\.json: .*give a JSON file such as .*\n$/);
}, 120_000);

test('info shows the open texts, and help the options', async () => {
  const { stdout } = await toolenv('info', env);
  expect(stdout).toContain('Open texts (--prompts <file> takes others)');
  expect(stdout).toContain('You convert lengths.');
  const help = await toolenv('train', '--trainer', '@toolenv/trainer-gepa/gepa-v1', '--help', '--all');
  expect(help.stdout).toContain('--reflection <');
  expect(help.stdout).toContain('--prompts <file>');
  expect(help.stdout).not.toContain('--group-size');
}, 120_000);
