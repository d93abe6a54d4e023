/** A model server that accepts and never answers: the start of a command ends by its deadline, and by its signal. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runProgram } from '../../src/program.ts';
import { exitCodeOf } from '../../src/run/run-as-process.ts';
import { captured } from '../captured.ts';

const root = join(import.meta.dirname, '../../../..');
const env = '@toolenv/envs-classic/arithmetic-v1';
const tokens = { openai: [], tinker: ['--tokenizer', 'packages/checkpoints/tiny'] };

let silent: Server;
let out: string;
beforeAll(async () => {
  silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  out = await mkdtemp(join(tmpdir(), 'toolenv-silent-'));
});
afterAll(async () => {
  silent.close();
  await rm(out, { recursive: true });
});

function started(command: string, client: keyof typeof tokens, signal: AbortSignal, ...more: string[]) {
  const policy = `${client}:http://127.0.0.1:${(silent.address() as AddressInfo).port}#m`;
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

test.each(['eval', 'train', 'rollout'])(
  '%s ends by its first signal',
  async (command) => {
    const controller = new AbortController();
    const reason = new DOMException('SIGTERM', 'AbortError');
    silent.once('connection', () => controller.abort(reason));
    const began = performance.now();
    const { code } = await started(command, 'openai', controller.signal, '--out', join(out, command));
    expect(code).not.toBe(0);
    expect(performance.now() - began).toBeLessThan(5_000);
  },
  15_000,
);
