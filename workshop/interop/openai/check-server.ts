/** What holds of every OpenAI-compatible server over the tiny policy's own weights: its tokens and log-probabilities are known. */
import { join } from 'node:path';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type Action, collect, type Observation, openEnv, type Policy, rollout } from '@toolenv/core';
import type { PolicyHandle } from '@toolenv/core/plugins';
import { languageModelPolicy, openAiPolicy } from '@toolenv/openai';
import { loadPolicy, type TransformerPolicy } from '@toolenv/policy';
import { openChat } from '@toolenv/policy/chat';
import { checkPolicy } from '@toolenv/testing';
import { distillFrom } from '@toolenv/trainer-distill';
import { grpo } from '@toolenv/trainer-grpo';
import { evaluate, readMetrics, toTrainingRows, train } from '@toolenv/training';
import { check } from '../check.ts';

/** A server of the tiny policy under the name `tiny`, with a context of 1,024 tokens. */
export interface Served {
  /** In titles of checks. */
  name: string;
  /** Where an OpenAI client begins. */
  url: string;
}

const checkpoint = join(import.meta.dirname, '../../../packages/checkpoints/tiny');
const bridge = '@toolenv/envs-qa/bridge-v1';
/** In nats: both sides compute in float32, in another order. */
const tolerance = 1e-3;
const question: Observation = {
  messages: [{ role: 'user', content: 'Which river is longer?' }],
  tools: [],
};
const sampling = { maxTokens: 24, temperature: 1, seed: 5 };

/** @param scratch Folder of the run. */
export async function checkServer(server: Served, scratch: string): Promise<void> {
  await using local = await loadPolicy(checkpoint);
  await checkRules(server, local);
  await checkTokens(server, local);
  await checkOverflow(server);
  await checkTraining(server, local, join(scratch, 'run'));
  await checkTeacher(server, local, join(scratch, 'distilled'));
  await checkLanguageModel(server);
}

/** On observations that the policy knows: its free text breaks off in characters of several tokens, whose first tokens the server leaves out. */
async function checkRules({ name, url }: Served, local: TransformerPolicy): Promise<void> {
  await using env = await openEnv(bridge, { topK: 2 });
  const episodes = [{ task: env.tasks.train.get(0), group: 0, sample: 0 }];
  const play = { env, policy: local, episodes, concurrency: 1, sampling: { maxTokens: 64, temperature: 0 } };
  const [known] = await collect(rollout({ ...play, seed: 1 }));
  const observations = known!.steps.map(({ observation }) => observation);
  for (const [title, tokens] of [
    ['tokens', await openChat(checkpoint)],
    ['chat', undefined],
  ] as const) {
    const policy = await openAiPolicy({ url, tokens });
    const report = await checkPolicy(policy, { observations, maxTokens: 12 });
    check(report.ok, `${name}, ${title}: the policy conforms`, JSON.stringify(report.findings));
  }
}

/** Episodes whose tokens the learner scores again. */
async function checkTokens({ name, url }: Served, local: TransformerPolicy): Promise<void> {
  const policy = await openAiPolicy({ url, tokens: await openChat(checkpoint) });
  const act = (seed: number): Promise<Action> => policy.act(question, { ...sampling, seed });
  const [first, again, other] = [await act(5), await act(5), await act(6)];
  const ids = ({ tokens }: Action) => tokens!.action.join(' ');
  check(
    ids(first) === ids(again),
    `${name}: equal seeds give equal tokens`,
    `${ids(first)} and ${ids(again)}`,
  );
  check(ids(first) !== ids(other), `${name}: other seeds give other tokens`, ids(other));
  await using env = await openEnv(bridge, { topK: 2 });
  const episodes = Array.from({ length: 16 }, (_, group) => ({
    task: env.tasks.train.get(group),
    group,
    sample: 0,
  }));
  const played = rollout({
    env,
    policy,
    episodes,
    concurrency: 4,
    sampling: { maxTokens: 64, temperature: 1 },
    seed: 1,
  });
  const trajectories = await collect(played);
  const aborted = trajectories.filter(({ outcome }) => outcome.kind === 'aborted').length;
  check(aborted <= 2, `${name}: episodes end`, `${aborted} of ${trajectories.length} were aborted`);
  const rows = trajectories.flatMap(toTrainingRows);
  const turns = trajectories.map(({ steps }) => steps.length);
  check(Math.max(...turns) > 1, `${name}: episodes have several turns`, turns.join(' '));
  const { logprobs } = await local.learner.forward({ rows });
  let [largest, count] = [0, 0];
  for (const [r, row] of rows.entries()) {
    for (const [t, bit] of row.mask.entries()) {
      if (bit === 0) continue;
      count += 1;
      largest = Math.max(largest, Math.abs(row.logprobs[t]! - logprobs[r]![t]!));
    }
  }
  check(
    largest < tolerance,
    `${name}: log-probabilities of ${count} tokens are the learner's, within ${largest.toExponential(1)}`,
    `they differ by ${largest}`,
  );
}

async function checkOverflow({ name, url }: Served): Promise<void> {
  const long: Observation = { messages: [{ role: 'user', content: 'river '.repeat(2000) }], tools: [] };
  const chat = await openAiPolicy({ url, contextLength: 1_000_000 });
  const code = await chat
    .act(long, sampling)
    .then(String, (error: unknown) => (error as { code?: string }).code);
  check(code === 'context.overflow', `${name}, chat: a prompt that is too long overflows`, String(code));
  const tokens = await openChat(checkpoint);
  const small = await openAiPolicy({ url, tokens, contextLength: 96 });
  await using env = await openEnv(bridge, { topK: 2 });
  const { outcomes } = await evaluate({ env, policy: small, count: 8, maxTokens: 64 });
  const truncated = outcomes['truncated:context'] ?? 0;
  check(truncated > 0, `${name}: overflow truncates episodes`, JSON.stringify(outcomes));
}

/** GRPO of this side learns from rollouts of that server, whose weights stay behind. */
async function checkTraining({ name, url }: Served, local: TransformerPolicy, out: string): Promise<void> {
  const remote = await openAiPolicy({ url, tokens: await openChat(checkpoint) });
  const policy = {
    spec: remote.spec,
    act: remote.act,
    endEpisode: remote.endEpisode,
    encode: (example: Parameters<typeof local.encode>[0]) => local.encode(example),
    learner: local.learner,
    save: (folder: string) => local.save(folder),
  } satisfies Policy & Pick<TransformerPolicy, 'learner' | 'save'>;
  await using env = await openEnv(bridge, { topK: 2 });
  const run = {
    env,
    policy,
    trainer: grpo,
    out,
    steps: 3,
    groupSize: 4,
    tasksPerStep: 4,
    learningRate: 1e-5,
  };
  for await (const _ of train({ ...run, evaluateEvery: 0, maxAborted: 1 })) {
    // The metrics are in the folder.
  }
  const steps = (await readMetrics(out)).filter(({ type }) => type === 'update');
  const gaps = steps.map(({ metrics }) => metrics['sampling/sampling_logp_difference/max']);
  check(
    gaps.length === 3 && gaps[0]! < tolerance && gaps[2]! > gaps[0]!,
    `${name}: GRPO keeps the gap of sampler and learner: ${gaps.map((gap) => gap?.toExponential(1)).join(', ')}`,
    `it is ${gaps.join(', ')}`,
  );
}

/** The server teaches the policy that GRPO has led away from it. */
async function checkTeacher({ name, url }: Served, student: TransformerPolicy, out: string): Promise<void> {
  const remote = await openAiPolicy({ url, tokens: await openChat(checkpoint) });
  await using same = await loadPolicy(checkpoint);
  let [largest, count] = [0, 0];
  const teacher: PolicyHandle = {
    ...remote,
    async score(batch, options) {
      const scores = await remote.score!(batch, options);
      const { logprobs } = await same.learner.forward(batch);
      for (const [b, row] of scores.entries()) {
        for (const [t, score] of row.entries()) {
          count += batch.rows[b]!.mask[t]!;
          largest = Math.max(largest, Math.abs(score - logprobs[b]![t]!));
        }
      }
      return scores;
    },
  };
  await using env = await openEnv(bridge, { topK: 2 });
  const small = { steps: 2, tasksPerStep: 4, groupSize: 4, maxTokens: 64, maxAborted: 1, learningRate: 1e-4 };
  const run = { env, policy: student, trainer: distillFrom(teacher), out };
  for await (const _ of train({ ...run, ...small })) {
    // The metrics are in the folder.
  }
  check(
    count > 0 && largest < tolerance,
    `${name}: a teacher finds ${count} given tokens as likely as its own weights do, within ${largest.toExponential(1)}`,
    `they differ by ${largest}, of ${count} tokens`,
  );
}

async function checkLanguageModel({ name, url }: Served): Promise<void> {
  const policy = languageModelPolicy(createOpenAICompatible({ name: 'local', baseURL: url })('tiny'));
  await using env = await openEnv(bridge, { topK: 2 });
  const { episodes, aborted, outcomes } = await evaluate({ env, policy, count: 4, maxTokens: 32 });
  check(
    episodes === 4 && aborted === 0 && policy.usage!.outputTokens > 0,
    `${name}: a model of the AI SDK plays bridge-v1`,
    JSON.stringify({ episodes, aborted, outcomes, usage: policy.usage }),
  );
}
