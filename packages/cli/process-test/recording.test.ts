/** `--record` and `--replay`: real runs of the tiny policy, whose searches are answered again without an index. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { withoutTimes } from '../../training/test/timeless.ts';
import { runProgram } from '../src/program.ts';
import { fixture } from '../test/fixture.ts';
import { startCli } from '../test/start-cli.ts';

const root = join(import.meta.dirname, '../../..');
const checkpoint = join(root, 'packages/checkpoints/tiny');
/** A tool that is not installed: a run that makes its tools fails. */
const noTool = ['--tool', 'search=nobody/nothing-v1'];

const before = process.cwd();
let folder: string;
let files = 0;
const newPath = (name: string) => join(folder, `${files++}-${name}`);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-recording-'));
  process.chdir(fixture.folder);
});
beforeEach(() => {
  for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, 'write').mockReturnValue(true);
});
afterAll(async () => {
  process.chdir(before);
  await rm(folder, { recursive: true });
});

function run(...argv: string[]): Promise<void> {
  return runProgram(argv, new AbortController().signal);
}

/** The lines of a file, sorted and without times: episodes end in an order that depends on the machine. */
async function linesOf(file: string): Promise<string[]> {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  return lines.map(withoutTimes).sort();
}

describe('eval', () => {
  const task = ['eval', '@toolenv/envs-qa/bridge-v1', '--policy', checkpoint, '--env-option', 'topK=2'];
  const args = [...task, '--count', '16', '--temperature', '1', '--max-tokens', '64'];
  let recording: string;
  let recorded: string[];

  beforeAll(async () => {
    recording = newPath('recording.jsonl');
    const out = newPath('recorded');
    await run(...args, '--record', recording, '--out', out);
    recorded = await linesOf(join(out, 'trajectories.jsonl'));
  });

  it('replays to the same episodes, without the tool', async () => {
    const [header, ...calls] = (await readFile(recording, 'utf8')).trimEnd().split('\n');
    expect(JSON.parse(header!)).toMatchObject({ tools: [{ role: 'search', name: 'search' }] });
    expect(calls.length).toBeGreaterThan(6);
    await expect(run(...args, ...noTool)).rejects.toThrow('Unknown tool "nobody/nothing-v1"');

    const out = newPath('replayed');
    await run(...args, ...noTool, '--replay', recording, '--out', out);
    expect(await linesOf(join(out, 'trajectories.jsonl'))).toEqual(recorded);
  });

  it.each([
    ['another seed', ['--seed', '2', '--env-option', 'worldSeed=1'], 'recorded nothing, now search('],
    ['another temperature', ['--temperature', '0'], 'The replay differs from the recording'],
    ['fewer episodes', ['--count', '9'], 'recorded calls that were not made'],
  ])('ends at the first difference: %s', async (_, flags, message) => {
    const replay = run(...args, ...flags, '--replay', recording);
    await expect(replay).rejects.toMatchObject({
      code: 'bug.replay_divergence',
      message: expect.stringContaining(message),
    });
  });

  it('shows a difference without a stack, with exit code 1', async () => {
    const { code, stdout, stderr } = await startCli([...args, '--seed', '2', '--replay', recording]).finished;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('toolenv: The replay differs from the recording: ');
    expect(stderr).not.toContain('    at ');
  });

  it('refuses files that are there, not there, or half-written', async () => {
    const usage = (text: string) => ({ code: expect.stringMatching(/^usage\./), message: text });
    await expect(run(...args, '--record', recording)).rejects.toMatchObject(
      usage(`${recording} exists already: record into another file, or remove it.`),
    );
    await expect(run(...args, '--replay', newPath('none'))).rejects.toThrow('There is no recording');
    const half = newPath('half.jsonl');
    await writeFile(half, await readFile(recording));
    await truncate(half, (await readFile(half)).length - 9);
    await expect(run(...args, '--replay', half)).rejects.toThrow(
      /half\.jsonl:\d+: not a complete JSON record .* remove that line/,
    );
  });

  it('refuses an environment that makes its tools itself', async () => {
    const file = newPath('lamp.jsonl');
    const lamp = ['eval', fixture.env, '--policy', fixture.policy];
    await expect(run(...lamp, '--record', file)).rejects.toThrow(
      'fixture-plugin/lamp-v1 makes its tools itself',
    );
    expect(existsSync(file)).toBe(false);
  });
});

it('train replays to the same weights and resumes into a new recording', async () => {
  const task = ['@toolenv/envs-qa/bridge-v1', '--policy', checkpoint, '--env-option', 'topK=2'];
  const size = ['--tasks-per-step', '2', '--group-size', '8', '--max-tokens', '32', '--temperature', '1.2'];
  const train = async (out: string, steps: number, ...flags: string[]) => {
    const all = [...size, '--steps', String(steps), '--checkpoint-every', '1', '--out', out, ...flags];
    await run('train', ...task, ...all);
    return readFile(join(out, `checkpoints/step-${steps}/model.safetensors`));
  };
  const [first, second, more] = [newPath('a.jsonl'), newPath('b.jsonl'), newPath('c.jsonl')];
  const out = newPath('run');
  const weights = await train(out, 1, '--record', first);
  expect((await train(newPath('run'), 1, '--record', second)).equals(weights)).toBe(true);
  expect(await linesOf(second)).toEqual(await linesOf(first));
  expect((await linesOf(first)).length).toBeGreaterThan(8);
  expect(weights.equals(await readFile(join(checkpoint, 'model.safetensors')))).toBe(false);
  expect((await train(newPath('run'), 1, '--replay', first)).equals(weights)).toBe(true);

  await expect(train(out, 2, '--resume', '--record', first)).rejects.toMatchObject({
    code: 'usage.recording_exists',
  });
  const resumed = await train(out, 2, '--resume', '--record', more);
  // What the second step called, and nothing of the first.
  const through = newPath('through.jsonl');
  expect((await train(newPath('run'), 2, '--record', through)).equals(resumed)).toBe(true);
  const all = await linesOf(through);
  expect([...new Set([...(await linesOf(first)), ...(await linesOf(more))])].sort()).toEqual([
    ...new Set(all),
  ]);
});
