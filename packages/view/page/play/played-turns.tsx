/** The episode that is being played, so far. */
import type { RewardSpec } from '@toolenv/core';
import type { RecordedEpisode } from '@toolenv/view/recorded';
import type { PlayState } from '../../src/play/play-session.ts';
import { verdictOf } from '../../src/recorded/verdict.ts';
import { Conversation } from '../episode/conversation.tsx';
import { Solution } from '../episode/solution.tsx';
import { VerdictMark } from '../episode/verdict-mark.tsx';
import { Reward } from '../episodes/columns.tsx';

type Props = Pick<PlayState, 'steps' | 'observation' | 'trajectory' | 'solution'> & {
  rewardSpec: RewardSpec;
};

export function PlayedTurns({ steps, observation, trajectory, solution = [], rewardSpec }: Props) {
  const episode = { steps, rewardSpec: trajectory?.rewardSpec ?? rewardSpec } as RecordedEpisode;
  const before = steps.at(-1)?.observation.messages.length ?? 0;
  const news = (observation?.messages ?? [])
    .slice(before)
    .filter(({ role }) => role === 'system' || role === 'user');
  return (
    <>
      <Conversation episode={episode} texts={{ turns: [] }} learned={[]} />
      {news.map(({ role, content }, index) => (
        <div key={index} class={`message ${role}`}>
          <h4>{role}</h4>
          <pre>{content}</pre>
        </div>
      ))}
      {trajectory && (
        <h3>
          The episode is over. Reward <Reward value={trajectory.reward} />{' '}
          <VerdictMark verdict={verdictOf(trajectory)} />
        </h3>
      )}
      {solution.length > 0 && <Solution turns={solution} />}
    </>
  );
}
