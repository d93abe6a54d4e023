/** checkEnv reports each defect under its rule, and reports nothing for a valid environment. */
import { lookup } from 'node:dns/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createRng,
  defineTool,
  defineToolEnv,
  failure,
  type TaskSources,
  ToolEnvError,
  taskSets,
} from '@toolenv/core';
import { afterEach, expect, test } from 'vitest';
import { climb } from '../../../core/test/ladder-env.ts';
import { assertConforms, checkEnv, reportText } from '../../src/index.ts';
import { brokenEnvs, climbing, ladderDefinition, leaks } from '../../test/env/broken-envs.ts';
import { expectFinding } from '../../test/expect-finding.ts';

const options = { tools: climbing, timeout: 1000, actions: 150, seed: 1 };

afterEach(() => {
  for (const timer of leaks.splice(0)) clearInterval(timer);
});

test('a valid environment passes every rule', async () => {
  const report = await checkEnv(ladderDefinition(), options);
  expect(reportText(report)).toMatch(/^ladder-v1: 39 rules hold, 0 broken, 0 not checked\.$/);
  expect(report.skipped).toEqual([]);
});

test('rules that the declared capabilities rule out are skipped', async () => {
  const dice = createRng(1, 'unseeded');
  const unseeded = ladderDefinition({
    definition: { capabilities: { seedable: false } },
    env: (good) => ({
      async step(action, options) {
        return { ...(await good.step(action, options)), info: { roll: dice.float() } };
      },
    }),
  });
  const ofUnseeded = await checkEnv(unseeded, options);
  expect(ofUnseeded.findings, reportText(ofUnseeded)).toEqual([]);
  expect(ofUnseeded.skipped).toEqual(
    ['ENV-9', 'ENV-11', 'ENV-12'].map((rule) => ({
      rule,
      reason: 'the environment declares that it is not seedable',
    })),
  );

  let steps = 0;
  const alone = ladderDefinition({
    definition: { capabilities: { concurrent: false } },
    env: (good) => ({
      async reset(options) {
        steps = 0;
        return good.reset(options);
      },
      async step(action, options) {
        steps += 1;
        return { ...(await good.step(action, options)), info: { steps } };
      },
    }),
  });
  const ofAlone = await checkEnv(alone, options);
  expect(ofAlone.findings, reportText(ofAlone)).toEqual([]);
  expect(ofAlone.skipped.map(({ rule }) => rule)).toEqual(['ENV-12']);

  const networked = ladderDefinition({
    definition: { capabilities: { networked: true } },
    env: (good) => ({
      async reset(options) {
        await lookup('localhost').catch(() => {});
        return good.reset(options);
      },
    }),
  });
  const ofNetworked = await checkEnv(networked, options);
  expect(ofNetworked.findings, reportText(ofNetworked)).toEqual([]);
});

test('begins few episodes, since each may start a server', async () => {
  let episodes = 0;
  const quiz = defineToolEnv({
    name: 'quiz-v1',
    description: 'One answer.',
    rewards: { right: { kind: 'outcome' } },
    limits: { maxTurns: 6 },
    tasks: { test: ['ash', 'elm', 'oak'] },
    episode({ task }) {
      episodes += 1;
      return {
        messages: 'Which tree? Climb to see it.',
        tools: [climb],
        onAnswer: (answer) => ({ rewards: { right: Number(answer === task) }, end: 'answered' }),
      };
    },
    oracle: (task) => [task],
  });
  await assertConforms(checkEnv(quiz, { actions: 500 }));
  expect(episodes).toBeLessThan(150);
});

test('an abort reaches actions that never wait', async () => {
  const controller = new AbortController();
  let begun = false;
  const onActions = () => {
    if (!begun) setTimeout(() => controller.abort(new Error('enough')), 100);
    begun = true;
  };
  const endless = { ...options, actions: 200_000, onActions, signal: controller.signal };
  await expect(checkEnv(ladderDefinition(), endless)).rejects.toThrow('enough');
});

test('a broken rule is the only one that the whole check reports', async () => {
  const [, rule, changes] = brokenEnvs.find(([what]) => what === 'a tool text that is not cut')!;
  const report = await checkEnv(ladderDefinition(changes), options);
  expectFinding(report, rule);
  expect(report.passed.length).toBeGreaterThan(30);
});

test('a rule that others depend on is checked for them, and reported only if it is broken', async () => {
  const { passed, skipped } = await checkEnv(ladderDefinition(), { ...options, rules: ['ENV-9', 'WARN-3'] });
  expect(passed).toEqual(['ENV-9']);
  expect(skipped.length).toBe(38);
  const [, rule, changes] = brokenEnvs.find(([what]) => what === 'unseeded randomness')!;
  const unseeded = await checkEnv(ladderDefinition(changes), { ...options, rules: ['ENV-9'] });
  expectFinding(unseeded, rule);
  expect(unseeded.passed).toEqual([]);
});

test.each(brokenEnvs)('%s: %s', async (_, rule, changes) => {
  // Each hang of ENV-28 takes the whole timeout.
  const timeout = rule === 'ENV-28' ? 250 : options.timeout;
  const report = await checkEnv(ladderDefinition(changes), { ...options, timeout, rules: [rule] });
  const finding = expectFinding(report, rule);
  expect(finding.expected).not.toBe('');
  expect(finding.received).not.toBe('');
  expect(finding.hint).not.toBe('');
  await expect(assertConforms(report)).rejects.toMatchObject({ code: 'bug.conformance' });
});

/** An environment with one inline tool. */
function bank(execute: (account: number, signal: AbortSignal) => unknown, toolTimeout = 5000) {
  return defineToolEnv({
    name: 'bank-v1',
    description: 'Tell a balance.',
    limits: { toolTimeout },
    tasks: { train: [{ account: 1 }, { account: 2 }, { account: 3 }] },
    rewards: {
      right: { kind: 'outcome', score: ({ answer, task }) => Number(answer === `${task.account * 10}`) },
    },
    episode: ({ task: { account } }) => ({
      messages: `What is the balance of account ${account}?`,
      tools: [
        defineTool(
          'balance',
          'Tell the balance.',
          { account: { type: 'integer' } },
          (args, { signal }) => execute(args.account, signal) as string,
        ),
      ],
    }),
    oracle: ({ account }) => [[{ name: 'balance', arguments: { account } }], `${account * 10}`],
  });
}

const known = (account: number) => account >= 1 && account <= 3;
const checkBank = (execute: Parameters<typeof bank>[0]) => checkEnv(bank(execute), { actions: 150 });

test('an environment that needs time for its tools when an episode begins keeps the rules about tools that hang', async () => {
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  const slow = ladderDefinition({
    env: (good) => {
      const { toolTimeout } = good.spec.limits;
      least = Math.min(least, toolTimeout);
      most = Math.max(most, toolTimeout);
      return {
        async reset(start) {
          await sleep(20);
          if (toolTimeout < 100)
            throw new ToolEnvError('infrastructure.tool_timeout', 'The first call took long.');
          return good.reset(start);
        },
      };
    },
  });
  const report = await checkEnv(slow, { ...options, rules: ['ENV-27', 'ENV-30', 'ENV-31'] });
  expect(report.findings, reportText(report)).toEqual([]);
  // Ten times the reset; a timer may end 1 ms early.
  expect(least).toBeGreaterThanOrEqual(190);
  expect(least).toBeLessThan(most);
});

test('an inline tool that throws on a mistake of the model is reported with its message', async () => {
  const thrown = await checkBank((account) => {
    if (!known(account)) throw new Error(`No account`);
    return `${account * 10}`;
  });
  const finding = expectFinding(thrown, 'WARN-6');
  expect(finding.received).toContain('infrastructure.tool_failed: Tool "balance" failed: No account');
  expect(finding.hint).toContain("failure('There is no account 7.')");
  await assertConforms(
    checkBank((account) => (known(account) ? `${account * 10}` : failure('There is no such account.'))),
  );
});

test('an inline tool that ignores its signal is reported', async () => {
  const waiting = (wait: (signal: AbortSignal) => Promise<unknown>) =>
    checkEnv(
      bank(async (account, signal) => {
        await wait(signal);
        return `${account * 10}`;
      }),
      { actions: 20, rules: ['WARN-7'] },
    );
  const deaf = await waiting(() => sleep(2500));
  expect(expectFinding(deaf, 'WARN-7').expected).toContain('a call of "balance"');
  await assertConforms(waiting((signal) => sleep(2500, undefined, { signal })));
});

test.each<[what: string, wait: (signal: AbortSignal) => unknown, received: RegExp | undefined]>([
  ['waits', () => sleep(150), /^\d{3} ms, as long as a call that is not cancelled$/],
  ['asks again and again', () => polls(15), /^\d{3} ms/],
  ['stops at its signal', (signal) => sleep(150, undefined, { signal }), undefined],
  ['takes a while to stop', (signal) => sleep(150, undefined, { signal }).catch(() => sleep(60)), undefined],
  ['computes without a pause', () => compute(150), undefined],
  ['is fast', () => sleep(20), undefined],
])('a tool that is cancelled and %s', async (_, wait, received) => {
  const env = bank(async (account, signal) => {
    await wait(signal);
    return `${account * 10}`;
  });
  const report = await checkEnv(env, { actions: 20, rules: ['WARN-7'] });
  if (received === undefined) expect(report.warnings).toEqual([]);
  else expect(expectFinding(report, 'WARN-7').received).toMatch(received);
});

async function polls(times: number): Promise<void> {
  for (let count = 0; count < times; count++) await sleep(10);
}

function compute(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

test.each([
  ['nothing', () => undefined, 'it returned nothing: return a text'],
  ['a number', () => 7, 'has no "content" array of blocks: return a text'],
  [
    'a generator',
    function* () {
      yield 'a';
    },
    '(TOOL-4)',
  ],
  ['too late', () => sleep(80), 'Tool "balance" did not answer within 0.04 s'],
])('a tool that returns %s shows why its episodes are aborted', async (_, execute, why) => {
  const { findings, warnings } = await checkEnv(bank(execute as () => unknown, 40), {
    actions: 10,
    rules: ['ENV-32', 'WARN-6'],
  });
  for (const rule of ['ENV-32', 'WARN-6']) {
    const found = [...findings, ...warnings].find((finding) => finding.rule === rule);
    expect(found?.received, rule).toContain(why);
  }
});

test('a judge that fails now and then is a warning, and no rule of the environment is blamed', async () => {
  let asked = 0;
  const judged = defineToolEnv({
    name: 'judged-v1',
    description: 'Say a letter.',
    tasks: { train: [{ answer: 'x' }, { answer: 'y' }, { answer: 'z' }] },
    rewards: {
      good: {
        kind: 'outcome',
        score: async ({ answer, task }) => {
          asked += 1;
          if (asked % 3 === 0) throw new Error('The judge answered 503');
          return answer === task.answer ? 1 : 0;
        },
      },
    },
    episode: ({ task }) => ({ messages: `Say ${task.answer}.` }),
    oracle: ({ answer }) => [answer],
  });
  const { findings, warnings } = await checkEnv(judged, { actions: 40 });
  expect(findings).toEqual([]);
  expect(warnings.map(({ rule }) => rule)).toEqual(['WARN-6']);
  expect(warnings[0]!.received).toContain('The judge answered 503');
});

/** Ten points are shared: what one side gets, the other does not. `null`: no oracle. */
function negotiation(best?: ((task: { value: number }) => number) | null) {
  return defineToolEnv({
    name: 'share-v1',
    description: 'Share ten points.',
    tasks: { train: [{ value: 0.5 }, { value: 0.25 }, { value: 0.75 }] },
    rewards: { mine: { kind: 'outcome' }, theirs: { kind: 'outcome', weight: 0.5 } },
    episode: () => ({
      messages: 'How many of ten points do you keep?',
      onAnswer(answer) {
        const kept = /^(10|\d)$/.test(answer) ? Number(answer) / 10 : undefined;
        if (kept === undefined) return `${answer.length} letters are no number from 0 to 10.`;
        return { rewards: { mine: kept, theirs: 1 - kept }, end: 'agreed' };
      },
    }),
    ...(best !== null && { oracle: () => ['ten', '10'], best }),
  });
}

test('where rewards conflict, the oracle must earn what the task declares as the best', async () => {
  const check = (best?: () => number) =>
    checkEnv(negotiation(best), { actions: 100, rules: ['ENV-32', 'ENV-33'] });
  const undeclared = expectFinding(await check(), 'ENV-32');
  expect(undeclared).toMatchObject({ expected: expect.stringContaining('"theirs" 1 for the oracle') });
  expect(undeclared.hint).toContain('declare the largest weighted reward: best: (task) => task.best');
  expect((await check(() => 1)).passed).toEqual(['ENV-32', 'ENV-33']);
  const wrong = expectFinding(await check(() => 1.5), 'ENV-32');
  expect(wrong).toMatchObject({
    expected: expect.stringMatching(/^the declared best, 1.5/),
    received: '1, of {"mine":1,"theirs":0}',
  });
});

test('without an oracle, the hint names the line to add and the flag for a task that no script can win', async () => {
  const { hint } = expectFinding(await checkEnv(negotiation(null), { actions: 20 }), 'WARN-5');
  expect(hint).toContain('--skip WARN-5');
  expect(hint).toContain('oracle: (task) => [task.answer]');
});

/** A seller who understands only offers. `start` is what the first reply depends on. */
function bazaar(start: () => number) {
  return defineToolEnv({
    name: 'bazaar-v1',
    description: 'Buy a carpet.',
    limits: { maxTurns: 4 },
    tasks: { train: [{ price: 20 }, { price: 30 }, { price: 40 }] },
    rewards: { bought: { kind: 'outcome' } },
    episode: ({ task: { price } }) => ({
      messages: 'Buy my carpet: offer N.',
      onAnswer(answer) {
        const offer = /^offer (\d+)$/.exec(answer)?.[1];
        if (offer === undefined) return 'I understand only offers.';
        if (Number(offer) === price) return { rewards: { bought: 1 }, end: 'bought' };
        return `No. I give you ${start()} reasons.`;
      },
    }),
    oracle: ({ price }) => ['offer 5', `offer ${price}`],
  });
}

test('what only a good answer reaches is repeated too: shared state and chance in a dialogue', async () => {
  const check = (start: () => number) =>
    checkEnv(bazaar(start), { actions: 60, rules: ['ENV-11', 'WARN-8'] });
  let offers = 0;
  const shared = expectFinding(await check(() => ++offers), 'ENV-11');
  expect(shared.received).toMatch(/reasons/);
  const { findings, warnings } = await check(() => Math.random());
  expect([...findings, ...warnings].map(({ rule }) => rule)).toEqual(['ENV-11', 'WARN-8']);
  expect(warnings[0]?.received).toMatch(/^Math\.random\(\) in .*check-env\.test\.ts:\d+$/);
  const globals = [Date, Date.now, Math.random];
  for (const [clock, name] of [
    [() => new Date().getFullYear(), 'new Date()'],
    [() => Date().length, 'Date()'],
    [() => Number(Date.now() > 0), 'Date.now()'],
  ] as const) {
    const asked = await check(clock);
    expect(expectFinding(asked, 'WARN-8').received.startsWith(`${name} in `)).toBe(true);
  }
  // A date of the task says nothing of the time, and a Date is what it was.
  const dated = await check(() => {
    const date = new Date(0);
    return Number(date instanceof Date && date.constructor === Date && date.getTime() === 0);
  });
  expect([dated.passed, dated.warnings]).toEqual([['ENV-11'], []]);
  expect([Date, Date.now, Math.random]).toEqual(globals);
  expect(new Date().constructor).toBe(Date);
});

test('a request over a socket that was kept alive uses the network', async () => {
  const server = createServer((_, response) => void response.end('hello'));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  try {
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const asking = ladderDefinition({
      env: (good) => ({
        async reset(options) {
          await (await fetch(address)).text();
          return good.reset(options);
        },
      }),
    });
    await (await fetch(address)).text();
    const report = await checkEnv(asking, { ...options, rules: ['ENV-36'] });
    expect(expectFinding(report, 'ENV-36').received).toContain('3 × HTTP request');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('an environment without roles is told how its tools could be made to fail', async () => {
  const run = { actions: 5, rules: ['ENV-30', 'ENV-31'] } as const;
  const { skipped } = await checkEnv(
    bazaar(() => 3),
    run,
  );
  const reasons = skipped.filter(({ rule }) => run.rules.some((wanted) => wanted === rule));
  expect(reasons).toHaveLength(2);
  for (const { reason } of reasons) expect(reason).toContain('give a tool by a role, roles: { search: ');
});

test.each<[what: string, tasks: Parameters<typeof sums>[0], received: string | undefined]>([
  ['the same list', { train: [1, 2, 3], test: [1, 2, 3] }, '3 of 3 tasks of test, such as {"a":1,"b":1}'],
  [
    'one task',
    { train: [1, 2, 3], validation: [4, 3], test: [5] },
    '1 of 2 tasks of validation, such as {"a":3,"b":3}',
  ],
  ['a slice of many', { train: range(0, 3_000), test: range(2_000, 2_400) }, 'of 50 tasks of test, such as'],
  ['duplicates inside a split', { train: [1, 1], test: [2, 2, 2] }, undefined],
  ['nothing to learn from', { test: [1, 2] }, undefined],
])('tasks that are also learned from are reported: %s', async (_, tasks, received) => {
  const report = await checkEnv(sums(tasks), { actions: 10, rules: ['WARN-9'] });
  if (received === undefined) expect(report.warnings).toEqual([]);
  else expect(expectFinding(report, 'WARN-9').received).toContain(received);
});

test.each<[what: string, tasks: Parameters<typeof sumsOf>[0], received: string | undefined]>([
  ['an empty list', { train: [{ a: 1, b: 2 }], test: [] }, 'none, 1 in train'],
  ['a function of no tasks', { train: [{ a: 1, b: 2 }], validation: () => [] }, 'none, 1 in train'],
  ['no tasks by index', { train: { length: 0, get: sum }, test: [{ a: 1, b: 2 }] }, 'none, 1 in test'],
  ['splits that a function gives', () => ({ train: [{ a: 1, b: 2 }], test: [] }), 'none, 1 in train'],
  ['a split that is left out', { train: [{ a: 1, b: 2 }] }, undefined],
  ['a split that is undefined', { train: [{ a: 1, b: 2 }], test: undefined }, undefined],
  ['the sets of a split that is left out', () => taskSets({ test: [{ a: 1, b: 2 }] }), undefined],
])('a split that is named and empty is reported: %s', async (_, tasks, received) => {
  const report = await checkEnv(sumsOf(tasks), { actions: 10, rules: ['WARN-12'] });
  if (received === undefined) expect(report.warnings).toEqual([]);
  else expect(expectFinding(report, 'WARN-12').received).toBe(received);
});

function sum(index: number): Sum {
  return { a: index, b: index };
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

/** Sums of a number with itself. The keys of held-out tasks are in another order. */
interface Sum {
  a: number;
  b: number;
}

/** Sums of equal numbers, which have their parts in another order in the splits that are held out. */
function sums({ train = [], validation = [], test: held = [] }: Record<string, number[]>) {
  const equal = (number: number) => ({ a: number, b: number });
  const reversed = (number: number) => ({ b: number, a: number });
  return sumsOf({ train: train.map(equal), validation: validation.map(reversed), test: held.map(reversed) });
}

function sumsOf(tasks: TaskSources<Sum> | (() => TaskSources<Sum>)) {
  return defineToolEnv({
    name: 'sums-v1',
    description: 'Add.',
    limits: { maxTurns: 1 },
    tasks,
    rewards: { right: { kind: 'outcome' } },
    episode: ({ task: { a, b } }) => ({
      messages: `${a} + ${b}?`,
      onAnswer: (answer) => ({ rewards: { right: Number(answer === String(a + b)) }, end: 'answered' }),
    }),
    oracle: ({ a, b }) => [String(a + b)],
  });
}
