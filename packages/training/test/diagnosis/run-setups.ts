/** The runs that the diagnoses are tested on: each fault with its cause, and healthy runs. */
import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  defineTool,
  type EnvHandle,
  failure,
  type Message,
  type Observation,
  openEnv,
  type RewardSpec,
  type Rewards,
  type ScoredTransition,
  type ToolResult,
  text,
} from '@toolenv/core';
import { transformReward } from '@toolenv/core/wrappers';
import { joinSentences, type QaRecord } from '@toolenv/envs-qa';

const root = join(import.meta.dirname, '../../../..');
const checkpoint = join(root, 'packages/checkpoints/tiny');

export interface RunSetup {
  /** Default: GRPO. */
  trainer?: string;
  env?(seed: number): Promise<EnvHandle<unknown>>;
  /** Folder of the policy. Default: the tiny policy. */
  policy?(): Promise<string>;
  /** The policy samples at this temperature, whatever it is asked for. */
  temperatureOfSampler?: number;
  /** Options of the trainer and the run, in addition to {@link common}. */
  options?: Readonly<Record<string, unknown>>;
  /** The file to learn from, made of the episodes of the run `episodes`. */
  data?(episodes: readonly string[]): string;
  seed?: number;
}

/** Options of every run that plays episodes. */
export const common = {
  steps: 10,
  tasksPerStep: 16,
  groupSize: 4,
  learningRate: 3e-5,
  maxTokens: 64,
  klEvery: 5,
};

/** For faults that show at once. */
const short = { steps: 6, tasksPerStep: 8 };

const open =
  (name: string, settings: object = {}) =>
  async (seed: number) =>
    (await openEnv(`@toolenv/envs-qa/${name}-v1`, { topK: 2 }, { seed, ...settings })) as EnvHandle<unknown>;

/** The environment with other rewards. */
const rewarded =
  (name: string, rewards: RewardSpec, transform: (own: Rewards, step: ScoredTransition) => Rewards) =>
  async (seed: number) =>
    transformReward(await open(name)(seed), { rewards, transform });

const outcome = { kind: 'outcome', range: [0, 1], weight: 1 } as const;
const process = { kind: 'process', range: [0, 1], weight: 1 } as const;

const searchThat = (execute: () => ToolResult<never> | Promise<ToolResult<never>>) => async () =>
  defineTool('search', 'Search for documents.', { query: { type: 'string' } }, execute);

/** The question comes with a search that shows the documents of its answer. */
async function leaking(seed: number): Promise<EnvHandle<unknown>> {
  const inner = await open('lookup')(seed);
  return {
    ...inner,
    episode() {
      const env = inner.episode();
      let told: Message[] = [];
      const tell = ({ messages, tools }: Observation): Observation => ({
        messages: [...messages.slice(0, 2), ...told, ...messages.slice(2)],
        tools,
      });
      return {
        spec: env.spec,
        close: () => env.close(),
        async reset(options) {
          const task = options.task as QaRecord;
          const gold = new Set(task.supporting_facts.map(([title]) => title));
          const [documents, others] = [true, false].map((is) =>
            task.context.filter(([title]) => gold.has(title) === is),
          );
          // The policy knows searches for a name, and two results.
          documents!.push(others![0]!);
          const content = documents!.map(([title, text]) => `${title}: ${joinSentences(text)}`).join('\n');
          const call = { id: 'told', name: 'search', arguments: { query: ` ${documents![0]![0]}` } };
          told = [
            { role: 'assistant', content: '', toolCalls: [call] },
            { role: 'tool', content, toolCallId: 'told', name: 'search' },
          ];
          return tell(await env.reset(options));
        },
        async step(action, options) {
          const transition = await env.step(action, options);
          return { ...transition, observation: tell(transition.observation) };
        },
      };
    },
  };
}

/** The tiny policy with a file that is changed. */
const changed = (file: string, change: (text: string) => string) => async () => {
  const folder = await mkdtemp(join(tmpdir(), 'diagnosis-policy-'));
  await cp(checkpoint, folder, { recursive: true });
  const path = join(folder, file);
  await writeFile(path, change(await readFile(path, 'utf8')));
  return folder;
};

/** The tiny policy with another chat template. */
const templated = (change: (template: string) => string) =>
  changed('tokenizer_config.json', (file) => {
    const config = JSON.parse(file);
    return JSON.stringify({ ...config, chat_template: change(config.chat_template) });
  });

/** Of the server that fills up. */
let calls = 0;

/** Runs with a fault, by the name of the diagnosis; a further word after a dot tells setups of one fault apart. */
export const faults: Readonly<Record<string, RunSetup>> = {
  'learning-rate-too-high': { options: { ...short, learningRate: 1e-2 } },
  'learning-rate-too-high.slowly': { options: { learningRate: 2e-3, steps: 12 } },
  'learning-rate-too-high.ppo': {
    trainer: 'trainer-ppo/ppo',
    options: { ...short, learningRate: 1e-2, criticWarmup: 0 },
  },
  // The first step is right: the template is.
  'learning-rate-too-high.at-once': { options: { ...short, learningRate: 3e-2 } },
  'learning-rate-too-low': { options: { learningRate: 1e-9 } },
  'truncated-by-tokens': { options: { ...short, maxTokens: 4 } },
  'truncated-by-turns': {
    env: async (seed) =>
      (await openEnv('@toolenv/envs-qa/bridge-v1', { topK: 2, maxTurns: 1 }, { seed })) as EnvHandle<unknown>,
    options: short,
  },
  // Room for one search.
  'truncated-by-context': {
    policy: changed('config.json', (file) =>
      file.replace(/"max_position_embeddings": \d+/, '"max_position_embeddings": 110'),
    ),
    options: short,
  },
  'truncated-by-deadline': {
    env: open('bridge', {
      tools: {
        search: searchThat(async () => {
          await setTimeout(2000);
          return text('Found nothing.');
        }),
      },
    }),
    options: { ...short, deadline: 1500, onDeadline: 'truncate' },
  },
  'length-at-limit': { options: { maxTokens: 12 } },
  // A tokenizer that has lost a quotation mark.
  'malformed-calls': {
    policy: changed('tokenizer.json', (file) => file.replaceAll('{\\"query\\": \\"', '{\\"query: \\"')),
    options: short,
  },
  'reward-without-outcome': {
    env: rewarded('bridge', { em: outcome, searched: process }, ({ em = null }, { calls }) => ({
      em,
      searched: calls.length === 0 ? null : 0.25,
    })),
    options: { learningRate: 3e-4, steps: 15 },
  },
  // It pays for searches, as the monitor sees.
  'monitor-rises': {
    env: rewarded(
      'bridge',
      { busy: outcome, farming: { ...outcome, weight: 0, monitor: true } },
      ({ searches = null }) => {
        const busy = searches === null ? null : Number(searches >= 2);
        return { busy, farming: busy };
      },
    ),
    options: { learningRate: 1e-4 },
  },
  'process-reward-alone': { env: open('compose'), options: { learningRate: 1e-4 } },
  'all-wrong': { env: rewarded('compose', { em: outcome }, ({ em = null }) => ({ em })), options: short },
  'all-right': {
    env: rewarded('bridge', { correct: outcome }, (_, { outcome: { kind } }) => ({
      correct: kind === 'running' ? null : 1,
    })),
    options: short,
  },
  'constant-component': {
    env: rewarded(
      'bridge',
      { em: outcome, retrieved: { ...process, weight: 0.1 }, style: { ...outcome, weight: 0.2 } },
      ({ em = null, retrieved = null }, { outcome: { kind } }) => ({
        em,
        retrieved,
        style: kind === 'running' ? null : 0.5,
      }),
    ),
  },
  'failing-tool': {
    env: open('bridge', { tools: { search: searchThat(() => failure('The index is offline.')) } }),
    options: short,
  },
  // A server that fills up.
  'growing-aborts': {
    env: open('bridge', {
      tools: {
        search: searchThat(() => {
          calls += 1;
          if ((calls * 0.618) % 1 < calls / 1000) throw new Error('503 Service Unavailable');
          return text('Found nothing.');
        }),
      },
    }),
    options: { ...short, steps: 9, maxAborted: 1 },
  },
  'aborted-episodes': {
    env: open('bridge', {
      tools: {
        search: searchThat(() => {
          throw new Error('connect ECONNREFUSED');
        }),
      },
    }),
    options: { ...short, maxAborted: 1 },
  },
  'wrong-template': {
    policy: templated((template) => template.replaceAll('<|im_start|>', '[INST]')),
    options: short,
  },
  // The marker chooses the parser of another format.
  'no-calls': { policy: templated((template) => `${template}{# [TOOL_CALLS] #}`), options: short },
  'leaked-answer': { env: leaking, options: short },
  'entropy-collapse': { options: { ...short, temperature: 0.05 } },
  'stale-policy': { options: { maxStaleness: 4, learningRate: 3e-4 } },
  // A server that does not heed the temperature of its requests.
  'sampler-mismatch': { temperatureOfSampler: 0.3, options: short },
  // The policy has learned no comparisons.
  'process-reward-alone.comparison': { env: open('comparison'), options: { learningRate: 1e-4 }, seed: 10 },
  'no-variance': { env: open('lookup'), options: { ...short, topK: 1 } },
  'learning-rate-too-high.sft': {
    trainer: 'trainer-sft/sft',
    options: { learningRate: 3e-1, steps: 8 },
    data: (episodes) => episodes.join('\n'),
  },
};

/** Runs that learn, or have learned. */
export const healthy: Readonly<Record<string, RunSetup>> = {
  grpo: { options: { steps: 15 } },
  'grpo-fast': { options: { learningRate: 1e-4, steps: 15 }, seed: 2 },
  'grpo-stale': { options: { maxStaleness: 1 }, seed: 4 },
  rloo: { options: { algorithm: 'rloo' }, seed: 6 },
  'reinforce++': { options: { algorithm: 'reinforce++' }, seed: 7 },
  ppo: { trainer: 'trainer-ppo/ppo', seed: 8 },
  lookup: { env: open('lookup'), options: { learningRate: 1e-4 }, seed: 9 },
  dr_grpo: { options: { algorithm: 'dr_grpo', learningRate: 1e-4 }, seed: 10 },
  sft: {
    trainer: 'trainer-sft/sft',
    options: { learningRate: 1e-4, steps: 12, minReward: 0.5 },
    data: (episodes) => episodes.join('\n'),
  },
  dpo: { trainer: 'trainer-sft/dpo', options: { learningRate: 1e-5, steps: 12 }, data: pairsOf },
};

/** The best against the worst episode of each group. */
function pairsOf(episodes: readonly string[]): string {
  const groups = new Map<string, { reward: number; messages: unknown[] }[]>();
  for (const line of episodes) {
    const { step, group, reward, steps } = JSON.parse(line);
    const { observation, action } = steps.at(-1);
    // The answer to a malformed call names no call, which files of pairs require.
    if (observation.messages.some(({ toolCallId }: { toolCallId?: string }) => toolCallId === '')) continue;
    const messages = [
      ...observation.messages.map(openaiMessage),
      { role: 'assistant', content: action.text },
    ];
    const key = `${step}/${group}`;
    groups.set(key, [...(groups.get(key) ?? []), { reward, messages }]);
  }
  const pairs = [...groups.values()].flatMap((members) => {
    const [worst, ...better] = members.sort((a, b) => a.reward - b.reward);
    const best = better.at(-1);
    return best && best.reward > worst!.reward
      ? [JSON.stringify({ chosen: best.messages, rejected: worst!.messages })]
      : [];
  });
  return pairs.join('\n');
}

function openaiMessage(message: Message): unknown {
  if (message.role === 'tool')
    return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
  if (message.role !== 'assistant' || !message.toolCalls) return message;
  return {
    role: 'assistant',
    content: message.content,
    tool_calls: message.toolCalls.map(({ id, name, arguments: given }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(given) },
    })),
  };
}

export { checkpoint };
export const bridge = open('bridge');
