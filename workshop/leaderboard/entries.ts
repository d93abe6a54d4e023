/** The rows of the table: two baselines, an agent for each algorithm, and two algorithms without masks. */

export interface Baseline {
  name: string;
  baseline: 'base-tool-call' | 'naive-rag';
}

export interface Agent {
  name: string;
  /** Reference of the trainer's plugin. */
  trainer: string;
  /** Options that differ from the settings of all agents. */
  options: Readonly<Record<string, unknown>>;
  /** Set for agents that only show what a mask does. */
  ablation?: true;
}

const grpo = '@toolenv/trainer-grpo/grpo-v1';
const ppo = '@toolenv/trainer-ppo/ppo-v1';
/** The tiny policy's critic learns at a higher rate than that of a large model. */
const critic = { criticLearningRate: 3e-4 };

export const baselines: readonly Baseline[] = [
  { name: 'Base Tool Call', baseline: 'base-tool-call' },
  { name: 'Naive RAG', baseline: 'naive-rag' },
];

export const agents: readonly Agent[] = [
  { name: 'PPO', trainer: ppo, options: critic },
  { name: 'GRPO', trainer: grpo, options: { algorithm: 'grpo' } },
  { name: 'REINFORCE++', trainer: grpo, options: { algorithm: 'reinforce++' } },
  { name: 'REINFORCE++-baseline', trainer: grpo, options: { algorithm: 'reinforce++-baseline' } },
  { name: 'RLOO', trainer: grpo, options: { algorithm: 'rloo' } },
  {
    name: 'PPO without action mask',
    trainer: ppo,
    options: { ...critic, actionMask: false },
    ablation: true,
  },
  {
    name: 'PPO without advantage mask',
    trainer: ppo,
    options: { ...critic, advantageMask: false },
    ablation: true,
  },
  {
    name: 'GRPO without action mask',
    trainer: grpo,
    options: { algorithm: 'grpo', actionMask: false },
    ablation: true,
  },
  {
    name: 'GRPO without advantage mask',
    trainer: grpo,
    options: { algorithm: 'grpo', advantageMask: false },
    ablation: true,
  },
  {
    name: 'PPO without both masks',
    trainer: ppo,
    options: { ...critic, actionMask: false, advantageMask: false },
    ablation: true,
  },
  {
    name: 'GRPO without both masks',
    trainer: grpo,
    options: { algorithm: 'grpo', actionMask: false, advantageMask: false },
    ablation: true,
  },
];
