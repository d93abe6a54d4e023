/** Silent connections and odd requests do not deny service. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { completeServeOptions, HttpAccess, listen, requestUrl } from '../src/index.ts';

test('a new connection takes the place of the one that is silent for longest', async () => {
  const options = completeServeOptions({ maxSessions: 1 }, 'test');
  const listener = await listen(options, (_request, response) => response.end('here'));
  const { port } = new URL(listener.origin);
  const silent = [];
  for (let count = 0; count < 104; count++) {
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    silent.push(socket);
  }
  const closed = once(silent[0]!, 'close');
  expect(await (await fetch(listener.origin)).text()).toBe('here');
  await closed;
  expect(silent.filter(({ destroyed }) => destroyed)).toHaveLength(1);
  await listener.close();
});

test('a request for a WebSocket is a request as any other where none are served', async () => {
  const listener = await listen(completeServeOptions({}, 'test'), ({ headers }, response) =>
    response.setHeader('connection', 'close').end(headers.upgrade),
  );
  const { port } = new URL(listener.origin);
  const socket = connect(Number(port), '127.0.0.1');
  const lines = ['GET / HTTP/1.1', 'host: any', 'connection: upgrade', 'upgrade: websocket', '', ''];
  socket.write(lines.join('\r\n'));
  expect(await text(socket)).toMatch(/^HTTP\/1.1 200 OK.*websocket/s);
  await listener.close();
}, 2000);

test('a connection that cannot be accepted is a warning', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const listener = await listen(completeServeOptions({}, 'test'), (_request, response) =>
    response.end('here'),
  );
  listener.server.emit('error', new Error('accept EMFILE'));
  expect(warn).toHaveBeenCalledExactlyOnceWith('A connection was lost: accept EMFILE');
  expect((await fetch(listener.origin)).status).toBe(200);
  await listener.close();
});

test.each([
  ['//', '//', ''],
  ['/a?b=1', '/a', '?b=1'],
  ['http://elsewhere/a', '/a', ''],
  ['*', '/*', ''],
  [undefined, '/', ''],
])('the URL %s of a request has a path', (url, pathname, search) => {
  expect(requestUrl({ url })).toMatchObject({ pathname, search });
});

test('a page at another port of this machine is another origin', () => {
  const access = new HttpAccess({ host: '127.0.0.1' });
  const isAllowed = (host: string, origin: string) =>
    access.isAllowed({ headers: { host, origin } } as Parameters<HttpAccess['isAllowed']>[0]);
  expect(isAllowed('localhost:80', 'http://localhost')).toBe(true);
  expect(isAllowed('localhost:7000', 'http://localhost:7000')).toBe(true);
  expect(isAllowed('localhost:7000', 'http://localhost:7001')).toBe(false);
  expect(isAllowed('127.0.0.1:7000', 'http://localhost:7000')).toBe(false);
});
