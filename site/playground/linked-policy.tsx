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

export function LinkedPolicy({ state, trained, weights, onTrain }: Props) {
  const steps = trained.reduce((sum, training) => sum + training.steps, 0);
  const isSame = JSON.stringify(state.trainings) === JSON.stringify(trained);
  const isIdle = state.work === 'nothing';
  return (
    <p class="note" role="status">
      {textOf()}{' '}
      {isIdle && state.steps === 0 && (
        <button type="button" onClick={onTrain}>
          Train it here
        </button>
      )}
    </p>
  );

  function textOf(): string {
    if (isIdle && state.steps === 0)
      return `The policy of the link was trained for ${plural(steps, 'step')}.`;
    if (state.work === 'training' && !isSame)
      return `This tab trains the policy of the link: step ${state.steps} of ${steps}.`;
    if (!isSame) return 'The policy was trained further than that of the link, or otherwise.';
    if (state.weights === undefined) return 'This tab has trained the policy of the link.';
    return state.weights === weights
      ? `This is the policy of the link: its weights are the same (${weights}).`
      : `This tab has trained as the link says, and its weights differ (${state.weights}, not ${weights}): another version of the playground made the link, or another browser computes otherwise.`;
  }
}
