/** Uploads to a stand-in of the Hub. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Push, push } from '@toolenv/hub';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { StandInHub } from './stand-in-hub.ts';

const name = 'some-user/trained';
const weights = randomBytes(200_000);
let hub: StandInHub;
let folder: string;
beforeEach(async () => {
  hub = await new StandInHub().listen();
  folder = await mkdtemp(join(tmpdir(), 'toolenv-push-'));
  await writeFile(join(folder, 'model.safetensors'), weights);
  for (const [variable, value] of Object.entries(hub.variables(folder, 'hf_standInToken')))
    vi.stubEnv(variable, value);
});
afterEach(async () => {
  hub.close();
  await rm(folder, { recursive: true, force: true });
});

const upload = (more: Partial<Push> = {}) =>
  push({
    name,
    title: 'A run',
    files: {
      'README.md': { content: '# A card' },
      'adapter/model.safetensors': { file: join(folder, 'model.safetensors') },
      'small.safetensors': { content: 'small' },
    },
    ...more,
  });
const contentOf = (branch = 'main') => {
  const repo = hub.repos.get(`models/${name}`)!;
  return Object.fromEntries(repo.commits.get(repo.refs.get(branch)!)!);
};

test('makes the repository, and adds the files in one commit', async () => {
  const seen: number[] = [];
  const pushed = await upload({ isPrivate: true, onProgress: (bytes) => seen.push(bytes) });
  expect(pushed).toEqual({
    url: `${hub.url}/${name}`,
    commit: hub.repos.get(`models/${name}`)!.refs.get('main'),
    bytes: weights.length + 8 + 5,
  });
  expect(hub.repos.get(`models/${name}`)!.isPrivate).toBe(true);
  expect(contentOf()['README.md']!.toString()).toBe('# A card');
  expect(contentOf()['adapter/model.safetensors']!.equals(weights)).toBe(true);
  expect(contentOf()['small.safetensors']!.toString()).toBe('small');
  expect(
    hub
      .parts('storage')
      .map(({ method }) => method)
      .sort(),
  ).toEqual(['POST', 'PUT', 'PUT', 'PUT']);
  expect(seen.at(-1)).toBeGreaterThanOrEqual(weights.length);
  for (const { part, authorization } of hub.seen)
    expect(authorization).toBe(part === 'storage' ? undefined : 'Bearer hf_standInToken');
});

test('into a repository that exists, its other files stay, and a branch is made', async () => {
  hub.add(name, { 'other.txt': 'stays' });
  await upload();
  expect(Object.keys(contentOf()).sort()).toEqual([
    'README.md',
    'adapter/model.safetensors',
    'other.txt',
    'small.safetensors',
  ]);
  await upload({ revision: 'step-8', files: { 'README.md': { content: 'another' } } });
  await upload({ revision: 'step-8', files: { 'README.md': { content: 'another one' } } });
  expect(contentOf('step-8')['README.md']!.toString()).toBe('another one');
  expect(contentOf()['README.md']!.toString()).toBe('# A card');
});

test.each([
  ['no token', { HF_TOKEN: '' }, 'usage.hub_access', /set HF_TOKEN to a token that may write it/],
  [
    'a token that may only read',
    { HF_TOKEN: 'hf_anotherToken' },
    'usage.hub_access',
    /does not let your token write some-user\/trained \(HTTP 401\)/,
  ],
  ['no network allowed', { HF_HUB_OFFLINE: '1' }, 'usage.hub_offline', /unset the variable/],
])('is refused with %s', async (_, env: Record<string, string>, code, message) => {
  for (const [variable, value] of Object.entries(env)) vi.stubEnv(variable, value);
  const error = await upload().then(
    () => expect.fail(),
    (thrown) => thrown,
  );
  expect(error.code).toBe(code);
  expect(error.message).toMatch(message);
  expect(error.message).not.toContain('hf_');
  expect(hub.repos.size).toBe(0);
});

test('goes on after a fault of the server, and fails in one line if it stays', async () => {
  let faults = 1;
  hub.fault = (part, request, response) => {
    if (part !== 'storage' || faults-- <= 0) return false;
    request.resume();
    response.writeHead(503).end();
    return true;
  };
  await upload();
  expect(contentOf()['adapter/model.safetensors']!.equals(weights)).toBe(true);
  hub.fault = (_, request, response) => {
    request.resume();
    response
      .writeHead(400, { 'content-type': 'application/json' })
      .end('{"error": "Bearer hf_standInToken is bad"}');
    return true;
  };
  const error = await upload().then(
    () => expect.fail(),
    (thrown) => thrown,
  );
  expect(error).toMatchObject({ code: 'infrastructure.hub' });
  expect(error.message).toMatch(/HTTP 400/);
  expect(error.message).not.toMatch(/\n|hf_/);
});
