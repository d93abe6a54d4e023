/** Runs inside of a stand-in's machine, as a vendor's daemon does: starts commands, several at once, and writes files. JSON lines on stdin and stdout. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** @param {object} message */
function say(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, argv, path, content } = JSON.parse(line);
  if (path !== undefined) {
    try {
      writeFileSync(path, Buffer.from(content, 'base64'));
      say({ id, exitCode: 0 });
    } catch {
      say({ id, exitCode: 1 });
    }
    continue;
  }
  const child = spawn(argv[0], argv.slice(1), { cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.on('data', (data) => say({ id, stream: 'stdout', data: data.toString('base64') }));
  child.stderr.on('data', (data) => say({ id, stream: 'stderr', data: data.toString('base64') }));
  child.on('error', () => say({ id, exitCode: 127 }));
  // As vendors do, after the streams have ended.
  child.on('close', (code, signal) => say({ id, exitCode: code ?? (signal === 'SIGKILL' ? 137 : 128) }));
}
