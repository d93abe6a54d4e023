/** e2bApi: the part of E2B's API that its client uses: machines, and in each machine the daemon `envd`, which speaks Connect with JSON. */
import type { ServerResponse } from 'node:http';
import { type Api, type ApiRequest, type StandIn, sendJson } from './stand-in.ts';

const envdToken = 'stand-in-envd-token';

export const e2bApi: Api = {
  key: 'e2b_0123456789abcdef0123456789abcdef01234567',
  async answer(request, response, standIn) {
    const { method, url, headers, body } = request;
    const machineId = headers['e2b-sandbox-id'];
    if (machineId !== undefined) return envd(request, response, standIn, String(machineId));
    if (headers['x-api-key'] !== this.key)
      return sendJson(response, 401, { code: 401, message: 'the key is not valid' });
    const [, id, what] = /^\/sandboxes\/([^/]+)(\/\w+)?$/.exec(url.pathname) ?? [];
    if (method === 'POST' && url.pathname === '/v2/sandboxes') {
      const { metadata, timeout = 15, ...asked } = JSON.parse(body.toString());
      const machine = standIn.make({ labels: metadata, timeout, ...asked });
      machine.endAfter(timeout);
      return sendJson(response, 201, {
        sandboxID: machine.id,
        templateID: asked.templateID,
        clientID: 'stand-in',
        envdVersion: '0.6.2',
        envdAccessToken: envdToken,
      });
    }
    if (method === 'GET' && url.pathname === '/v2/sandboxes') return list(url, response, standIn);
    const machine = standIn.machines.get(id ?? '');
    if (!machine) return sendJson(response, 404, { code: 404, message: `sandbox ${id} not found` });
    if (method === 'DELETE') machine.end();
    else if (what === '/timeout') machine.endAfter(JSON.parse(body.toString()).timeout);
    response.writeHead(204).end();
  },
  gone(response) {
    sendJson(response, 502, { message: 'The sandbox was not found', code: 502 });
  },
  flood({ headers }) {
    const type = String(headers['content-type']).includes('connect')
      ? 'application/connect+json'
      : 'application/json';
    return { type, head: envelopeHead(0, 2 ** 30) };
  },
};

/** Two machines on a page. */
function list(url: URL, response: ServerResponse, standIn: StandIn): void {
  const wanted = [...new URLSearchParams(url.searchParams.get('metadata') ?? '')];
  const all = [...standIn.machines.values()].filter(({ labels }) =>
    wanted.every(([name, value]) => labels[name] === value),
  );
  const from = Number(url.searchParams.get('nextToken') ?? 0);
  const page = all.slice(from, from + 2).map(({ id, labels }) => ({
    sandboxID: id,
    templateID: 'base',
    clientID: 'stand-in',
    startedAt: new Date().toISOString(),
    endAt: new Date().toISOString(),
    cpuCount: 1,
    memoryMB: 512,
    metadata: labels,
    state: 'running',
    envdVersion: '0.6.2',
  }));
  sendJson(response, 200, page, from + 2 < all.length ? { 'x-next-token': String(from + 2) } : {});
}

async function envd(
  { url, headers, body }: ApiRequest,
  response: ServerResponse,
  standIn: StandIn,
  id: string,
): Promise<void> {
  const machine = standIn.machine(id);
  if (url.pathname === '/health') return void response.writeHead(204).end();
  if (headers['x-access-token'] !== envdToken) return sendJson(response, 401, { message: 'no token' });
  if (url.pathname === '/files') {
    const type = String(headers['content-type']);
    const form = await new Response(Uint8Array.from(body), { headers: { 'content-type': type } }).formData();
    const content = Buffer.from(await (form.get('file') as Blob).arrayBuffer());
    const path = url.searchParams.get('path') ?? '';
    if (!(await machine.write(path, content)))
      return sendJson(response, 507, { code: 507, message: 'not enough space' });
    return sendJson(response, 200, [{ name: path, path, type: 'file' }]);
  }
  if (url.pathname !== '/process.Process/Start') return sendJson(response, 404, { code: 'unimplemented' });
  // One enveloped message.
  const { process: started } = JSON.parse(body.subarray(5).toString());
  response.writeHead(200, { 'content-type': 'application/connect+json' });
  const send = (event: object) => response.write(envelope(0, { event }));
  send({ start: { pid: 1 } });
  const exitCode = await machine.exec([started.cmd, ...started.args], (stream, data) =>
    send({ data: { [stream]: data.toString('base64') } }),
  );
  send({ end: { exitCode, exited: true, status: `exit status ${exitCode}` } });
  response.end(envelope(2, {}));
}

function envelope(flags: number, message: object): Buffer {
  const text = Buffer.from(JSON.stringify(message));
  return Buffer.concat([envelopeHead(flags, text.length), text]);
}

function envelopeHead(flags: number, length: number): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flags;
  head.writeUInt32BE(length, 1);
  return head;
}
