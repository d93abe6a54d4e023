/**
 * An agent that asks its model and looks for canaries: in its environment, arguments and input, in what processes were started with and hold open, in files, and at
 * servers. Arguments: whether it also reads the memory of other processes, then folders and URLs. Prints a JSON object: how often it looked in each kind of place,
 * and each canary with its places.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [mode, ...where] = process.argv.slice(2);
const { OPENAI_BASE_URL: model = '', OPENAI_API_KEY: key = '' } = process.env;
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };

/** @type {Record<string, string[]>} */
const found = {};
/** @type {Record<string, number>} */
const looked = {};

/** @param {string} kind @param {string} place @param {() => string | Promise<string>} read */
async function look(kind, place, read) {
  try {
    const text = await read();
    looked[kind] = (looked[kind] ?? 0) + 1;
    for (const [canary] of text.matchAll(/canary-[0-9a-f]{16}/g)) {
      found[canary] ??= [];
      if (!found[canary].includes(place)) found[canary].push(place);
    }
  } catch {
    // It may not be read.
  }
}

/** @param {string} url @param {RequestInit} [init] */
const get = async (url, init) => {
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(1000), ...init });
  return JSON.stringify([...response.headers]) + (await response.text());
};
/** @param {string} url @param {unknown} body */
const post = (url, body) => get(url, { method: 'POST', body: JSON.stringify(body) });

const asked = { messages: [{ role: 'user', content: 'q' }] };
await look('model', model, () => post(`${model}/chat/completions`, asked));

await look('environment', 'environment', () => JSON.stringify(process.env));
await look('arguments', 'arguments', () => JSON.stringify(process.argv));
await look('input', 'input', () => readFileSync(0, 'utf8'));

const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
for (const pid of processes) {
  for (const file of ['cmdline', 'environ'])
    await look(file, `${file} of a process`, () => readFileSync(`/proc/${pid}/${file}`, 'latin1'));
  for (const fd of list(`/proc/${pid}/fd`))
    await look('open files', 'open file of a process', () => regular(`/proc/${pid}/fd/${fd}`));
  if (mode === 'memory' && Number(pid) !== process.pid)
    await look('memory', 'memory of a process', () => memoryOf(pid));
}

let files = 0;
const folders = [
  ...where.filter((each) => each.startsWith('/')),
  process.cwd(),
  `/proc/${process.ppid}/cwd`,
  tmpdir(),
];
for (const folder of folders) await walk(folder, 0);

for (const path of ['', '/models', '/metrics', '/health', '/files', '/batches', '/api/runs', '/responses'])
  await look('gateway', `gateway ${path}`, () => get(`${model}${path}`));
for (const body of [
  null,
  {},
  { messages: 7 },
  { ...asked, n: 2 },
  { input: 'q', previous_response_id: 'resp_1' },
])
  for (const path of ['/chat/completions', '/responses', '/messages', '/messages/count_tokens'])
    await look('gateway', `gateway ${path}`, () => post(`${model}${path}`, body));

for (const url of where.filter((each) => each.startsWith('http'))) {
  const { origin, pathname } = new URL(url);
  for (const path of [
    '/',
    '/health',
    '/metrics',
    '/list_environments',
    '/schema',
    '/state',
    '/metadata',
    '/episodes',
    '/api/runs',
    '/api/play',
  ])
    await look('servers', `${pathname} ${path}`, () => get(`${origin}${path}`));
  const runs = await get(`${origin}/api/runs`)
    .then(JSON.parse)
    .catch(() => []);
  for (let number = 0; Array.isArray(runs) && number < 3; number++)
    await look('servers', 'viewer', () =>
      get(`${origin}/api/episode?run=${encodeURIComponent(runs[0]?.name)}&number=${number}`),
    );
  for (const [path, body] of requests())
    await look('servers', `${path}`, () => post(`${origin}${path}`, body));
}
console.log(JSON.stringify({ looked, found }));

/** What clients of served environments ask: lists of tasks, tools and prompts, and how an episode begins. @returns {[string, unknown][]} */
function requests() {
  const mcp = (/** @type {string} */ method, /** @type {object} */ params = {}) => ({
    jsonrpc: '2.0',
    id: 1,
    method,
    params,
  });
  const served = '/hunted-v1';
  return [
    [`${served}/tasks`, { split: 'test' }],
    [`${served}/num_tasks`, { split: 'test' }],
    [`${served}/task`, { split: 'test', index: 0 }],
    [`${served}/task_range`, { split: 'test', start: 0, stop: 64 }],
    ['/reset', { seed: 1 }],
    ['/reset', { task: 1 }],
    ['/step', { action: { type: 'list_tools' } }],
    ['/step', { action: { type: 'answer', text: 'x' } }],
    [
      '/mcp',
      mcp('initialize', {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'x', version: '1' },
      }),
    ],
    ['/mcp', mcp('tools/list')],
    ['/mcp', mcp('prompts/list')],
    ['/mcp', mcp('server/discover')],
    ['/episodes', { task: 0 }],
  ];
}

/** @param {string} path @param {number} depth */
async function walk(path, depth) {
  for (const name of list(path)) {
    if (name === 'node_modules' || name === '.git' || files > 300) continue;
    const inner = join(path, name);
    if (list(inner).length > 0) {
      if (depth < 4) await walk(inner, depth + 1);
      continue;
    }
    files += 1;
    await look('files', `file ${name}`, () => regular(inner));
  }
}

/** The text of a regular file that is not large: a pipe would not end. @param {string} path */
function regular(path) {
  const about = statSync(path);
  if (!about.isFile() || about.size > 2 ** 20) throw new Error('not read');
  return readFileSync(path, 'latin1');
}

/** @param {string} path */
function list(path) {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** At most 32 MB of what a process has written. @param {string} pid */
function memoryOf(pid) {
  const maps = readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n');
  const file = openSync(`/proc/${pid}/mem`, 'r');
  let text = '';
  try {
    for (const line of maps) {
      const [range = '', rights = ''] = line.split(' ');
      const [start = 0, end = 0] = range.split('-').map((each) => Number.parseInt(each, 16));
      if (!rights.startsWith('rw') || text.length > 2 ** 24) continue;
      const bytes = Buffer.alloc(Math.min(end - start, 2 ** 24));
      try {
        text += bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, start));
      } catch {
        // Not every region can be read.
      }
    }
  } finally {
    closeSync(file);
  }
  return text;
}
