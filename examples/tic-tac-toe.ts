/**
 * Tic-tac-toe against an opponent: the policy itself, a random player, or any policy that you name.
 *
 *     npx toolenv train ./tic-tac-toe.ts --policy my-policy --out run       # self-play
 *     npx toolenv eval ./tic-tac-toe.ts --opponent random --policy run/policy
 */
import { createRng, defineToolEnv } from '@toolenv/core';

type Mark = 'X' | 'O';
type Winner = Mark | 'nobody';

const lines = [
  [1, 2, 3],
  [4, 5, 6],
  [7, 8, 9],
  [1, 4, 7],
  [2, 5, 8],
  [3, 6, 9],
  [1, 5, 9],
  [3, 5, 7],
];

/** Nine cells with the numbers 1 to 9, and who moves next. */
class Board {
  next: Mark;
  readonly #marks = new Map<number, Mark>();

  constructor(begins: Mark) {
    this.next = begins;
  }

  get free(): number[] {
    return [1, 2, 3, 4, 5, 6, 7, 8, 9].filter((cell) => !this.#marks.has(cell));
  }

  /**
   * The next player marks the cell that it has named first.
   * @returns Who has won, if the game is over. A move that is not allowed loses.
   */
  move(said: string): Winner | undefined {
    const mark = this.next;
    this.next = mark === 'X' ? 'O' : 'X';
    const cell = Number(/\d/.exec(said)?.[0]);
    if (!this.free.includes(cell)) return this.next;
    this.#marks.set(cell, mark);
    if (lines.some((line) => line.every((each) => this.#marks.get(each) === mark))) return mark;
    return this.free.length === 0 ? 'nobody' : undefined;
  }

  /** What the next player sees. */
  get text(): string {
    const rows = lines.slice(0, 3).map((row) => row.map((cell) => this.#marks.get(cell) ?? cell).join(' '));
    return `${rows.join('\n')}\n${this.next} to move.`;
  }
}

/** A game: who begins, and the moves that are made already. */
interface Game {
  begins: Mark;
  opening: number[];
}
const wholeGames: Game[] = [
  { begins: 'X', opening: [] },
  { begins: 'O', opening: [] },
];

/** A game after random moves: in self-play alone, two players soon meet only the boards that they like. */
function drawGame(seed: number, index: number): Game {
  const rng = createRng(seed, 'game', index);
  const begins = rng.int(2) ? 'X' : 'O';
  for (;;) {
    const board = new Board(begins);
    const opening = Array.from({ length: rng.int(7) }, () => board.free[rng.int(board.free.length)]!);
    if (opening.every((cell) => board.move(String(cell)) === undefined)) return { begins, opening };
  }
}

export default defineToolEnv({
  name: 'tic-tac-toe-v1',
  description: 'Tic-tac-toe against an opponent, who may be the policy itself.',
  tasks: ({ seed }) => ({
    train: { length: 100_000, get: (index) => drawGame(seed, index) },
    validation: wholeGames,
    test: wholeGames,
  }),
  state: ({ task: { begins, opening } }) => {
    const board = new Board(begins);
    for (const cell of opening) board.move(String(cell));
    return board;
  },
  players: {
    opponent: {
      description: 'the opponent',
      scripts: { random: ({ state, rng }) => String(state.free[rng.int(state.free.length)]) },
    },
  },
  rewards: {
    /** 1 for a victory, ½ if nobody wins. */
    won: { kind: 'outcome' },
    notLost: { kind: 'outcome', weight: 0 },
  },
  async episode({ state: board, player }) {
    const opponent = player('opponent');
    const opponentMoves = async () => board.move((await opponent.ask(board.text)).text);
    let winner = board.next === 'O' ? await opponentMoves() : undefined;
    return {
      messages: board.text,
      async onAnswer(answer) {
        winner ??= board.move(answer) ?? (await opponentMoves());
        if (!winner) return board.text;
        const rewardsOf = (mark: Mark) => ({
          won: winner === mark ? 1 : winner === 'nobody' ? 0.5 : 0,
          notLost: Number(winner === mark || winner === 'nobody'),
        });
        return {
          end: `won by ${winner}`,
          rewards: rewardsOf('X'),
          playerRewards: { opponent: rewardsOf('O') },
        };
      },
    };
  },
});
