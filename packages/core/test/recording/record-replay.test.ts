import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  collect,
  createRng,
  type Policy,
  rollout,
  scriptedPolicy,
  type Tool,
  type ToolContext,
  ToolEnvError,
  text,
} from '../../src/index.ts';
import { encodeTrajectory, recordTools, replayTools } from '../../src/recording/index.ts';
import { climb, LadderEnv, openLadder, type Rung } from '../ladder-env.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-record-'));
});
afterAll(() => rm(folder, { recursive: true }));

let files = 0;
const newFile = () => join(folder, `recording-${files++}.jsonl`);

function context(episodeId: string, callIndex: number, signal = new AbortController().signal): ToolContext {
  return { signal, rng: createRng(1), episodeId, callIndex };
}

function tool(name: string, execute: Tool['execute']): Tool {
  return { name, description: name, inputSchema: { type: 'object' }, execute };
}

/** Echoes its arguments, and counts how often it was asked. */
function echo(): Tool & { asked: number } {
  const counting = {
    ...tool('echo', async (args) => {
      counting.asked += 1;
      return { ...text(JSON.stringify(args)), structuredContent: args };
    }),
    asked: 0,
  };
  return counting;
}

/** A file of what `echo` was asked in one episode. */
async function recordingOf(...asked: Record<string, unknown>[]): Promise<string> {
  const file = newFile();
  const [recorder] = await recordTools([echo()], file);
  for (const [index, args] of asked.entries()) await recorder!.execute(args, context('e', index));
  return file;
}

async function play(climbTool: Tool, policy: Policy, concurrency = 8): Promise<string[]> {
  const episodes = Array.from({ length: 24 }, (_, i) => ({
    task: { goal: 3 },
    group: i >> 1,
    sample: i % 2,
  }));
  const env = openLadder(() => new LadderEnv(climbTool));
  const sampling = { maxTokens: 9, temperature: 1 };
  const played = await collect(
    rollout<Rung>({ env, policy, episodes, concurrency, seed: 5, sampling, retries: 0 }),
  );
  return played.map((trajectory) => encodeTrajectory(trajectory).replaceAll(/"milliseconds":[\d.e-]+/g, ''));
}

/** Two calls in the first two turns, so that they overlap; which ones depends on what the tool said. */
const wanderer = () =>
  scriptedPolicy(({ messages }, turn) => {
    if (turn >= 2) return 'done';
    const rungs = 1 + ((messages.at(-1)!.content.length + turn) % 3);
    const wrong = { name: 'climb', arguments: { rungs: 0 } };
    return [
      turn === 1 ? wrong : { name: 'climb', arguments: { rungs } },
      { name: 'climb', arguments: { rungs: 9 } },
    ];
  });

test('a recorded run of concurrent episodes replays without the tool, bit for bit', async () => {
  const jitter = createRng(Math.floor(Math.random() * 1e9));
  let asked = 0;
  const machinery: Tool = {
    ...climb,
    async execute({ rungs }, { rng }) {
      asked += 1;
      await sleep(jitter.int(5));
      const luck = rng.float();
      if (luck < 0.1) throw new Error(`slipped at ${luck}`);
      if (luck < 0.2) throw new ToolEnvError('infrastructure.ladder', 'The ladder broke.');
      // A new number each time: nothing but the recording can answer it again.
      return {
        ...text(`${rungs} ${Math.random()} \u2028 😀`),
        structuredContent: { luck, deep: [{ a: -1.5e-7 }] },
      };
    },
  };
  const file = newFile();
  const [recorder] = await recordTools([machinery], file);
  const recorded = await play(recorder!, wanderer());
  await recorder!.close!();
  expect(asked).toBeGreaterThan(40);
  expect(recorded.filter((line) => line.includes('"aborted"')).length).toBeGreaterThan(2);

  const before = asked;
  const replay = await replayTools(file);
  expect(replay.tools).toMatchObject([
    { name: 'climb', description: climb.description, inputSchema: climb.inputSchema },
  ]);
  expect(await play(replay.tools[0]!, wanderer(), 3)).toEqual(recorded);
  expect(() => replay.finish()).not.toThrow();
  expect(asked).toBe(before);
});

test('the key of a call is its episode, index, tool and sorted arguments', async () => {
  const file = await recordingOf({ b: [{ d: 1, c: 2 }], a: 'x' });
  const [header, call] = (await readFile(file, 'utf8')).trimEnd().split('\n');
  expect(JSON.parse(header!)).toMatchObject({ recording: 'tools', version: 1, tools: [{ name: 'echo' }] });
  expect(call).toContain(
    '{"episode":"e","take":0,"call":0,"tool":"echo","arguments":{"a":"x","b":[{"c":2,"d":1}]},',
  );

  const { tools } = await replayTools(file);
  const again = await tools[0]!.execute({ a: 'x', b: [{ c: 2, d: 1 }] }, context('e', 0));
  expect(again.structuredContent).toEqual({ b: [{ d: 1, c: 2 }], a: 'x' });
});

test('a changed argument is a divergence that says where', async () => {
  const file = await recordingOf({ query: `${'x'.repeat(200)} river`, filter: { year: 1 } });
  const { tools } = await replayTools(file);
  const changed = { query: `${'x'.repeat(200)} mountain`, filter: { year: 2 }, k: 3 };
  const failure = tools[0]!.execute(changed, context('e', 0));
  await expect(failure).rejects.toMatchObject({ code: 'bug.replay_divergence' });
  await expect(failure).rejects.toThrow(
    [
      `The replay differs from the recording: ${file}: episode e, call 0: other arguments of "echo":`,
      '  /filter/year: recorded 1, now 2',
      `  /query: recorded …${'x'.repeat(19)} river", now …${'x'.repeat(19)} mountain"`,
      '  /k: recorded nothing, now 3',
    ].join('\n'),
  );
});

test('a divergence ends a rollout, and is no fault of the infrastructure', async () => {
  const file = newFile();
  const [recorder] = await recordTools([climb], file);
  const one = (rungs: number) =>
    scriptedPolicy((_, turn) => (turn > 0 ? 'done' : [{ name: 'climb', arguments: { rungs } }]));
  await play(recorder!, one(1));
  const { tools } = await replayTools(file);
  await expect(play(tools[0]!, one(2))).rejects.toThrow('/rungs: recorded 1, now 2');
});

test('another order, a further call, a missing call: each is a divergence', async () => {
  const file = await recordingOf({ q: 'a' }, { q: 'b' });
  const asking = async (...calls: [index: number, q: string, episode?: string][]) => {
    const replay = await replayTools(file);
    for (const [index, q, episode = 'e'] of calls)
      await replay.tools[0]!.execute({ q }, context(episode, index));
    replay.finish();
  };
  await expect(asking([0, 'a'], [1, 'b'])).resolves.toBeUndefined();
  await expect(asking([0, 'b'], [1, 'a'])).rejects.toThrow(
    'call 0: other arguments of "echo":\n  /q: recorded "a", now "b"',
  );
  await expect(asking([0, 'a'], [1, 'b'], [2, 'c'])).rejects.toThrow(
    'call 2: recorded nothing, now echo({"q":"c"})',
  );
  await expect(asking([1, 'b'])).rejects.toThrow('call 1: call 0 was not made: recorded echo({"q":"a"})');
  await expect(asking([0, 'a'])).rejects.toThrow(
    'recorded calls that were not made: 1\n  episode e, call 1: echo({"q":"b"})',
  );
  await expect(asking([0, 'a', 'f'])).rejects.toThrow(
    'episode f, call 0: recorded nothing, now echo({"q":"a"})',
  );
});

test('another tool is a divergence', async () => {
  const file = newFile();
  const [one] = await recordTools([echo(), tool('other', async () => text('o'))], file);
  await one!.execute({ q: 1 }, context('e', 0));
  const { tools } = await replayTools(file);
  await expect(tools[1]!.execute({ q: 1 }, context('e', 0))).rejects.toThrow(
    'recorded echo({"q":1}), now other({"q":1})',
  );
});

test('an episode that is played again has its own answers', async () => {
  const file = newFile();
  let count = 0;
  const [recorder] = await recordTools([tool('count', async () => text(String(count++)))], file);
  const twice = async (counter: Tool) => {
    const said = [];
    for (const index of [0, 2, 0, 1]) {
      const { content } = await counter.execute({}, context('e', index));
      said.push((content[0] as { text: string }).text);
    }
    return said;
  };
  expect(await twice(recorder!)).toEqual(['0', '1', '2', '3']);
  expect(await twice((await replayTools(file)).tools[0]!)).toEqual(['0', '1', '2', '3']);
  expect(count).toBe(4);
});

test('a call that was given up waits to be given up again; one that timed out fails at once', async () => {
  const file = newFile();
  const [recorder] = await recordTools([tool('hang', () => new Promise(() => {}))], file);
  const late = new ToolEnvError('infrastructure.tool_timeout', 'too late');
  const giveUp = async (hanging: Tool, callIndex: number, reason: unknown) => {
    const controller = new AbortController();
    const call = hanging.execute({}, context('e', callIndex, controller.signal));
    const first = await Promise.race([call.catch(() => 'failed'), sleep(20, 'waits')]);
    controller.abort(reason);
    await expect(call).rejects.toMatchObject({ message: (reason as Error).message });
    return first;
  };
  expect(await giveUp(recorder!, 0, new Error('enough'))).toBe('waits');
  expect(await giveUp(recorder!, 1, late)).toBe('waits');
  const { tools } = await replayTools(file);
  expect(await giveUp(tools[0]!, 0, new Error('enough'))).toBe('waits');
  expect(await giveUp(tools[0]!, 1, late)).toBe('failed');
});

test('secrets and environment variables do not reach the file, and replay all the same', async () => {
  process.env.TOOLENV_TEST_API_KEY = 'value-of-a-key-variable';
  process.env.TOOLENV_TEST_PLAIN = 'value-of-a-plain-variable';
  try {
    const file = newFile();
    const named = 'hunter2-of-the-caller';
    const leaky = tool('leaky', async ({ headers }) => ({
      ...text(
        `env: ${JSON.stringify(process.env, null, 2)}\nused ${process.env.TOOLENV_TEST_API_KEY}; ${named}`,
      ),
      structuredContent: { headers, nested: [{ apiKey: 'k-1', pages: 3, nextPageToken: 'page-2' }] },
    }));
    const [recorder] = await recordTools([{ ...leaky, description: `Say ${named}.` }], file, {
      redact: { values: [named, /card \d+/] },
    });
    const args = {
      headers: { Authorization: 'Bearer abc.def', Accept: 'text' },
      note: `card 4111 and ${named}`,
      token: 12345,
    };
    const live = await recorder!.execute(args, context('e', 0));
    expect(JSON.stringify(live)).toContain(named);

    const written = await readFile(file, 'utf8');
    for (const secret of ['abc.def', 'k-1', '4111', '12345', named, 'key-variable', 'plain-variable']) {
      expect(written).not.toContain(secret);
    }
    for (const [name, value] of Object.entries(process.env)) {
      if (value)
        expect(written).not.toContain(JSON.stringify(`"${name}": ${JSON.stringify(value)}`).slice(1, -1));
    }
    const [, line] = written.trimEnd().split('\n');
    expect(JSON.parse(line!)).toMatchObject({
      arguments: {
        headers: { Accept: 'text', Authorization: '[redacted]' },
        note: '[redacted] and [redacted]',
        token: '[redacted]',
      },
      result: {
        structuredContent: { nested: [{ apiKey: '[redacted]', pages: 3, nextPageToken: 'page-2' }] },
      },
    });

    const { tools } = await replayTools(file);
    const other = {
      ...args,
      headers: { Authorization: 'Bearer another', Accept: 'text' },
      note: 'card 7 and else',
    };
    expect((await tools[0]!.execute(other, context('e', 0))).structuredContent).toMatchObject({
      headers: { Accept: 'text' },
    });
    const diverging = await replayTools(file);
    await expect(diverging.tools[0]!.execute({ ...args, note: 'cards 7' }, context('e', 0))).rejects.toThrow(
      '/note: recorded "[redacted] and [redacted]", now "cards 7"',
    );
  } finally {
    delete process.env.TOOLENV_TEST_API_KEY;
    delete process.env.TOOLENV_TEST_PLAIN;
  }
});

test('a half-written last line is refused by name, or left out if asked', async () => {
  const whole = await readFile(await recordingOf({ q: 'a' }, { q: 'é' }), 'utf8');
  const lastLine = Buffer.byteLength(whole.slice(0, whole.trimEnd().lastIndexOf('\n') + 1));
  const { length } = Buffer.from(whole);
  for (let cut = lastLine + 1; cut < length - 1; cut += 7) {
    const file = newFile();
    await writeFile(file, whole);
    await truncate(file, cut);
    await expect(replayTools(file)).rejects.toMatchObject({
      code: 'usage.broken_record',
      message: expect.stringMatching(/recording-\d+\.jsonl:3: not a complete JSON record .*skipHalfWritten/),
    });
    const { tools } = await replayTools(file, { skipHalfWritten: true });
    expect((await tools[0]!.execute({ q: 'a' }, context('e', 0))).structuredContent).toEqual({ q: 'a' });
    await expect(tools[0]!.execute({ q: 'é' }, context('e', 1))).rejects.toThrow('call 1: recorded nothing');
  }
});

test('a broken line in the middle, another kind of file and another version are refused', async () => {
  const lines = (await readFile(await recordingOf({ q: 'a' }, { q: 'b' }), 'utf8')).trimEnd().split('\n');
  const reading = async (...written: string[]) => {
    const file = newFile();
    await writeFile(file, written.join('\n'));
    return replayTools(file, { skipHalfWritten: true });
  };
  await expect(reading(lines[0]!, lines[1]!.slice(0, 30), lines[2]!)).rejects.toThrow(
    /:2: not a complete JSON record/,
  );
  await expect(reading(lines[1]!)).rejects.toThrow(/:1\/recording: .* Is it a recording\?/);
  await expect(reading('{"recording":"tools","version":2,"tools":[]}')).rejects.toMatchObject({
    code: 'usage.record_version',
  });
  await expect(reading('')).rejects.toThrow(/is empty/);
});

test('a recording is not written over', async () => {
  const file = await recordingOf({ q: 'a' });
  await expect(recordTools([echo()], file)).rejects.toMatchObject({ code: 'usage.recording_exists' });
});

test('closing the recorders closes their tools', async () => {
  let closed = 0;
  const close = async () => {
    closed += 1;
  };
  const [recorder] = await recordTools([{ ...echo(), close }], newFile());
  await recorder!.close!();
  expect(closed).toBe(1);
});
