/** Command lines of a short training run with the fixture plugins of the command line's tests. */
import { fixture } from '../../../packages/cli/test/fixture.ts';

export function trainArgs(out: string, ...more: string[]): string[] {
  const { env, policy, trainer } = fixture;
  return [
    'train',
    env,
    '--policy',
    policy,
    '--trainer',
    trainer,
    '--out',
    out,
    '--steps',
    '6',
    '--checkpoint-every',
    '2',
    ...more,
  ];
}

/** A run that is at work for minutes unless it is stopped. */
export const slow = ['--pause', '500', '--steps', '1000', '--json'];
