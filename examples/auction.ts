/**
 * A sealed-bid auction: four bidders bid at once, and each knows only what the vase is worth to itself. The highest bid wins, and pays the
 * second highest (Vickrey 1961).
 *
 *     npx toolenv train ./auction.ts --policy my-policy --out run       # self-play: all four learn
 *     npx toolenv eval ./auction.ts --players trained=run/policy,untrained=my-policy
 */
import { createRng, defineToolEnv, type Message, type Observation } from '@toolenv/core';

/** What the vase is worth to each, from 1 to 9. In the test split, and only there, the sum is divisible by 5. */
function drawWorths(seed: number, isTest: boolean, index: number): number[] {
  const rng = createRng(seed, String(isTest), index);
  for (;;) {
    const worths = [1, 2, 3, 4].map(() => 1 + rng.int(9));
    if ((worths.reduce((sum, worth) => sum + worth) % 5 === 0) === isTest) return worths;
  }
}

const rules = 'Bid from 0 to 9 for a vase. The highest bid wins, and pays the second highest.';
/** What a bidder reads. */
const view = (worth: number): Message[] => [
  { role: 'system', content: rules },
  { role: 'user', content: `Worth ${worth}. Bid` },
];

/** −1 if the text names no bid. */
const readBid = (said: string) => Number(/\d/.exec(said)?.[0] ?? -1);

const bidder = {
  description: 'a bidder',
  scripts: { honest: (_: unknown, { messages }: Observation) => String(readBid(messages.at(-1)!.content)) },
};

export default defineToolEnv({
  name: 'auction-v1',
  description: 'A sealed-bid auction of four bidders.',
  tasks: ({ seed }) => ({
    train: { length: 1000, get: (index) => drawWorths(seed, false, index) },
    test: { length: 200, get: (index) => drawWorths(seed, true, index) },
  }),
  players: { anna: bidder, ben: bidder, carl: bidder },
  rewards: { gain: { kind: 'outcome', range: [-1, 1] } },
  episode: ({ task: worths, player, rng }) => ({
    messages: view(worths[0]!),
    async onAnswer(answer) {
      const names = ['anna', 'ben', 'carl'] as const;
      const said = await Promise.all(names.map((name, n) => player(name).ask(view(worths[n + 1]!))));
      const bids = [answer, ...said.map(({ text, isCutOff }) => (isCutOff ? '' : text))].map(readBid);
      // Nobody is first among equal bids.
      const [winner, second] = rng.shuffle([0, 1, 2, 3]).sort((a, b) => bids[b]! - bids[a]!);
      const price = Math.max(0, bids[second!]!);
      const gain = bids.map((bid, n) => (n === winner && bid >= 0 ? (worths[n]! - price) / 9 : 0));
      const ofOthers = names.map((name, n) => [name, { gain: gain[n + 1]! }]);
      return { end: 'sold', rewards: { gain: gain[0]! }, playerRewards: Object.fromEntries(ofOthers) };
    },
  }),
  // It plays all four: the others bid nothing.
  oracle: () => (seen) => (seen.conversation ? '0' : '9'),
  best: (worths) => worths[0]! / 9,
});
