/** The page: a question and its episode on the left, turns and training on the right. */
import { useEffect, useRef } from 'preact/hooks';
import { whole } from '../../packages/view/page/numbers.ts';
import { PlayedTurns } from '../../packages/view/page/play/played-turns.tsx';
import { useTheme } from '../../packages/view/page/theme.ts';
import { QuestionBar } from './question-bar.tsx';
import { TrainingPanel } from './training-panel.tsx';
import { TurnPanel } from './turn-panel.tsx';
import { usePlayground } from './use-playground.ts';

export function App() {
  const { state, failure, order } = usePlayground();
  const [theme, toggleTheme] = useTheme();
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: 'nearest' }), [state?.episode?.steps]);
  const isLoading = !state || (state.work === 'loading' && state.questions.length === 0);
  return (
    <>
      <header>
        <h1>toolenv playground</h1>
        <span class="soft grow">
          {state && state.parameters > 0 && `A policy of ${whole(state.parameters)} parameters, in this tab`}
        </span>
        <a href="../">Documentation</a>
        <button type="button" onClick={toggleTheme}>
          {theme === 'dark' ? 'Light' : 'Dark'}
        </button>
      </header>
      {[failure, state?.problem, state?.episode?.problem].filter(Boolean).map((text) => (
        <p key={text} class="problem" role="alert">
          {text}
        </p>
      ))}
      {isLoading ? (
        <p class="nothing" role="status">
          {failure || state?.problem ? '' : 'Loading the policy and ONNX Runtime (18 MB) …'}
        </p>
      ) : (
        <main class="playground">
          <section>
            <QuestionBar state={state} order={order} />
            <section aria-label="Conversation" aria-live="polite" tabIndex={0}>
              {state.episode && <PlayedTurns {...state.episode} rewardSpec={state.rewardSpec} />}
              {state.rightAnswer !== undefined && (
                <p>
                  The right answer is <strong>{state.rightAnswer}</strong>.
                </p>
              )}
              <div ref={end} />
            </section>
          </section>
          <aside aria-label="Turns and training">
            <TurnPanel state={state} order={order} />
            <TrainingPanel state={state} order={order} theme={theme} />
          </aside>
        </main>
      )}
    </>
  );
}
