/** Runs lane-worker.ts from source: a worker thread begins with JavaScript. */
import { register } from 'tsx/esm/api';

register();
await import('./lane-worker.ts');
