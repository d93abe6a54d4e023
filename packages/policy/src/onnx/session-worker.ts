/** The thread behind a {@link SessionThread}: sessions with one thread each, run in the order asked. */
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '@toolenv/core';
import { InferenceSession } from 'onnxruntime-node';
import type { Tensors } from '../runtime.ts';
import { RunCount } from '../worker-thread.ts';
import { runSession } from './run-session.ts';
import type { FromSession, ToSession } from './session-thread.ts';

interface Program {
  session: InferenceSession;
  names: readonly string[];
  /** What was given last under each name stands until something else is. */
  inputs: Tensors;
}

const runs = new RunCount(workerData as Int32Array);
const programs = new Map<number, Promise<Program>>();
let last: Promise<void> = Promise.resolve();

parentPort!.on('message', (message: ToSession) => {
  last = last.then(() => take(message));
});

async function take(message: ToSession): Promise<void> {
  if ('model' in message) programs.set(message.program, open(message.model, message.names));
  else if ('inputs' in message) await run(message);
  else if ('end' in message) parentPort!.close();
  else {
    const program = await programs.get(message.program);
    programs.delete(message.program);
    await program?.session.release();
  }
}

async function open(model: Uint8Array, names: readonly string[]): Promise<Program> {
  const session = await InferenceSession.create(model, {
    executionProviders: ['cpu'],
    graphOptimizationLevel: 'all',
    intraOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  return { session, names, inputs: {} };
}

async function run({ program, run, inputs }: Extract<ToSession, { inputs: Tensors }>): Promise<void> {
  let answer: FromSession;
  try {
    const opened = await programs.get(program)!;
    Object.assign(opened.inputs, inputs);
    answer = { run, outputs: await runSession(opened.session, opened.names, opened.inputs) };
  } catch (error) {
    answer = { run, message: messageOf(error) };
  }
  runs.end();
  const buffers = 'outputs' in answer ? Object.values(answer.outputs).map(({ data }) => data.buffer) : [];
  parentPort!.postMessage(answer, [...new Set(buffers)] as ArrayBuffer[]);
}
