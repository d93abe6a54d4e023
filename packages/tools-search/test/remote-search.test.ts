/** Clients and the server of Search-R1's and Agent-R1's protocols, and servers that misbehave. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRng, openEnv, type Tool } from '@toolenv/core';
import {
  createSearchTool,
  type RemoteSearchOptions,
  retrieverOf,
  type SearchService,
  serveSearch,
} from '@toolenv/tools-search';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createRemoteSearch } from '../src/remote/remote-search-v1.ts';
import type { SearchData } from '../src/search-tool.ts';

const documents = [
  { title: 'Alder Point', text: 'Alder Point is a city.\nIt lies on a river.' },
  { title: 'Mara "M" Velden', text: 'Mara Velden was born in Alder Point.' },
];
const context = { signal: new AbortController().signal, rng: createRng(1), episodeId: 'e', callIndex: 0 };
const titles = ({ structuredContent }: { structuredContent?: unknown }) =>
  (structuredContent as SearchData).documents.map(({ title }) => title);

describe('a served search', () => {
  let service: SearchService;
  beforeAll(async () => {
    service = await serveSearch(retrieverOf(await createSearchTool({ documents, topK: 2 }))!, { topK: 1 });
  });
  afterAll(() => service.close());

  const post = async (path: string, body: string, headers: Record<string, string> = {}) => {
    const response = await fetch(service.url + path, { method: 'POST', body, headers });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };

  test("answers Search-R1's trainer", async () => {
    const payload = { queries: ['river', 'nothing'], topk: 3, return_scores: true };
    expect(await post('/retrieve', JSON.stringify(payload))).toEqual({
      status: 200,
      json: {
        result: [
          [
            {
              document: {
                title: 'Alder Point',
                text: 'Alder Point is a city.\nIt lies on a river.',
                contents: '"Alder Point"\nAlder Point is a city.\nIt lies on a river.',
              },
              score: expect.any(Number),
            },
          ],
          [],
        ],
      },
    });
    // Without scores a result is the document; without topk, or with null, there are as many as the server's default.
    const { json } = await post('/retrieve', '{"queries": ["Alder Point"], "topk": null}');
    expect(json).toEqual({ result: [[expect.objectContaining({ title: 'Alder Point' })]] });
  });

  test('says 500 when the retriever fails, and answers the next request', async () => {
    const errors: unknown[] = [];
    let isBroken = true;
    const failing = await serveSearch(
      {
        async search(queries) {
          if (isBroken) throw new Error('a file of the index is gone');
          return queries.map(() => []);
        },
        close: async () => {},
      },
      { onError: (error) => void errors.push(error) },
    );
    const ask = () => fetch(`${failing.url}/retrieve`, { method: 'POST', body: '{"queries": ["x"]}' });
    const broken = await ask();
    expect([broken.status, await broken.json()]).toEqual([
      500,
      { detail: 'The search failed: see the log of the server.' },
    ]);
    expect(errors).toEqual([new Error('a file of the index is gone')]);
    isBroken = false;
    expect(await (await ask()).json()).toEqual({ result: [[]] });
    await failing.close();
  });

  test("answers Agent-R1's tool", async () => {
    const result = {
      query: 'born',
      results: [
        {
          score: expect.any(Number),
          document: { title: 'Mara "M" Velden', contents: 'Mara Velden was born in Alder Point.' },
        },
      ],
    };
    const { json } = await post('/search', '{"queries": ["born"], "top_k": 5}');
    expect(json).toEqual({ query_results: [result] });
    const response = await fetch(`${service.url}/search?query=born&top_k=5`);
    expect(await response.json()).toEqual({ query_results: [result] });
  });

  test.each([
    ['/retrieve', 'not json'],
    ['/retrieve', '{"queries": "one"}'],
    ['/retrieve', '{"queries": ["x"], "topk": -1}'],
    ['/retrieve', '{"queries": ["x"], "topk": 1000000}'],
    ['/retrieve', '{"queries": ["x"], "return_scores": "yes"}'],
    ['/search', '{"queries": [1], "top_k": 5}'],
    ['/search', '[]'],
  ])('refuses %s %s', async (path, body) => {
    expect(await post(path, body)).toMatchObject({
      status: 422,
      json: { detail: expect.stringContaining('"queries":["a query"]') },
    });
  });

  test('knows its paths, its health and its hosts', async () => {
    expect((await post('/other', '{}')).status).toBe(404);
    expect((await fetch(`${service.url}/retrieve`)).status).toBe(404);
    expect(await (await fetch(`${service.url}/health`)).json()).toEqual({ status: 'healthy' });
    const headers = { origin: 'https://elsewhere.example' };
    expect((await post('/retrieve', '{"queries": []}', headers)).status).toBe(403);
  });

  test('asks for its token', async () => {
    const token = 'a-secret-of-this-test';
    const retriever = retrieverOf(await createSearchTool({ documents, topK: 2 }))!;
    const closed = await serveSearch(retriever, { token });
    const options = { url: closed.url, retries: 0 };
    const [without, withToken] = await Promise.all([
      createRemoteSearch({ documents: [], topK: 1 }, options),
      createRemoteSearch({ documents: [], topK: 1 }, { ...options, token }),
    ]);
    await expect(without.execute({ query: 'born' }, context)).rejects.toMatchObject({
      code: 'infrastructure.search_server',
      message: expect.stringContaining('401'),
    });
    expect(titles(await withToken.execute({ query: 'born' }, context))).toEqual(['Mara "M" Velden']);
    await closed.close();
  });

  test.each(['search-r1', 'agent-r1'] as const)(
    'the client of %s finds what the index finds',
    async (protocol) => {
      const local = await createSearchTool({ documents, topK: 2 });
      const remote = await createRemoteSearch({ documents: [], topK: 2 }, { url: service.url, protocol });
      for (const query of ['Alder Point', 'born', '?!']) {
        expect(await remote.execute({ query }, context)).toEqual(await local.execute({ query }, context));
      }
      await remote.close!();
      await local.close!();
    },
  );
});

describe('a server that misbehaves', () => {
  type Handler = (request: IncomingMessage, response: ServerResponse, body: { queries: string[] }) => void;
  const open: Server[] = [];
  const tools: Tool[] = [];
  let requests: string[][] = [];
  let sockets = new Set<unknown>();

  async function client(handle: Handler, options: RemoteSearchOptions = {}): Promise<Tool> {
    requests = [];
    sockets = new Set();
    const server = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const body = JSON.parse(Buffer.concat(parts).toString()) as { queries: string[] };
      requests.push(body.queries);
      sockets.add(request.socket);
      handle(request, response, body);
    });
    open.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const tool = await createRemoteSearch({ documents: [], topK: 2 }, { url, ...options });
    tools.push(tool);
    return tool;
  }
  afterEach(async () => {
    for (const tool of tools.splice(0)) await tool.close!();
    for (const server of open.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  const good: Handler = (_, response, { queries }) => {
    const result = queries.map((query) => [{ document: { contents: `"${query}"\ntext` }, score: 1 }]);
    response.end(JSON.stringify({ result }));
  };
  const replies =
    (body: string, status = 200): Handler =>
    (_, response) => {
      response.statusCode = status;
      response.end(body);
    };

  const faults: [string, Handler, number][] = [
    ['drops connections', (request) => request.socket.destroy(), 2],
    [
      'breaks off',
      (_, response) => response.writeHead(200, { 'content-length': 99 }).write('{') && response.destroy(),
      2,
    ],
    ['hangs', () => {}, 2],
    ['returns no JSON', replies('<html>'), 2],
    ['returns another shape', replies('{"result": {}}'), 2],
    ['returns too few results', replies('{"result": []}'), 2],
    ['returns documents without text', replies('{"result": [[{"document": {}}]]}'), 2],
    ['is overloaded', replies('Busy.', 503), 2],
    ['refuses', replies('no', 400), 1],
  ];

  test.each(faults)('that %s is a fault of the infrastructure', async (_, handle, attempts) => {
    const tool = await client(handle, { timeout: 0.3, retries: 1 });
    await expect(tool.execute({ query: 'x' }, context)).rejects.toMatchObject({
      code: 'infrastructure.search_server',
      message: expect.not.stringContaining('..'),
    });
    expect(requests).toHaveLength(attempts);
  });

  test('aborts the episode, which has no reward', async () => {
    const tool = await client(replies('<html>'), { retries: 0 });
    const env = await openEnv('@toolenv/envs-qa/lookup-v1', {}, { tools: { search: async () => tool } });
    const episode = env.episode();
    await episode.reset({ task: await env.tasks.test.get(0), seed: 1 });
    const call = { id: '1', name: 'search', arguments: { query: 'x' } };
    const transition = await episode.step({ text: '', toolCalls: [call], stopReason: 'tool_call' });
    expect(transition.outcome).toMatchObject({
      kind: 'aborted',
      cause: expect.objectContaining({ code: 'infrastructure.search_server' }),
    });
    expect(transition.rewards).toBeUndefined();
    await episode.close();
    await env.close();
  });

  test('is asked again, and answers are right afterwards', async () => {
    let faults = 2;
    const tool = await client((request, response, body) => {
      if (faults-- > 0) request.socket.destroy();
      else good(request, response, body);
    });
    expect(titles(await tool.execute({ query: 'x' }, context))).toEqual(['x']);
    expect(requests).toHaveLength(3);
  });

  test('concurrent queries share requests, within the limits, and get their own answers', async () => {
    let now = 0;
    let most = 0;
    const tool = await client(
      async (request, response, body) => {
        most = Math.max(most, ++now);
        await sleep(20);
        now -= 1;
        good(request, response, body);
      },
      { batch: 10, concurrency: 2 },
    );
    const queries = Array.from({ length: 100 }, (_, i) => `q${i}`);
    const results = await Promise.all(queries.map((query) => tool.execute({ query }, context)));
    expect(results.map((result) => titles(result)[0])).toEqual(queries);
    expect(requests).toHaveLength(10);
    expect(most).toBe(2);
    // A connection may still be closing its last reply when the next request leaves.
    expect(sockets.size).toBeLessThan(requests.length);
    // The answers are kept.
    await tool.execute({ query: 'q7' }, context);
    expect(requests).toHaveLength(10);
  });

  test('a caller that gives up does not take the answer from others', async () => {
    const tool = await client(async (request, response, body) => {
      await sleep(50);
      good(request, response, body);
    });
    const stop = new AbortController();
    const leaving = tool.execute({ query: 'x' }, { ...context, signal: stop.signal });
    const staying = tool.execute({ query: 'x' }, context);
    stop.abort(new Error('enough'));
    await expect(leaving).rejects.toThrow('enough');
    expect(titles(await staying)).toEqual(['x']);
  });

  test('a call that is closed does not wait', async () => {
    const tool = await client(() => {}, { timeout: 60 });
    const waiting = tool.execute({ query: 'x' }, context);
    waiting.catch(() => {});
    await sleep(50);
    await tool.close!();
    await expect(waiting).rejects.toThrow();
  });
});

test.each([
  [{ url: 'ftp://x' }, 'usage.bad_option'],
  [{ protocol: 'other' }, 'usage.bad_option'],
  [{ adress: 'x' }, 'usage.unknown_option'],
])('refuses the options %j', async (options, code) => {
  await expect(createRemoteSearch({ documents, topK: 1 }, options as never)).rejects.toMatchObject({ code });
});
