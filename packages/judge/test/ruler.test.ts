/** ruler-v1: a judge compares the episodes of a group, and a resumed run hears the same verdicts. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineToolEnv, type Policy, playTask, scriptedPolicy } from '@toolenv/core';
import { definePolicy } from '@toolenv/core/plugins';
import { assertConforms, checkPolicy, checkScorer } from '@toolenv/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { banditRun } from '../../training/test/bandit-run.ts';
import ruler, { type RulerOptions } from '../src/ruler-v1.ts';
import standIn from '../src/stand-in-v1.ts';
import { linesOf } from './judge-server.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ruler-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A judge of this process: `ruler` takes policies as it takes names. */
function withJudge(judge: Policy) {
  const definition = definePolicy({ name: 'judge', description: '', options: {}, open: async () => judge });
  return {
    ...ruler,
    begin: (run: Parameters<typeof ruler.begin>[0], options: RulerOptions) =>
      ruler.begin(run, { ...options, judge: definition as unknown as string }),
  };
}

const cities = defineToolEnv({
  name: 'cities-v1',
  description: 'Name a city.',
  tasks: { train: [{}] },
  rewards: { said: { kind: 'outcome', score: ({ answer }) => Number(answer !== undefined) } },
  episode: () => ({ messages: 'Name a city.' }),
});

async function group(...answers: string[]) {
  const played = answers.map((answer) => playTask(cities, {}, [answer]));
  return (await Promise.all(played)).map((episode, sample) => ({ ...episode, sample }));
}

const options = {
  judgePrompt: 'Compare.',
  judgeConcurrency: 1,
  judgeMaxTokens: 100,
  judgeTimeout: 1000,
  judgeCharacters: 1000,
};

test('equal episodes are read once and score the same; the judge reads the task once', async () => {
  const asked: string[] = [];
  const judge = scriptedPolicy(({ messages: [system, material] }) => {
    asked.push(material!.content);
    return linesOf({ system: system!.content })
      .map((line, n) => `${line} ${n / 2}`)
      .join('\n');
  });
  const open = await withJudge(judge).begin({ folder, seed: 1 }, options);
  const scores = await open.score(await group('Paris', 'Rome', 'Paris'), {});
  expect(scores.map(({ value }) => value)).toEqual([0, 0.5, 0]);
  expect(scores[1]!.text).toBe('as episode 2.');
  expect(scores.map(({ usage }) => usage?.requests)).toEqual([1, undefined, undefined]);
  expect(asked).toHaveLength(1);
  expect(asked[0]!.match(/Name a city\./g)).toHaveLength(1);
  expect(asked[0]!.match(/Paris/g)).toHaveLength(1);
  expect(asked[0]).toContain('end: terminated: answered');
  await open.close?.();
});

test('a verdict too few is no verdict', async () => {
  const judge = scriptedPolicy(({ messages: [system] }) => `${linesOf({ system: system!.content })[0]} 1`);
  const open = await withJudge(judge).begin({ folder, seed: 1 }, options);
  await expect(open.score(await group('Paris', 'Rome'), {})).rejects.toMatchObject({
    code: 'infrastructure.judge_verdict',
  });
});

test('a long episode is cut in its middle', async () => {
  let material = '';
  const judge = scriptedPolicy(({ messages }) => {
    material = messages[1]!.content;
    return `${linesOf({ system: messages[0]!.content })[0]} 1`;
  });
  const open = await withJudge(judge).begin({ folder, seed: 1 }, options);
  await open.score(await group(`begin ${'x'.repeat(5000)} end`), {});
  expect(material).toMatch(/begin x+\n\[4\d+ characters left out\]\nx+ end/);
  expect(material.length).toBeLessThan(1500);
});

test('it conforms, and so does its stand-in', async () => {
  await assertConforms(checkScorer(ruler));
  await assertConforms(checkPolicy(await standIn.open({}, { seed: 1 })));
});

test('without a judge, it says how to name one', async () => {
  await expect(ruler.begin({ folder, seed: 1 }, options)).rejects.toMatchObject({ code: 'usage.no_judge' });
});

/** A judge whose verdicts differ each time that it is asked, as those of real servers do. */
function moody() {
  let asked = 0;
  const judge = scriptedPolicy(({ messages: [system] }) =>
    linesOf({ system: system!.content })
      .map((line) => `${line} ${((asked++ * 7919) % 101) / 100}`)
      .join('\n'),
  );
  return { judge, asked: () => asked };
}

test('a killed run hears the same verdicts again, and ends with the bits of one that ran through', async () => {
  const run = { steps: 6, checkpointEvery: 2, environmentWeight: 0, judgeCalls: 100 };
  const { judge } = moody();
  const cut = await banditRun(join(folder, 'cut'), {
    ...run,
    scorer: withJudge(judge),
    killAfter: 'update 3',
  } as object);
  expect(cut.kinds.at(-1)).toBe('update 3');
  // The verdicts of the steps to come are those of this judge from here on.
  const lines = await readFile(join(folder, 'cut', 'verdicts.jsonl'), 'utf8');
  const resumed = await banditRun(join(folder, 'cut'), {
    ...run,
    scorer: withJudge(judge),
    resume: true,
  } as object);
  const after = await readFile(join(folder, 'cut', 'verdicts.jsonl'), 'utf8');
  expect(after.startsWith(lines)).toBe(true);
  const { judge: other, asked } = moody();
  await writeFile(join(folder, 'all.jsonl'), after);
  const whole = await banditRun(join(folder, 'whole'), {
    ...run,
    scorer: withJudge(other),
    judgeCache: join(folder, 'all.jsonl'),
  } as object);
  expect(asked()).toBe(0);
  expect(resumed.model.logits).toEqual(whole.model.logits);
});
