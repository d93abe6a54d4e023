/** What the client makes of the answers of a daemon. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { buildImage, connectDocker } from '../src/container/index.ts';

async function daemon(answer: RequestListener): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'daemon-'));
  const server = createServer(answer);
  const socket = join(folder, 'socket');
  await new Promise<void>((listening) => server.listen(socket, listening));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true });
  });
  return socket;
}

test('the oldest version of the API is spoken that the daemon and the client know', async () => {
  const paths: string[] = [];
  const versions = { ApiVersion: '1.52', MinAPIVersion: '1.44' };
  const socket = await daemon(({ url = '' }, response) => {
    paths.push(url);
    response.end(JSON.stringify(versions));
  });
  for (const minimum of ['1.44', '1.24']) {
    versions.MinAPIVersion = minimum;
    await (await connectDocker({ socket })).ask('GET', '/info');
  }
  expect(paths).toEqual(['/version', '/v1.44/info', '/version', '/v1.41/info']);
  versions.ApiVersion = '1.40';
  await expect(connectDocker({ socket })).rejects.toMatchObject({
    code: 'usage.sandbox',
    message: expect.stringContaining("it speaks version 1.40 of Docker's API"),
  });
});

test('the daemon gets the context of a build as it is packed, and its log is read line by line', async () => {
  let received = 0;
  let onBuild = () => {};
  const lines = ['{"stream":"STEP 1\\n"}\n{"str', 'eam":"é"}\n{"aux":{"ID":"sha256:1"}}\n'];
  const socket = await daemon(async (request, response) => {
    if (request.url === '/version') return response.end('{"ApiVersion":"1.41"}');
    const query = new URL(request.url!, 'http://daemon').searchParams;
    expect(query.get('networkmode')).toBe('none');
    expect(JSON.parse(query.get('labels')!)).toMatchObject({ 'dev.toolenv.sandbox': 'v1' });
    for await (const chunk of request) received += chunk.length;
    onBuild();
    for (const line of lines) response.write(line);
    return response.end();
  });
  const docker = await connectDocker({ socket });
  const bytes = new Uint8Array(2 ** 20);
  const context = [1, 2, 3].map((n) => ({ path: `file${n}`, bytes }));
  expect(await buildImage(docker, context, { timeout: 10_000 })).toBe('sha256:1');
  expect(received).toBe(3 * (512 + 2 ** 20) + 1024);
  let builds = 0;
  onBuild = () => {
    builds += 1;
    lines[1] =
      builds === 1 ? 'eam":"é"}\n{"error":"layer not known"}\n' : 'eam":"é"}\n{"aux":{"ID":"sha256:2"}}\n';
  };
  expect(await buildImage(docker, context, { timeout: 10_000 })).toBe('sha256:2');
  onBuild = () => {
    lines[1] = 'eam":"é"}\n{"error":"no such base."}\n';
  };
  await expect(buildImage(docker, context, { timeout: 10_000 })).rejects.toThrow(
    'An image did not build: no such base.\nSTEP 1\né',
  );
  onBuild = () => {};
  lines.splice(0, 2, 'x'.repeat(2 ** 21));
  await expect(buildImage(docker, context, { timeout: 10_000 })).rejects.toThrow('is too long');
});
