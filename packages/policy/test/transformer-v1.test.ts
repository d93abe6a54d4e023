/** The plugin `transformer-v1`: its schema knows what the engine knows, and its options reach the engine. */
import { readdirSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { completeOptions, loadPlugin } from '@toolenv/core/plugins';
import { expect, it, onTestFinished } from 'vitest';
import { TransformerLearner } from '../src/learner/transformer-learner.ts';
import { devices } from '../src/runtime/device-name.ts';
import type { TransformerPolicy } from '../src/transformer-policy.ts';
import transformer from '../src/transformer-v1.ts';

const checkpoint = join(import.meta.dirname, '../../../packages/checkpoints/tiny');

function open(options: Record<string, unknown>, seed = 1) {
  const complete = completeOptions(transformer.options, { checkpoint, ...options }, transformer.name);
  return transformer.open(complete as Parameters<typeof transformer.open>[0], { seed });
}

it('is what the manifest names', async () => {
  expect(await loadPlugin('policies', '@toolenv/policy/transformer-v1')).toMatchObject({
    name: 'transformer-v1',
    options: transformer.options,
  });
});

it('takes every device that the engine knows', () => {
  expect(transformer.options.properties).toMatchObject({ device: { enum: ['auto', ...devices] } });
});

it('estimates memory by its options, and names options that need less', async () => {
  const whole = await open({});
  const adapter = await open({ loraRank: 2, gradientCheckpointing: true, tokenBudget: 64 });
  expect(whole.learner).toBeInstanceOf(TransformerLearner);
  expect(whole.memory?.savers).toEqual({ loraRank: 16, gradientCheckpointing: true, tokenBudget: 512 });
  expect(adapter.memory?.savers).toEqual({});
  expect(adapter.memory!.gradients).toBeLessThan(whole.memory!.gradients / 10);
  // A compiled program takes 40 MiB, whatever the batch.
  const ofTokens = ({ memory }: typeof whole) => memory!.activations - 40 * 2 ** 20;
  expect(ofTokens(adapter)).toBeLessThan(ofTokens(whole) / 10);
  await Promise.all([whole.close?.(), adapter.close?.()]);
});

it.each([
  [{ loraAlpha: 3 }, 'option "loraAlpha": give loraRank too'],
  [{ loraTargets: ['q_proj'] }, 'option "loraTargets": give loraRank too'],
  [{ templateArguments: 'no_think' }, 'option "templateArguments"'],
  [{ samplerUrl: 'http://127.0.0.1:8000' }, 'option "samplerUrl": give sampler "vllm" too'],
  [
    { sampler: 'vllm', samplerUrl: 'http://127.0.0.1:8000', samplerArguments: '--dtype float32' },
    'option "samplerArguments": they are for a server that is started',
  ],
  [{ sampler: 'vllm', samplerKey: 'KEY' }, 'option "samplerKey": it is for a server that runs already'],
  [
    { sampler: 'vllm', rolloutPrecision: 'int8' },
    'option "rolloutPrecision": sampler "vllm" has no such choice',
  ],
  [{ sampler: 'vllm', maxThoughtTokens: 8 }, 'option "maxThoughtTokens": sampler "vllm" has no such choice'],
  [{ runtime: 'tfjs', device: 'cpu' }, 'option "device": runtime "tfjs" has no such choice'],
  [{ runtime: 'tfjs', threads: 1 }, 'option "threads": runtime "tfjs" has no such choice'],
  [{ runtime: 'tfjs', precision: 'float16' }, 'option "precision": runtime "tfjs" has no such choice'],
  [{ precision: 'auto' }, 'option "precision": give float16 with runtime "onnx"'],
  [{ precision: 'bfloat16' }, 'bfloat16 or auto with runtime "libtorch"'],
  [{ runtime: 'libtorch', precision: 'float16' }, 'option "precision": give float16 with runtime "onnx"'],
])('refuses %j', async (options, message) => {
  await expect((async () => open(options))()).rejects.toMatchObject({
    code: 'usage.bad_option',
    message: expect.stringContaining(message),
  });
});

it('samples in int8 on demand, and says that the probabilities are not those of the learner', async () => {
  const [exact, rounded] = [await open({}), await open({ rolloutPrecision: 'int8' })];
  expect(exact.spec.usesSeparateSampler).toBeUndefined();
  expect(rounded.spec.usesSeparateSampler).toBe(true);
  const observation = { messages: [{ role: 'user' as const, content: 'Hello' }], tools: [] };
  const act = ({ act }: typeof exact, policy: typeof exact) =>
    act.call(policy, observation, { temperature: 1, seed: 1, maxTokens: 8 });
  const logprobs = (await Promise.all([act(exact, exact), act(rounded, rounded)])).map(
    ({ tokens }) => tokens!.logprobs,
  );
  expect(logprobs[0]).not.toEqual(logprobs[1]);
  await Promise.all([exact.close?.(), rounded.close?.()]);
});

it.runIf(process.platform === 'linux')('computes with as many threads as it is told', async () => {
  const threadsFor = async (threads: number) => {
    const before = readdirSync('/proc/self/task').length;
    const policy = (await open({ threads })) as TransformerPolicy;
    await policy.act(
      { messages: [{ role: 'user', content: 'Hello' }], tools: [] },
      { maxTokens: 1, temperature: 0, seed: 1 },
    );
    const more = readdirSync('/proc/self/task').length - before;
    await policy.close();
    return more;
  };
  await threadsFor(1);
  const alone = await threadsFor(1);
  // Each session has a pool of its own, and the calling thread works too.
  expect((await threadsFor(3)) - alone).toBeGreaterThanOrEqual(2);
});

it('hands template arguments to the chat template', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'template-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp(checkpoint, folder, { recursive: true });
  const config = JSON.parse(await readFile(join(folder, 'tokenizer_config.json'), 'utf8'));
  const chat_template = "{{ 'no thoughts' if enable_thinking is false else 'thoughts' }}";
  await writeFile(join(folder, 'tokenizer_config.json'), JSON.stringify({ ...config, chat_template }));
  await rm(join(folder, 'chat_template.jinja'), { force: true });
  const rendered = async (options: object) => {
    const policy = (await open({ checkpoint: folder, ...options })) as TransformerPolicy;
    const text = policy.chat.render({ messages: [], tools: [] });
    await policy.close();
    return text;
  };
  expect(await rendered({})).toBe('thoughts');
  expect(await rendered({ templateArguments: { enable_thinking: false } })).toBe('no thoughts');
});

it('goes on with the precision that it has chosen before', async () => {
  const asked = { checkpoint, runtime: 'libtorch', precision: 'auto' };
  const begin = (recorded: object) => transformer.begin!(asked as never, recorded as never);
  // Without a measurement, which would need PyTorch.
  expect(await begin({ precision: 'bfloat16' })).toEqual({ precision: 'bfloat16' });
  expect(await begin({ precision: 'float32' })).toEqual({ precision: 'float32' });
});

it('has a day of its own only for a template that names the day', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'template-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp(checkpoint, folder, { recursive: true });
  const begin = (options: object) => transformer.begin!(options as never);
  expect(await begin({ checkpoint: folder })).toEqual({});
  await writeFile(join(folder, 'chat_template.jinja'), "{{ strftime_now('%d %b %Y') }}");
  expect(await begin({ checkpoint: folder })).toEqual({ date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) });
  expect(await begin({ checkpoint: folder, date: '2026-07-01' })).toEqual({ date: '2026-07-01' });
  expect(await begin({ checkpoint: join(folder, 'nothing') })).toEqual({});
  const policy = (await open({ checkpoint: folder, date: '2026-07-01' })) as TransformerPolicy;
  expect(policy.chat.render({ messages: [], tools: [] })).toBe('01 Jul 2026');
  await policy.close();
});
