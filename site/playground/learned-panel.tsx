/** Two episodes of the last step with the advantages of their tokens: what the update made more and less probable. */
import type { RecordedEpisode } from '@toolenv/view/recorded';
import { Conversation } from '../../packages/view/page/episode/conversation.tsx';
import { coloursOf } from '../../packages/view/page/episode/token-colours.ts';
import { Reward } from '../../packages/view/page/episodes/columns.tsx';
import type { PlaygroundState } from './messages.ts';

export function LearnedPanel({ learned, steps }: Pick<PlaygroundState, 'learned' | 'steps'>) {
  if (learned.length === 0) return null;
  const title = `What step ${steps} learned`;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <p class="soft">
        The best and the worst episode of a group. Blue tokens, marked above, became more probable; orange
        tokens, marked below, less.
      </p>
      <div class="side-by-side" tabIndex={0} role="region" aria-label="Tokens with advantages">
        {learned.map(({ trajectory, texts, learned: turns }) => {
          const episode = trajectory as unknown as RecordedEpisode;
          const colour = coloursOf({ episode, learned: turns }).find(({ name }) => name === 'advantage');
          return (
            <article key={trajectory.episodeId}>
              <h3>
                Reward <Reward value={trajectory.reward} />
              </h3>
              <Conversation episode={episode} texts={texts} learned={turns} colour={colour} />
            </article>
          );
        })}
      </div>
    </section>
  );
}
