/** The beginning that the episodes of a group share, folded. */
import type { Answers } from '../../src/view/routes.ts';
import { plural } from '../numbers.ts';
import type { CommonPrefix } from './common-prefix.ts';
import { Conversation, Messages } from './conversation.tsx';
import type { TokenColour } from './token-colours.ts';

interface Props {
  /** Any episode of the group. */
  of: Answers['/api/episode'];
  prefix: CommonPrefix;
  /** Episodes. */
  count: number;
  colour: TokenColour | undefined;
}

export function SharedBeginning({ of: { episode, texts, learned }, prefix, count, colour }: Props) {
  const { steps } = episode;
  const messages = steps[0]!.observation.messages;
  const parts = [
    plural(messages.length, 'message'),
    ...(prefix.turns > 0 ? [plural(prefix.turns, 'turn')] : []),
  ];
  return (
    <details class="shared-beginning">
      <summary>
        The same in all {count}: {parts.join(' and ')}
      </summary>
      <Messages of={messages} />
      {prefix.turns > 0 && (
        <Conversation
          episode={{ ...episode, steps: steps.slice(0, prefix.turns) }}
          {...{ texts, learned, colour }}
          isOpened
        />
      )}
    </details>
  );
}
