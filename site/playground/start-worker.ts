/** startWorker: starts the worker from a blob. A browser applies the page's content security policy to such a worker, and not to a worker that it loads from a server. */
import workerScript from './worker.ts?worker&url';

export function startWorker(): Worker {
  const script = new URL(workerScript, document.baseURI).href;
  const url = URL.createObjectURL(
    new Blob([`import ${JSON.stringify(script)};`], { type: 'text/javascript' }),
  );
  const worker = new Worker(url, { type: 'module' });
  // The browser has the script when the first message comes, and it can be forgotten.
  worker.addEventListener('message', () => URL.revokeObjectURL(url), { once: true });
  return worker;
}
