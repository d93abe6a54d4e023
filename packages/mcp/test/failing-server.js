/** A server for tests that fails in the way that its first argument names. */
import { createInterface } from 'node:readline';

const way = process.argv[2];
const frames = Array.from(
  { length: 60 },
  (_, i) => `  File "/opt/store.py", line ${i}, in connect\n    connect(${i})`,
);
const traceback = `Traceback (most recent call last):\n${frames.join('\n')}\n`;
const error = 'store.SettingsError: DATABASE_URL is not set';
const log = Array.from(
  { length: 200 },
  (_, i) => `2026-11-22 10:00:00,000 - store - INFO - closed pool ${i}`,
);

function say(...parts) {
  process.stderr.write(`${parts.join('\n')}\n`);
}

function openStore(depth) {
  if (depth > 0) return openStore(depth - 1);
  throw new Error('no store', { cause: new Error('connect ECONNREFUSED 127.0.0.1:5432') });
}

switch (way) {
  case 'python':
    say(`${traceback}${error}`);
    process.exit(1);
    break;
  case 'logs-after':
    say(`${traceback}${error}`, ...log);
    process.exit(1);
    break;
  case 'node':
    Error.stackTraceLimit = 100;
    openStore(40);
    break;
  case 'npm':
    say('npm warn exec The following package was not found and will be installed: store@1.0.0');
    say('Error: no licence\n    at start (/opt/store.js:1:1)');
    say(
      'npm error Lifecycle script `start` failed with error:',
      'npm error code 1',
      'npm error path /opt/store',
    );
    say('npm error A complete log of this run can be found in: /home/me/.npm/_logs/debug-0.log');
    process.exit(1);
    break;
  case 'waits':
    say(`${traceback}${error}`, ...log.slice(0, 3));
    setInterval(() => {}, 1_000);
}

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'failing', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'fail', inputSchema: { type: 'object' } }] }),
};

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || way === 'waits') return;
  const answer = (fields) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...fields })}\n`);
  if (way === 'refuses') {
    say(`${traceback}store.LicenceError: expired yesterday`);
    answer({ error: { code: -32603, message: 'Internal error' } });
  } else if (method === 'tools/call' && way === 'shouts') {
    answer({ result: { content: [{ type: 'text', text: 'x'.repeat(11 << 20) }] } });
  } else if (method === 'tools/call') {
    // Stops reading, and ends a moment later.
    process.stdin.destroy();
    setTimeout(() => say(`${traceback}${error}`), 100);
    setTimeout(() => process.exit(4), 200);
  } else if (answers[method]) answer({ result: answers[method](params) });
  else answer({ error: { code: -32601, message: 'Method not found' } });
});
// As Python servers do whose input ends.
lines.on('close', () => {
  if (way !== 'refuses' && way !== 'shouts') return;
  say(`${traceback}RuntimeError: the input has ended`);
  process.exit(5);
});
