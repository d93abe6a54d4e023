/** A person plays the policy's part: the conversation so far, the tools as forms, and the answer. */
import type { RecordedEpisode } from '@toolenv/training';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PlayAnswer } from '../../src/play/serve-play.ts';
import { Conversation } from '../episode/conversation.tsx';
import { Reward } from '../episodes/columns.tsx';
import { useTheme } from '../theme.ts';
import { ToolForm } from './tool-form.tsx';
import { usePlay } from './use-play.ts';

export function PlayApp() {
  const { state, problem, write, next } = usePlay();
  const [theme, toggleTheme] = useTheme();
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: 'nearest' }), [state]);
  return (
    <>
      <header>
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
          {state && <Played state={state} />}
          <div ref={end} />
        </section>
        {state && !state.trajectory && !state.problem && (
          <aside aria-label="Your turn" tabIndex={0}>
            <Turn state={state} onWrite={write} />
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

function Played({ state }: { state: PlayAnswer }) {
  const { steps, observation, trajectory } = state;
  const episode = { steps, rewardSpec: trajectory?.rewardSpec ?? state.rewardSpec } as RecordedEpisode;
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
          The episode is over. Reward <Reward value={trajectory.reward} />
        </h3>
      )}
    </>
  );
}

/** Of more tools than so many, a person opens the form of each. */
const shownTools = 3;

function Turn({ state, onWrite }: { state: PlayAnswer; onWrite: ReturnType<typeof usePlay>['write'] }) {
  const [text, setText] = useState('');
  const tools = (state.observation ?? state.steps.at(-1)?.observation)?.tools ?? [];
  const isWaiting = state.observation === undefined;
  return (
    <>
      {tools.map((tool) => (
        <details key={tool.name} open={tools.length <= shownTools}>
          <summary>{tool.name}</summary>
          <ToolForm
            tool={tool}
            isDisabled={isWaiting}
            onCall={(args) => onWrite({ text: '', calls: [{ name: tool.name, arguments: args }] })}
          />
        </details>
      ))}
      <form
        class="tool-form"
        aria-label="answer"
        onSubmit={(event) => {
          event.preventDefault();
          onWrite({ text, calls: [] });
          setText('');
        }}
      >
        <label>
          your answer
          <textarea rows={3} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
        </label>
        <button type="submit" disabled={isWaiting}>
          Answer
        </button>
      </form>
      {isWaiting && <p class="soft">The environment answers …</p>}
    </>
  );
}
