/**
 * The program behind ModelDoor, which runs in the network of a container: it listens at its loopback, and carries connections to the Unix
 * socket that is its only argument. Prints its port. Ends with its standard input.
 */
import { connect, createServer } from 'node:net';

const [socketPath = ''] = process.argv.slice(2);
const server = createServer((client) => {
  const model = connect(socketPath);
  client.on('error', () => model.destroy());
  model.on('error', () => client.destroy());
  client.pipe(model).pipe(client);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(typeof address === 'object' && address ? address.port : '');
});
process.stdin.resume().on('end', () => process.exit());
