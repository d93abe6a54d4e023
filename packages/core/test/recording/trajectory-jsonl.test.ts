import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aborted, ToolEnvError, type Trajectory, terminated, truncated } from '../../src/index.ts';
import {
  appendTrajectory,
  decodeTrajectory,
  encodeTrajectory,
  readTrajectories,
} from '../../src/recording/index.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-jsonl-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function read(file: string, options?: { skipHalfWritten?: boolean }): Promise<Trajectory[]> {
  const all: Trajectory[] = [];
  for await (const trajectory of readTrajectories(file, options)) all.push(trajectory);
  return all;
}

// JSON has no −0: only the log-probs keep it.
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)));
const words = fc.string({ unit: 'binary' });
/** Names and conversations may not be empty (spec/trajectory.schema.json). */
const name = fc.string({ unit: 'binary', minLength: 1 });
const tokens = fc
  .array(fc.record({ token: fc.integer({ min: 0, max: 2 ** 31 - 1 }), logprob: fc.float() }))
  .chain((action) =>
    fc.record({
      prompt: fc.int32Array({ min: 0 }),
      action: fc.constant(Int32Array.from(action, ({ token }) => token)),
      logprobs: fc.constant(Float32Array.from(action, ({ logprob }) => logprob)),
    }),
  );
const steps = fc.array(
  fc.record(
    {
      observation: fc.record({
        messages: fc.array(fc.record({ role: fc.constant('user' as const), content: words }), {
          minLength: 1,
        }),
        tools: fc.constant<never[]>([]),
      }),
      action: fc.record(
        {
          text: words,
          toolCalls: fc.constant<never[]>([]),
          stopReason: fc.constant('stop' as const),
          tokens,
        },
        { requiredKeys: ['text', 'toolCalls', 'stopReason'] },
      ),
      calls: fc.array(
        fc.record({
          call: fc.record({ id: words, name, arguments: fc.constant({}) }),
          result: fc.record({ content: fc.constant<never[]>([]), structuredContent: json }),
          text: words,
          milliseconds: fc.nat(),
        }),
      ),
      rewards: fc.dictionary(words, fc.option(fc.nat(9))),
      info: fc.dictionary(words, json).map((value) => JSON.parse(JSON.stringify(value))),
    },
    { requiredKeys: ['observation', 'action', 'calls', 'info'] },
  ),
  { maxLength: 4 },
);
const trajectories: fc.Arbitrary<Trajectory> = fc.record({
  version: fc.constant(1 as const),
  env: name,
  policy: name,
  episodeId: name,
  index: fc.nat(),
  task: json,
  group: fc.nat(),
  sample: fc.nat(),
  seed: fc.nat(),
  rewardSpec: fc.constant({ em: { kind: 'outcome', range: [0, 1], weight: 1 } }),
  steps: steps as fc.Arbitrary<Trajectory['steps']>,
  outcome: fc.constantFrom(
    terminated('answered'),
    truncated('deadline'),
    aborted(new ToolEnvError('infrastructure.gpu', 'gone'), false),
  ),
  rewards: fc.constant({ em: null }),
  reward: fc.constant(null),
});

function bits(trajectory: Trajectory): Uint32Array[] {
  return trajectory.steps.flatMap(({ action: { tokens } }) =>
    tokens
      ? [new Uint32Array(tokens.logprobs.buffer, tokens.logprobs.byteOffset, tokens.logprobs.length)]
      : [],
  );
}

test('what is written is read back, every bit of it', () => {
  fc.assert(
    fc.property(trajectories, (trajectory) => {
      const line = encodeTrajectory(trajectory);
      expect(line).not.toContain('\n');
      const back = decodeTrajectory(line);
      expect(back).toEqual(trajectory);
      expect(bits(back)).toEqual(bits(trajectory));
      expect(encodeTrajectory(back)).toBe(line);
    }),
  );
});

const sample: Trajectory = {
  ...fc.sample(trajectories, { numRuns: 1, seed: 1 })[0]!,
  env: '@toolenv/envs-qa/bridge-v1',
  envVersion: '0.1.0',
  task: 'two\u2028lines, and a 😀',
  outcome: aborted(new ToolEnvError('infrastructure.gpu', 'gone')),
};

test('a task of undefined, which JSON leaves out, is read back as null', () => {
  expect(decodeTrajectory(encodeTrajectory({ ...sample, task: undefined })).task).toBeNull();
});

test('a file of many, line separators inside text included', async () => {
  const file = join(folder, 'many.jsonl');
  for (let index = 0; index < 5; index++) await appendTrajectory(file, { ...sample, index });
  const back = await read(file);
  expect(back.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
  expect(back[4]).toEqual({ ...sample, index: 4 });
  const { outcome } = back[0]!;
  expect(outcome.kind === 'aborted' && ToolEnvError.isInstance(outcome.cause) && outcome.cause.code).toBe(
    'infrastructure.gpu',
  );
  const line = JSON.parse((await readFile(file, 'utf8')).split('\n')[0]!);
  expect(line).toMatchObject({ version: 1, env: '@toolenv/envs-qa/bridge-v1', envVersion: '0.1.0' });
});

test('a half-written last line is named, can be skipped, and can be cut before going on', async () => {
  const file = join(folder, 'half.jsonl');
  await appendTrajectory(file, sample);
  await appendFile(file, encodeTrajectory(sample).slice(0, 70_000).slice(0, -5));
  await expect(read(file)).rejects.toMatchObject({
    code: 'usage.broken_record',
    message: expect.stringMatching(/half\.jsonl:2: not a complete JSON record .*skipHalfWritten/s),
  });
  expect(await read(file, { skipHalfWritten: true })).toHaveLength(1);
  await expect(appendTrajectory(file, sample)).rejects.toThrow('half-written. Append with cutHalfWritten');
  await appendTrajectory(file, { ...sample, index: 9 }, { cutHalfWritten: true });
  expect((await read(file)).map(({ index }) => index)).toEqual([sample.index, 9]);
});

test('a broken line in the middle is never skipped', async () => {
  const file = join(folder, 'middle.jsonl');
  await writeFile(file, `${encodeTrajectory(sample)}\n{"version": 1,\n${encodeTrajectory(sample)}\n`);
  await expect(read(file, { skipHalfWritten: true })).rejects.toThrow(
    'middle.jsonl:2: not a complete JSON record',
  );
});

test('a complete last line without its break is read', async () => {
  const file = join(folder, 'unended.jsonl');
  await writeFile(file, `${encodeTrajectory(sample)}\n\n${encodeTrajectory(sample)}`);
  expect(await read(file)).toHaveLength(2);
});

test.each([
  ['{"version": 2}', 'usage.record_version', 'x:1: trajectory version 2; this toolenv reads version 1'],
  ['{}', 'usage.broken_record', 'x:1/version: expected'],
  ['[1]', 'usage.broken_record', 'x:1: expected must be object'],
  ['null', 'usage.broken_record', 'x:1: expected must be object'],
  [
    encodeTrajectory({ ...sample, steps: [] }).replace('"kind":"aborted"', '"kind":"odd"'),
    'usage.broken_record',
    'x:1/outcome/kind',
  ],
  [
    // Deeper than JSON.stringify can write.
    encodeTrajectory({ ...sample, task: 'deep' }).replace(
      '"deep"',
      `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
    ),
    'usage.broken_record',
    'x:1/task: expected at most 64 levels',
  ],
])('%.20s… is refused with a path', (line, code, message) => {
  expect(() => decodeTrajectory(line, 'x:1')).toThrow(message);
  expect(() => decodeTrajectory(line, 'x:1')).toThrow(expect.objectContaining({ code }));
});
