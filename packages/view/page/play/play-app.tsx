/** A person plays the policy's part: the conversation so far, the tools as forms, and the answer. */
import { useEffect, useRef } from 'preact/hooks';
import { useTheme } from '../theme.ts';
import { PlayedTurns } from './played-turns.tsx';
import { TurnForms } from './turn-forms.tsx';
import { usePlay } from './use-play.ts';

export function PlayApp() {
  const { state, problem, write, next } = usePlay();
  const [theme, toggleTheme] = useTheme();
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: 'nearest' }), [state]);
  return (
    <>
      <header class="top">
        <h1>toolenv play</h1>
        <span>{state && `${state.env}, episode ${state.number}`}</span>
        <span class="soft grow">{state?.out && `${state.kept} kept in ${state.out}`}</span>
        <button type="button" onClick={toggleTheme}>
          {theme === 'dark' ? 'Light' : 'Dark'}
        </button>
      </header>
      {[problem, state?.problem].filter(Boolean).map((text) => (
        <p key={text} class="problem" role="alert">
          {text}
        </p>
      ))}
      <main class="play">
        <section aria-label="Conversation" aria-live="polite" tabIndex={0}>
          {state && <PlayedTurns {...state} />}
          <div ref={end} />
        </section>
        {state && !state.trajectory && !state.problem && (
          <aside aria-label="Your turn" tabIndex={0}>
            <TurnForms
              tools={(state.observation ?? state.steps.at(-1)?.observation)?.tools ?? []}
              isWaiting={state.observation === undefined}
              progress={state.progress}
              onWrite={write}
            />
          </aside>
        )}
        {(state?.trajectory || state?.problem) && (
          <aside aria-label="The end">
            <button type="button" onClick={next}>
              Next episode
            </button>
          </aside>
        )}
      </main>
    </>
  );
}
