/**
 * Rock, paper, scissors over several rounds: both players move at once, and learn what the other did only afterwards.
 *
 *     npx toolenv train ./rock-paper-scissors.ts --policy my-policy --out run       # self-play
 *     npx toolenv eval ./rock-paper-scissors.ts --players trained=run/policy,untrained=my-policy
 */
import { defineToolEnv } from '@toolenv/core';

/** Each beats the one before it. */
const moves = ['R', 'P', 'S'];

/** The number of a move; −1 for anything else, which loses to every move. */
const readMove = (said: string) => moves.indexOf(/[RPS]/.exec(said)?.[0] ?? '');

/** The points of the first of two moves: ½ for equal moves. */
function pointsOf(mine: number, theirs: number): number {
  if (mine === theirs) return 0.5;
  if (mine < 0 || theirs < 0) return Number(theirs < 0);
  return Number((mine - theirs + 3) % 3 === 1);
}

export default defineToolEnv({
  name: 'rock-paper-scissors-v1',
  description: 'Rock, paper, scissors over several rounds.',
  tasks: { train: [{ rounds: 3 }, { rounds: 5 }], test: [{ rounds: 4 }] },
  players: {
    opponent: { description: 'the opponent', scripts: { random: ({ rng }) => moves[rng.int(3)]! } },
  },
  rewards: {
    /** The share of the rounds that were won. */
    won: { kind: 'outcome' },
  },
  episode({ task: { rounds }, player }) {
    const question = 'Answer R, P or S.';
    let [round, points] = [0, 0];
    let seen = question;
    return {
      messages: question,
      async onAnswer(answer) {
        // The opponent is asked before anybody learns of a move.
        const { text, isCutOff } = await player('opponent').ask(seen);
        const [mine, theirs] = [readMove(answer), readMove(isCutOff ? '' : text)];
        points += pointsOf(mine, theirs);
        round += 1;
        const view = (own: number, other: number) =>
          `You: ${moves[own] ?? 'none'}. The other: ${moves[other] ?? 'none'}. ${question}`;
        seen = view(theirs, mine);
        if (round < rounds) return view(mine, theirs);
        const won = points / rounds;
        return { end: 'over', rewards: { won }, playerRewards: { opponent: { won: 1 - won } } };
      },
    };
  },
  // It plays both: the opponent always takes the rock.
  oracle: () => (seen) => (seen.conversation === 'opponent' ? 'R' : 'P'),
});
