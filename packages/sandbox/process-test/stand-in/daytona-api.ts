/** daytonaApi: the part of Daytona's API that its client uses: machines, and the toolbox in each of them. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Api, type ApiRequest, type StandIn, sendJson } from './stand-in.ts';
import type { StandInMachine } from './stand-in-machine.ts';

export const daytonaApi: Api = {
  key: 'dtn_0123456789abcdef0123456789abcdef',
  async answer(request, response, standIn) {
    const { method, url, headers, body } = request;
    if (headers.authorization !== `Bearer ${this.key}`)
      return sendJson(response, 401, { statusCode: 401, message: 'the key is not valid' });
    if (url.pathname.startsWith('/toolbox/')) return toolbox(request, response, standIn);
    const described = (machine: StandInMachine) => description(machine, standIn);
    if (url.pathname === '/sandbox' && method === 'POST') {
      const asked = JSON.parse(body.toString());
      const machine = standIn.make(asked);
      machine.endAfter(asked.autoStopInterval * 60);
      return sendJson(response, 200, described(machine));
    }
    if (url.pathname === '/sandbox') {
      const wanted = Object.entries(JSON.parse(url.searchParams.get('labels') ?? '{}'));
      const found = [...standIn.machines.values()].filter(({ labels }) =>
        wanted.every(([name, value]) => labels[name] === value),
      );
      const from = Number(url.searchParams.get('cursor') ?? 0);
      const nextCursor = from + 2 < found.length ? String(from + 2) : null;
      return sendJson(response, 200, { items: found.slice(from, from + 2).map(described), nextCursor });
    }
    const [, id, what] = /^\/sandbox\/([^/]+)(\/[\w-]+)?$/.exec(url.pathname) ?? [];
    const machine = standIn.machines.get(id ?? '');
    if (!machine) return sendJson(response, 404, { statusCode: 404, message: `Sandbox ${id} not found` });
    if (method === 'DELETE') machine.end();
    else if (what === '/last-activity') machine.endAfter(Number(machine.asked.autoStopInterval) * 60);
    return sendJson(response, 200, described(machine));
  },
  gone(response) {
    sendJson(response, 404, { statusCode: 404, message: 'Sandbox not found' });
  },
  flood: () => ({ type: 'application/json', head: Buffer.from('{"exitCode":0,"result":"') }),
};

function description({ id, labels, hasEnded }: StandInMachine, { url }: StandIn): object {
  const state = hasEnded ? 'destroyed' : 'started';
  return { id, name: id, labels, env: {}, state, toolboxProxyUrl: `${url}/toolbox`, target: 'us' };
}

async function toolbox(
  { url, headers, body }: ApiRequest,
  response: ServerResponse,
  standIn: StandIn,
): Promise<void> {
  const [, id, path] = /^\/toolbox\/([^/]+)(\/.*)$/.exec(url.pathname) ?? [];
  const machine = standIn.machine(id);
  if (path === '/files/bulk-upload') {
    const type = String(headers['content-type']);
    const form = await new Response(Uint8Array.from(body), { headers: { 'content-type': type } }).formData();
    const content = Buffer.from(await (form.get('files[0].file') as Blob).arrayBuffer());
    if (!(await machine.write(String(form.get('files[0].path')), content)))
      return sendJson(response, 500, { statusCode: 500, message: 'no space left on device' });
    return sendJson(response, 200, {});
  }
  if (path !== '/process/execute')
    return sendJson(response, 404, { statusCode: 404, message: 'no such path' });
  const { command, timeout } = JSON.parse(body.toString());
  const parts: Buffer[] = [];
  const running = machine.exec(['/bin/sh', '-c', command], (_stream, data) => parts.push(data));
  const late = sleep(timeout * 1000, undefined, { ref: false });
  const exitCode = await Promise.race([running, late]);
  running.catch(() => {});
  if (exitCode === undefined)
    return sendJson(response, 408, { statusCode: 408, message: 'command execution timeout' });
  // One stream of text.
  sendJson(response, 200, { exitCode, result: Buffer.concat(parts).toString() });
}
