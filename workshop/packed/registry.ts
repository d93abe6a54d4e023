/** A registry on this machine. It has the packed packages, and passes every other request on to another registry. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { PublicFields } from '../../site/addresses.ts';

/** A tarball, and the package.json inside it. */
export interface Packed {
  file: string;
  json: Partial<PublicFields> & {
    name: string;
    version: string;
    exports?: Record<string, unknown>;
    devDependencies?: Record<string, string>;
  };
}

export interface Registry {
  url: string;
  close(): void;
}

/** @param upstream The URL of the registry for all other packages. */
export async function serveRegistry(packages: readonly Packed[], upstream: string): Promise<Registry> {
  const server = createServer(async ({ url = '/', headers }, response) => {
    try {
      const path = decodeURIComponent(new URL(url, 'http://any').pathname).slice(1);
      const ours = packages.find(
        ({ json, file }) => path === json.name || path === tarballPath(json.name, file),
      );
      if (!ours) await passOn(url, headers.accept, upstream, response);
      else if (path === ours.json.name)
        response.end(JSON.stringify(await packument(ours, `http://${headers.host}`)));
      else response.end(await readFile(ours.file));
    } catch (error) {
      response.writeHead(502).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function tarballPath(name: string, file: string): string {
  return `${name}/-/${file.slice(file.lastIndexOf('/') + 1)}`;
}

/** The document that lists the versions of a package. There is one version. */
async function packument({ file, json }: Packed, host: string): Promise<object> {
  const integrity = `sha512-${createHash('sha512')
    .update(await readFile(file))
    .digest('base64')}`;
  const dist = { tarball: `${host}/${tarballPath(json.name, file)}`, integrity };
  return {
    name: json.name,
    'dist-tags': { latest: json.version },
    versions: { [json.version]: { ...json, dist } },
  };
}

async function passOn(
  url: string,
  accept = '*/*',
  upstream: string,
  response: ServerResponse,
): Promise<void> {
  const answer = await fetch(new URL(url.slice(1), upstream), { headers: { accept } });
  const type = answer.headers.get('content-type');
  response.writeHead(answer.status, type === null ? {} : { 'content-type': type });
  if (answer.body) Readable.fromWeb(answer.body as never).pipe(response);
  else response.end();
}
