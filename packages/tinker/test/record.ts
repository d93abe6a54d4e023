/**
 * Writes recorded/skyrl-0.4.0.json: the bytes of a walk through a real server and of its refusals. The last of them makes the
 * server's weights NaN. With the model and server of `workshop/interop/tinker`:
 * `node --import tsx --conditions=@toolenv/source packages/tinker/test/record.ts http://127.0.0.1:8000`.
 */
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Connection } from '../src/connection.ts';
import { RemoteModel } from '../src/remote-model.ts';
import { Session } from '../src/session.ts';
import type { Exchange, Recording } from './replay-server.ts';
import { openPolicy, rows, walk } from './scenario.ts';

const server = process.argv[2]!;
const exchanges: Exchange[] = [];

/** Passes requests on. The server's own name of the model is a path of the machine that records. */
const proxy = createServer(async (incoming, outgoing) => {
  const body = await bytesOf(incoming);
  const type = incoming.headers['content-type'] ?? '';
  // A poll that the client gives up is no part of the recording.
  const left = new AbortController();
  outgoing.on('close', () => left.abort());
  const reply = await fetch(`${server}${incoming.url}`, {
    method: incoming.method!,
    headers: { 'content-type': type, accept: incoming.headers.accept ?? '*/*', connection: 'close' },
    ...(body.length > 0 && { body: inward(body, type) }),
    signal: left.signal,
  }).catch(() => undefined);
  if (!reply) return void outgoing.destroy();
  const replied = outward(
    Buffer.from(await reply.arrayBuffer()),
    (reply.headers.get('content-type') ?? '').split(';')[0]!,
  );
  exchanges.push({
    path: incoming.url!.slice('/api/v1/'.length),
    request: body.toString('base64'),
    status: reply.status,
    type: replied.type,
    reply: replied.body.toString('base64'),
  });
  outgoing.writeHead(reply.status, { 'content-type': replied.type }).end(replied.body);
});

let model = '';
const publicName = 'random-qwen3';

function inward(body: Buffer, type: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(
    type.includes('json') ? Buffer.from(body.toString().replaceAll(publicName, model)) : body,
  );
}

function outward(body: Buffer, type: string): { body: Buffer; type: string } {
  return {
    body: type.includes('json') ? Buffer.from(body.toString().replaceAll(model, publicName)) : body,
    type,
  };
}

async function bytesOf(incoming: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

const capabilities = (await (await fetch(`${server}/api/v1/get_server_capabilities`)).json()) as {
  supported_models: { model_name: string }[];
};
model = capabilities.supported_models[0]!.model_name;
await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;

const policy = await openPolicy({ url });
const { norms } = await walk(policy);
await policy.close();
const walked = exchanges.filter(({ path }) => path !== 'session_heartbeat');

/** The last exchange of a request that fails. */
const refused = async (work: () => Promise<unknown>): Promise<Exchange> => {
  await work().catch(() => {});
  return exchanges.filter(({ path }) => path !== 'session_heartbeat').at(-1)!;
};
const connection = new Connection({ url, retries: 0 });
const session = await Session.open(connection, publicName);
const spoilt = await RemoteModel.create(session, { rank: 8, seed: 1 });
const data = rows.map(({ tokens }) => {
  const targets = tokens.subarray(1);
  const ones = new Float32Array(targets.length).fill(1);
  const inputs = { weights: ones, logprobs: ones, advantages: ones.map(() => Number.NaN) };
  return { tokens: tokens.subarray(0, -1), targets, inputs };
});
const faults: Recording['faults'] = {
  json: await refused(() => connection.ask('forward_backward', { model_id: spoilt.id })),
  unknown: await refused(() => connection.retrieve('123456')),
  rank: await refused(() => RemoteModel.create(session, { rank: 0, seed: 1 })),
  reused: await refused(async () => {
    const step = (learning_rate: number) =>
      connection.ask('optim_step', { model_id: spoilt.id, seq_id: 99, adam_params: { learning_rate } });
    await step(0);
    await step(1);
  }),
  notFinite: await refused(async () => {
    await spoilt.accumulate(data);
    await spoilt.step({ learningRate: 0 });
  }),
  plain: await refused(async () => {
    const { id } = session;
    const opened = await connection.ask('create_sampling_session', {
      session_id: id,
      sampling_session_seq_id: 1,
      base_model: publicName,
    });
    const chunks = [{ type: 'encoded_text', tokens: [5, 6, 7] }];
    await connection.result('asample', {
      num_samples: 1,
      prompt: { chunks },
      sampling_params: { max_tokens: 4, temperature: 1, seed: 1 },
      sampling_session_id: opened.sampling_session_id,
      seq_id: 1,
    });
  }),
};
const recording: Recording = { server: 'skyrl 0.4.0, JAX on a CPU', norms, walk: walked, faults };
const file = join(import.meta.dirname, 'recorded/skyrl-0.4.0.json');
await writeFile(file, `${JSON.stringify(recording, null, 1)}\n`);
for (const [name, { path, status, type }] of Object.entries(faults)) console.log(name, path, status, type);
console.log(norms);
process.exit();
