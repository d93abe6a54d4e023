/** Runs a worker thread from source: it begins with JavaScript. */
import { register } from 'tsx/esm/api';

register();
await import(process.argv[2]);
