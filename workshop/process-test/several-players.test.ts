/** Games of several players: a policy learns each game by self-play, and a tournament shows that it beats the untrained policy. */
import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from '../test/new-folder.ts';
import { runShell } from './shell.ts';

const root = join(import.meta.dirname, '../..');

const grpo = '--tasks-per-step 16 --group-size 8 --beta 0 --learning-rate 2e-3';
const ppo =
  '--trainer @toolenv/trainer-ppo/ppo-v1 --tasks-per-step 64 --group-size 1 --credit turn --lambda 0.9 --beta 0 --entropy-coefficient 0.04 --learning-rate 1e-3 --critic-learning-rate 1e-3 --epochs 2 --mini-batches 4';

test.each([
  ['auction.ts', '0123456789', `--steps 20 ${grpo}`, 3],
  ['rock-paper-scissors.ts', 'RPS01', `--steps 40 ${grpo}`, 30],
  ['tic-tac-toe.ts', '123456789XO', `--steps 20 ${ppo}`, 20],
])(
  'self-play of %s makes a policy that beats the one it began as',
  async (file, characters, flags, samples) => {
    const folder = await newFolder();
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    const game = join(root, 'examples', file);
    const commands = `
    node --import "$TSX" ${join(root, 'examples/untrained-policy.ts')} untrained 1 ${characters}
    npx toolenv train ${game} --policy untrained --out run --seed 1 --max-tokens 2 --no-trajectories ${flags}
    npx toolenv eval ${game} --players trained=run/policy,untrained=untrained --temperature 1 --max-tokens 2 \\
      --samples ${samples} --count 40 --out cup`;
    const { stdout } = await runShell(commands, folder);
    expect(stdout).toMatch(/win rate +reward +as first/);
    const { standings } = JSON.parse(await readFile(join(folder, 'cup/tournament.json'), 'utf8'));
    expect(standings.trained.winRate.interval[0], stdout).toBeGreaterThan(0.5);
    expect(standings.trained.reward.mean).toBeGreaterThan(standings.untrained.reward.mean);
  },
);

test.each(['auction.ts', 'rock-paper-scissors.ts', 'tic-tac-toe.ts'])(
  '%s has fewer than 60 lines of code',
  async (file) => {
    const text = await readFile(join(root, 'examples', file), 'utf8');
    const lines = text.split('\n').filter((line) => !/^\s*(\/\/|\*|\/\*|$)/.test(line));
    expect(lines.length).toBeLessThan(60);
  },
);
