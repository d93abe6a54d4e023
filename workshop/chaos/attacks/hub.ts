/** Attacks by a Hugging Face Hub, by a repository of it, and by the server that it redirects to. */
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { fetchModel } from '@toolenv/hub';
import { StandInHub, send, sendFile } from '../../../packages/hub/test/stand-in-hub.ts';
import { type Attack, holds, thrown, within } from './attack.ts';

const token = 'hf_standInToken';
const weights = randomBytes(100_000);
const files = {
  'config.json': '{}',
  'tokenizer.json': '{}',
  'tokenizer_config.json': '{}',
  'model.safetensors': weights,
};

/** Runs with a Hub, whose cache is in the folder. */
async function withHub(folder: string, work: (hub: StandInHub) => Promise<void>): Promise<void> {
  const hub = await new StandInHub().listen();
  hub.add('some/model', files);
  Object.assign(process.env, hub.variables(folder, token), { HF_HUB_DOWNLOAD_TIMEOUT: '1' });
  try {
    await work(hub);
  } finally {
    hub.close();
  }
}

/** @throws Error unless the model is refused in one line, and nothing that loads is left. */
async function isRefused(folder: string, code: string): Promise<void> {
  const error = await thrown(() => within(30_000, fetchModel('some/model')));
  holds(ToolEnvError.isInstance(error) && error.code === code, `threw ${error}`);
  holds(!error.message.includes('\n') && !error.message.includes(token), `said ${error.message}`);
  const names = await readdir(folder, { recursive: true });
  holds(!names.some((name) => name.endsWith('model.safetensors')), `left ${names.join(', ')}`);
}

export const hub: Attack[] = [
  {
    name: 'path out of the cache',
    attack: 'a repository lists files whose paths lead out of the cache',
    expected: 'the repository is refused, and no file comes',
    async run(folder) {
      for (const path of ['../../../escape', '/tmp/escape', 'a/../../escape', '..\\escape', 'C:escape']) {
        await withHub(folder, async (server) => {
          server.relist = (entries) => [...entries, { ...entries[0]!, path }];
          await isRefused(folder, 'infrastructure.hub');
          holds(server.parts('file').length === 0, 'a file came');
        });
      }
    },
  },
  {
    name: 'other weights',
    attack: 'the server of large files sends other bytes of the same size',
    expected: 'they are discarded, and the next start fetches the right ones',
    async run(folder) {
      await withHub(folder, async (server) => {
        server.fault = (part, request, response) => {
          if (part === 'storage') sendFile(request, response, randomBytes(weights.length));
          return part === 'storage';
        };
        await isRefused(folder, 'infrastructure.hub_digest');
        server.fault = undefined;
        const found = await fetchModel('some/model');
        const content = await readFile(join(found!.folder, 'model.safetensors'));
        holds(content.equals(weights), 'the weights differ');
      });
    },
  },
  {
    name: 'answers without end',
    attack: 'the Hub sends a list or weights without end',
    expected: 'the connection is closed, and memory stays below 300 MB more',
    async run(folder) {
      for (const [at, code] of [
        ['tree', 'infrastructure.hub'],
        ['storage', 'infrastructure.download'],
      ] as const) {
        await withHub(folder, async (server) => {
          server.fault = (part, _, response) => {
            if (part !== at) return false;
            response.writeHead(200, { 'content-type': 'application/json' });
            const more = () => {
              while (!response.destroyed && response.write(Buffer.alloc(1 << 20, ' ')));
            };
            response.on('drain', more);
            more();
            return true;
          };
          const before = process.memoryUsage().rss;
          await isRefused(folder, code);
          const taken = (process.memoryUsage().rss - before) / 1e6;
          holds(taken < 300, `took ${taken.toFixed(0)} MB`);
        });
      }
    },
  },
  {
    name: 'token by a redirect',
    attack: 'the Hub redirects each request to another host, which asks for the token',
    expected: 'the other host gets no token',
    async run(folder) {
      await withHub(folder, async (server) => {
        server.fault = (part, request, response) => {
          if (part === 'storage') send(response, 401, { error: token }, { 'www-authenticate': 'Bearer' });
          else response.writeHead(307, { location: `${server.storage}${request.url}` }).end();
          return true;
        };
        await isRefused(folder, 'usage.hub_access');
        const seen = server.parts('storage');
        holds(seen.length > 0 && seen.every((each) => each.authorization === undefined), 'it got the token');
      });
    },
  },
  {
    name: 'silent Hub',
    attack: 'the Hub takes the connection and never answers',
    expected: 'the start ends in one line',
    async run(folder) {
      await withHub(folder, async (server) => {
        server.fault = () => true;
        await isRefused(folder, 'infrastructure.hub');
      });
    },
  },
];
