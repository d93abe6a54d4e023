/** Agents that pay for their searches. */
import type { Agent, Baseline, Row, Study } from '../leaderboard/study.ts';
import {
  actorCritic,
  episodes,
  grpo,
  onlineDpo,
  ppo,
  rejectionSampling,
  sft,
  usual,
} from '../leaderboard/training.ts';

/** At the first, a guess is worth less than one search and more than three; at the second, less than both; at the third, more than both. */
const prices = [0.25, 0.1, 0.6] as const;
const [mainPrice] = prices;

/** A player or trainer that knows what a search costs: a row for each price. */
function atEachPrice(row: Omit<Agent, 'price'> | Omit<Baseline, 'price'>): Row[] {
  return prices.map((price) => ({ ...row, name: nameAt(row.name, price), price })) as Row[];
}

/** The name of a row at another price than the first. */
export function nameAt(name: string, price: number): string {
  return price === mainPrice ? name : `${name} at ${price}`;
}

export const price: Study = {
  ...episodes,
  steps: 120,
  name: 'price',
  policy: 'studies/price/checkpoint',
  trainsOn: ['one-hop claims', 'three-hop claims'],
  scoredOn: ['one-hop claims', 'three-hop claims'],
  prices,
  scoresSamples: true,
  // Guesses are right by chance, so the study needs more questions.
  count: 800,
  maxTurns: 8,
  rows: [
    ...atEachPrice({ name: 'Demonstrator', plays: 'demonstrator' }),
    { name: 'Start', plays: 'start' },
    {
      name: 'SFT on demonstrations',
      trainer: sft,
      options: { ...usual, batchSize: 128 },
      data: 'habitual-demonstrations',
    },
    {
      name: 'SFT on demonstrations that know the price',
      trainer: sft,
      options: { ...usual, batchSize: 128 },
      data: 'demonstrations',
      price: mainPrice,
    },
    { name: 'All right answers', trainer: rejectionSampling, options: { ...usual, keep: 8 }, price: 0 },
    { name: 'Best 6 of 8', trainer: rejectionSampling, options: { ...usual, keep: 6 }, price: mainPrice },
    { name: 'Best 4 of 8', trainer: rejectionSampling, options: { ...usual, keep: 4 }, price: mainPrice },
    ...atEachPrice({ name: 'Best of 8', trainer: rejectionSampling, options: usual }),
    { name: 'Online DPO', trainer: onlineDpo, options: usual, price: mainPrice },
    { name: 'PPO', trainer: ppo, options: actorCritic, price: mainPrice },
    { name: 'RLOO', trainer: grpo, options: { ...usual, algorithm: 'rloo' }, price: mainPrice },
    { name: 'REINFORCE++', trainer: grpo, options: { ...usual, algorithm: 'reinforce++' }, price: mainPrice },
    ...atEachPrice({
      name: 'GRPO scaled by the batch',
      trainer: grpo,
      options: { ...usual, algorithm: 'grpo', scaleRewards: 'batch' },
    }),
    { name: 'GRPO', trainer: grpo, options: { ...usual, algorithm: 'grpo' }, price: mainPrice },
    {
      name: 'GRPO with shuffled rewards',
      trainer: grpo,
      options: { ...usual, algorithm: 'grpo', shuffleRewards: true },
      price: mainPrice,
    },
  ],
  references: ['Start', 'SFT on demonstrations', 'Best of 8', 'GRPO scaled by the batch'],
};
