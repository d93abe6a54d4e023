/** The page: a question and its episode on the left, turns, training and the reader's code on the right, what was learned below. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { whole } from '../../packages/view/page/numbers.ts';
import { PlayedTurns } from '../../packages/view/page/play/played-turns.tsx';
import { useTheme } from '../../packages/view/page/theme.ts';
import { CodePanel } from './code-panel.tsx';
import { ComparedPanel } from './compared-panel.tsx';
import { LearnedPanel } from './learned-panel.tsx';
import { readSetup, type Setup } from './link.ts';
import { LinkedPolicy } from './linked-policy.tsx';
import { QuestionBar } from './question-bar.tsx';
import { TrainingPanel } from './training-panel.tsx';
import { TurnPanel } from './turn-panel.tsx';
import { usePlayground } from './use-playground.ts';

/** The home page of the site shows the playground in a frame, and has a heading of its own. */
const isEmbedded = new URLSearchParams(location.search).has('embedded');

export function App() {
  const { state, failure, order, stop } = usePlayground();
  const [setup, setSetup] = useState(() => readSetup(location.hash));
  const change = (changes: Partial<Setup>) => setSetup((before) => ({ ...before, ...changes }));
  const [theme, toggleTheme] = useTheme();
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: 'nearest' }), [state?.episode?.steps]);
  const isLoaded = state !== undefined && state.questions.length > 0;
  const { question } = setup;
  const { trained, weights } = setup;
  const hasCode = setup.reward !== '' || setup.environment !== '';
  // The question of a link, and its policy, once the questions are known. Code of a link waits for the reader.
  useEffect(() => {
    if (!isLoaded) return;
    if (question > 0 && question < state.questions.length) order({ type: 'choose', question });
    if (trained.length > 0 && !hasCode) order({ type: 'train', trainings: trained });
  }, [isLoaded]);
  return (
    <>
      <header class="top">
        <h1>toolenv playground</h1>
        <span class="soft grow">
          {state && state.parameters > 0 && `A policy of ${whole(state.parameters)} parameters, in this tab`}
        </span>
        {!isEmbedded && <a href="../">Documentation</a>}
        <button type="button" onClick={toggleTheme}>
          {theme === 'dark' ? 'Light' : 'Dark'}
        </button>
      </header>
      {[failure, state?.problem, state?.episode?.problem].filter(Boolean).map((text) => (
        <p key={text} class="problem" role="alert">
          {text}
        </p>
      ))}
      {!isLoaded ? (
        <p class="nothing" role="status">
          {state?.problem ? '' : 'Loading the policy and ONNX Runtime (18 MB) …'}
        </p>
      ) : (
        <main>
          {trained.length > 0 && (
            <LinkedPolicy
              {...{ state, trained, weights }}
              onTrain={() => order({ type: 'train', trainings: trained })}
            />
          )}
          <div class="playground">
            <section>
              <QuestionBar state={state} setup={setup} onChange={change} order={order} />
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
              <TrainingPanel {...{ state, setup, order, stop, theme }} onChange={change} />
              <CodePanel state={state} code={codeOf(setup)} onEdit={change} order={order} />
            </aside>
          </div>
          <ComparedPanel compared={state.compared} />
          <LearnedPanel learned={state.learned} steps={state.steps} />
        </main>
      )}
    </>
  );
}

function codeOf({ reward, environment }: Setup): Pick<Setup, 'reward' | 'environment'> {
  return { reward, environment };
}
