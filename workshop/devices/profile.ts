/**
 * `npm run devices:profile -- webgpu 100m`: where the time of a device goes. Trains a random model of a benchmark's size and samples from it, and
 * prints the milliseconds of each phase, of each program, and of the 40 kernels that take longest. The device's own times come from
 * ONNX Runtime's profiler, which WebGPU's provider tells the times on the GPU; other providers tell those of their nodes.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Device, devices, onnxRuntime, placeModel, Sampler, TransformerLearner } from '@toolenv/policy';
import { InferenceSession } from 'onnxruntime-node';
import { randomModel, randomTokens, sizes, unsavedCheckpoint } from '../bench/model.ts';
import { fullRows } from '../bench/train.ts';
import { type Create, eventSuffix, type ProfileEvent } from './placement.ts';

interface Total {
  milliseconds: number;
  count: number;
}

const [device = 'webgpu', size = '100m', precision = 'float32'] = process.argv.slice(2);
const isKnown = devices.some((each) => each === device) && Object.hasOwn(sizes, size);
if (!isKnown || (precision !== 'float32' && precision !== 'float16')) {
  const usage = `[${devices.join('|')}] [${Object.keys(sizes).join('|')}] [float32|float16]`;
  console.error(`Usage: npm run devices:profile -- ${usage}`);
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), 'toolenv-profile-'));
process.once('exit', () => rmSync(folder, { recursive: true }));
const sessions: InferenceSession[] = [];
const programs = new Map<string, Total>();
watchSessions();

const config = sizes[size]!;
const runtime = onnxRuntime({ device: device as Device, precision });
const model = randomModel(config);
await timed('weights to the device', () => placeModel(runtime, model));
const rows = fullRows({ rows: 16, length: 192, vocabulary: config.vocab_size });
const dLogprobs = rows.map(({ mask }) => Float32Array.from(mask, (bit) => -bit / (16 * 192)));
const learner = new TransformerLearner(runtime, model, unsavedCheckpoint(model));
for (const round of ['first', 'second', 'third']) {
  await timed(`backward, ${round}`, () => learner.backward({ rows }, { dLogprobs }));
  await timed(`step, ${round}`, () =>
    learner.step({ learningRate: 1e-4, weightDecay: 0.01, maxGradNorm: 1 }),
  );
}
for (const round of ['first', 'second']) await timed(`forward, ${round}`, () => learner.forward({ rows }));
const sampler = new Sampler(runtime, model);
for (const [round, name] of ['first', 'second'].entries()) {
  await timed(`64 tokens of 8 conversations, ${name}`, () =>
    Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        sampler.sample({
          prompt: randomTokens(config.vocab_size, 256, 'prompt', round, index),
          maxTokens: 64,
          temperature: 1,
          seed: 8 * round + index,
          stopTokens: [],
        }),
      ),
    ),
  );
}
print('programs', programs);
for (const session of sessions) session.endProfiling();
print('kernels', kernelsOf(folder));
process.exit(0);

/** Measures each run, and has each session write a profile. */
function watchSessions(): void {
  const create = InferenceSession.create.bind(InferenceSession) as Create;
  const watched: Create = async (model, options) => {
    const name = `program ${sessions.length}`;
    const profile = { enableProfiling: true, profileFilePrefix: join(folder, name) };
    const session = await create(model, { ...options, ...profile });
    sessions.push(session);
    const title = `${name}: ${session.outputNames.slice(0, 2).join(', ')}, …`;
    const run = session.run.bind(session) as (...given: unknown[]) => ReturnType<typeof session.run>;
    session.run = async (...given: unknown[]) => {
      const start = performance.now();
      const found = await run(...given);
      add(programs, title, performance.now() - start);
      return found;
    };
    return session;
  };
  Object.assign(InferenceSession, { create: watched });
}

async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const start = performance.now();
  await work();
  console.log(`${(performance.now() - start).toFixed(1).padStart(9)} ms  ${name}`);
}

function kernelsOf(folder: string): Map<string, Total> {
  const kernels = new Map<string, Total>();
  for (const file of readdirSync(folder)) {
    const program = file.split('_')[0]!;
    const events = JSON.parse(readFileSync(join(folder, file), 'utf8') || '[]') as ProfileEvent[];
    for (const { cat, name, dur, args = {} } of events) {
      if (cat === 'Api')
        add(kernels, `${program}: ${name.split('&').at(-1)} on the GPU, ${args.shapes}`, dur / 1000);
      else if (cat === 'Node' && name.endsWith(eventSuffix))
        add(kernels, `${program}: ${args.op_name}, ${args.provider}`, dur / 1000);
    }
  }
  return kernels;
}

function add(totals: Map<string, Total>, name: string, milliseconds: number): void {
  const before = totals.get(name) ?? { milliseconds: 0, count: 0 };
  totals.set(name, { milliseconds: before.milliseconds + milliseconds, count: before.count + 1 });
}

function print(title: string, totals: ReadonlyMap<string, Total>): void {
  console.log(`\n${title}`);
  const longest = [...totals].sort(([, a], [, b]) => b.milliseconds - a.milliseconds).slice(0, 40);
  for (const [name, { milliseconds, count }] of longest)
    console.log(`${milliseconds.toFixed(1).padStart(9)} ms  ${String(count).padStart(6)} times  ${name}`);
}
