/** The worker thread behind a {@link WorkerLane}: does what it is told, in order. */
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { LocalLane } from './lane.ts';
import { createModel } from './model.ts';
import { onnxRuntime } from './onnx/onnx-runtime.ts';
import type { FromLane, LaneSetup, ToLane } from './worker-lane.ts';

const { config, busy } = workerData as LaneSetup;
const model = createModel(config, {});
const lane = new LocalLane(onnxRuntime({ threads: 1 }), model, { buildsIn: true });
/** Of a call that is not answered itself. */
let failure: unknown;
let last: Promise<void> = Promise.resolve();

parentPort!.on('message', (message: ToLane) => {
  last = last
    .then(() => take(message))
    .catch((error: unknown) => {
      failure = error;
    });
});

async function take(message: ToLane): Promise<void> {
  if ('weights' in message) model.weights = message.weights;
  else if (message.method === 'advance') {
    const answered = await answer(message.args);
    Atomics.store(busy, 0, 0);
    Atomics.notify(busy, 0);
    parentPort!.postMessage(answered);
  } else {
    await (lane[message.method] as (...args: readonly unknown[]) => unknown)(...message.args);
    if (message.method === 'close') parentPort!.close();
  }
}

async function answer(args: Parameters<LocalLane['advance']>): Promise<FromLane> {
  try {
    if (failure !== undefined) throw failure;
    return { drawn: await lane.advance(...args) };
  } catch (error) {
    failure = undefined;
    const code = ToolEnvError.isInstance(error) ? error.code : 'bug.sampler';
    return { code, message: messageOf(error) };
  }
}
