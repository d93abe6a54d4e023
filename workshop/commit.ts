/** commit: the version of the code that runs. */
import { execFileSync } from 'node:child_process';

/** The commit; `+` if there are uncommitted changes. */
export function commit(): string {
  const git = (...words: string[]) => execFileSync('git', words, { encoding: 'utf8' }).trim();
  const changes = git(
    'status',
    '--porcelain',
    '--untracked-files=no',
    '--',
    'packages',
    'studies',
    'workshop',
  );
  return `${git('rev-parse', '--short=10', 'HEAD')}${changes === '' ? '' : '+'}`;
}
