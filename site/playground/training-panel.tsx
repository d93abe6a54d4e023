/** Trains the policy, and draws the reward of each step. */
import { useMemo } from 'preact/hooks';
import { Chart } from '../../packages/view/page/curves/chart.tsx';
import { chartData } from '../../packages/view/page/curves/chart-data.ts';
import type { ChartSpec } from '../../packages/view/page/curves/chart-specs.ts';
import type { Theme } from '../../packages/view/page/theme.ts';
import { maxSteps, type Setup } from './link.ts';
import type { Order, PlaygroundState } from './messages.ts';
import { training } from './setting.ts';

interface Props {
  state: PlaygroundState;
  setup: Setup;
  onChange(changes: Partial<Setup>): void;
  order(order: Order): void;
  stop(): void;
  theme: Theme;
}

const chart: ChartSpec = {
  section: 'Reward',
  title: 'Reward',
  unit: `mean of the ${training.tasksPerStep * training.groupSize} episodes of a step`,
  curves: [
    { type: 'rollout', metric: 'reward', label: 'reward' },
    { type: 'rollout', metric: 'rewards/em/mean', label: 'right answers' },
  ],
};

export function TrainingPanel({ state, setup, onChange, order, stop, theme }: Props) {
  const { work, steps, lines, secondsPerStep } = state;
  const isBusy = work !== 'nothing';
  const data = useMemo(() => chartData(chart, [[{ name: 'this tab', run: 0, lines }]]), [lines]);
  return (
    <section aria-label="Training">
      <h2>Train</h2>
      <p class="soft">
        GRPO on {training.tasksPerStep} questions a step, {training.groupSize} episodes each; the questions
        above stay unseen. The chosen question is answered before and after.
      </p>
      <form
        class="bar"
        onSubmit={(event) => {
          event.preventDefault();
          order({ type: 'train', trainings: [{ steps: setup.steps, seed: setup.seed }] });
        }}
      >
        <label>
          steps
          <input
            type="number"
            min="1"
            max={maxSteps}
            required
            value={setup.steps}
            onInput={({ currentTarget }) => onChange({ steps: currentTarget.valueAsNumber })}
          />
        </label>
        <label>
          seed
          <input
            type="number"
            min="0"
            required
            value={setup.seed}
            onInput={({ currentTarget }) => onChange({ seed: currentTarget.valueAsNumber })}
          />
        </label>
        <button type="submit" class="main" disabled={isBusy}>
          Train
        </button>
        <button type="button" disabled={!isBusy} onClick={stop}>
          Stop
        </button>
        <button type="button" disabled={isBusy || steps === 0} onClick={() => order({ type: 'reset' })}>
          Reset weights
        </button>
      </form>
      <p class="soft" role="status">
        {steps} {steps === 1 ? 'step' : 'steps'} trained
        {secondsPerStep !== undefined && `, ${secondsPerStep.toFixed(1)} s for the last`}
        {work === 'training' && ', training …'}
      </p>
      <HeldOutScores state={state} />
      {lines.length > 0 && (
        <>
          <Chart title={chart.title} unit={chart.unit} data={data} theme={theme} isOfRuns={false} />
          <p>{rewardsText(lines)}</p>
        </>
      )}
    </section>
  );
}

/** The first weights and those of now on questions that no training sees. */
function HeldOutScores({ state: { heldOut } }: { state: PlaygroundState }) {
  const { before, after } = heldOut;
  if (!before) return null;
  return (
    <section class="held-out" aria-label="Held-out questions">
      <dl>
        {[before, after].map((found, index) => (
          <div key={index}>
            <dt>{index === 0 ? 'before' : 'after'}</dt>
            <dd>
              {found ? found.mean.toFixed(2) : '…'}
              {found?.interval && (
                <small>
                  {' '}
                  {found.interval[0].toFixed(2)} to {found.interval[1].toFixed(2)}
                </small>
              )}
            </dd>
          </div>
        ))}
      </dl>
      <small>
        {before.score} on {before.questions} questions that no training sees, with its 95 % interval
      </small>
    </section>
  );
}

/** Steps of a mean, because single steps differ by their questions. */
const lastSteps = 4;

function rewardsText(lines: PlaygroundState['lines']): string {
  const rewards = lines.flatMap(({ type, metrics }) => (type === 'rollout' ? [metrics.reward ?? 0] : []));
  const last = rewards.slice(-lastSteps);
  const mean = last.reduce((sum, reward) => sum + reward, 0) / last.length;
  const first = `Reward ${rewards[0]!.toFixed(2)} in the first step`;
  return rewards.length > lastSteps
    ? `${first}, ${mean.toFixed(2)} on average in the last ${lastSteps}.`
    : `${first}.`;
}
