/** What the server of the page answers, and what it refuses. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeTrajectory } from '@toolenv/core/recording';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { episodeOf, episodesPerStep, makeRun } from '../browser-test/make-run.ts';
import { type ServedPage, serveView } from '../src/index.ts';
import { findRecordedRun } from '../src/recorded/recorded-run.ts';
import type { Answers, Path } from '../src/view/routes.ts';
import { ViewedRuns } from '../src/view/viewed-runs.ts';

let view: ServedPage;
let folder: string;
const steps = 3;
const episodes = steps * episodesPerStep;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-view-'));
  await makeRun(join(folder, 'run'), { steps, seed: 1 });
  // As a writer of another program may have it: other escapes, a damaged line, and a half-written line.
  const escaped = encodeTrajectory(episodeOf(9, 0)).replaceAll('Who', 'Qui\\u00e9n');
  await writeFile(join(folder, 'other.jsonl'), `${escaped}\nnonsense\n{"version":1,`);
  view = await serveView({
    runs: [join(folder, 'run'), join(folder, 'other.jsonl')],
    tokenTexts: async (path) =>
      path.endsWith('run') ? { texts: (ids) => Array.from(ids, (id) => `t${id}`) } : { note: 'no tokenizer' },
  });
  await vi.waitUntil(async () => (await ask('/api/episodes', 'run=run')).of === episodes, 50_000);
}, 60_000);

afterAll(() => view.close());

async function ask<P extends Path>(path: P, query = ''): Promise<Answers[P]> {
  return (await fetch(`${view.url.slice(0, -1)}${path}?${query}`)).json() as Promise<Answers[P]>;
}

it('the last words of an episode are its end', async () => {
  const file = join(folder, 'long.jsonl');
  const episode = episodeOf(1, 0);
  const [first, last] = episode.steps as [(typeof episode.steps)[0], (typeof episode.steps)[0]];
  const text = `${'I think about it. '.repeat(20)}The answer is Ada.`;
  const long = { ...episode, steps: [first, { ...last, action: { ...last.action, text } }] };
  await writeFile(file, `${encodeTrajectory(long)}\n`);
  const own = await serveView({ runs: [file] });
  const rows = async () => {
    const answer = await fetch(`${own.url}api/episodes?run=long.jsonl&count=10`);
    return ((await answer.json()) as Answers['/api/episodes']).rows;
  };
  await vi.waitUntil(async () => (await rows()).length === 1, 20_000);
  const [{ answer } = { answer: '' }] = await rows();
  expect(answer).toHaveLength(120);
  expect(answer).toMatch(/^….* about it\. The answer is Ada\.$/);
  await own.close();
});

describe('runs', () => {
  it('have their options', async () => {
    const runs = await ask('/api/runs');
    expect(runs.map(({ name, kind, facts }) => [name, kind, facts.seed])).toEqual([
      ['run', 'training', 1],
      ['other.jsonl', 'episodes', undefined],
    ]);
  });

  it('have the options that the trainer chose itself', async () => {
    const path = join(folder, 'resolved');
    await makeRun(path, { steps: 1, seed: 1 });
    const config = {
      env: 'bridge-v1',
      trainerOptions: { steps: 1, clip: 0.3 },
      resolvedOptions: { learningRate: 1e-6, clip: 0.2 },
    };
    await writeFile(join(path, 'config.json'), JSON.stringify(config));
    const own = await serveView({ runs: [path] });
    const [run] = (await (await fetch(`${own.url}api/runs`)).json()) as Answers['/api/runs'];
    expect(run!.facts).toEqual({
      env: 'bridge-v1',
      trainerOptions: { steps: 1, clip: 0.3, learningRate: 1e-6 },
    });
    await own.close();
  });

  it('of the same name are told apart by their folders', async () => {
    await makeRun(join(folder, 'a', 'run'), { steps: 1, seed: 2 });
    const own = await serveView({
      runs: [join(folder, 'run'), join(folder, 'a', 'run'), join(folder, 'run')],
    });
    const runs = (await (await fetch(`${own.url}api/runs`)).json()) as Answers['/api/runs'];
    expect(runs.map(({ name }) => name.split('/').at(-2))).toEqual([folder.split('/').at(-1), 'a']);
    await own.close();
  });

  it('with damaged metrics say so, and show the rest', async () => {
    const path = join(folder, 'damaged');
    await makeRun(path, { steps: 2, seed: 1 });
    const good = (await readFile(join(path, 'metrics.jsonl'), 'utf8')).split('\n');
    good.splice(1, 0, '{"type":"update","step":1,', 'null');
    await writeFile(join(path, 'metrics.jsonl'), good.join('\n'));
    const runs = new ViewedRuns([path]);
    await vi.waitUntil(() => runs.find('damaged').state.metrics.count === 4, 10_000);
    expect(runs.find('damaged').state.problem).toBe(
      'metrics.jsonl is damaged in line 2, and 1 more: the curves lack these lines.',
    );
    await runs.close();
  });

  it('are each policy of a comparison, and an evaluation before its first episode', async () => {
    const compared = join(folder, 'compared');
    for (const name of ['b', 'a']) {
      await mkdir(join(compared, name), { recursive: true });
      await writeFile(join(compared, name, 'evaluation.json'), JSON.stringify({ policy: name, seed: 4 }));
    }
    const own = await serveView({ runs: [compared] });
    const runs = (await (await fetch(`${own.url}api/runs`)).json()) as Answers['/api/runs'];
    expect(runs.map(({ name, kind, facts }) => [name, kind, facts.policy])).toEqual([
      ['a', 'evaluation', 'a'],
      ['b', 'evaluation', 'b'],
    ]);
    await own.close();
    // One run at a time is shown in a terminal.
    expect(() => findRecordedRun(compared)).toThrow(
      `${compared} holds runs: give one of them, ${join(compared, 'a')} or ${join(compared, 'b')}.`,
    );
  });

  it('that do not exist are refused', async () => {
    await expect(serveView({ runs: [join(folder, 'none')] })).rejects.toMatchObject({ code: 'usage.no_run' });
    await expect(serveView({ runs: [] })).rejects.toMatchObject({ code: 'usage.no_run' });
  });
});

it('metrics come from a line on', async () => {
  const all = await ask('/api/metrics', 'run=run');
  expect(all.next).toBe(2 * steps);
  const rest = await ask('/api/metrics', `run=run&from=${2 * steps - 1}`);
  expect(rest.lines).toEqual(all.lines.slice(-1));
  expect(rest.lines[0]).toMatchObject({ type: 'update', step: steps });
});

describe('episodes', () => {
  it.each([
    ['', episodes],
    ['step=2..3', 2 * episodesPerStep],
    ['mistake=unknown_tool', episodes / 16],
    ['tool=fetch', episodes / 16],
    ['outcome=truncated', episodes / 32],
    ['outcome=truncated:max_turns&step=1', episodesPerStep / 32],
    ['task=0&step=1', 24],
    ['step=2&group=7', 8],
    ['text=DOCUMENT 7 of step 3', 1],
    ['text=who founded', episodes / 3],
    ['text=envs-qa', 0],
  ])('%s', async (query, total) => {
    expect(await ask('/api/episodes', `run=run&${query}`)).toMatchObject({ total, of: episodes });
  });

  it('come in the order that is asked for, in parts', async () => {
    const { rows } = await ask('/api/episodes', 'run=run&sort=-reward&from=10&count=5');
    expect(rows).toHaveLength(5);
    const all = (await ask('/api/episodes', 'run=run&sort=-reward&count=1000')).rows;
    expect(all.slice(10, 15)).toEqual(rows);
    expect(all.map(({ reward }) => reward)).toEqual(all.map(({ reward }) => reward).sort((a, b) => b! - a!));
  });

  it('are counted by what filters ask for', async () => {
    const { facets } = await ask('/api/episodes', 'run=run');
    expect(facets).toEqual({
      outcomes: { 'terminated:answered': episodes - episodes / 32, 'truncated:max_turns': episodes / 32 },
      mistakes: { unknown_tool: episodes / 16 },
      tools: { search: episodes - episodes / 16, fetch: episodes / 16 },
      damaged: 0,
    });
  });

  it('have their tokens’ texts and what was learned of them', async () => {
    const { episode, texts, learned } = await ask('/api/episode', 'run=run&number=3');
    expect(episode.episodeId).toBe('1-0-3');
    const [first, second] = texts.turns;
    expect(first).toMatchObject({
      goesOn: true,
      sampled: ['t100', 't101', 't102', 't103', 't104', 't105', 't106', 't107'],
    });
    expect(first!.context).toHaveLength(30);
    // The prompt of the second turn does not begin with the sampled tokens.
    expect(second).toMatchObject({ goesOn: false });
    expect(learned[1]!.entropies).toEqual([0, 0.5, 1, 1.5, 2]);
  });

  it('of other programs: damaged and half-written lines are left out, escapes are read', async () => {
    const list = await ask('/api/episodes', 'run=other.jsonl');
    expect(list).toMatchObject({ total: 1, facets: { damaged: 1 } });
    expect(await ask('/api/episodes', 'run=other.jsonl&text=QUIÉN')).toMatchObject({ total: 1 });
    const { texts } = await ask('/api/episode', 'run=other.jsonl&number=0');
    expect(texts.note).toBe('no tokenizer');
    expect(texts.turns[1]!.sampled).toEqual(['100 ', '101 ', '102 ', '103 ', '104 ']);
  });
});

describe('refusals', () => {
  it.each([
    ['api/episodes?run=nobody', 400, 'There is no run "nobody": give run, other.jsonl.'],
    ['api/episodes?run=run&sort=size', 400, 'sort size: give number, step, reward'],
    ['api/episodes?run=run&from=-1', 400, 'from=-1: give a whole number from 0.'],
    ['api/episodes?run=run&mistake=x', 400, 'mistake x: give malformed_call'],
    ['api/episode?run=run&number=100000', 400, 'run has no episode 100000.'],
    ['nothing.html', 404, 'There is no such page.'],
    ['..%2f..%2fpackage.json', 404, 'There is no such page.'],
  ])('%s', async (path, status, message) => {
    const response = await fetch(view.url + path);
    expect([response.status, ((await response.json()) as { message: string }).message]).toEqual([
      status,
      expect.stringContaining(message),
    ]);
  });

  it('a page of another host, and methods that change something', async () => {
    const { port } = new URL(view.url);
    const status = (options: object) =>
      new Promise((resolve, reject) => {
        const asked = request({ host: '127.0.0.1', port, path: '/api/runs', ...options }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        asked.on('error', reject).end();
      });
    expect(await status({})).toBe(200);
    expect(await status({ headers: { host: 'rebound.example' } })).toBe(403);
    expect(await status({ headers: { origin: 'https://other.example' } })).toBe(403);
    expect(await status({ headers: { origin: 'http://localhost:1' } })).toBe(403);
    expect(await status({ headers: { origin: new URL(view.url).origin } })).toBe(200);
    expect(await status({ path: '//' })).toBe(404);
    expect(await status({ method: 'POST' })).toBe(405);
  });

  it('keeps the page from loading anything from elsewhere', async () => {
    const { headers } = await fetch(`${view.url}api/runs`);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'self'; .*frame-ancestors 'none'$/);
  });
});

describe('notes', () => {
  const post = async (body: object, headers: object = {}) => {
    const sent = { 'content-type': 'application/json', ...headers };
    const response = await fetch(`${view.url}api/notes`, {
      method: 'POST',
      headers: sent,
      body: JSON.stringify(body),
    });
    return [response.status, ((await response.json()) as { message?: string }).message] as const;
  };
  const notes = async () => (await ask('/api/runs')).find(({ name }) => name === 'run')!.notes;
  const file = () => join(folder, 'run', 'notes.json');

  it('are written beside the records, which stay as they are', async () => {
    const records = ['config.json', 'metrics.jsonl', 'trajectories.jsonl'].map((name) =>
      join(folder, 'run', name),
    );
    const read = () => Promise.all(records.map((each) => readFile(each, 'utf8')));
    const before = await read();
    expect(await notes()).toBeUndefined();
    const written = { note: 'the run of\nthe paper', tags: ['best', 'paper', 'best'] };
    expect(await post({ run: 'run', notes: written })).toEqual([200, undefined]);
    expect(await notes()).toEqual({ note: written.note, tags: ['best', 'paper'] });
    expect(JSON.parse(await readFile(file(), 'utf8'))).toEqual({
      note: written.note,
      tags: ['best', 'paper'],
    });
    expect(await read()).toEqual(before);
  });

  it.each([
    ['no notes', undefined, /^Notes are \{note, tags\}/],
    ['a tag with a space', { note: '', tags: ['a b'] }, /tags\/0/],
    ['too long a text', { note: 'x'.repeat(10_001), tags: [] }, /10,000 characters/],
    ['another field', { note: '', tags: [], file: '/etc/passwd' }, /file/],
  ])('are refused: %s', async (_, given, message) => {
    const before = await notes();
    expect(await post({ run: 'run', notes: given })).toEqual([400, expect.stringMatching(message)]);
    expect(await notes()).toEqual(before);
  });

  it('are refused for a run that is not there or a file, and from another page', async () => {
    const empty = { note: '', tags: [] };
    expect(await post({ run: '../run', notes: empty })).toEqual([
      400,
      expect.stringMatching(/There is no run/),
    ]);
    expect(await post({ run: 'other.jsonl', notes: empty })).toEqual([
      400,
      expect.stringMatching(/is a file/),
    ]);
    const other = { origin: 'https://other.example' };
    expect((await post({ run: 'run', notes: empty }, other))[0]).toBe(403);
  });

  it('that cannot be read are none: a pipe, and a file of something else', async () => {
    await rm(file());
    execFileSync('mkfifo', [file()]);
    expect(await notes()).toBeUndefined();
    await rm(file());
    await writeFile(file(), '{"note": 1}');
    expect(await notes()).toBeUndefined();
    await rm(file());
  });
});
