/**
 * Plays sampled episodes of at least four turns through each agent, and compares every token with what the policy sampled:
 * `node --import tsx --conditions=@toolenv/source studies/agent-trials/token-exact.ts [PART-OF-A-NAME]`. Ends with "N passed, N failed".
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collect, playTask, rollout, type Trajectory } from '@toolenv/core';
import { appendTrajectory } from '@toolenv/core/recording';
import { loadPolicy, type TransformerPolicy } from '@toolenv/policy';
import { sft } from '@toolenv/trainer-sft';
import { toTrainingRows, train } from '@toolenv/training';
import { agents } from '../../workshop/agents/agents.ts';
import { openBridge } from './bridge-agents.ts';
import { plainAgent } from './plain-agent.ts';

const episodesEach = 128;
const fewestTurns = 4;
const tolerance = 1e-4;

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
const major = Number(process.versions.node.split('.')[0]);
const chosen = agents.filter(({ name, node }) => name.includes(process.argv[2] ?? '') && node <= major);

const policy = await loadPolicy('packages/checkpoints/tiny');
await teachToSearch(policy);
let [passed, failed] = [0, 0];
for (const { name, load } of chosen) {
  for (const stream of [false, true]) {
    const { byAgent, close } = await openBridge(await load(), { stream, maxTurns: 8, malformed: 'correct' });
    // Each episode of this agent is a few processes.
    const concurrency = name === 'shell' ? 4 : episodesEach;
    const tasks = await Promise.all(
      Array.from({ length: episodesEach }, (_, i) => byAgent.tasks.train.get(i)),
    );
    const episodes = tasks.map((task, group) => ({ task, group, sample: 0 }));
    const sampling = { maxTokens: 64, temperature: 1 };
    const played = await collect(rollout({ env: byAgent, policy, episodes, concurrency, sampling, seed: 5 }));
    await close();
    const { faults, summary } = await check(played);
    console.log(
      `${faults.length === 0 ? 'ok    ' : 'FAILED'}  ${name}${stream ? ', streamed' : ''}: ${summary}`,
    );
    for (const fault of faults.slice(0, 5)) console.log(`        ${fault}`);
    if (faults.length === 0) passed += 1;
    else failed += 1;
  }
}
await policy.close();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

async function check(played: readonly Trajectory[]): Promise<{ faults: string[]; summary: string }> {
  const faults: string[] = [];
  let [turns, followed, largest] = [0, 0, 0];
  for (const trajectory of played) {
    const { steps, outcome, episodeId } = trajectory;
    turns += steps.length;
    if (outcome.kind === 'aborted') faults.push(`${episodeId} was aborted: ${outcome.cause.message}`);
    for (const [i, { action, observation }] of steps.entries()) {
      if (i === 0) continue;
      const before = steps[i - 1]!.action.tokens!;
      const row = [...before.prompt, ...before.action];
      const isContinued = row.every((token, t) => token === action.tokens!.prompt[t]);
      if (isContinued && observation.conversation === undefined) followed += 1;
      else faults.push(`${episodeId}: turn ${i + 1} does not begin with the row so far`);
    }
  }
  const long = played.filter(({ steps }) => steps.length >= fewestTurns);
  if (long.length < 0.9 * played.length)
    faults.push(`only ${long.length} episodes have ${fewestTurns} turns`);
  const rows = played.flatMap(toTrainingRows);
  const { logprobs } = await policy.learner.forward({ rows, temperature: 1 });
  for (const [b, { mask, logprobs: sampled }] of rows.entries()) {
    for (let t = 0; t < mask.length; t++)
      if (mask[t] === 1) largest = Math.max(largest, Math.abs(sampled[t]! - logprobs[b]![t]!));
  }
  if (!(largest <= tolerance)) faults.push(`a log-probability differs by ${largest}`);
  const summary = `${played.length} episodes, ${long.length} of at least ${fewestTurns} turns, ${turns} turns, ${followed} followed exactly, ${rows.length} rows, log-probabilities within ${largest.toExponential(1)}`;
  return { faults, summary };
}

/** The shipped policy searches once or twice. This teaches it to search four times, from demonstrations. */
async function teachToSearch(policy: TransformerPolicy): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-search-'));
  const { byAgent, close } = await openBridge(plainAgent, { maxTurns: 8 });
  try {
    const data = join(folder, 'demonstrations.jsonl');
    for (let i = 300; i < 500; i++) {
      const task = await byAgent.tasks.train.get(i);
      const words = task.question.split(' ').slice(-6, -1);
      const queries = [words, words.slice(1), words.slice(2), words.slice(0, 3)].map((some) =>
        some.join(' '),
      );
      const calls = queries.map((query) => [{ name: 'search', arguments: { query } }]);
      const script = [...calls, `<answer>${task.answer}</answer>`];
      await appendTrajectory(data, await playTask(byAgent, task, script));
    }
    const trainer = sft({ data, learningRate: 1e-3 });
    for await (const event of train({ policy, trainer, out: join(folder, 'run'), steps: 60, seed: 1 })) {
      if (event.type === 'update') process.stderr.write('.');
    }
  } finally {
    await close();
    await rm(folder, { recursive: true });
  }
}
