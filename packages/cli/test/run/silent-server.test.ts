/** Model servers that never answer, answer without end, or repeat the key: commands end in time, and print no key. */
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runProgram } from '../../src/program.ts';
import { exitCodeOf } from '../../src/run/run-as-process.ts';
import { captured } from '../captured.ts';

const root = join(import.meta.dirname, '../../../..');
const env = '@toolenv/envs-classic/arithmetic-v1';
const tokens = { openai: [], tinker: ['--tokenizer', 'packages/checkpoints/tiny'] };

let silent: Server;
let out: string;
// Each at a port of its own, so that no connection is used again.
beforeEach(async () => {
  silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  out = await mkdtemp(join(tmpdir(), 'toolenv-silent-'));
});
afterEach(async () => {
  silent.close();
  await rm(out, { recursive: true });
});

function started(command: string, client: keyof typeof tokens, signal: AbortSignal, ...more: string[]) {
  return startedAt(silent, command, client, signal, ...more);
}

function startedAt(
  server: Server,
  command: string,
  client: keyof typeof tokens,
  signal: AbortSignal,
  ...more: string[]
) {
  const policy = `${client}:http://127.0.0.1:${(server.address() as AddressInfo).port}#m`;
  const args = [command, env, '--policy', policy, ...tokens[client], ...more];
  return captured(root, () => exitCodeOf(runProgram(args, signal), signal));
}

test.each(['openai', 'tinker'] as const)('eval ends by its deadline: %s', async (client) => {
  const { signal } = new AbortController();
  const { code, stderr } = await started('eval', client, signal, '--deadline', '300');
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/ in 0\.3 s.*: start the server, or raise --deadline\./),
  ]);
});

test.each([
  ['eval', 'openai'],
  ['eval', 'tinker'],
  ['train', 'openai'],
  ['rollout', 'openai'],
] as const)(
  '%s with %s ends by its first signal',
  async (command, client) => {
    const controller = new AbortController();
    const reason = new DOMException('SIGTERM', 'AbortError');
    let began = 0;
    silent.once('connection', () => {
      began = performance.now();
      controller.abort(reason);
    });
    const { code } = await started(command, client, controller.signal, '--out', join(out, command + client));
    expect(code).not.toBe(0);
    expect(performance.now() - began).toBeLessThan(5_000);
  },
  30_000,
);

test.each(['openai', 'tinker'] as const)(
  'eval ends after 64 MiB of an endless first answer: %s',
  async (client) => {
    let sent = 0;
    const mib = 'x'.repeat(2 ** 20);
    const endless = createHttpServer(async (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"data": [{"id": "');
      const chunks = function* () {
        for (; sent < 1536; sent++) yield mib;
      };
      // The reader leaves.
      await pipeline(chunks, response).catch(() => {});
    }).listen(0, '127.0.0.1');
    await once(endless, 'listening');
    const { signal } = new AbortController();
    const limits = ['--request-retries', '0', '--retries', '0'];
    const { code, stderr } = await startedAt(endless, 'eval', client, signal, '--count', '1', ...limits);
    endless.close();
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/^[^\n]*more than 67108864 bytes[^\n]*\n$/);
    expect(sent).toBeLessThan(200);
  },
);

test('a key that the server repeats, in texts and in errors, is neither printed nor recorded', async () => {
  const key = 'sk-repeated-0123456789';
  vi.stubEnv('REPEATED_KEY', key);
  let asked = 0;
  const repeating = createHttpServer(({ headers }, response) => {
    const content = JSON.stringify(headers);
    const isFault = ++asked > 4;
    response.writeHead(isFault ? 500 : 200, { 'content-type': 'application/json' });
    const choices = [{ message: { role: 'assistant', content } }];
    response.end(
      JSON.stringify(isFault ? { error: { message: content } } : { choices, data: [{ id: 'm' }] }),
    );
  }).listen(0, '127.0.0.1');
  await once(repeating, 'listening');
  const { signal } = new AbortController();
  const folder = join(out, 'repeated');
  const flags = ['--api-key', 'REPEATED_KEY', '--request-retries', '0', '--count', '3', '--concurrency', '1'];
  const { stdout, stderr } = await startedAt(repeating, 'eval', 'openai', signal, ...flags, '--out', folder);
  repeating.close();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const texts = [stdout, stderr, ...(await Promise.all(files.map((file) => readFile(file, 'utf8'))))];
  expect(texts.join('')).toContain('[redacted]');
  expect(texts.join('')).not.toContain(key);
});
