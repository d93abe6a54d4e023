/** The rows of the study: how each policy is trained. Rows that play episodes have the same number of them and of updates. */
export interface Row {
  name: string;
  /** Another way to answer than to call tools at will, of `toolenv baseline`. */
  baseline?: 'naive-rag';
  /** Environments that have the row. Default: all. */
  environments?: readonly string[];
  /** The row whose policy training begins with. Absent: the pretrained model. */
  from?: string;
  /** Flags of `toolenv train`, without those that all rows share. Absent: the policy is not trained. */
  train?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Where the row's episodes come from. */
  learnsFrom?: 'demonstrations' | 'episodes';
}

/** In trials, 1e-4 raised the reward for ten steps and then lost it, and 1e-5 moved it in none of eight steps. */
const learningRate = 3e-5;

export const rows: readonly Row[] = [
  { name: 'Pretrained' },
  { name: 'Naive RAG', baseline: 'naive-rag', environments: ['bridge'] },
  {
    name: 'Supervised',
    learnsFrom: 'demonstrations',
    train: {
      trainer: 'sft',
      learningRate: 2e-4,
      batchSize: 16,
      warmupSteps: 3,
      learningRateSchedule: 'cosine',
    },
  },
  {
    name: 'Supervised longer',
    from: 'Supervised',
    learnsFrom: 'demonstrations',
    train: { trainer: 'sft', learningRate, batchSize: 16 },
  },
  ...Object.entries({
    'Rejection sampling': { trainer: 'rejection-sampling', keep: 8 },
    'REINFORCE++': { algorithm: 'reinforce++' },
    RLOO: { algorithm: 'rloo' },
    PPO: { trainer: 'ppo' },
    'GRPO with shuffled rewards': { shuffleRewards: true },
    GRPO: {},
  }).map(([name, own]) => ({
    name,
    from: 'Supervised',
    learnsFrom: 'episodes' as const,
    train: { learningRate, tasksPerStep: 16, groupSize: 8, ...own },
  })),
];

export function rowOf(name: string): Row {
  return rows.find((row) => row.name === name)!;
}

/** The pretrained model, and the policy that all other rows begin with, are the same for each seed. */
export function seedOf({ from }: Row, seed: number): number {
  return from === undefined ? 1 : seed;
}
