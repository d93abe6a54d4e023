/** The sampler's tokens and log-probabilities equal the learner's, for any batch and any cache. */
import { setTimeout as delay } from 'node:timers/promises';
import { createRng } from '@toolenv/core';
import type { TokenRow } from '@toolenv/core/learner';
import { expect, onTestFinished, test } from 'vitest';
import { createModel, type Model } from '../../src/model/model.ts';
import { onnxRuntime } from '../../src/runtime/onnx/onnx-runtime.ts';
import type { Runtime, Tensors } from '../../src/runtime/runtime.ts';
import { isBatchInvariant } from '../../src/sampler/batch-invariance.ts';
import type { Sample, SampleRequest } from '../../src/sampler/sample-request.ts';
import { Sampler, type SamplerOptions } from '../../src/sampler/sampler.ts';
import { AllLogits } from '../../test/all-logits.ts';
import { withRun } from '../../test/runtime/with-run.ts';
import {
  learnerOf,
  otherLayers,
  randomWeights,
  runtime,
  tinyConfig,
  tinyModel,
} from '../../test/tiny-model.ts';

/** The runtime as on devices whose products may depend on the batch: weights are inputs. */
const dependentRows: Runtime = { ...runtime, mostBuiltIn: 0 };

function samplerOf(model: Model, options?: SamplerOptions, on: Runtime = runtime): Sampler {
  const sampler = new Sampler(on, model, options);
  onTestFinished(() => sampler.close());
  return sampler;
}

function request(prompt: ArrayLike<number>, more: Partial<SampleRequest> = {}): SampleRequest {
  return { prompt: Int32Array.from(prompt), maxTokens: 6, temperature: 1, seed: 1, stopTokens: [], ...more };
}

/** Tokens from outside the policy: a prompt, or a tool's answer. */
function outside(name: string, turn: number): number[] {
  const rng = createRng(4, name, turn);
  return Array.from({ length: 1 + rng.int(7) }, () => rng.int(tinyConfig.vocab_size));
}

interface TurnSample extends Sample {
  prompt: Int32Array;
}

/** Plays one turn of all conversations at once. Each prompt extends its history in `histories`. */
function turnOfAll(
  sampler: Sampler,
  histories: Map<string, number[]>,
  turn: number,
  more: Partial<SampleRequest> = {},
): Promise<TurnSample[]> {
  const conversations = [...histories].map(async ([conversation, history], index) => {
    history.push(...outside(conversation, turn));
    const prompt = Int32Array.from(history);
    const maxTokens = 2 + ((index + turn) % 4);
    const sample = await sampler.sample(
      request(prompt, { episodeId: conversation, maxTokens, seed: 10 * turn + index, ...more }),
    );
    history.push(...sample.tokens);
    return { ...sample, prompt };
  });
  return Promise.all(conversations);
}

function emptyHistories(count: number): Map<string, number[]> {
  return new Map(Array.from({ length: count }, (_, index) => [`conversation ${index}`, []]));
}

function rowOf({ prompt, tokens }: TurnSample): TokenRow {
  const mask = new Uint8Array(prompt.length + tokens.length).fill(1, prompt.length);
  return { tokens: Int32Array.from([...prompt, ...tokens]), mask };
}

test.each([
  { title: 'a slot for each conversation', conversations: 4, options: {}, temperature: 1 },
  { title: 'temperature 0.7', conversations: 4, options: {}, temperature: 0.7 },
  { title: 'greedy', conversations: 4, options: {}, temperature: 0 },
  {
    title: 'fewer slots than conversations',
    conversations: 5,
    options: { maxConversations: 2 },
    temperature: 0.7,
  },
  { title: 'a small token budget', conversations: 5, options: { tokenBudget: 8 }, temperature: 0.7 },
  // Programs for many tokens, for few rows and for one row.
  { title: 'weights as inputs', on: dependentRows, conversations: 4, options: {}, temperature: 1 },
  {
    ...{ title: 'weights as inputs, one slot', on: dependentRows },
    ...{ conversations: 2, options: { maxConversations: 1 }, temperature: 1 },
  },
  ...Object.entries(otherLayers).flatMap(([title, fields]) => [
    { title, fields, conversations: 4, options: {}, temperature: 1 },
    {
      ...{ title: `${title}, fewer slots than conversations`, fields },
      ...{ conversations: 5, options: { maxConversations: 2 }, temperature: 0.7 },
    },
  ]),
])("log-probabilities equal the learner's when the weights change between turns: $title", async (one) => {
  const config = { ...tinyConfig, ...('fields' in one && one.fields) };
  const model = createModel(config, randomWeights(config, 1));
  const learner = learnerOf(model);
  const sampler = samplerOf(model, { batchDelay: 20, ...one.options }, 'on' in one ? one.on : runtime);
  const histories = emptyHistories(one.conversations);
  for (let turn = 0; turn < 4; turn++) {
    const samples = await turnOfAll(sampler, histories, turn, { temperature: one.temperature });
    // Greedy decoding reports the log-probabilities of temperature 1.
    const batch = { rows: samples.map(rowOf), temperature: one.temperature || 1 };
    const { logprobs } = await learner.forward(batch);
    for (const [index, { prompt, logprobs: sampled }] of samples.entries()) {
      for (const [i, value] of sampled.entries()) {
        expect(Math.abs(value - logprobs[index]![prompt.length + i]!)).toBeLessThan(1e-4);
      }
    }
    if (turn % 2 === 0) continue;
    await learner.backward(batch, { dLogprobs: logprobs.map((row) => row.fill(1)) });
    await learner.step({ learningRate: 0.05 });
  }
});

/** A runtime that records the number of tokens of each run, padding included. */
function counting(counts: number[]): Runtime {
  return withRun(runtime, (run) => (inputs) => {
    // States are gathered by a program of their own.
    if (inputs.tokens) counts.push(inputs.tokens.data.length);
    return run(inputs);
  });
}

const longConfig = { ...tinyConfig, max_position_embeddings: 512 };

test.each([['attention', {}], ...Object.entries(otherLayers)])(
  "a group's prompt is computed once, and so is a prefix that all prompts share: %s",
  async (_, fields) => {
    const config = { ...longConfig, ...fields };
    const model = createModel(config, randomWeights(config, 13));
    const rng = createRng(1, 'prompts');
    const random = (length: number) => Array.from({ length }, () => rng.int(tinyConfig.vocab_size));
    const system = random(130);
    const [first, second] = [random(20), random(22)].map((task) => [...system, ...task]);
    const counts: number[] = [];
    const sampler = new Sampler(counting(counts), model);
    onTestFinished(() => sampler.close());
    const prompts = [first!, first!, first!, second!, second!, second!];
    const temperatures = [1, 0.5, 0, 1, 1, 1];
    const ask = (index: number) =>
      request(prompts[index]!, { maxTokens: 3, seed: index, temperature: temperatures[index]! });
    const samples = await Promise.all(prompts.map((_, index) => sampler.sample(ask(index))));
    // The runs: the first 128 tokens of all prompts; the last 22 and 24 tokens of the two; then one token for each sequence.
    expect(counts).toEqual([128, 48, 6, 6]);

    const rows = samples.map((sample, index) =>
      rowOf({ ...sample, prompt: Int32Array.from(prompts[index]!) }),
    );
    const learner = learnerOf(model);
    for (const [index, sample] of samples.entries()) {
      const { logprobs } = await learner.forward({
        rows: [rows[index]!],
        temperature: temperatures[index] || 1,
      });
      const learned = logprobs[0]!.slice(prompts[index]!.length);
      for (const [i, value] of sample.logprobs.entries()) expect(value).toBeCloseTo(learned[i]!, 4);
    }
    const alone = samplerOf(model);
    for (const [index, sample] of samples.entries()) expect(await alone.sample(ask(index))).toEqual(sample);
  },
);

test('a later prompt copies what it shares with a cached one, without a change of bits', async () => {
  const model = createModel(longConfig, randomWeights(longConfig, 14));
  const rng = createRng(2, 'prompts');
  const random = (length: number) => Array.from({ length }, () => rng.int(tinyConfig.vocab_size));
  const system = random(300);
  const turn = (episodeId: string, prompt: number[]) => request(prompt, { episodeId, seed: prompt.length });
  const counts: number[] = [];
  const on = counting(counts);
  // A sampler tries this at its first wait, and the trial would be counted.
  expect(await isBatchInvariant(on, {})).toBe(true);
  const sampler = new Sampler(on, model);
  onTestFinished(() => sampler.close());
  const first = await sampler.sample(turn('first', [...system, 1, 2]));
  // The second turn of the first conversation begins within a chunk. Others cannot share from there on.
  const second = [...system, 1, 2, ...first.tokens, ...random(120)];
  await sampler.sample(turn('first', second));
  counts.length = 0;
  const other = await sampler.sample(turn('other', [...system, 3]));
  expect(counts.slice(0, 2)).toEqual([45, 1]);
  counts.length = 0;
  const again = await sampler.sample(turn('again', [...second, 3]));
  expect(counts[0]).toBe(128);
  const alone = samplerOf(model);
  expect(await alone.sample(turn('other', [...system, 3]))).toEqual(other);
  alone.forget('other');
  expect(await alone.sample(turn('again', [...second, 3]))).toEqual(again);
});

test('greedy decoding with a cache equals a full recomputation for every token', async () => {
  const model = tinyModel(2);
  const all = new AllLogits(runtime, model);
  const sampler = samplerOf(model, { batchDelay: 20 });
  const histories = emptyHistories(3);
  for (let turn = 0; turn < 3; turn++) {
    for (const { prompt, tokens } of await turnOfAll(sampler, histories, turn, { temperature: 0 })) {
      const sequence = [...prompt];
      for (const token of tokens) {
        const logits = (await all.of(sequence)).at(-1)!;
        expect(token).toBe(logits.indexOf(Math.max(...logits)));
        sequence.push(token);
      }
    }
  }
});

test('greedy decoding stays correct when weights are compiled into the program, and when they change after that', async () => {
  const model = tinyModel();
  const all = new AllLogits(runtime, model);
  const sampler = samplerOf(model);
  for (const seed of [14, 15]) {
    model.weights = tinyModel(seed).weights;
    const { tokens } = await sampler.sample(request([1, 2], { temperature: 0, maxTokens: 90 }));
    const logits = await all.of([1, 2, ...tokens]);
    for (const [i, token] of tokens.entries()) {
      const values = logits[1 + i]!;
      expect(token).toBe(values.indexOf(Math.max(...values)));
    }
  }
});

test('int8 samples from weights near those of the learner, again after each step, and each conversation by itself', async () => {
  const model = tinyModel(16);
  const learner = learnerOf(model);
  const sampler = samplerOf(model, { precision: 'int8' });
  const prompts = [
    [1, 2, 3],
    [4, 5],
    [6, 7, 8, 9],
  ];
  const play = () =>
    Promise.all(prompts.map((prompt, seed) => sampler.sample(request(prompt, { maxTokens: 40, seed }))));
  const distances: number[] = [];
  for (const seed of [16, 17]) {
    model.weights = tinyModel(seed).weights;
    const samples = await play();
    expect(await play()).toEqual(samples);
    const rows = samples.map((sample, index) =>
      rowOf({ ...sample, prompt: Int32Array.from(prompts[index]!) }),
    );
    const { logprobs } = await learner.forward({ rows, temperature: 1 });
    for (const [index, sample] of samples.entries()) {
      const learned = logprobs[index]!.slice(prompts[index]!.length);
      for (const [i, value] of sample.logprobs.entries()) distances.push(Math.abs(value - learned[i]!));
      const alone = await sampler.sample(request(prompts[index]!, { maxTokens: 40, seed: index }));
      expect(alone).toEqual(sample);
    }
  }
  expect(Math.max(...distances)).toBeLessThan(0.1);
  expect(distances.filter((distance) => distance > 1e-4).length).toBeGreaterThan(distances.length / 2);
});

test('a runtime without products in int8 is refused', () => {
  const { hasInt8: _, ...without } = runtime;
  expect(() => new Sampler({ ...without, name: 'other' }, tinyModel(), { precision: 'int8' })).toThrow(
    expect.objectContaining({
      code: 'usage.device',
      message: expect.stringContaining('other does not sample in int8'),
    }),
  );
});

test('when the weights change during sampling, all later tokens use the new weights', async () => {
  const model = tinyModel(11);
  const [before, after] = [model.weights, tinyModel(12).weights];
  const all = new AllLogits(runtime, model);
  const sampler = samplerOf(model);
  await sampler.sample(request([1]));
  const sampling = sampler.sample(request([1, 2, 3], { temperature: 0, maxTokens: 60 }));
  for (let turn = 0; turn < 12; turn++) await new Promise(setImmediate);
  model.weights = after;
  const { tokens } = await sampling;
  const sequence = [1, 2, 3];
  const under: ('before' | 'after' | 'both' | 'neither')[] = [];
  for (const token of tokens) {
    const [old, fresh] = await Promise.all(
      [before, after].map(async (weights) => {
        const logits = (await all.of(sequence, weights)).at(-1)!;
        return logits.indexOf(Math.max(...logits)) === token;
      }),
    );
    under.push(old ? (fresh ? 'both' : 'before') : fresh ? 'after' : 'neither');
    sequence.push(token);
  }
  expect(under).not.toContain('neither');
  expect(under).toContain('before');
  expect(under).toContain('after');
  expect(under.lastIndexOf('before')).toBeLessThan(under.indexOf('after'));
});

test.each([
  ['the first changed token', {}],
  ['the first token, because states cannot be shortened', otherLayers.convolutions],
  ['the first token of delta nets', otherLayers['delta nets']],
])('a conversation with a rewritten past is recomputed from %s', async (_, fields) => {
  const config = { ...tinyConfig, ...fields };
  const model = createModel(config, randomWeights(config, 3));
  const sampler = samplerOf(model, { batchDelay: 1 });
  const turn = { episodeId: 'one', temperature: 0, maxTokens: 8 };
  await sampler.sample(request([1, 2, 3, 4, 5, 6], turn));
  const rewritten = await sampler.sample(request([1, 2, 9, 4], turn));
  const fresh = await sampler.sample(request([1, 2, 9, 4], { ...turn, episodeId: 'fresh' }));
  expect(rewritten.tokens).toEqual(fresh.tokens);
});

test.each([
  { title: 'a slot for each conversation', on: onnxRuntime({ threads: 1 }), options: {} },
  {
    title: 'fewer slots than conversations',
    on: onnxRuntime({ threads: 1 }),
    options: { maxConversations: 4 },
  },
  { title: 'two threads', on: onnxRuntime({ threads: 2 }), options: {} },
  { title: 'int8', on: onnxRuntime({ threads: 2 }), options: { precision: 'int8' as const } },
  { title: 'products that depend on the batch', on: dependentRows, options: {} },
])(
  'equal seeds give equal bits for any order of requests and any duration of tools: $title',
  async ({ on, options }) => {
    const model = tinyModel(4);
    const names = Array.from({ length: 6 }, (_, index) => `episode-${index}`);

    async function play(order: number): Promise<Record<string, Sample[]>> {
      const sampler = new Sampler(on, model, options);
      onTestFinished(() => sampler.close());
      const rng = createRng(order, 'order');
      const played: Record<string, Sample[]> = {};
      const conversation = async (name: string) => {
        const samples: Sample[] = [];
        const history: number[] = [];
        for (let turn = 0; turn < 3; turn++) {
          // The tools of a turn take a random time.
          if (turn > 0) await delay(rng.int(8));
          history.push(...outside(name, turn));
          const maxTokens = 2 + ((names.indexOf(name) * 5 + turn) % 7);
          const sample = await sampler.sample(
            request(history, { episodeId: name, maxTokens, seed: 100 + turn }),
          );
          history.push(...sample.tokens);
          samples.push(sample);
        }
        sampler.forget(name);
        played[name] = samples;
      };
      await Promise.all(rng.shuffle(names).map(conversation));
      return played;
    }

    const first = await play(1);
    for (const order of [2, 3, 4]) expect(await play(order)).toEqual(first);
  },
);

test.each([['attention', {}], ...Object.entries(otherLayers)])(
  'samples do not depend on other conversations: when these begin, how long their prompts and answers are, or what they share (%s)',
  async (_, fields) => {
    // Wide enough that products have several blocks and threads.
    const wide = { hidden_size: 128, intermediate_size: 384, num_attention_heads: 4 };
    const config = { ...longConfig, ...wide, ...fields };
    const model = createModel(config, randomWeights(config, 5));
    const lengths = [1, 3, 40, 127, 128, 129, 300, 260];
    const common = outside('common', 0);
    const prompts = lengths.map((length, index) => {
      const rng = createRng(6, 'prompt', index % 6);
      return Array.from({ length }, (_, i) =>
        i < 130 && index % 2 === 0 ? i % 7 : rng.int(config.vocab_size),
      );
    });
    const on = onnxRuntime({ threads: 2 });
    async function play(order: number): Promise<Sample[][]> {
      const sampler = new Sampler(on, model);
      onTestFinished(() => sampler.close());
      const rng = createRng(order, 'begin');
      const played: Sample[][] = [];
      const conversation = async (index: number) => {
        if (order > 0) await delay(rng.int(30));
        const history = [...prompts[index]!];
        played[index] = [];
        for (let turn = 0; turn < 3; turn++) {
          const more = { episodeId: `episode-${index}`, maxTokens: 1 + 5 * (index % 3), seed: index };
          const sample = await sampler.sample(request(history, more));
          played[index]!.push(sample);
          history.push(...sample.tokens, ...common, ...outside(`${index}`, turn));
          if (order > 0) await delay(rng.int(20));
        }
        sampler.forget(`episode-${index}`);
      };
      // The first time one after another, then together.
      if (order === 0) for (const index of prompts.keys()) await conversation(index);
      else await Promise.all(rng.shuffle([...prompts.keys()]).map(conversation));
      return played;
    }
    const first = await play(0);
    for (const order of [1, 2, 3]) expect(await play(order)).toEqual(first);
  },
);

test('samples follow the distribution under the temperature', async () => {
  const model = tinyModel(6);
  const logits = (await new AllLogits(runtime, model).of([3, 1, 4])).at(-1)!;
  const weights = logits.map((value) => Math.exp(value / 0.7));
  const total = weights.reduce((sum, value) => sum + value, 0);
  const sampler = samplerOf(model);
  const draws = 4000;
  const samples = await Promise.all(
    Array.from({ length: draws }, (_, seed) =>
      sampler.sample(request([3, 1, 4], { maxTokens: 1, temperature: 0.7, seed })),
    ),
  );
  const counts = new Float32Array(weights.length);
  for (const { tokens } of samples) counts[tokens[0]!]! += 1;
  for (const [token, count] of counts.entries()) {
    const p = weights[token]! / total;
    // Five standard deviations.
    expect(Math.abs(count / draws - p)).toBeLessThan(5 * Math.sqrt((p * (1 - p)) / draws) + 1e-3);
  }
});

test('a sequence ends at maxTokens or with a stop token', async () => {
  const model = tinyModel(7);
  const sampler = samplerOf(model);
  const whole = await sampler.sample(request([5, 6], { maxTokens: 20 }));
  expect(whole.tokens.length).toBe(20);
  expect(whole.logprobs.length).toBe(20);
  expect(whole.stopped).toBe(false);
  const stop = whole.tokens[4]!;
  const length = whole.tokens.indexOf(stop) + 1;
  const cut = await sampler.sample(request([5, 6], { maxTokens: 20, stopTokens: [stop] }));
  expect(cut.stopped).toBe(true);
  expect(cut.tokens).toEqual(whole.tokens.slice(0, length));
});

test('an abort rejects the request with its reason and frees the slot for a waiting request', async () => {
  const sampler = samplerOf(tinyModel(8), { maxConversations: 1, batchDelay: 1 });
  const controller = new AbortController();
  const long = sampler.sample(request([1], { maxTokens: 90, episodeId: 'long', signal: controller.signal }));
  const waiting = sampler.sample(request([2, 3], { episodeId: 'waiting' }));
  const reason = new Error('deadline');
  setImmediate(() => controller.abort(reason));
  await expect(long).rejects.toBe(reason);
  expect((await waiting).tokens.length).toBe(6);
});

test('a request with an aborted signal is rejected', async () => {
  const sampler = samplerOf(tinyModel(8));
  await expect(sampler.sample(request([1], { signal: AbortSignal.abort('too late') }))).rejects.toBe(
    'too late',
  );
});

test('closing rejects waiting requests', async () => {
  const sampler = samplerOf(tinyModel());
  const waiting = sampler.sample(request([1, 2, 3], { maxTokens: 60 }));
  await delay(5);
  const outcome = expect(waiting).rejects.toThrow('The sampler was closed.');
  await sampler.close();
  await outcome;
});

test('a program that failed to compile is compiled again', async () => {
  let failures = 1;
  const failing: Runtime = {
    ...runtime,
    compile: (...program) =>
      failures-- > 0 ? Promise.reject(new Error('no memory')) : runtime.compile(...program),
  };
  const sampler = new Sampler(failing, tinyModel());
  onTestFinished(() => sampler.close());
  await expect(sampler.sample(request([1, 2, 3]))).rejects.toThrow('no memory');
  expect((await sampler.sample(request([1, 2, 3]))).tokens).toHaveLength(6);
});

test('a forgotten conversation does not influence later ones', async () => {
  const sampler = samplerOf(tinyModel(9), { maxConversations: 2 });
  const more = { maxTokens: 90 };
  const first = await sampler.sample(request([1, 2, 3], { ...more, episodeId: 'a' }));
  sampler.forget('a');
  sampler.forget('never there');
  expect(await sampler.sample(request([1, 2, 3], { ...more, episodeId: 'b' }))).toEqual(first);
});

test('a failing run rejects its requests, and the sampler serves later requests', async () => {
  const model = tinyModel(10);
  const sampler = samplerOf(model);
  const good = model.weights;
  model.weights = {};
  await expect(sampler.sample(request([1]))).rejects.toMatchObject({ code: 'bug.sampler' });
  model.weights = good;
  expect((await sampler.sample(request([1]))).tokens.length).toBe(6);
});

test('a prompt that the model cannot read is refused, and other requests continue', async () => {
  const model = tinyModel(8);
  const sampler = samplerOf(model);
  const fine = sampler.sample(request([1, 2]));
  const { vocab_size: vocabulary, max_position_embeddings: context } = model.config;
  for (const [prompt, maxTokens, what] of [
    [[], 1, 'the prompt is empty'],
    [[1, vocabulary], 1, `token ${vocabulary}`],
    [[1], context, 'positions'],
  ] as const) {
    await expect(sampler.sample(request(prompt, { maxTokens }))).rejects.toMatchObject({
      code: 'bug.sample',
      message: expect.stringContaining(what),
    });
  }
  expect((await fine).tokens.length).toBe(6);
});

const outOfRange: [keyof SampleRequest, number[], string][] = [
  ['maxTokens', [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY], 'a whole number of at least 1'],
  ['temperature', [-0.1, Number.NEGATIVE_INFINITY, Number.NaN], 'a number from 0 up'],
  ['topP', [0, -0.5, 1.1, Number.NaN], 'a number above 0, at most 1'],
  ['topK', [0, -3, 2.5, Number.NaN], 'a whole number of at least 1'],
  ['minP', [-0.1, 1.1, Number.NaN], 'a number from 0 to 1'],
];

test.each(
  outOfRange.flatMap(([name, values, range]) => values.map((value) => [name, value, range] as const)),
)('the sampling option %s = %d is refused; it must be %s', async (name, value, range) => {
  const sampler = samplerOf(tinyModel(8));
  await expect(sampler.sample(request([1, 2], { [name]: value }))).rejects.toMatchObject({
    code: 'usage.sampling',
    message: `Cannot sample: ${name} is ${value}; give ${range}.`,
  });
});

test('sampling options at the ends of their ranges are accepted', async () => {
  const sampler = samplerOf(tinyModel(8));
  for (const options of [
    { temperature: 0, topP: 1, minP: 0 },
    { topP: 1e-9, topK: 1 },
    { minP: 1 },
    { topK: 1e9 },
  ])
    expect((await sampler.sample(request([1, 2], options))).tokens).toHaveLength(6);
});

test('where bits depend on the batch, an abort takes effect while the sampler waits for other conversations', async () => {
  const sampler = new Sampler(dependentRows, tinyModel(8), { batchDelay: 60_000 });
  onTestFinished(() => sampler.close());
  await sampler.sample(request([1, 2], { episodeId: 'away' }));
  const controller = new AbortController();
  const waiting = sampler.sample(request([3], { episodeId: 'here', signal: controller.signal }));
  setTimeout(() => controller.abort(new Error('stop')), 20);
  await expect(waiting).rejects.toThrow('stop');
});

test('where bits depend on the batch, a request with a batch delay of 0 does not wait for other conversations', async () => {
  const sampler = new Sampler(dependentRows, tinyModel(8), { batchDelay: 60_000 });
  onTestFinished(() => sampler.close());
  await sampler.sample(request([1, 2], { episodeId: 'away' }));
  const { tokens } = await sampler.sample(request([1, 2], { episodeId: 'here', batchDelay: 0 }));
  expect(tokens.length).toBe(6);
});

test('the conversations of an episode keep a cache each, and count as one when their tools run', async () => {
  const sampler = samplerOf(tinyModel(8), { batchDelay: 60_000 });
  const turn = (prompt: number[], conversation?: string) =>
    sampler.sample(
      request(prompt, { episodeId: 'one', temperature: 0, ...(conversation && { conversation }) }),
    );
  const first = await turn([1, 2]);
  // Its helper takes turns while the episode's first conversation waits for it.
  const helped = await turn([3, 4], 'helper');
  const went = await turn([1, 2, ...first.tokens, 5]);
  expect((await turn([3, 4, ...helped.tokens, 6], 'helper')).tokens).toHaveLength(6);
  // Helpers at once: the one that has ended is not waited for, because the other has not.
  await Promise.all([turn([7], 'a'), turn([7, 8, 9], 'b')]);
  const alone = samplerOf(tinyModel(8));
  expect((await alone.sample(request([1, 2, ...first.tokens, 5], { temperature: 0 }))).tokens).toEqual(
    went.tokens,
  );
  sampler.forget('one');
  expect((await sampler.sample(request([1], { episodeId: 'two' }))).tokens).toHaveLength(6);
});

test('an optimizer step waits for the sampler run that reads the weights', async () => {
  const model = tinyModel();
  const learner = learnerOf(model);
  const sum = (weights: Tensors) =>
    Object.keys(model.weights)
      .flatMap((name) => [...weights[name]!.data])
      .reduce((all, value) => all + value, 0);
  const seen: number[] = [];
  let changed = 0;
  const slow = withRun(runtime, (run) => async (inputs) => {
    const before = sum(inputs);
    await delay(5);
    const outputs = await run(inputs);
    if (sum(inputs) !== before) changed += 1;
    seen.push(before);
    return outputs;
  });
  const sampler = new Sampler(slow, model);
  onTestFinished(() => sampler.close());
  const row = { tokens: Int32Array.of(1, 2, 3), mask: Uint8Array.of(0, 1, 1) };
  const sampling = sampler.sample(request([1, 2, 3], { maxTokens: 12 }));
  for (let step = 0; step < 4; step++) {
    await learner.backward({ rows: [row] }, { dLogprobs: [Float32Array.of(0, 1, 1)] });
    await learner.step({ learningRate: 0.01 });
    await delay(8);
  }
  await sampling;
  expect(changed).toBe(0);
  // The runs saw the weights of several steps.
  expect(new Set(seen).size).toBeGreaterThan(2);
});
