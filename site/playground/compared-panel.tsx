/** The chosen question before and after a training, side by side. */
import type { Trajectory } from '@toolenv/core';
import { VerdictMark } from '../../packages/view/page/episode/verdict-mark.tsx';
import { plural } from '../../packages/view/page/numbers.ts';
import { PlayedTurns } from '../../packages/view/page/play/played-turns.tsx';
import { verdictOf } from '../../packages/view/src/recorded/verdict.ts';
import type { Compared } from './messages.ts';

export function ComparedPanel({ compared }: { compared: Compared | undefined }) {
  if (!compared) return null;
  const { question, from, before, to, after } = compared;
  return (
    <section aria-label="Before and after">
      <h2>Before and after</h2>
      <p class="question">{question}</p>
      <div
        class="side-by-side"
        tabIndex={0}
        role="region"
        aria-label="The question before and after training"
      >
        <Column title={`After ${plural(from, 'step')}`} trajectory={before} />
        {after && <Column title={`After ${plural(to ?? from, 'step')}`} trajectory={after} />}
      </div>
    </section>
  );
}

function Column({ title, trajectory }: { title: string; trajectory: Trajectory }) {
  const { steps, rewardSpec } = trajectory;
  return (
    <article>
      <h3>
        {title} <VerdictMark verdict={verdictOf(trajectory)} />
      </h3>
      <PlayedTurns steps={steps} trajectory={trajectory} rewardSpec={rewardSpec} />
    </article>
  );
}
