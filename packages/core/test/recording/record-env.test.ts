/** Taps record the tools of a whole environment into one file, and replay them without making the tools. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ToolEnv } from '../../src/env/tool-env.ts';
import { type EnvDefinition, openEnv, type Tool, text } from '../../src/index.ts';
import { encodeTrajectory, recordEnv, replayEnv, type ToolTap } from '../../src/recording/index.ts';
import { climb, LadderEnv, ladderSpec, openLadder, type Rung } from '../ladder-env.ts';
import { climber, play } from '../ladder-play.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-record-env-'));
});
afterAll(() => rm(folder, { recursive: true }));

let files = 0;
const newFile = () => join(folder, `recording-${files++}.jsonl`);

type Opening = Parameters<EnvDefinition<Rung>['open']>[0];

function define(
  roles: Record<string, string>,
  open: (opening: Opening) => Promise<ReturnType<typeof openLadder>>,
): EnvDefinition<Rung> {
  const { name, rewards, limits } = ladderSpec;
  return { name, description: name, options: { type: 'object' }, rewards, limits, roles, open };
}

/** Answers a new number each time: nothing but a recording can answer it again. */
function luckyClimb(name = 'climb'): Tool {
  return { ...climb, name, execute: async () => text(`${name} ${Math.random()}`) };
}

/** Its tool has the role `ladder`. */
const ofRole = define({ ladder: 'no-such-package/ladder-v1' }, async ({ tools }) => {
  const tool = await tools.ladder!('oak');
  return openLadder(() => new LadderEnv(tool));
});

async function run(definition: EnvDefinition<Rung>, tap: ToolTap, make: () => Tool, goals = [1, 3, 2]) {
  const env = await openEnv(definition, {}, { tap, tools: toolsOf(definition, make) });
  const played = await play(env, climber(), goals);
  await env.close();
  await tap.finish();
  return played.map((trajectory) => encodeTrajectory(trajectory).replaceAll(/"milliseconds":[\d.e-]+/g, ''));
}

function toolsOf(definition: EnvDefinition<Rung>, make: () => Tool) {
  return Object.fromEntries(Object.keys(definition.roles).map((role) => [role, async () => make()]));
}

function never(): Tool {
  throw new Error('a replay made the tool');
}

test('a run with the tool of a role replays without making the tool', async () => {
  const file = newFile();
  const recorded = await run(ofRole, recordEnv(file), luckyClimb);
  const [header, ...calls] = (await readFile(file, 'utf8')).trimEnd().split('\n');
  expect(JSON.parse(header!)).toMatchObject({
    recording: 'tools',
    tools: [{ role: 'ladder', name: 'climb' }],
  });
  expect(calls).toHaveLength(6);

  expect(await run(ofRole, await replayEnv(file), never)).toEqual(recorded);
  // Not even the plugin of the role's default is looked for.
  const env = await openEnv(ofRole, {}, { tap: await replayEnv(file) });
  await env.close();
  await expect(run(ofRole, await replayEnv(file), never, [1, 3])).rejects.toThrow(
    'recorded calls that were not made: 2\n  episode 1-2-0, call 0: climb({"rungs":1})',
  );
});

test('tools of one name in two roles answer for their own role', async () => {
  const both = define({ left: '', right: '' }, async ({ tools }) => {
    const [left, right] = [await tools.left!('l'), await tools.right!('r')];
    return openLadder(
      () =>
        new LadderEnv(
          {
            ...left,
            execute: async (...call) => {
              const [first, second] = [await left.execute(...call), await right.execute(...call)];
              return { content: [...first.content, ...second.content] };
            },
          },
          { maxToolCharacters: 200 },
        ),
    );
  });
  const file = newFile();
  let made = 0;
  const recorded = await run(both, recordEnv(file), () => ({ ...luckyClimb(), description: `${made++}` }));
  const header = JSON.parse((await readFile(file, 'utf8')).split('\n')[0]!);
  expect(header.tools).toMatchObject([
    { role: 'left', description: '0' },
    { role: 'right', description: '1' },
  ]);
  expect(await run(both, await replayEnv(file), never)).toEqual(recorded);
});

test('an environment that opens its tools itself records them through the tap', async () => {
  const counts = { opened: 0, acquired: 0, released: 0, closed: 0 };
  const ofSource = define({}, async ({ tap }) => {
    const open = async () => {
      counts.opened += 1;
      return {
        async acquire() {
          counts.acquired += 1;
          return { tools: [luckyClimb()], release: async () => void counts.released++ };
        },
        close: async () => void counts.closed++,
      };
    };
    const source = await tap!.source(open);
    const leased = () =>
      new ToolEnv<Rung>({
        spec: ladderSpec,
        rewards: ladderSpec.rewards,
        async episode({ task: { goal } }) {
          const lease = await source.acquire();
          return {
            messages: `Climb to ${goal}.`,
            tools: lease.tools,
            onAnswer: () => ({ rewards: { right: 1 }, end: 'answered' }),
            close: () => lease.release(),
          };
        },
      });
    const handle = openLadder(leased);
    return Object.assign(handle, { close: () => source.close() });
  });
  const file = newFile();
  const recorded = await run(ofSource, recordEnv(file), never);
  // Once more than episodes, to list the tools.
  expect(counts).toEqual({ opened: 1, acquired: 4, released: 4, closed: 1 });
  expect(await run(ofSource, await replayEnv(file), never)).toEqual(recorded);
  expect(counts.opened).toBe(1);
});

test('an environment whose tools cannot be recorded is refused and closed', async () => {
  let closed = 0;
  const own = define({}, async () => Object.assign(openLadder(), { close: async () => void closed++ }));
  const file = newFile();
  const refusal = {
    code: 'usage.not_recordable',
    message: expect.stringContaining('name its tools as roles'),
  };
  await expect(run(own, recordEnv(file), never)).rejects.toMatchObject(refusal);
  expect(existsSync(file)).toBe(false);

  await run(ofRole, recordEnv(file), luckyClimb);
  await expect(run(own, await replayEnv(file), never)).rejects.toMatchObject(refusal);
  expect(closed).toBe(2);
});

test('the file appears with the first call or the end, and never replaces another file', async () => {
  const file = newFile();
  const broken = define({ ladder: '' }, async () => {
    throw new Error('cannot open');
  });
  await expect(run(broken, recordEnv(file), luckyClimb)).rejects.toThrow('cannot open');
  expect(existsSync(file)).toBe(false);

  const late = recordEnv(file);
  await run(ofRole, recordEnv(file), luckyClimb, []);
  await run(ofRole, await replayEnv(file), never, []);
  expect(() => recordEnv(file)).toThrow(`${file} exists already: record into another file, or remove it.`);
  // Even if it appeared meanwhile.
  await expect(run(ofRole, late, luckyClimb, [])).rejects.toMatchObject({ code: 'usage.recording_exists' });
});

test('wrong recordings are refused by name', async () => {
  const file = newFile();
  await expect(replayEnv(file)).rejects.toThrow(`There is no recording ${file}`);
  await run(ofRole, recordEnv(file), luckyClimb);
  const other = define({ stairs: '' }, async ({ tools }) => {
    const tool = await tools.stairs!('oak');
    return openLadder(() => new LadderEnv(tool));
  });
  await expect(run(other, await replayEnv(file), never)).rejects.toThrow('has no tool of the role "stairs"');
});

test('a tool that comes after the first call is refused', async () => {
  const tap = recordEnv(newFile());
  const first = await tap.tool('a', async () => luckyClimb());
  await tap.finish();
  await expect(tap.tool('b', async () => luckyClimb())).rejects.toMatchObject({ code: 'usage.late_tool' });
  // The same role again is no new tool.
  expect((await tap.tool('a', async () => luckyClimb())).name).toBe(first.name);
});
