/**
 * Tic-tac-toe against an opponent: the policy itself, a random player, or any policy that you name.
 *
 *     npx toolenv train ./tic-tac-toe.ts --policy my-policy --out run       # self-play
 *     npx toolenv eval ./tic-tac-toe.ts --opponent random --policy run/policy
 */
import { createRng, defineToolEnv, type Script } from '@toolenv/core';

const lines = ['123', '456', '789', '147', '258', '369', '159', '357'];
/** Who begins, and the cells of the moves that are made already. The policy is X. */
type Game = { begins: 'X' | 'O'; opening: number[] };
const wholeGames = (['X', 'O'] as const).map((begins): Game => ({ begins, opening: [] }));

/** The board after the moves, and who has won, if the game is over. A move that is not allowed loses. */
function boardAfter(moves: readonly number[], begins: Game['begins']) {
  const cells = [...'123456789'];
  let [next, last] = begins === 'X' ? ['X', 'O'] : ['O', 'X'];
  let winner: string | undefined;
  for (const move of moves) {
    [next, last] = [last, next];
    if (cells[move - 1] !== String(move)) winner ??= next;
    else cells[move - 1] = last;
    if (lines.some((line) => [...line].every((cell) => cells[Number(cell) - 1] === last))) winner ??= last;
  }
  const free = cells.filter((cell) => cell !== 'X' && cell !== 'O');
  const text = `${cells.join(' ').replace(/(.{5}) (.{5}) /, '$1\n$2\n')}\n${next} to move.`;
  return { next, winner: winner ?? (free.length === 0 ? 'nobody' : undefined), free, text };
}

/** A game after one to six random moves: in self-play alone, two players soon meet only the boards that they like. */
function drawGame(index: number): Game {
  const rng = createRng(1, 'game', index);
  const opening = rng.shuffle([1, 2, 3, 4, 5, 6, 7, 8, 9]).slice(0, 1 + rng.int(6));
  const game: Game = { begins: rng.int(2) ? 'X' : 'O', opening };
  return boardAfter(opening, game.begins).winner ? drawGame(index + 100_000) : game;
}

/** Plays both: the opponent gives up. */
const anyMove: Script = ({ messages, conversation }) =>
  conversation ? 'pass' : /\d/.exec(messages.at(-1)!.content)![0];

export default defineToolEnv({
  name: 'tic-tac-toe-v1',
  description: 'Tic-tac-toe against an opponent, who may be the policy itself.',
  tasks: { train: { length: 100_000, get: drawGame }, validation: wholeGames, test: wholeGames },
  state: ({ task }) => [...task.opening],
  players: {
    opponent: {
      description: 'the opponent',
      scripts: { random: ({ task, state, rng }) => rng.pick(boardAfter(state, task.begins).free) },
    },
  },
  /** 1 for a victory, ½ if nobody wins. */
  rewards: { won: { kind: 'outcome' }, notLost: { kind: 'outcome', weight: 0 } },
  async episode({ task, state: moves, player }) {
    const board = () => boardAfter(moves, task.begins);
    const move = (said: string) => moves.push(Number(/\d/.exec(said)?.[0] ?? 0));
    const opponentMoves = async () => move((await player('opponent').ask(board().text)).text);
    if (board().next === 'O') await opponentMoves();
    return {
      messages: board().text,
      async onAnswer(answer) {
        if (!board().winner) move(answer);
        if (!board().winner) await opponentMoves();
        const { winner, text } = board();
        if (!winner) return text;
        const won = winner === 'X' ? 1 : winner === 'O' ? 0 : 0.5;
        const rewardsOf = (share: number) => ({ won: share, notLost: Math.ceil(share) });
        const playerRewards = { opponent: rewardsOf(1 - won) };
        return { end: `won by ${winner}`, rewards: rewardsOf(won), playerRewards };
      },
    };
  },
  oracle: (game) => (boardAfter(game.opening, game.begins).next === 'X' ? anyMove : undefined),
});
