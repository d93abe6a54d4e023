/** This library's side of smollm2.ts: reads a task, warms up, and does a round for each further line. */
import { createInterface } from 'node:readline';
import { libtorchRuntime } from '@toolenv/libtorch';
import { createModel, onnxRuntime, placeModel, type Runtime, readCheckpoint, Sampler } from '@toolenv/policy';
import { learnerSteps } from './learner-steps.ts';
import { randomTokens } from './model.ts';
import { fullRows } from './train.ts';

interface Task {
  name: string;
  conversations: number;
  prompt: number;
  newTokens: number;
  rows: number;
  length: number;
  rank: number;
}

interface Request {
  threads: number;
  task: Task;
  settings: { folder: string; precision: 'float32' | 'bfloat16' | 'int8'; runtime?: 'libtorch' };
}

/** A round, in seconds. */
type Round = () => Promise<number[]>;

/** The peak memory of a process that learns for this one, in bytes. */
let engineMemory = async () => 0;

async function openRuntime({ threads, settings }: Request): Promise<Runtime> {
  if (settings.runtime === undefined) return onnxRuntime({ threads });
  const { precision } = settings;
  const runtime = await libtorchRuntime({ threads, ...(precision !== 'int8' && { precision }) });
  engineMemory = () => runtime.peakMemory();
  return runtime;
}

async function prepare(request: Request): Promise<Round> {
  const { task, settings } = request;
  const runtime = await openRuntime(request);
  const { config, weights } = await readCheckpoint(settings.folder);
  const model = createModel(config, weights);
  if (task.name !== 'sample') {
    const rows = fullRows({ ...task, vocabulary: config.vocab_size });
    const lora = task.name === 'lora' ? { lora: { rank: task.rank } } : {};
    const { run } = await learnerSteps(runtime, config, rows, lora, model);
    return async () => [await secondsOf(() => run(1))];
  }
  await placeModel(runtime, model);
  const precision = settings.precision === 'int8' ? 'int8' : 'float32';
  const sampler = new Sampler(runtime, model, { precision });
  let calls = 0;
  const sample = (maxTokens: number) => {
    calls += 1;
    const sequences = Array.from({ length: task.conversations }, (_, index) =>
      sampler.sample({
        prompt: randomTokens(config.vocab_size, task.prompt, 'prompt', calls, index),
        maxTokens,
        temperature: 1,
        seed: calls * task.conversations + index,
        stopTokens: [],
      }),
    );
    return secondsOf(() => Promise.all(sequences));
  };
  const round = async () => [await sample(1), await sample(1 + task.newTokens)];
  await round();
  return round;
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}

let round: Round | undefined;
for await (const line of createInterface({ input: process.stdin })) {
  if (round === undefined) {
    round = await prepare(JSON.parse(line));
    console.log(JSON.stringify({}));
    continue;
  }
  const times = await round();
  const peakMemory = 1024 * process.resourceUsage().maxRSS + (await engineMemory());
  console.log(JSON.stringify({ times, peakMemory }));
}
process.exit();
