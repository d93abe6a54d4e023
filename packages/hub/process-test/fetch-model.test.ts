/** Models by name, from a stand-in of the Hub: the cache, resumption, the token, and a Hub that misbehaves. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processStart } from '@toolenv/core/files';
import { type DownloadPlan, watchDownloads } from '@toolenv/core/plugins';
import { redactSecrets } from '@toolenv/core/secrets';
import { fetchModel } from '@toolenv/hub';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { claimPartial } from '../src/claimed-partial.ts';
import { gitSha1, type Part, StandInHub, send, sendFile, sha256 } from '../test/stand-in-hub.ts';

const token = 'hf_standInToken';
const name = 'Some/Model-0.5B';
const weights = randomBytes(300_000);
const files = {
  'config.json': '{"hidden_size": 8}',
  'tokenizer.json': '{}',
  'tokenizer_config.json': '{"eos_token": "x"}',
  'generation_config.json': '{"eos_token_id": 1}',
  'model.safetensors': weights,
  'pytorch_model.bin': randomBytes(10),
  'model-q4.gguf': 'no',
  'onnx/model.onnx': 'no',
  'original/model.safetensors': 'no',
  'README.md': '# no',
};
const needed = [
  'config.json',
  'generation_config.json',
  'model.safetensors',
  'tokenizer.json',
  'tokenizer_config.json',
];

let hub: StandInHub;
let home: string;
let commit: string;
beforeEach(async () => {
  hub = await new StandInHub().listen();
  commit = hub.add(name, files);
  home = await mkdtemp(join(tmpdir(), 'toolenv-hub-'));
  for (const [variable, value] of Object.entries(hub.variables(home))) vi.stubEnv(variable, value);
  vi.stubEnv('HF_ENDPOINT', `${hub.url}/`);
  vi.stubEnv('HF_HUB_DOWNLOAD_TIMEOUT', '0.5');
});
afterEach(async () => {
  hub.close();
  await rm(home, { recursive: true, force: true });
});

const repo = () => join(home, 'hub', 'models--Some--Model-0.5B');
const snapshot = (of = commit) => join(repo(), 'snapshots', of);
/** No file of a snapshot is ever half: each is a link to a blob with its digest. */
async function expectWhole(of = commit, names = needed): Promise<void> {
  expect((await readdir(snapshot(of))).sort()).toEqual(names);
  for (const each of names) {
    const content = await readFile(join(snapshot(of), each));
    expect(content.equals(Buffer.from(files[each as keyof typeof files]))).toBe(true);
  }
  expect((await readdir(join(repo(), 'blobs'))).filter((each) => each.includes('incomplete'))).toEqual([]);
}
/** Fails with one line, and leaves no weights that load. */
async function failure(run: Promise<unknown> = fetchModel(name)): Promise<{ code: string; message: string }> {
  const error = (await run.then(
    () => expect.fail('it should fail'),
    (thrown) => thrown,
  )) as { code: string; message: string };
  expect(error.message).not.toMatch(/\n|hf_/);
  expect(existsSync(join(snapshot(), 'model.safetensors'))).toBe(false);
  expect(existsSync(join(repo(), 'blobs', sha256(weights)))).toBe(false);
  return error;
}

describe('a model of the Hub', () => {
  test('comes into the layout of Python, with the needed files only, and is then there without a request', async () => {
    const found = await fetchModel(`hf:${name}`);
    expect(found).toMatchObject({ name, revision: commit, folder: snapshot() });
    await expectWhole();
    expect(await readFile(join(repo(), 'refs', 'main'), 'utf8')).toBe(commit);
    expect(await readlink(join(snapshot(), 'model.safetensors'))).toBe(
      join('..', '..', 'blobs', sha256(weights)),
    );
    expect(await readlink(join(snapshot(), 'config.json'))).toBe(
      join('..', '..', 'blobs', gitSha1(Buffer.from(files['config.json']))),
    );
    hub.seen.length = 0;
    for (const text of [name, `${name}@main`, `${name}@${commit}`])
      expect(await fetchModel(text)).toMatchObject({ revision: commit });
    hub.close();
    expect(await fetchModel(name)).toMatchObject({ revision: commit });
    expect(hub.seen).toEqual([]);
  });

  test('is told of before its weights come: config.json is there, the sizes are known, and a watcher may refuse it', async () => {
    const plans: DownloadPlan[] = [];
    const progress: number[] = [];
    let ends = 0;
    const memory = { weights: 1, gradients: 1, optimizer: 1, activations: 1, total: 4, cachePerToken: 1 };
    const plan = async (folder: string) => {
      expect(JSON.parse(await readFile(join(folder, 'config.json'), 'utf8'))).toEqual({ hidden_size: 8 });
      return { memory };
    };
    onTestFinished(
      watchDownloads(() => {
        throw new Error('too large');
      }),
    );
    expect(await failure(fetchModel(name, { plan }))).toMatchObject({ message: 'too large' });
    expect(hub.parts('storage')).toEqual([]);
    onTestFinished(
      watchDownloads((each) => {
        plans.push(each);
        return { progress: (bytes) => progress.push(bytes), end: () => void ends++ };
      }),
    );
    await fetchModel(name, { plan });
    const bytes = needed.reduce((sum, each) => sum + Buffer.byteLength(files[each as keyof typeof files]), 0);
    expect(plans).toEqual([{ name, revision: commit, bytes: bytes - files['config.json'].length, memory }]);
    expect(progress.at(-1)).toBe(plans[0]!.bytes);
    expect(ends).toBe(1);
  });

  test('whose shards are named by an index comes as they are, without other weights', async () => {
    const sharded = {
      ...files,
      'model.safetensors.index.json': '{"weight_map": {}}',
      'model-00001-of-00002.safetensors': 'a',
      'model-00002-of-00002.safetensors': 'b',
      'consolidated.safetensors': 'no',
    };
    const { 'model.safetensors': _, ...all } = sharded;
    const of = hub.add('Some/Shards', all);
    const { folder } = (await fetchModel('Some/Shards'))!;
    expect((await readdir(folder)).filter((each) => each.startsWith('model')).sort()).toEqual([
      'model-00001-of-00002.safetensors',
      'model-00002-of-00002.safetensors',
      'model.safetensors.index.json',
    ]);
    expect(folder).toContain(of);
  });

  test('gives its tokenizer without its weights', async () => {
    await fetchModel(name, { parts: 'tokenizer' });
    await expectWhole(
      commit,
      needed.filter((each) => each !== 'model.safetensors'),
    );
    expect(hub.parts('storage')).toEqual([]);
    await fetchModel(name);
    await expectWhole();
  });

  test('has revisions, and keeps the files that they share', async () => {
    await fetchModel(name);
    const next = hub.add(name, { ...files, 'config.json': '{"hidden_size": 16}' }, { branch: 'next' });
    hub.seen.length = 0;
    expect(await fetchModel(`${name}@next`)).toMatchObject({ revision: next });
    expect(hub.parts('file').map(({ path }) => path)).toEqual([`/${name}/resolve/${next}/config.json`]);
    expect(await fetchModel(name, { revision: next })).toMatchObject({ revision: next });
    expect(await fetchModel(`${name}@main`, { revision: next })).toMatchObject({ revision: commit });
    const pull = hub.add(name, files, { branch: 'refs/pr/1' });
    expect(await fetchModel(`${name}@refs/pr/1`)).toMatchObject({ revision: pull });
  });

  test('that Python downloaded is not downloaded again, and offline needs no list of files', async () => {
    await mkdir(join(repo(), 'blobs'), { recursive: true });
    await mkdir(snapshot(), { recursive: true });
    await mkdir(join(repo(), 'refs'), { recursive: true });
    await writeFile(join(repo(), 'refs', 'main'), commit);
    for (const each of needed) {
      const content = Buffer.from(files[each as keyof typeof files]);
      const digest = each.endsWith('.safetensors') ? sha256(content) : gitSha1(content);
      await writeFile(join(repo(), 'blobs', digest), content);
      await symlink(join('..', '..', 'blobs', digest), join(snapshot(), each));
    }
    vi.stubEnv('HF_HUB_OFFLINE', '1');
    expect(await fetchModel(name)).toMatchObject({ revision: commit });
    expect(hub.seen).toEqual([]);
    vi.stubEnv('HF_HUB_OFFLINE', '0');
    await fetchModel(name);
    expect(hub.seen.map(({ part }) => part)).toEqual(['info', 'tree']);
    hub.close();
    expect(await fetchModel(name)).toMatchObject({ revision: commit });
  });

  test('that is whole in a cache that cannot be written is opened', async () => {
    await fetchModel(name);
    for (const each of ['.toolenv', 'refs']) {
      await rm(join(repo(), each), { recursive: true });
      await writeFile(join(repo(), each), 'a file in the place of the folder');
    }
    expect(await fetchModel(name)).toMatchObject({ revision: commit });
    expect(hub.parts('storage')).toHaveLength(1);
  });

  test('is not asked for offline', async () => {
    vi.stubEnv('HF_HUB_OFFLINE', 'true');
    const { code, message } = await failure();
    expect(code).toBe('usage.hub_offline');
    expect(message).toMatch(/not whole in the cache.*unset the variable, or name a local folder/);
    expect(hub.seen).toEqual([]);
  });

  test('without weights that can be read is refused before a file comes', async () => {
    hub.add('Some/Gguf', { ...files, 'model.safetensors': '' });
    hub.relist = (entries) => entries.filter(({ path }) => path !== 'model.safetensors');
    expect(await failure(fetchModel('Some/Gguf'))).toMatchObject({ code: 'usage.checkpoint_unsupported' });
    expect(hub.parts('file')).toEqual([]);
  });

  test.each([
    './runs/policy',
    '/tmp/x',
    'a/b/c',
    'gpt2',
    'a/..',
    '../a',
    'a/b@',
    'a/b@../x',
    'a/b@x//y',
    'a/b--c',
    'C:\\a/b',
    '-a/b',
    'openai:x',
  ])('is not named by %s', async (text) => {
    expect(await fetchModel(text)).toBeUndefined();
    expect(hub.seen).toEqual([]);
  });
});

describe('the token', () => {
  test('goes to the Hub and not to the server of large files', async () => {
    vi.stubEnv('HF_TOKEN', token);
    hub.repos.get(`models/${name}`)!.isPrivate = true;
    await fetchModel(name);
    const { length } = hub.parts('storage');
    expect(length).toBe(1);
    for (const { part, authorization } of hub.seen)
      expect(authorization).toBe(part === 'storage' ? undefined : `Bearer ${token}`);
    expect(redactSecrets(`a ${token}`)).not.toContain(token);
    for (const each of await readdir(home, { recursive: true, withFileTypes: true }))
      if (each.isFile())
        expect(await readFile(join(each.parentPath, each.name), 'latin1')).not.toContain(token);
  });

  test('does not follow the next page of a list to another host', async () => {
    vi.stubEnv('HF_TOKEN', token);
    hub.fault = (part, _, response) => {
      if (part === 'tree') send(response, 200, [], { link: `<${hub.storage}/next>; rel="next"` });
      else if (part === 'storage') send(response, 200, []);
      return part === 'tree' || part === 'storage';
    };
    await failure();
    expect(hub.parts('storage').map(({ authorization }) => authorization)).toEqual([undefined]);
  });

  test('may be in the file that the login writes', async () => {
    await writeFile(join(home, 'token'), `${token}\n`);
    hub.repos.get(`models/${name}`)!.isPrivate = true;
    await fetchModel(name);
    await expectWhole();
  });
});

describe('a Hub that misbehaves', () => {
  /** Answers the first requests of a part otherwise. */
  function at(
    part: Part,
    answer: (...args: Parameters<NonNullable<StandInHub['fault']>>) => void,
    times = Infinity,
  ): void {
    let left = times;
    hub.fault = (...args) => {
      if (args[0] !== part || left <= 0) return false;
      left -= 1;
      answer(...args);
      return true;
    };
  }

  test('answers slowly', async () => {
    at('storage', (_, request, response) => {
      response.writeHead(200, { 'content-length': weights.length });
      // No pause is longer than the limit, and all together are.
      const parts = Array.from({ length: 4 }, (_, n) => weights.subarray(n * 75_000, (n + 1) * 75_000));
      for (const [n, part] of parts.entries()) setTimeout(() => response.write(part), 250 * n);
      setTimeout(() => response.end(), 1000);
      request.resume();
    });
    await fetchModel(name);
    await expectWhole();
  });

  test('cuts the connection in the middle of a file, which goes on where it ended', async () => {
    at('storage', (_, request, response) => sendFile(request, response, weights, 100_000), 2);
    await fetchModel(name);
    await expectWhole();
    expect(hub.parts('storage').map(({ range }) => range)).toEqual([
      undefined,
      'bytes=100000-',
      'bytes=200000-',
    ]);
  });

  test('is left in the middle of a file, which another call continues', async () => {
    const stop = new AbortController();
    at('storage', (_, request, response) => {
      response.writeHead(200, { 'content-length': weights.length }).write(weights.subarray(0, 120_000));
      setTimeout(() => stop.abort(new Error('stopped')), 200);
      request.resume();
    });
    await expect(fetchModel(name, { signal: stop.signal })).rejects.toThrow('stopped');
    expect(existsSync(join(snapshot(), 'model.safetensors'))).toBe(false);
    hub.fault = undefined;
    hub.seen.length = 0;
    await fetchModel(name);
    await expectWhole();
    expect(hub.seen.map(({ part }) => part)).toEqual(['info', 'file', 'storage']);
    expect(hub.parts('storage')[0]!.range).toBe('bytes=120000-');
  });

  test.each([
    [
      '401 for a repository that does not exist',
      'Some/Other',
      {},
      'usage.hub_access',
      /Some\/Other is not a local path.*correct the path or the name, or set HF_TOKEN/,
    ],
    [
      '404 for a repository that the token cannot see',
      'Some/Other',
      { HF_TOKEN: token },
      'usage.hub_missing',
      /Some\/Other is not a local path/,
    ],
    ['404 for a revision', `${name}@v9`, {}, 'usage.hub_revision', /has no revision v9.*@main/],
  ])('says %s', async (_, text, env: Record<string, string>, code, message) => {
    for (const [variable, value] of Object.entries(env)) vi.stubEnv(variable, value);
    const error = await failure(fetchModel(text));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
    expect(hub.seen).toHaveLength(1);
  });

  test.each<Part>(['info', 'file'])('says 403 for a gated model, at %s', async (part) => {
    vi.stubEnv('HF_TOKEN', token);
    at(part, (_, __, response) => send(response, 403, { error: token }, { 'x-error-code': 'GatedRepo' }));
    const { code, message } = await failure();
    expect(code).toBe('usage.hub_access');
    expect(message).toBe(
      `${name} is gated: accept its terms at ${hub.url}/${name}, and set HF_TOKEN to a token of your account.`,
    );
  });

  test.each<Part>(['info', 'storage'])('says 429 with Retry-After at %s', async (part) => {
    at(part, (_, __, response) => void response.writeHead(429, { 'retry-after': '1' }).end(), 1);
    const begun = performance.now();
    await fetchModel(name);
    expect(performance.now() - begun).toBeGreaterThan(990);
    await expectWhole();
  });

  test.each<Part>(['info', 'storage'])('fails once at %s', async (part) => {
    at(part, (_, __, response) => void response.writeHead(503).end('broken'), 1);
    await fetchModel(name);
    await expectWhole();
  });

  test('fails always', async () => {
    at('info', (_, __, response) => void response.writeHead(500).end());
    const { code, message } = await failure();
    expect(code).toBe('infrastructure.hub');
    expect(message).toMatch(/HTTP 500.*HF_HUB_OFFLINE=1/);
    expect(hub.seen).toHaveLength(4);
  });

  test('sends other bytes than it listed', async () => {
    at('storage', (_, request, response) => sendFile(request, response, randomBytes(weights.length)));
    const { code, message } = await failure();
    expect(code).toBe('infrastructure.hub_digest');
    expect(message).toMatch(/^model.safetensors arrived with the digest [0-9a-f]{64}, and not/);
    hub.fault = undefined;
    await fetchModel(name);
    await expectWhole();
  });

  test('sends another small file than it listed', async () => {
    at('file', (_, request, response) => sendFile(request, response, Buffer.from('{"hidden_size": 9}')));
    expect(await failure()).toMatchObject({ code: 'infrastructure.hub_digest' });
  });

  test.each([
    ['fewer', weights.subarray(0, 1000)],
    ['more', Buffer.concat([weights, weights])],
  ])('sends %s bytes than it listed', async (_, content) => {
    at('storage', (_, request, response) => sendFile(request, response, content));
    const { code, message } = await failure();
    expect(code).toBe('infrastructure.download');
    expect(message).toMatch(`it has ${content.length} bytes, and not 300000`);
  });

  test.each<Part>(['info', 'tree', 'file', 'storage'])(
    'sends a body that does not end, at %s',
    async (part) => {
      let sent = 0;
      at(part, (_, __, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(1 << 20, ' '))) sent += 1;
        };
        response.on('drain', more);
        more();
      });
      const { message } = await failure();
      expect(message).toMatch(/more than (its 18|its 300000|67108864) bytes/);
      expect(sent).toBeLessThan(200);
    },
  );

  test('lists pages without an end', async () => {
    at('tree', (_, __, response) =>
      send(response, 200, [], { link: `<${hub.url}/api/models/${name}/tree/main>; rel="next"` }),
    );
    expect((await failure()).message).toMatch('its list of files does not end');
  });

  test.each<Part>(['info', 'tree', 'storage'])('never answers, at %s', async (part) => {
    vi.stubEnv('HF_HUB_DOWNLOAD_TIMEOUT', '0.2');
    at(part, () => {});
    expect((await failure()).message).toMatch(/no (answer|byte) for 0.2 seconds/);
  });

  test.each<Part>(['info', 'tree'])('redirects %s to another host, which gets no token', async (at) => {
    vi.stubEnv('HF_TOKEN', token);
    hub.fault = (part, request, response) => {
      if (part === 'storage') send(response, 401, { error: token }, { 'www-authenticate': 'Bearer' });
      else if (part === at) response.writeHead(307, { location: `${hub.storage}${request.url}` }).end();
      return part === 'storage' || part === at;
    };
    expect(await failure()).toMatchObject({ code: 'usage.hub_access' });
    const seen = hub.parts('storage').map(({ authorization }) => authorization);
    expect(new Set(seen)).toEqual(new Set([undefined]));
  });

  test('stops to answer while a signal ends the wait', async () => {
    vi.stubEnv('HF_HUB_DOWNLOAD_TIMEOUT', '60');
    at('storage', () => {});
    await expect(fetchModel(name, { signal: AbortSignal.timeout(300) })).rejects.toThrow(/timeout/i);
  });

  test('is not there', async () => {
    hub.close();
    const { code, message } = await failure();
    expect(code).toBe('infrastructure.hub');
    expect(message).toMatch(/ECONNREFUSED.*check the network/);
  });

  test.each([
    '../escape.json',
    '/etc/escape',
    'a/../../escape',
    'C:/escape',
    'C:escape',
    '..\\escape',
    'a//b',
    './a',
    '',
  ])('lists the path %j', async (path) => {
    hub.relist = (entries) => [...entries, { ...entries[0]!, path }];
    const { code, message } = await failure();
    expect(code).toBe('infrastructure.hub');
    expect(message).toMatch('which is not a path in a folder');
    expect(hub.parts('file')).toEqual([]);
    const names = await readdir(home, { recursive: true });
    expect(names.filter((each) => each.includes('escape'))).toEqual([]);
  });

  test.each([
    ['size', { size: -1, lfs: undefined }],
    ['size', { size: '12', lfs: undefined }],
    ['digest', { oid: '../../../x', lfs: undefined }],
    ['digest', { oid: undefined, lfs: undefined }],
  ])('lists a file without its %s', async (what, change) => {
    hub.relist = (entries) => entries.map((entry) => ({ ...entry, ...change }));
    expect((await failure()).message).toMatch(`without its ${what}`);
  });

  test.each([[null], ['text'], [{ sha: 'main' }], [{ sha: '../x' }]])(
    'answers %j in place of a commit',
    async (body) => {
      at('info', (_, __, response) => send(response, 200, body));
      expect(await failure()).toMatchObject({ code: 'infrastructure.hub' });
    },
  );
});

test('a link whose blob was deleted, and a file that was cut, are fetched again', async () => {
  await fetchModel(name);
  const blob = join(repo(), 'blobs', sha256(weights));
  await rm(blob);
  await fetchModel(name);
  await expectWhole();
  await writeFile(blob, weights.subarray(0, 10));
  await fetchModel(name);
  await expectWhole();
  expect((await lstat(join(snapshot(), 'model.safetensors'))).isSymbolicLink()).toBe(true);
});

test('two calls at once fetch each file once', async () => {
  hub.fault = (part, request, response) => {
    if (part === 'storage') setTimeout(() => sendFile(request, response, weights), 300);
    return part === 'storage';
  };
  await Promise.all([fetchModel(name), fetchModel(name), fetchModel(name)]);
  await expectWhole();
  expect(hub.parts('storage')).toHaveLength(1);
  expect(
    createHash('sha256')
      .update(await readFile(join(snapshot(), 'model.safetensors')))
      .digest('hex'),
  ).toBe(sha256(weights));
});

/** Sends the first half of the weights at once, and the rest when `go` settles. */
function inHalves(go: Promise<void>): void {
  hub.fault = (part, request, response) => {
    if (part !== 'storage') return false;
    response.writeHead(200, { 'content-length': weights.length }).write(weights.subarray(0, 150_000));
    void go.then(() => response.end(weights.subarray(150_000)));
    request.resume();
    return true;
  };
}

async function partial(): Promise<string> {
  const names = await vi.waitFor(async () => {
    const found = (await readdir(join(repo(), 'blobs'))).filter((each) => each.startsWith(sha256(weights)));
    expect((await readFile(join(repo(), 'blobs', found[0]!))).length).toBe(150_000);
    return found;
  });
  expect(names).toHaveLength(1);
  return join(repo(), 'blobs', names[0]!);
}

test('a process that was held up leaves a download to its successor, and takes the file that it makes', async () => {
  let goOn = () => {};
  inHalves(
    new Promise((resolve) => {
      goOn = resolve;
    }),
  );
  vi.stubEnv('HF_HUB_DOWNLOAD_TIMEOUT', '20');
  const fetching = fetchModel(name);
  const taken = join(repo(), 'blobs', `${sha256(weights)}.toolenv_far-away_7_ab_1_2_0123abcd.incomplete`);
  await rename(await partial(), taken);
  goOn();
  await vi.waitFor(() => expect(hub.parts('storage')).toHaveLength(1));
  await sleep(700);
  // Not a byte came into the file of the other.
  expect((await readFile(taken)).equals(weights.subarray(0, 150_000))).toBe(true);
  await writeFile(taken, weights);
  await rename(taken, join(repo(), 'blobs', sha256(weights)));
  await fetching;
  await expectWhole();
  expect(hub.parts('storage')).toHaveLength(1);
});

test('a blob that another process has ended is not claimed', async () => {
  const blob = join(home, 'blob');
  await writeFile(blob, 'abcd');
  expect(await claimPartial(blob, 4)).toEqual({ elsewhere: 4 });
  expect(await readdir(home)).toEqual(['blob']);
  // A blob of another size is damaged.
  expect(await claimPartial(blob, 5)).toEqual({ file: expect.stringContaining(`_${process.pid}_`) });
});

test.runIf(process.platform === 'linux')(
  'a process of another container on this host keeps its download',
  async () => {
    const blob = join(home, 'blob');
    const elsewhere = processStart(process.pid)!.replace(/_\d+_/, '_1_');
    const host = encodeURIComponent(hostname()).replaceAll('_', '-');
    // The number of a process that does not run here.
    const file = `${blob}.toolenv_${host}_999999999_${elsewhere}_0123abcd.incomplete`;
    await writeFile(file, 'abc');
    expect(await claimPartial(blob, 10)).toEqual({ elsewhere: 3 });
    await rename(file, file.replace(elsewhere, processStart(process.pid)!));
    expect(await claimPartial(blob, 10)).toEqual({ file: expect.stringContaining(`_${process.pid}_`) });
  },
);
