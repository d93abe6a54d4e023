/** The playground's state, as the worker tells it, and how to order something. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Order, PlaygroundState } from './messages.ts';

export function usePlayground(): {
  state?: PlaygroundState;
  /** Why the worker does not answer. */
  failure: string;
  order(order: Order): void;
} {
  const worker = useRef<Worker>(undefined);
  const [state, setState] = useState<PlaygroundState>();
  const [failure, setFailure] = useState('');
  useEffect(() => {
    const made = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
    made.onmessage = ({ data }: MessageEvent<PlaygroundState>) => setState(data);
    made.onerror = ({ message }) => setFailure(message || 'The worker does not start: load the page again.');
    worker.current = made;
    return () => made.terminate();
  }, []);
  return { state, failure, order: (order) => worker.current?.postMessage(order) };
}
