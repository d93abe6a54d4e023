/** The playground's state, as the worker tells it, and how to order something. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Order, PlaygroundState } from './messages.ts';
import { startWorker } from './start-worker.ts';

/** Milliseconds after which a worker that does not answer is ended. */
const patience = 4000;

export function usePlayground(): {
  state?: PlaygroundState;
  /** Why the worker does not answer, or why it began again. */
  failure: string;
  order(order: Order): void;
  /** Stops what the worker does: code that never returns ends with its worker. */
  stop(): void;
} {
  const worker = useRef<Worker>(undefined);
  const deadline = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [state, setState] = useState<PlaygroundState>();
  const [failure, setFailure] = useState('');
  const start = () => {
    worker.current?.terminate();
    const made = startWorker();
    made.onmessage = ({ data }: MessageEvent<PlaygroundState>) => {
      if (data.work === 'nothing') clearTimeout(deadline.current);
      setState(data);
    };
    made.onerror = ({ message }) => setFailure(message || 'The worker does not start: load the page again.');
    worker.current = made;
  };
  useEffect(() => {
    start();
    return () => worker.current?.terminate();
  }, []);
  const stop = () => {
    worker.current?.postMessage({ type: 'stop' } satisfies Order);
    clearTimeout(deadline.current);
    deadline.current = setTimeout(() => {
      setFailure('The code did not stop, so the playground has begun again with the first weights.');
      setState(undefined);
      start();
    }, patience);
  };
  const order = (given: Order) => {
    setFailure('');
    worker.current?.postMessage(given);
  };
  return { state, failure, order, stop };
}
