/** Programs as agents: their variables, their faults, and that nothing of them is left. */
import { execFileSync } from 'node:child_process';
import { collect, openEnv, playTask, rollout, scriptedPolicy } from '@toolenv/core';
import { afterEach, expect, test } from 'vitest';
import { type AgentContext, type CommandResult, command, defineAgentEnv } from '../src/index.ts';

/** A program that asks the model once and prints its answer. */
const asks = `
const { OPENAI_BASE_URL, OPENAI_API_KEY, TOOLENV_TASK } = process.env;
const response = await fetch(OPENAI_BASE_URL + '/chat/completions', {
  method: 'POST',
  headers: { authorization: 'Bearer ' + OPENAI_API_KEY },
  body: JSON.stringify({ messages: [{ role: 'user', content: JSON.parse(TOOLENV_TASK).word }] }),
});
console.log((await response.json()).choices[0].message.content);
`;
const node = (program: string) =>
  command(process.execPath, ['--input-type=module', '-e', program], { task: ['word'] });

type Agent = (context: never) => Promise<CommandResult>;
const envOf = (agent: Agent, concurrent: boolean | number = true) =>
  defineAgentEnv({
    name: 'program-v1',
    description: 'A program.',
    capabilities: { concurrent },
    limits: { maxTurns: 3, toolTimeout: 5000 },
    tasks: { test: [{ word: 'sea' }] },
    agent: agent as (context: unknown) => Promise<CommandResult>,
    rewards: { right: { kind: 'outcome', score: ({ result }) => Number(result?.stdout.trim() === 'yes') } },
  });

/** Processes whose command line has the word. */
function running(word: string): number {
  const lines = execFileSync('ps', ['-eo', 'args'], { maxBuffer: 2 ** 28 })
    .toString()
    .split('\n');
  return lines.filter((line) => line.includes(word) && !line.startsWith('ps ')).length;
}

const secret = 'TOOLENV_TEST_SECRET';
afterEach(() => {
  delete process.env[secret];
});

test('a program finds its model and its task, and its output is the result', async () => {
  const played = await playTask(envOf(node(asks)), { word: 'sea' }, ['yes']);
  expect(played).toMatchObject({ outcome: { kind: 'terminated' }, reward: 1 });
  expect(played.steps[0]!.observation.messages).toEqual([{ role: 'user', content: 'sea' }]);
});

test('a line is for the shell, and the program inherits no other variables', async () => {
  process.env[secret] = 'hidden';
  const line = `node --input-type=module -e '${asks.replaceAll("'", '"')}' && echo "$${secret}" >&2`;
  const results: unknown[] = [];
  const agent = command(line, { task: ['word'] });
  const env = envOf(async (context) => {
    const result = await agent(context);
    results.push(result);
    return result;
  });
  expect((await playTask(env, { word: 'sea' }, ['yes'])).reward).toBe(1);
  expect(results).toEqual([{ stdout: 'yes\n', stderr: '\n' }]);
});

const quiz = { question: 'Where?', hint: 'an island', answer: 'Zanzibar-7' };
/** Asks the model, and prints what the environment variable says of the task. */
const tells = asks
  .replace('JSON.parse(TOOLENV_TASK).word', `'?'`)
  .replace(/console.*/, `console.log(TOOLENV_TASK ?? 'nothing');`);
const quizOf = (agent: (context: AgentContext<typeof quiz>) => Promise<CommandResult>) =>
  defineAgentEnv({
    name: 'quiz-v1',
    description: 'A program that looks for the answer.',
    tasks: { test: [quiz] },
    agent,
    rewards: {
      right: { kind: 'outcome', score: ({ result, task }) => Number(result?.stdout.trim() === task.answer) },
    },
  });
const said = async (agent: Parameters<typeof quizOf>[0]) => {
  const results: string[] = [];
  const env = quizOf(async (context) => {
    const result = await agent(context);
    results.push(result.stdout.trim());
    return result;
  });
  await playTask(env, quiz, ['an answer']);
  return results;
};

test('of its task a program gets the fields that its author names, and by default none', async () => {
  const args = ['--input-type=module', '-e', tells];
  expect(await said(command(process.execPath, args))).toEqual(['nothing']);
  expect(await said(command(process.execPath, args, { task: [] }))).toEqual(['{}']);
  const named = command(process.execPath, args, { task: ['question', 'hint'] });
  expect(await said(named)).toEqual(['{"question":"Where?","hint":"an island"}']);
});

test('a program that looks for the answer in its environment does not find it', async () => {
  const looks = asks
    .replace('JSON.parse(TOOLENV_TASK).word', `'?'`)
    .replace(
      /console.*/,
      `console.log(/Zanzibar-\\d/.exec(JSON.stringify(process.env))?.[0] ?? 'not found');`,
    );
  const { reward } = await playTask(
    quizOf(command(process.execPath, ['--input-type=module', '-e', looks])),
    quiz,
    ['an answer'],
  );
  expect(reward).toBe(0);
});

test('a field that tasks lack is a bug of the environment, whose fields are named', async () => {
  // @ts-expect-error: the task has no such field.
  const env = quizOf(command('my-agent', [], { task: ['qestion'] }));
  await expect(playTask(env, quiz, ['yes'])).rejects.toThrow(
    'command: a task has no field "qestion": it has question, hint, answer.',
  );
});

test.each([
  ['an exit code', node(`${asks}; process.exit(3)`), 'The agent failed: ', false],
  ['a signal', node(`${asks}; process.kill(process.pid, 'SIGKILL')`), 'was ended by SIGKILL', true],
])('a program that ends by %s is aborted', async (_title, agent, message, retryable) => {
  const { outcome, reward } = await playTask(envOf(agent), { word: 'sea' }, ['yes'], { retries: 0 });
  expect(outcome).toMatchObject({
    kind: 'aborted',
    retryable,
    cause: { message: expect.stringContaining(message) },
  });
  expect(reward).toBeNull();
});

test('a program that cannot be started is aborted, and its name is in the error', async () => {
  const { outcome } = await playTask(envOf(command('no-such-program', [])), { word: 'sea' }, ['yes'], {
    retries: 0,
  });
  expect(outcome).toMatchObject({
    kind: 'aborted',
    cause: {
      code: 'infrastructure.agent_command',
      message: expect.stringContaining('no-such-program cannot be started'),
    },
  });
});

test('when the episode ends, so do a program that ignores signals and floods its output, and what it has started', async () => {
  const word = `left-behind-${process.pid}`;
  const program = `
    import { spawn } from 'node:child_process';
    spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', '${word}'], { stdio: 'inherit' });
    process.on('SIGTERM', () => {});
    ${asks}
    for (let i = 0; i < 300; i++) await new Promise((done) => process.stderr.write('x'.repeat(1e6), done));
    setInterval(() => {}, 1000);
  `;
  const before = process.memoryUsage().rss;
  const env = await openEnv(envOf(node(program)), { toolTimeout: 3000 });
  const played = await playTask(env, { word: 'sea' }, ['yes']);
  await env.close();
  expect(played.outcome).toEqual({ kind: 'truncated', reason: 'deadline' });
  expect(process.memoryUsage().rss - before).toBeLessThan(200e6);
  await expect.poll(() => running(word)).toBe(0);
});

test('no more programs run at once than the environment allows', async () => {
  const word = `counted-${process.pid}`;
  let most = 0;
  const agent = command(process.execPath, ['--input-type=module', '-e', asks, word], { task: ['word'] });
  const env = await openEnv(envOf(agent, 2));
  const policy = scriptedPolicy(() => {
    most = Math.max(most, running(word));
    return 'yes';
  });
  const episodes = Array.from({ length: 6 }, (_, sample) => ({ task: { word: 'sea' }, group: 0, sample }));
  const sampling = { maxTokens: 8, temperature: 0 };
  const played = await collect(rollout({ env, policy, episodes, concurrency: 6, sampling, seed: 1 }));
  await env.close();
  expect(played.map(({ reward }) => reward)).toEqual([1, 1, 1, 1, 1, 1]);
  expect(most).toBe(2);
  expect(running(word)).toBe(0);
});
