/** The next turn, by the policy or by a person. */
import { TurnForms } from '../../packages/view/page/play/turn-forms.tsx';
import type { Order, PlaygroundState } from './messages.ts';

interface Props {
  state: PlaygroundState;
  order(order: Order): void;
}

export function TurnPanel({ state: { work, episode, question }, order }: Props) {
  const isOver = episode?.trajectory !== undefined || episode?.problem !== undefined;
  const isWaiting = work !== 'nothing' || !episode?.observation;
  if (isOver)
    return (
      <div class="bar">
        <button
          type="button"
          disabled={work !== 'nothing'}
          onClick={() => order({ type: 'choose', question })}
        >
          Ask again
        </button>
      </div>
    );
  return (
    <>
      <div class="bar">
        <button type="button" class="main" disabled={isWaiting} onClick={() => order({ type: 'play' })}>
          Play
        </button>
        <button type="button" disabled={isWaiting} onClick={() => order({ type: 'turn' })}>
          One turn
        </button>
      </div>
      <details>
        <summary>Take over this turn</summary>
        <TurnForms
          tools={(episode?.observation ?? episode?.steps.at(-1)?.observation)?.tools ?? []}
          isWaiting={isWaiting}
          onWrite={(written) => order({ type: 'turn', written })}
        />
      </details>
    </>
  );
}
