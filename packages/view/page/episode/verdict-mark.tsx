/** Whether an episode was right, by a sign and a word. */
import type { Verdict } from '../../src/recorded/verdict.ts';

const marks = {
  right: ['✓', 'right', 'good'],
  partly: ['◐', 'partly right', 'soft'],
  wrong: ['✘', 'wrong', 'bad'],
  unknown: ['–', 'not scored', 'soft'],
} as const;

export function VerdictMark({ verdict: { kind, score, value } }: { verdict: Verdict }) {
  const [sign, word, colour] = marks[kind];
  return (
    <span class={`verdict ${colour}`} title={score === undefined ? undefined : `${score} ${value ?? 'null'}`}>
      <span aria-hidden="true">{sign}</span> {word}
    </span>
  );
}
