/** Builds the playground and serves it as the site does: files in a folder, on loopback. */
import { join } from 'node:path';
import { build, preview } from 'vite';

const configFile = join(import.meta.dirname, '../vite.config.ts');

export async function servePlayground(): Promise<{ url: string; close(): Promise<void> }> {
  await build({ configFile, logLevel: 'warn' });
  const outDir = join(import.meta.dirname, '../../public');
  const server = await preview({ configFile, build: { outDir }, preview: { host: '127.0.0.1', port: 0 } });
  const { port } = server.httpServer.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/playground/`, close: () => server.close() };
}
