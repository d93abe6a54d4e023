/**
 * The program behind a confined agent, in its network: listens at the port of the gateway, carries connections to the Unix socket that leads there,
 * and runs the agent. Arguments: the port, the socket, the agent's program and its arguments. Ends with the agent's exit code.
 */
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { constants } from 'node:os';

const [port = '', socketPath = '', file = '', ...args] = process.argv.slice(2);
const server = createServer((client) => {
  const model = connect(socketPath);
  client.on('error', () => model.destroy());
  model.on('error', () => client.destroy());
  client.pipe(model).pipe(client);
});
server.listen(Number(port), '127.0.0.1', () => {
  const child = spawn(file, args, { stdio: 'inherit' });
  child.once('error', (error) => {
    const remedy = 'name the folder where it is installed, and that of its interpreter, in confine.read';
    console.error(`${file} cannot be started in its confinement (${error.message}): ${remedy}`);
    process.exit(127);
  });
  child.once('exit', (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)));
});
