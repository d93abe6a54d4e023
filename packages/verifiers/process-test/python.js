#!/usr/bin/env node
/** In the place of a Python with verifiers: speaks the lines of player.py. The name of the taskset is what it does wrong. */
import { createInterface } from 'node:readline';

if (process.argv[2] === '-c') {
  process.stdout.write(`${JSON.stringify({ version: '0.4.0', folder: '/nowhere' })}\n`);
  process.exit();
}
const { configs, max_turns: maxTurns } = JSON.parse(process.argv[3]);
const { id } = Object.values(configs)[0].taskset;
const say = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);
const tasks = Array.from({ length: 10 }, (_, idx) => ({ idx, prompt: `What is ${idx}?` }));
const running = new Map();

async function play(request, { task, url, key }) {
  if (id === 'dies') {
    process.stderr.write('Segmentation fault\n');
    process.kill(process.pid, 'SIGKILL');
  }
  if (id === 'talks') process.stdout.write('Downloading words\n');
  if (id === 'hangs-later') await new Promise(() => {});
  const { signal } = running.get(request);
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'policy', messages: [{ role: 'user', content: task.prompt }] }),
    signal,
  });
  const { choices } = await response.json();
  if (id === 'stalls') await new Promise((_, reject) => signal.addEventListener('abort', reject));
  const right = Number(choices[0].message.content === String(task.idx));
  const scores = { exact: right, length: id === 'unscored-part' ? null : 3, maxTurns };
  if (id === 'fails')
    return { isScored: false, reward: 0, scores: {}, stop: 'task_error', error: 'TaskError: no disk' };
  return { isScored: true, reward: right * 2, scores, stop: null, error: null };
}

const roles = { 'two-roles': ['white', 'black'], 'no-role': [] }[id] ?? ['agent'];
if (id === 'unknown') say({ id: 0, error: "ModuleNotFoundError: taskset 'unknown' not found" });
else if (id !== 'never-loads') {
  say({
    id: 0,
    result: {
      version: '0.4.0',
      roles,
      runsCodeHere: id === 'has a shell',
    },
  });
}

createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const request = JSON.parse(line);
    if (request.cancel !== undefined) {
      process.stderr.write(`cancelled ${request.cancel}\n`);
      running.get(request.cancel)?.abort();
    } else if (request.tasks) {
      for (const task of tasks.slice(0, request.tasks.limit))
        say({ id: request.id, task: { ...task, set: request.tasks.split } });
      say({ id: request.id, result: null });
    } else {
      running.set(request.id, new AbortController());
      await play(request.id, request.play).then(
        (result) => say({ id: request.id, result }),
        (error) => say({ id: request.id, error: `Error: ${error.message ?? 'cancelled'}` }),
      );
    }
  })
  .on('close', () => process.exit());
