/** The trained policy that a link names: this tab trains it in the same way, and compares its weights. */
import { plural } from '../../packages/view/page/numbers.ts';
import type { PlaygroundState, Training } from './messages.ts';

interface Props {
  state: PlaygroundState;
  trained: readonly Training[];
  /** The name of its weights, as the link says. */
  weights: string;
  onTrain(): void;
}

export function LinkedPolicy({ onTrain, ...link }: Props) {
  return (
    <p class="note" role="status">
      {textOf(link)}{' '}
      {isUntrained(link.state) && (
        <button type="button" onClick={onTrain}>
          Train it here
        </button>
      )}
    </p>
  );
}

function isUntrained({ work, steps }: PlaygroundState): boolean {
  return work === 'nothing' && steps === 0;
}

function textOf({ state, trained, weights }: Omit<Props, 'onTrain'>): string {
  const steps = trained.reduce((sum, training) => sum + training.steps, 0);
  const isSame = JSON.stringify(state.trainings) === JSON.stringify(trained);
  if (isUntrained(state)) return `The policy of the link was trained for ${plural(steps, 'step')}.`;
  if (state.work === 'training' && !isSame)
    return `This tab trains the policy of the link: step ${state.steps} of ${steps}.`;
  if (!isSame) return 'The training of this policy is not the training of the link.';
  if (state.weights === undefined) return 'This tab has trained the policy of the link.';
  return state.weights === weights
    ? `This is the policy of the link: its weights are the same (${weights}).`
    : `This tab has trained as the link says, and its weights differ (${state.weights}, not ${weights}): the link comes from another version of the playground, or this browser computes otherwise.`;
}
