/** This library's side of smollm2.ts: reads a task, warms up, and does a round for each further line. */
import { createInterface } from 'node:readline';
import { createModel, onnxRuntime, placeModel, readCheckpoint, Sampler } from '@toolenv/policy';
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
  settings: { folder: string; precision: 'float32' | 'int8' };
}

/** A round, in seconds. */
type Round = () => Promise<number[]>;

async function prepare({ threads, task, settings }: Request): Promise<Round> {
  const runtime = onnxRuntime({ threads });
  const { config, weights } = await readCheckpoint(settings.folder);
  const model = createModel(config, weights);
  if (task.name !== 'sample') {
    const rows = fullRows({ ...task, vocabulary: config.vocab_size });
    const lora = task.name === 'lora' ? { lora: { rank: task.rank } } : {};
    const { run } = await learnerSteps(runtime, config, rows, lora, model);
    return async () => [await secondsOf(() => run(1))];
  }
  await placeModel(runtime, model);
  const sampler = new Sampler(runtime, model, { precision: settings.precision });
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
  console.log(JSON.stringify({ times, peakMemory: 1024 * process.resourceUsage().maxRSS }));
}
process.exit();
