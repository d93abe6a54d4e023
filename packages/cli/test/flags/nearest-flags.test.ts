/** Which flags a misspelt flag may mean. */
import { expect, it } from 'vitest';
import { nearestFlags } from '../../src/flags/nearest-flags.ts';

const known = [
  ...[
    '--steps',
    '--evaluate-every',
    '--evaluate-on',
    '--evaluation-samples',
    '--evaluation-episodes',
    '--kl-every',
  ],
  ...['--learning-rate', '--lora-rank', '--max-tokens', '--group-size', '--out', '--epochs'],
];

it.each([
  ['--eval-every', ['--evaluate-every']],
  ['--eval-samples', ['--evaluation-samples']],
  ['--stepz', ['--steps']],
  ['--max_tokens', ['--max-tokens']],
  ['--maxTokens', ['--max-tokens']],
  ['--learning-rates', ['--learning-rate']],
  ['--lr', ['--learning-rate', '--lora-rank']],
  ['--max-new-tokens', ['--max-tokens']],
  ['--num-train-epochs', ['--epochs']],
  ['--nonsense', []],
])('%s means %j', (flag, meant) => {
  expect(nearestFlags(flag, known)).toEqual(meant);
});
