/** The sampler on vLLM: new weights arrive before the next turn, and what the server refuses ends the run with the remedy. */
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Action, Observation, SamplingOptions } from '@toolenv/core';
import { completeOptions } from '@toolenv/core/plugins';
import { loadPolicy, type TransformerPolicy } from '@toolenv/policy';
import transformer, { type TransformerOptions } from '@toolenv/policy/transformer-v1';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openVllmSampler, type VllmOptions } from '../src/vllm/vllm-sampler.ts';
import { type Intercepted, startWireServer, type WireOptions, type WireRequest } from './wire-server.ts';

const checkpoint = join(import.meta.dirname, '../../../packages/checkpoints/tiny');
const question: Observation = { messages: [{ role: 'user', content: 'Where is the river?' }], tools: [] };
const sampling = { maxTokens: 16, temperature: 1, seed: 7 };

/** Weights as the server found them. */
interface Loaded {
  name: unknown;
  folder: string;
  /** The last byte, which is of the last tensor. */
  bytes: Buffer;
}

interface Served {
  policy: TransformerPolicy;
  requests: WireRequest[];
  loaded: Loaded[];
}

/** The policy learns here, and a stand-in of vLLM samples. */
async function served(
  loraRank: number,
  {
    intercept,
    wire,
    ...options
  }: VllmOptions & { intercept?: WireOptions['intercept']; wire?: WireOptions } = {},
): Promise<Served> {
  const loaded: Loaded[] = [];
  const take = (name: unknown, folder: string, file: string) =>
    loaded.push({ name, folder, bytes: readFileSync(join(folder, file)) });
  const control = ({ path, body }: WireRequest): Intercepted | undefined => {
    const { lora_name: name, lora_path: folder, kwargs } = body as Record<string, string>;
    if (path === '/v1/load_lora_adapter') {
      take(name, folder!, 'adapter_model.safetensors');
      // As vLLM says it.
      return { status: 200, body: `Success: LoRA adapter '${name}' added successfully.` };
    }
    if (path === '/v1/unload_lora_adapter') return { status: 200, body: 'Success' };
    if (path === '/collective_rpc') {
      const { weights_path: at } = kwargs as unknown as Record<string, string>;
      take(undefined, at!, 'model.safetensors');
      return { status: 200, body: { results: [null] } };
    }
    return path === '/reset_prefix_cache' ? { status: 200, body: { success: true } } : undefined;
  };
  const server = await startWireServer({
    ...wire,
    intercept: (request, number) => intercept?.(request, number) ?? control(request),
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const policy = await loadPolicy(checkpoint, {
    openSampler: (learned) => openVllmSampler(learned, { url: server.url, ...options }),
    learner: loraRank > 0 ? { lora: { rank: loraRank } } : {},
  });
  onTestFinished(() => policy.close());
  return { policy, requests: server.requests, loaded };
}

async function learn({ learner }: TransformerPolicy, { tokens }: Action): Promise<void> {
  const all = Int32Array.of(...tokens!.prompt, ...tokens!.action);
  const rows = [{ tokens: all, mask: new Uint8Array(all.length).fill(1, tokens!.prompt.length) }];
  await learner.backward({ rows }, { dLogprobs: [new Float32Array(all.length).fill(1)] });
  await learner.step({ learningRate: 1e-2 });
}

function act({ policy }: Served, options: Partial<SamplingOptions> = {}): Promise<Action> {
  return policy.act(question, { ...sampling, ...options });
}

const paths = ({ requests }: Served) => requests.map(({ path }) => path.replace('/v1/', ''));

test('each step of an adapter reaches the server before the next turn, under a name of its own', async () => {
  const run = await served(2);
  const { policy, requests } = run;
  for (let step = 0; step < 3; step++) {
    await act(run);
    const action = await act(run, { seed: step });
    await learn(policy, action);
  }
  const turn = ['load_lora_adapter', 'unload_lora_adapter', 'completions', 'completions'];
  const first = ['models', 'completions', 'completions', 'load_lora_adapter', 'completions', 'completions'];
  expect(paths(run)).toEqual([...first, ...turn, ...turn]);
  const names = run.loaded.map(({ name }) => name);
  expect(new Set(names).size).toBe(3);
  const played = requests.slice(4).filter(({ path }) => path === '/v1/completions');
  expect(played.map(({ body }) => body.model)).toEqual(names.flatMap((name) => [name, name]));
  const unloaded = requests.filter(({ path }) => path === '/v1/unload_lora_adapter');
  expect(unloaded.map(({ body }) => body.lora_name)).toEqual(names.slice(0, 2));
  // B begins at 0, and learns.
  expect(run.loaded[0]!.bytes.equals(run.loaded[1]!.bytes)).toBe(false);
  expect(run.loaded[1]!.bytes.equals(run.loaded[2]!.bytes)).toBe(false);
  // Only the newest version stays on disk, and nothing after the end. A server of the user's forgets the adapter.
  expect(run.loaded.map(({ folder }) => existsSync(folder))).toEqual([false, false, true]);
  await policy.close();
  expect(existsSync(run.loaded[2]!.folder)).toBe(false);
  expect(requests.at(-1)!.body).toEqual({ lora_name: names[2] });
});

test('full weights are loaded from disk, and what was cached for the old ones is forgotten', async () => {
  const run = await served(0);
  const action = await act(run);
  await learn(run.policy, action);
  await act(run);
  const load = ['/collective_rpc', '/reset_prefix_cache', 'completions'];
  expect(paths(run).slice(3)).toEqual([...load, ...load]);
  expect(run.requests.at(-1)!.body.model).toBe('tiny');
  expect(run.loaded[0]!.bytes.equals(run.loaded[1]!.bytes)).toBe(false);
});

test('a turn has the tokens and log-probabilities of the server, and says that another program samples', async () => {
  const run = await served(2, { wire: { contextLength: 100 } });
  const action = await act(run, { topK: 5, topP: 0.9, minP: 0.1, stop: ['river'], maxTokens: 4 });
  expect(run.policy.spec).toMatchObject({ usesSeparateSampler: true, contextLength: 100 });
  expect(run.requests.at(-1)!.body).toMatchObject({
    prompt: [...action.tokens!.prompt],
    ...{ max_tokens: 4, temperature: 1, top_k: 5, top_p: 0.9, min_p: 0.1, seed: 7 },
    ...{ stop: ['river'], include_stop_str_in_output: true, skip_special_tokens: false },
    ...{ stop_token_ids: [845], logprobs: 1, return_token_ids: true },
  });
  expect(action.tokens!.logprobs).toHaveLength(action.tokens!.action.length);
  expect(action.tokens!.logprobs.every((logprob) => logprob <= 0)).toBe(true);
});

test('new weights wait for the turns that have begun', async () => {
  const run = await served(2, { wire: { delay: 150 } });
  const action = await act(run);
  const before = act(run);
  // The turn is on its way when the step ends.
  await expect.poll(() => paths(run).at(-1)).toBe('completions');
  await learn(run.policy, action);
  const after = act(run);
  await Promise.all([before, after]);
  expect(paths(run).slice(-4)).toEqual([
    'completions',
    'load_lora_adapter',
    'unload_lora_adapter',
    'completions',
  ]);
  const [older, newer] = [run.requests.at(-4)!.body.model, run.requests.at(-1)!.body.model];
  expect([older, newer]).toEqual(run.loaded.map(({ name }) => name));
});

const adapterRefused = { error: { message: 'LoRA rank 2 is greater than max_lora_rank 1.', code: 500 } };

test.each<[string, number, Intercepted, string]>([
  [
    '/v1/load_lora_adapter',
    2,
    { status: 500, body: adapterRefused },
    '(LoRA rank 2 is greater than max_lora_rank 1): start it with --enable-lora, --max-lora-rank 2',
  ],
  [
    '/v1/load_lora_adapter',
    2,
    { status: 404, body: { detail: 'Not Found' } },
    'VLLM_ALLOW_RUNTIME_LORA_UPDATING',
  ],
  ['/collective_rpc', 0, { status: 404, body: { detail: 'Not Found' } }, 'VLLM_SERVER_DEV_MODE=1'],
])('a server that refuses %s ends the run with the remedy', async (path, rank, reply, remedy) => {
  const run = await served(rank, {
    intercept: (request) => (request.path === path ? reply : undefined),
  });
  await expect(act(run)).rejects.toMatchObject({
    code: 'usage.vllm_weights',
    message: expect.stringContaining(remedy),
  });
});

test.each(['/v1/completions', '/v1/load_lora_adapter'])(
  'a server that never answers %s is given up',
  async (path) => {
    const run = await served(2, {
      timeout: 300,
      intercept: (request, number) => (number >= 3 && request.path === path ? 'hang' : undefined),
    });
    await expect(act(run)).rejects.toMatchObject({
      code: 'infrastructure.model_unreachable',
      message: expect.stringContaining('no whole reply in 0.3 s'),
    });
  },
);

test('a stopped run does not wait for the server', async () => {
  const run = await served(2, {
    intercept: ({ path }, n) => (n > 3 && path.length > 0 ? 'hang' : undefined),
  });
  const abort = new AbortController();
  const acting = act(run, { signal: abort.signal });
  setTimeout(() => abort.abort(new Error('stopped')), 50);
  await expect(acting).rejects.toThrow('stopped');
  const start = Date.now();
  await run.policy.close();
  expect(Date.now() - start).toBeLessThan(4000);
});

test('an answer without end is not read to its end', async () => {
  let written = 0;
  const chunk = Buffer.alloc(2 ** 20, ' ');
  const server: Server = createServer((_, outgoing) => {
    outgoing.writeHead(200);
    const more = () => {
      while (written < 2 ** 30 && !outgoing.destroyed) {
        written += chunk.length;
        if (!outgoing.write(chunk)) return void outgoing.once('drain', more);
      }
      outgoing.end();
    };
    more();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const opening = loadPolicy(checkpoint, { openSampler: (learned) => openVllmSampler(learned, { url }) });
  await expect(opening).rejects.toMatchObject({
    code: 'infrastructure.model_unreachable',
    message: expect.stringContaining('more than 67108864 bytes'),
  });
  // Two tries, and what is on the way.
  expect(written).toBeLessThan(2 ** 28);
});

test.each<[string, Partial<SamplingOptions>, string, string]>([
  ['calls that a grammar limits', { constrainCalls: true }, 'usage.constrain_calls', 'constrainCalls'],
  ['other temperatures', { temperature: 0.7 }, 'usage.model_tokens', 'sample at temperature 1'],
])('refuses %s by name', async (_, options, code, words) => {
  const run = await served(2);
  const tools = [{ name: 'f', description: '', inputSchema: { type: 'object' as const } }];
  const acting = run.policy.act({ ...question, tools }, { ...sampling, ...options });
  await expect(acting).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
});

test('refuses a server without exact tokens, and one without models', async () => {
  const plain = served(2, {
    intercept: ({ path }) =>
      path === '/v1/completions' ? { status: 200, body: { choices: [{ text: 'Hi' }] } } : undefined,
  });
  await expect(plain).rejects.toMatchObject({ code: 'usage.model_tokens' });
  const empty = served(2, { intercept: () => ({ status: 200, body: { data: [] } }) });
  await expect(empty).rejects.toMatchObject({ code: 'usage.vllm_server' });
});

test('the options of transformer-v1 reach the server', async () => {
  await using server = await startWireServer();
  vi.stubEnv('SAMPLER_KEY', 'a-key-of-the-server');
  const given = { checkpoint, sampler: 'vllm', samplerUrl: server.url, samplerKey: 'SAMPLER_KEY' };
  const options = completeOptions(transformer.options, given, transformer.name) as TransformerOptions;
  const policy = await transformer.open(options, { seed: 1 });
  onTestFinished(() => policy.close?.());
  expect(policy.spec.usesSeparateSampler).toBe(true);
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(
    Array.from({ length: 3 }, () => 'Bearer a-key-of-the-server'),
  );
  vi.stubEnv('SAMPLER_KEY', '');
  await expect(transformer.open(options, { seed: 1 })).rejects.toThrow('--sampler-key names is empty');
});
