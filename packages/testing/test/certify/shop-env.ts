/** An environment in which prices are looked up and added, and the ways to make it wrong. */
import {
  createRng,
  defineTool,
  defineToolEnv,
  type EnvDefinition,
  failure,
  type RewardDeclaration,
  type Tool,
} from '@toolenv/core';

export interface ShopTask {
  id: number;
  /** Kinds of fruit, and how many of each. */
  basket: Record<string, number>;
  /** In cents. */
  prices: Record<string, number>;
  answer: string;
}

const fruit = ['apples', 'pears', 'plums', 'figs', 'limes', 'kiwis', 'dates', 'melons'];

export function shopTasks(count: number, seed: string): ShopTask[] {
  return Array.from({ length: count }, (_, id) => {
    const rng = createRng(1, seed, id);
    const prices = Object.fromEntries(fruit.map((kind) => [kind, 11 + rng.int(880)]));
    const chosen = rng.shuffle([...fruit]).slice(0, 3);
    const basket = Object.fromEntries(chosen.map((kind) => [kind, 1 + rng.int(9)]));
    const answer = String(chosen.reduce((sum, kind) => sum + basket[kind]! * prices[kind]!, 0));
    return { id, basket, prices, answer };
  });
}

export function questionOf({ basket }: ShopTask): string {
  const parts = Object.entries(basket).map(([kind, count]) => `${count} ${kind}`);
  return `What do ${parts.join(', ')} cost, in cents?`;
}

interface Episode {
  task: ShopTask;
  answer?: string | undefined;
  calls: readonly unknown[];
}

/** What a wrong environment does instead. */
export interface ShopChanges {
  train?: ShopTask[];
  test?: ShopTask[];
  prompt?(task: ShopTask): string;
  /** Further tools of an episode. */
  tools?(task: ShopTask): Tool[];
  /** Description of the tool. */
  description?(task: ShopTask): string;
  price?(task: ShopTask, kind: string): ReturnType<typeof failure> | string;
  /** What follows a wrong answer. Default: the end. */
  onWrong?(task: ShopTask): string;
  score?(episode: Episode, right: boolean): number | null;
  rewards?: Record<string, RewardDeclaration<never>>;
  oracle?: ((task: ShopTask) => unknown[]) | null;
  maxTurns?: number;
}

export function shop(changes: ShopChanges = {}): EnvDefinition<ShopTask> {
  const { prompt = questionOf, price = known, onWrong, tools = () => [] } = changes;
  const score = changes.score ?? ((_: Episode, right: boolean) => Number(right));
  const described = changes.description ?? (() => 'The price of a kind of fruit, in cents.');
  const oracle = ({ basket, answer }: ShopTask) => [
    ...Object.keys(basket).map((kind) => [{ name: 'price', arguments: { kind } }]),
    answer,
  ];
  const definition = {
    name: 'shop-v1',
    description: 'Add prices.',
    limits: { maxTurns: changes.maxTurns ?? 6 },
    tasks: {
      train: changes.train ?? shopTasks(40, 'train'),
      test: changes.test ?? shopTasks(40, 'test'),
    },
    rewards: {
      right: {
        kind: 'outcome',
        range: [-1, 1],
        score: (episode: Episode) => score(episode, episode.answer?.trim() === episode.task.answer),
      },
      ...changes.rewards,
    },
    episode: ({ task }: { task: ShopTask }) => ({
      messages: prompt(task),
      tools: [
        defineTool('price', described(task), { kind: { type: 'string' } }, ({ kind }) => price(task, kind)),
        ...tools(task),
      ],
      onAnswer: (answer: string) =>
        onWrong && answer.trim() !== task.answer ? onWrong(task) : { end: 'answered' },
    }),
    ...(changes.oracle !== null && { oracle: changes.oracle ?? oracle }),
  };
  return defineToolEnv(definition as never) as unknown as EnvDefinition<ShopTask>;
}

function known({ prices }: ShopTask, kind: string) {
  return Object.hasOwn(prices, kind)
    ? `${prices[kind]}`
    : failure('There is no such fruit. Name it in the plural.');
}
