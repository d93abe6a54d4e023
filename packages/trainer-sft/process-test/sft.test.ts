/** SFT: what is learned, in which order, and that a resumed run ends with the same bits. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collect, openEnv, rollout, type Trajectory } from '@toolenv/core';
import type { TokenRow } from '@toolenv/core/learner';
import type { DataProgress } from '@toolenv/core/plugins';
import { encodeTrajectory } from '@toolenv/core/recording';
import { loadPolicy } from '@toolenv/policy';
import { bestCheckpoint, readMetrics, toTrainingRows, train } from '@toolenv/training';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { timeless } from '../../training/test/timeless.ts';
import { Batches } from '../src/data/file-algorithm.ts';
import { loadRows } from '../src/data/load-rows.ts';
import { sft } from '../src/index.ts';
import { scoreRows, supervisedGradient, supervisedMetrics } from '../src/supervised-loss.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-sft-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function openTiny() {
  const policy = await loadPolicy('packages/checkpoints/tiny');
  onTestFinished(() => policy.close());
  return policy;
}

async function write(name: string, lines: readonly unknown[]): Promise<string> {
  const file = join(folder, name);
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  await writeFile(file, `${texts.join('\n')}\n`);
  return file;
}

const talk = (question: string, answer: string) => ({
  messages: [
    { role: 'user', content: question },
    { role: 'assistant', content: `<answer>${answer}</answer>` },
  ],
});
const lines = ['Who', 'What', 'Where', 'When', 'Which'].map((word) =>
  talk(`${word} leads the company?`, word),
);
const options = { learningRate: 1e-3, batchSize: 2, epochs: 3 };

async function run(out: string, data: string, more: object = {}): Promise<Buffer> {
  const policy = await openTiny();
  for await (const event of train({ policy, trainer: sft(options), data, out, seed: 3, ...more })) void event;
  return readFile(join(out, 'policy', 'model.safetensors'));
}

test('a run without an environment learns, evaluates on held-out examples, and resumes to the same bits', async () => {
  const data = await write('talks.jsonl', lines);
  const [whole, parts] = [join(folder, 'whole'), join(folder, 'parts')];
  const same = { evalData: data, evaluateEvery: 3, checkpointEvery: 4 };
  const read: [file: string, share: number][] = [];
  const onData = ({ file, share }: DataProgress) => read.push([file, share]);
  const weights = await run(whole, data, { ...same, onData });
  // The training file and the held-out file, whose lines are about equally long.
  const fifths = [0.2, 0.4, 0.6, 0.8, 1].map((share) => [data, expect.closeTo(share, 1)]);
  expect(read).toEqual([...fifths, ...fifths]);
  const metrics = await readMetrics(whole);
  const losses = metrics.filter(({ type }) => type === 'evaluation').map((line) => line.metrics.loss!);
  expect(losses.length).toBe(3);
  expect(losses.at(-1)!).toBeLessThan(losses[0]!);
  const updates = metrics.filter(({ type }) => type === 'update');
  expect(updates.map(({ metrics: { epoch } }) => Math.round(3 * epoch!))).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8, 9,
  ]);

  const controller = new AbortController();
  const policy = await openTiny();
  const begun = train({
    policy,
    trainer: sft(options),
    data,
    out: parts,
    seed: 3,
    signal: controller.signal,
    ...same,
  });
  await expect(async () => {
    for await (const { type, step } of begun)
      if (type === 'update' && step === 5) controller.abort(new Error('enough'));
  }).rejects.toThrow('enough');
  expect((await run(parts, data, { resume: true, ...same })).equals(weights)).toBe(true);
  const resumed = await readMetrics(parts);
  expect(timeless(resumed)).toEqual(timeless(metrics));
}, 60_000);

test('a schedule falls over the passes, which a resumed run may then not change; the best loss is kept', async () => {
  const data = await write('scheduled.jsonl', lines);
  const out = join(folder, 'scheduled');
  const best = { evalData: data, evaluateEvery: 1, bestMetric: 'loss', bestMetricGoal: 'min' };
  const linear = { learningRateSchedule: 'linear', checkpointEvery: 3, ...best };
  await run(out, data, { epochs: 1, ...linear });
  const rates = (await readMetrics(out)).flatMap(({ type, metrics }) =>
    type === 'update' ? [metrics.learning_rate! / 1e-3] : [],
  );
  expect(rates).toEqual([1, 2 / 3, 1 / 3].map((share) => expect.closeTo(share, 12)));
  expect((await bestCheckpoint(out))?.step).toBe(3);
  await expect(run(out, data, { epochs: 2, resume: true, ...linear })).rejects.toMatchObject({
    code: 'usage.other_run',
    message: expect.stringContaining('trainerOptions.epochs 1 → 2'),
  });
}, 60_000);

test('a resumed run refuses other data', async () => {
  const data = await write('changing.jsonl', lines);
  const out = join(folder, 'changing');
  await run(out, data, { epochs: 1 });
  await write('changing.jsonl', lines.slice(1));
  await expect(run(out, data, { epochs: 3, resume: true })).rejects.toMatchObject({
    code: 'usage.other_data',
  });
}, 60_000);

test('the end of a file is told, although blank lines and line ends of two characters are not counted', async () => {
  const policy = await openTiny();
  const data = join(folder, 'windows.jsonl');
  await writeFile(data, lines.map((line) => `${JSON.stringify(line)}\r\n\r\n\r\n`).join(''));
  const shares: number[] = [];
  await loadRows(data, policy, { maxLength: 100, onData: ({ share }) => shares.push(share) });
  expect(shares.slice(-2)).toEqual([expect.closeTo(0.97, 1), 1]);
});

test('evaluations that have nothing to score are refused', async () => {
  const policy = await openTiny();
  const data = await write('idle.jsonl', lines);
  for (const more of [{ evaluateEvery: 2 }, { evaluateFirst: true, evaluateOn: {} }]) {
    const run = train({ policy, trainer: sft(options), data, out: join(folder, 'idle'), ...more });
    await expect(run.next()).rejects.toMatchObject({ code: 'usage.bad_option' });
  }
});

test('a bad line is refused by file, line and part', async () => {
  const policy = await openTiny();
  const data = await write('bad.jsonl', [lines[0], lines[1], { messages: [{ role: 'bot', content: 'x' }] }]);
  await expect(loadRows(data, policy, { maxLength: 100 })).rejects.toMatchObject({
    code: 'usage.bad_example',
    message: `${data}:3: /messages/0/role: expected system, developer, user, assistant or tool; received "bot".`,
  });
  const broken = await write('broken.jsonl', [lines[0], '{"messages": [']);
  await expect(loadRows(broken, policy, { maxLength: 100 })).rejects.toThrow(
    `${broken}:2: expected a line of JSON`,
  );
  const silent = await write('silent.jsonl', [{ messages: [{ role: 'user', content: 'Who?' }] }]);
  await expect(loadRows(silent, policy, { maxLength: 100 })).rejects.toMatchObject({
    code: 'usage.no_examples',
  });
  const missing = loadRows(join(folder, 'none.jsonl'), policy, { maxLength: 100 });
  await expect(missing).rejects.toMatchObject({ code: 'usage.unreadable_data' });
});

test('Ctrl-C ends the reading of a file and the evaluation of held-out examples', async () => {
  const policy = await openTiny();
  const data = await write('many.jsonl', Array(100).fill(lines[0]));
  const controller = new AbortController();
  const encode = vi.spyOn(policy, 'encode').mockImplementation(() => {
    controller.abort(new Error('interrupted'));
    return [];
  });
  const out = join(folder, 'interrupted');
  const events = train({ policy, trainer: sft(options), data, out, signal: controller.signal });
  await expect(events.next()).rejects.toThrow('interrupted');
  expect(encode).toHaveBeenCalledTimes(1);
  encode.mockRestore();

  const { rows } = await loadRows(data, policy, { maxLength: 100 });
  const stop = new AbortController();
  const forward = vi.fn(async ({ rows }: { rows: TokenRow[] }) => {
    stop.abort(new Error('enough'));
    const ones = rows.map(({ tokens }) => new Float32Array(tokens.length));
    return { logprobs: ones, entropies: ones };
  });
  await expect(scoreRows({ forward } as never, rows, stop.signal)).rejects.toThrow('enough');
  expect(forward).toHaveBeenCalledTimes(1);
});

test('messages of weight 0 are read and not learned', async () => {
  const policy = await openTiny();
  const turns = [...lines[0]!.messages, ...lines[1]!.messages];
  const both = await write('both.jsonl', [{ messages: turns }]);
  const last = await write('last.jsonl', [{ messages: turns.with(1, { ...turns[1]!, weight: 0 } as never) }]);
  const [whole, part] = await Promise.all(
    [both, last].map(async (file) => (await loadRows(file, policy, { maxLength: 100 })).rows[0]),
  );
  expect(part!.tokens).toEqual(whole!.tokens);
  const learned = (row: TokenRow) => policy.chat.decode(row.tokens.filter((_, t) => row.mask[t] === 1));
  expect(learned(whole!)).toContain('Who');
  expect(learned(part!)).not.toContain('Who');
  expect(learned(part!)).toContain('What');
});

test('rows beyond the length lose their end, with a warning that counts them', async () => {
  const policy = await openTiny();
  const warnings: string[] = [];
  const listen = ({ message }: Error) => void warnings.push(message);
  process.on('warning', listen);
  onTestFinished(() => void process.off('warning', listen));
  const data = await write('long.jsonl', [...lines, { text: 'the company leads the company' }]);
  const whole = await loadRows(data, policy, { maxLength: 100 });
  expect(whole).toMatchObject({ truncated: 0, dropped: 0 });
  const lengths = whole.rows.map(({ tokens }) => tokens.length);
  const maxLength = lengths[5]! - 1;
  expect(
    Math.min(
      ...lengths.slice(0, 5).map((length, at) => (whole.rows[at]!.mask.indexOf(1) < maxLength ? 0 : length)),
    ),
  ).toBeGreaterThan(maxLength);
  const cut = await loadRows(data, policy, { maxLength });
  expect(cut).toMatchObject({ truncated: 1, dropped: 5 });
  expect(cut.rows.map(({ tokens }) => tokens.length)).toEqual([maxLength]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toEqual([
    `1 of 6 rows of ${data} are longer than ${maxLength} tokens and lose their end, 5 more have nothing to learn within that length and are left out: raise maxLength to learn them whole.`,
  ]);
});

test('trajectories are learned as they were played, and by their reward', async () => {
  const policy = await openTiny();
  const env = await openEnv('@toolenv/envs-qa/bridge-v1', { topK: 2 });
  const episodes = [0, 1, 2, 3].map((group) => ({ task: env.tasks.test.get(group), group, sample: 0 }));
  const sampling = { maxTokens: 64, temperature: 0 };
  const played = await collect(rollout({ env, policy, episodes, sampling, concurrency: 4, seed: 1 }));
  const data = await write('trajectories.jsonl', played.map(encodeTrajectory));
  const { rows } = await loadRows(data, policy, { maxLength: 1024 });
  const expected = played.flatMap(toTrainingRows).map(({ tokens, mask }) => ({ tokens, mask }));
  expect(rows).toEqual(expected);

  const score = (em: number, documents: number) => ({ rewards: { em, documents }, reward: em + documents });
  const rewardSpec = {
    em: { kind: 'outcome', weight: 1, range: [0, 1] },
    documents: { kind: 'process', weight: 1, range: [0, 1] },
  } as const;
  // A wrong answer that found every document has a greater reward than a half right answer that found none.
  const scores = [score(0, 1), score(0.5, 0), score(1, 0), score(0.25, 1)];
  const scored = played.map(
    (trajectory, index): Trajectory => ({ ...trajectory, rewardSpec, ...scores[index]! }),
  );
  const some = await write('scored.jsonl', scored.map(encodeTrajectory));
  const best = await loadRows(some, policy, { maxLength: 1024, minReward: 0.5 });
  expect(best.rows).toEqual(expected.slice(1, 3));
  const found = await loadRows(some, policy, { maxLength: 1024, minReward: 0.5, judgedBy: 'documents' });
  expect(found.rows).toEqual([expected[0], expected[3]]);
  await expect(loadRows(some, policy, { maxLength: 1024, minReward: 0, judgedBy: 'f1' })).rejects.toThrow(
    'scored.jsonl:1: /rewardSpec: expected the reward component "f1"; received ["em","documents"].',
  );
});

test('where an environment rewrites the context, each turn is learned once', async () => {
  const policy = await openTiny();
  const step = (messages: object[], text: string) => ({
    observation: { messages, tools: [] },
    action: { text, toolCalls: [], stopReason: 'stop' },
    calls: [],
    rewards: {},
    info: {},
  });
  const [ask, again] = ['Who leads?', 'Who is it?'].map((content) => ({ role: 'user', content }));
  const said = (content: string) => ({ role: 'assistant', content });
  const steps = [
    step([ask!], 'A'),
    step([ask!, said('A'), again!], 'B'),
    step([again!, said('B'), ask!], 'C'),
  ];
  const data = await write('rewritten.jsonl', [
    {
      ...{
        version: 1,
        env: 'e',
        policy: 'p',
        episodeId: 'x',
        index: 0,
        task: null,
        group: 0,
        sample: 0,
        seed: 1,
      },
      ...{ rewardSpec: {}, steps, outcome: { kind: 'terminated', reason: 'done' }, rewards: {}, reward: 0 },
    },
  ]);
  const { rows } = await loadRows(data, policy, { maxLength: 100 });
  const learned = rows.map(({ tokens, mask }) => policy.chat.decode(tokens.filter((_, t) => mask[t] === 1)));
  expect(learned.map((text) => text.replaceAll(' ', ''))).toEqual(['AB', 'C']);
});

test('each pass has every example once, in an order that depends on the seed and the pass', () => {
  const plan = { batchSize: 4, shuffle: true, seed: 5 };
  const batches = new Batches(Array(10).fill(7), plan);
  expect(batches.steps(2)).toBe(6);
  expect(batches.steps(1.5)).toBe(5);
  const passes = [0, 3].map((first) => [0, 1, 2].flatMap((step) => batches.at(first + step).indices));
  for (const pass of passes) expect(pass.toSorted((a, b) => a - b)).toEqual([...Array(10).keys()]);
  expect(passes[0]).not.toEqual(passes[1]);
  expect(new Batches(Array(10).fill(7), plan).at(4)).toEqual(batches.at(4));
  expect(new Batches(Array(10).fill(7), { ...plan, seed: 6 }).at(4)).not.toEqual(batches.at(4));
  const inOrder = new Batches(Array(10).fill(7), { ...plan, shuffle: false });
  expect(inOrder.at(5).indices).toEqual([8, 9]);
});

test('batches of tokens hold as many examples as fit, and a long example alone', () => {
  const lengths = [3, 3, 3, 20, 4, 6];
  const batches = new Batches(lengths, { batchSize: 1, batchTokens: 10, shuffle: false, seed: 1 });
  const steps = [...Array(batches.steps(1)).keys()].map((step) => batches.at(step).indices);
  expect(steps).toEqual([[0, 1, 2], [3], [4, 5]]);
});

test('the gradient of the loss is its derivative', () => {
  const rows = [
    { tokens: Int32Array.of(1, 2, 3), mask: Uint8Array.of(0, 1, 1) },
    { tokens: Int32Array.of(1, 2), mask: Uint8Array.of(0, 1) },
  ];
  const outputs = (change = 0) => ({
    logprobs: [Float32Array.of(0, -1 + change, -2), Float32Array.of(0, -3)],
    entropy: [Float32Array.of(0, 1, 2), Float32Array.of(0, 3)],
  });
  expect(supervisedMetrics(rows, outputs())).toEqual({
    loss: 2,
    entropy: 2,
    'mean_token_accuracy/lower_bound': 0,
  });
  expect(supervisedMetrics(rows, outputs(0.5))['mean_token_accuracy/lower_bound']).toBeCloseTo(1 / 3, 12);
  const [low, high] = [-0.25, 0.25].map((change) => supervisedMetrics(rows, outputs(change)).loss!);
  expect(supervisedGradient(rows)[0]![1]).toBeCloseTo((high! - low!) / 0.5, 6);
  expect([...supervisedGradient(rows)[0]!]).toEqual([-0, Math.fround(-1 / 3), Math.fround(-1 / 3)]);
});
