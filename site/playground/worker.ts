/** The worker: everything that computes, so that the page stays responsive. */
import { messageOf } from '@toolenv/core';
import { env } from 'onnxruntime-web/wasm';
import type { Order, PlaygroundState } from './messages.ts';
import { nothingYet, Playground } from './playground.ts';

// Each further thread would load this script again.
env.wasm.numThreads = 1;

const tell = (state: PlaygroundState) => postMessage(state);
tell(nothingYet);
const opened = Playground.open(tell).catch((error: unknown) => {
  tell({ ...nothingYet, problem: messageOf(error) });
  return undefined;
});

addEventListener('message', async ({ data }: MessageEvent<Order>) => (await opened)?.follow(data));
