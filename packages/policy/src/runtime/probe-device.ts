/** Whether a device really computes on this machine, and how fast. */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import type { DeviceName } from './device-name.ts';
import { getOrInsert } from './get-or-insert.ts';
import { OnnxOps } from './onnx/onnx-ops.ts';
import { reasonOf } from './onnx/reason.ts';

export type DeviceProbe =
  | {
      runs: true;
      /** 10⁹ floating-point operations per second, in products of two 512 × 512 matrices. */
      gflops: number;
      /** The CPU's threads for one operation. Known on Linux only. */
      threads?: number;
    }
  | { runs: false; why: string };

const width = 512;
/** In milliseconds. A software Vulkan takes five seconds; CUDA's libraries take several seconds to load. */
const timeLimit = 60_000;

const known: Map<DeviceName, DeviceProbe> = new Map();

/**
 * Multiplies matrices on a device, in a separate process because a broken driver may crash it. Takes a second or two, at most
 * a minute. The answer is cached.
 */
export function probeDevice(device: DeviceName): DeviceProbe {
  return getOrInsert(known, device, () => probeAgain(device));
}

/** Like {@link probeDevice}, but without the cache. */
export function probeAgain(device: DeviceName): DeviceProbe {
  const library = createRequire(import.meta.url).resolve('onnxruntime-node');
  // The single product is the test. In the chain of products, copies to and from a fast device take a small part of the time.
  const input = JSON.stringify({ library, device, width, one: products(1), many: products(64), count: 64 });
  const { signal, status, stdout, stderr, error } = spawnSync(process.execPath, ['--eval', program], {
    input,
    timeout: timeLimit,
    killSignal: 'SIGKILL',
    encoding: 'utf8',
  });
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ETIMEDOUT')
    return { runs: false, why: `no answer within ${timeLimit / 1000} seconds` };
  if (error) return { runs: false, why: error.message };
  const answer = stdout.trim().split('\n').at(-1)!;
  if (answer.startsWith('{')) {
    const found = JSON.parse(answer) as DeviceProbe;
    return found.runs ? found : { runs: false, why: reasonOf(found.why) };
  }
  const last = stderr.trim().split('\n').at(-1);
  return {
    runs: false,
    why: `it ended its process by ${signal ?? `exit code ${status}`}${last && `: ${last}`}`,
  };
}

/** The model x · y · y ⋯, in base64. */
function products(count: number): string {
  const ops = new OnnxOps();
  const y = ops.input('y', 'float32', [width, width]);
  let z = ops.input('x', 'float32', [width, width]);
  for (let index = 0; index < count; index++) z = ops.matmul(z, y);
  return Buffer.from(ops.graph.build({ z }).model).toString('base64');
}

/** A text, so that the program runs from source, from the package and from a bundle. */
const program = `
const { readFileSync, readdirSync } = require('node:fs');
const { library, device, width, one, many, count } = JSON.parse(readFileSync(0, 'utf8'));
const { InferenceSession, Tensor } = require(library);
const options = { executionProviders: [device], logSeverityLevel: 3 };
const open = (model) => InferenceSession.create(Buffer.from(model, 'base64'), options);
const filled = (value) => new Tensor('float32', new Float32Array(width * width).fill(value), [width, width]);
// Each product is a mean of ones: 1 again, and exact in any precision.
const inputs = { x: filled(1), y: filled(1 / width) };
const secondsOf = async (session) => {
  const started = performance.now();
  await session.run(inputs);
  return (performance.now() - started) / 1000;
};
const threadCount = () => (process.platform === 'linux' ? readdirSync('/proc/self/task').length : NaN);

async function probe() {
  const first = await open(one);
  const { z } = await first.run(inputs);
  if (z.data.some((value) => value !== 1)) return { runs: false, why: 'it computes wrong numbers' };
  const product = await secondsOf(first);
  const before = threadCount();
  const session = await open(many);
  // A session has its own pool of threads, and the calling thread works too.
  const threads = threadCount() - before + 1;
  let fastest = product;
  if (product < 0.05) {
    for (let run = 0; run < 3; run++) fastest = Math.min(fastest, (await secondsOf(session)) / count);
  }
  const gflops = (2 * width ** 3) / fastest / 1e9;
  return { runs: true, gflops, ...(device === 'cpu' && threads > 0 && { threads }) };
}

probe()
  .catch(({ message }) => ({ runs: false, why: message }))
  .then((answer) => process.stdout.write('\\n' + JSON.stringify(answer) + '\\n', () => process.exit()));
`;
