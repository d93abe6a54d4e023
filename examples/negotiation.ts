/**
 * A negotiation: two traders divide objects, and each knows only what they are worth to itself (arXiv 1706.05125).
 *
 *     npx toolenv play ./negotiation.ts --partner fair
 *     npx toolenv train ./negotiation.ts --policy my-policy --out run       # both traders learn
 */
import { createRng, defineToolEnv } from '@toolenv/core';

const objects = ['book', 'hat', 'ball'] as const;
/** How many of each object. */
type Share = number[];

/** The objects, and the worth of each object to either trader. All objects together are worth 10. */
interface Deal {
  pool: Share;
  mine: Share;
  partners: Share;
}

/** Only in deals of the test split, a book is worth as much to both. */
function drawDeal(seed: number, split: 'train' | 'test', index: number): Deal {
  const rng = createRng(seed, split, index);
  // A single book makes a worth of 10 possible whatever else there is.
  const pool = [1, 1 + rng.int(3), 1 + rng.int(3)];
  const values = () => objects.map(() => rng.int(6));
  for (;;) {
    const deal = { pool, mine: values(), partners: values() };
    const isWhole = [deal.mine, deal.partners].every((each) => worth(pool, each) === 10);
    if (isWhole && (deal.mine[0] === deal.partners[0]) === (split === 'test')) return deal;
  }
}

const worth = (share: Share, values: Share) => share.reduce((sum, count, n) => sum + count * values[n]!, 0);

/** The share that "2 books and 1 hat" names; `undefined` if it names none, or more than there is. */
function readOffer(said: string, pool: Share): Share | undefined {
  const share = objects.map((name) => Number(new RegExp(`(\\d+) ${name}`).exec(said)?.[1] ?? 0));
  return share.some((count) => count > 0) && share.every((count, n) => count <= pool[n]!) ? share : undefined;
}

const countsOf = (share: Share) => objects.map((name, n) => `${share[n]} ${name}s`).join(', ');

function rulesFor({ pool }: Deal, values: Share): string {
  const prices = objects.map((name, n) => `a ${name} ${values[n]}`).join(', ');
  return `Divide ${countsOf(pool)} with a partner. To you, ${prices}. Say what you take, such as "I take 1 hat", or "Deal" to take what the partner leaves you.`;
}

export default defineToolEnv({
  name: 'negotiation-v1',
  description: 'Divide objects with a partner who values them differently.',
  tasks: ({ seed }) => ({
    train: { length: 1000, get: (index) => drawDeal(seed, 'train', index) },
    test: { length: 100, get: (index) => drawDeal(seed, 'test', index) },
  }),
  players: {
    partner: {
      description: 'the partner',
      scripts: {
        /** Agrees to half of the value, and otherwise asks for all that is worth something to it. */
        fair: ({ task: { pool, partners } }, { messages }) => {
          const offer = readOffer(messages.at(-1)!.content.split('\n').at(-1)!, pool);
          const left = pool.map((count, n) => count - (offer?.[n] ?? count));
          if (worth(left, partners) >= 5) return 'Deal';
          return `I take ${countsOf(pool.map((count, n) => (partners[n]! > 0 ? count : 0)))}`;
        },
      },
    },
  },
  rewards: { value: { kind: 'outcome' } },
  limits: { maxTurns: 5 },
  episode: ({ task, player }) => {
    const partner = player('partner');
    let partnersOffer: Share | undefined;
    /** The rewards of both traders if the first takes this share, and the partner the rest. */
    const end = (mine: Share) => {
      const rest = task.pool.map((count, n) => count - mine[n]!);
      const rewards = { value: worth(mine, task.mine) / 10 };
      return { end: 'deal', rewards, playerRewards: { partner: { value: worth(rest, task.partners) / 10 } } };
    };
    return {
      messages: rulesFor(task, task.mine),
      async onAnswer(said) {
        if (/\bdeal\b/i.test(said) && partnersOffer)
          return end(task.pool.map((count, n) => count - partnersOffer![n]!));
        const offer = readOffer(said, task.pool);
        const heard = `The other trader: ${said}`;
        const isFirst = partner.conversation.length === 0;
        const { text } = await partner.ask(isFirst ? `${rulesFor(task, task.partners)}\n${heard}` : heard);
        if (/\bdeal\b/i.test(text) && offer) return end(offer);
        partnersOffer = readOffer(text, task.pool);
        return `The other trader: ${text}`;
      },
    };
  },
});
