/** What the page of an episode and of a group computes of its episodes. */
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { episodeOf } from '../browser-test/make-run.ts';
import { commonPrefix } from '../page/episode/common-prefix.ts';
import { playCommand } from '../page/episode/play-command.ts';
import { rightAnswer } from '../page/episode/right-answer.ts';
import { toolUse } from '../src/recorded/tool-use.ts';
import { verdictOf } from '../src/recorded/verdict.ts';

const spec = {
  tidy: { kind: 'process', range: [0, 1], weight: 0.1 },
  f1: { kind: 'outcome', range: [0, 1], weight: 0 },
  em: { kind: 'outcome', range: [-1, 1], weight: 1 },
} as const;

it.each([
  [
    { tidy: 1, f1: 0.5, em: 1 },
    { kind: 'right', score: 'em', value: 1 },
  ],
  [
    { tidy: 1, f1: 0.5, em: -1 },
    { kind: 'wrong', score: 'em', value: -1 },
  ],
  [
    { tidy: 1, f1: 0.5, em: 0.2 },
    { kind: 'partly', score: 'em', value: 0.2 },
  ],
  [
    { tidy: 1, f1: 0.5, em: null },
    { kind: 'unknown', score: 'em' },
  ],
])('the verdict of %o', (rewards, verdict) => {
  expect(verdictOf({ rewardSpec: spec, rewards })).toEqual(verdict);
});

it('has no verdict without an outcome', () => {
  expect(verdictOf({ rewardSpec: { tidy: spec.tidy }, rewards: { tidy: 1 } })).toEqual({ kind: 'unknown' });
});

it('counts the calls of each tool, the failed ones, and their times', () => {
  const [one, other] = [episodeOf(1, 0), episodeOf(1, 5)];
  other.steps[0]!.calls[0]!.milliseconds = 40;
  one.steps[1]!.environmentCalls = [{ ...one.steps[0]!.calls[0]!, milliseconds: 100 }];
  one.steps[1]!.calls = [
    {
      call: { text: '<call', parseFailure: 'no end' },
      text: '',
      milliseconds: 0,
      mistake: other.steps[0]!.calls[0]!.mistake!,
    },
  ];
  expect(toolUse([one, other])).toEqual([
    { tool: 'search', calls: 2, failed: 0, mean: 56.25, longest: 100 },
    { tool: undefined, calls: 1, failed: 1, mean: 0, longest: 0 },
    { tool: 'fetch', calls: 1, failed: 1, mean: 40, longest: 40 },
  ]);
});

it('the common prefix ends before the first turn that differs, and leaves each episode a turn', () => {
  const base = episodeOf(1, 0);
  const turn = base.steps[0]!;
  const withTurns = (...texts: string[]) => ({
    steps: texts.map((text) => ({ ...turn, action: { ...turn.action, text } })),
  });
  const prefix = (...episodes: string[][]) => commonPrefix(episodes.map((texts) => withTurns(...texts)));
  expect(prefix(['a', 'b', 'c'], ['a', 'b', 'd'])).toEqual({ opening: true, turns: 2 });
  expect(prefix(['a', 'b'], ['a', 'b', 'd'])).toEqual({ opening: true, turns: 1 });
  expect(prefix(['a'], ['b'])).toEqual({ opening: true, turns: 0 });
  expect(prefix(['a', 'b'])).toEqual({ opening: false, turns: 0 });
  expect(prefix([], [])).toEqual({ opening: false, turns: 0 });
  // Another result of the same call is another turn.
  const other = withTurns('a', 'b');
  other.steps[0] = { ...other.steps[0]!, calls: [{ ...turn.calls[0]!, text: 'Founded by Eve.' }] };
  expect(commonPrefix([withTurns('a', 'b'), other])).toEqual({ opening: true, turns: 0 });
});

it('the right answer is that of the environment, else that of the task', () => {
  const answer = (task: unknown, said?: string) =>
    rightAnswer({
      episode: { ...episodeOf(1, 0), task },
      ...(said !== undefined && { solution: { answer: said, turns: [] } }),
    });
  expect(answer({ answer: 'Ada' }, 'Eve')).toBe('Eve');
  expect(answer({ answer: 'Ada' })).toBe('Ada');
  expect(answer({ answers: ['Ada', 7] })).toBe('Ada or 7');
  expect(answer({ answer: { deep: 1 } })).toBeUndefined();
  expect(answer('a text')).toBeUndefined();
  expect(answer(null)).toBeUndefined();
});

it('the command is quoted for the shell, and none has control characters', () => {
  const run = (path: string, tools?: unknown) => ({ path, facts: { env: 'e/x-v1', tools } });
  expect(playCommand(run('/runs/a', { search: 'own/s-v1' }), { env: 'e/x-v1', number: 3 })).toBe(
    'toolenv play e/x-v1 --episode /runs/a:3 --tool search=own/s-v1',
  );
  expect(playCommand(run('/runs/a', ['search=own/s-v1']), { env: 'e/x-v1', number: 3 })).toContain(
    '--tool search=own/s-v1',
  );
  // The tools of another environment of a mix are not its own.
  expect(playCommand(run('/r', { search: 's' }), { env: 'e/y-v1', number: 0 })).not.toContain('--tool');
  for (const path of ['a\u001b[2J', 'a\nrm x', 'a\u202e', 'a\\u202e', '\ud800'])
    expect(playCommand(run(path), { env: 'e/x-v1', number: 0 })).toBeUndefined();
  expect(playCommand(run('/r'), { env: '--out=/r', number: 0 })).toBeUndefined();
  // A shell gives back the words.
  fc.assert(
    fc.property(fc.string(), fc.string(), (env, path) => {
      const command = playCommand(run(path), { env, number: 1 });
      if (command === undefined) return;
      const words = execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' }).split('\0');
      expect(words).toEqual(['toolenv', 'play', env, '--episode', `${path}:1`, '']);
    }),
    { numRuns: 20 },
  );
});
