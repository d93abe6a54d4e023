/** Attacks on the client of Docker and podman, by files that come out of a container and by a daemon that fails. */
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { isInfrastructure, ToolEnvError } from '@toolenv/core';
import { Container, connectDocker } from '@toolenv/sandbox/container';
import { packTar, type TarHeader } from 'modern-tar';
import { type Attack, holds, thrown, within } from './attack.ts';

/** Answers every request like a daemon, and those for files as `archive` says. */
async function withContainer(
  folder: string,
  archive: (response: ServerResponse) => void,
  body: (container: Container) => Promise<void>,
): Promise<void> {
  const server = createServer(({ url = '' }, response) => {
    if (url.includes('/archive?')) archive(response);
    else response.end('{"Id":"1","ApiVersion":"1.41","State":{"Running":false}}');
  });
  const socket = join(folder, 'daemon.sock');
  await new Promise<void>((listening) => server.listen(socket, listening));
  try {
    const docker = await connectDocker({ socket });
    await body(await Container.start(docker, { image: 'i', memory: 64, processes: 64 }));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const read = (container: Container) => container.archive('/out', { bytes: 2 ** 20, entries: 100 });

const file = async (header: Partial<TarHeader>, body = 'x') =>
  packTar([{ header: { name: 'out/x', size: body.length, ...header }, body }]);

function endless(response: ServerResponse, chunk: Uint8Array): void {
  const write = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', write);
  write();
}

/** Names that must not be given to whoever writes the files. */
const names = ['../out/x', 'out/../../etc/passwd', '/etc/passwd', 'elsewhere/x', `out/${'a/'.repeat(3000)}`];

export const containers: readonly Attack[] = [
  ...names.map(
    (name): Attack => ({
      name: `a file named ${name.slice(0, 30)}`,
      attack: 'a file of the container that leaves its folder',
      expected: 'an error that names the folder',
      run: async (folder) => {
        const bytes = await file({ pax: { path: name } });
        await withContainer(
          folder,
          (response) => response.end(bytes),
          async (container) => {
            const error = await thrown(() => read(container));
            holds(ToolEnvError.isInstance(error) && error.code === 'usage.sandbox_file', `threw ${error}`);
          },
        );
      },
    }),
  ),
  {
    name: 'a file without end',
    attack: 'a sparse file of many gigabytes',
    expected: 'an error at the limit, within the memory of the limit',
    run: async (folder) => {
      const head = (await file({})).subarray(0, 512);
      const archive = (response: ServerResponse) => {
        response.write(head);
        endless(response, new Uint8Array(2 ** 16));
      };
      await withContainer(folder, archive, async (container) => {
        const before = process.memoryUsage().rss;
        const error = await within(
          10_000,
          thrown(() => read(container)),
        );
        holds(ToolEnvError.isInstance(error) && error.code === 'usage.sandbox_file', `threw ${error}`);
        holds(process.memoryUsage().rss - before < 200e6, 'it took more than 200 MB');
      });
    },
  },
  {
    name: 'an archive that is cut',
    attack: 'the daemon ends in the middle of a file',
    expected: 'an infrastructure error, and no half of a file',
    run: async (folder) => {
      const bytes = (await file({}, 'x'.repeat(2000))).subarray(0, 1500);
      await withContainer(
        folder,
        (response) => response.end(bytes),
        async (container) => {
          const error = await within(
            10_000,
            thrown(() => read(container)),
          );
          holds(isInfrastructure(error), `threw ${error}`);
        },
      );
    },
  },
];
