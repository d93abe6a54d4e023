/** The worker: everything that computes, so that the page stays responsive. */
import type { Order } from './messages.ts';
import { Playground } from './playground.ts';

const opened = Playground.open((state) => postMessage(state));

addEventListener('message', async ({ data }: MessageEvent<Order>) => (await opened).follow(data));
