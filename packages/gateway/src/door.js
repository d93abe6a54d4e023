/**
 * The program behind a confined agent, in its network: listens at the ports that it may reach, carries connections to the Unix sockets that lead
 * there, and runs the agent. Arguments: the ports, `--`, the agent's program and its arguments. Ends with the agent's exit code.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { constants } from 'node:os';

const words = process.argv.slice(2);
const ports = words.slice(0, words.indexOf('--'));
const [file = '', ...args] = words.slice(ports.length + 1);
const opened = ports.map((port) => {
  const server = createServer((client) => {
    const there = connect(`/run/toolenv/${port}.sock`);
    client.on('error', () => there.destroy());
    there.on('error', () => client.destroy());
    client.pipe(there).pipe(client);
  });
  return once(server.listen(Number(port), '127.0.0.1'), 'listening');
});
await Promise.all(opened);
const child = spawn(file, args, { stdio: 'inherit' });
child.once('error', (error) => {
  const remedy = 'name the folder where it is installed, and that of its interpreter, in confine.read';
  console.error(`${file} cannot be started in its confinement (${error.message}): ${remedy}`);
  process.exit(127);
});
child.once('exit', (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)));
