/** Chooses the question, and copies a link to it. */
import { useState } from 'preact/hooks';
import { type Setup, writeSetup } from './link.ts';
import type { Order, PlaygroundState } from './messages.ts';

interface Props {
  state: PlaygroundState;
  setup: Setup;
  onChange(changes: Partial<Setup>): void;
  order(order: Order): void;
}

export function QuestionBar({ state, setup, onChange, order }: Props) {
  const { work, question, questions, trainings, weights = '' } = state;
  const [copied, setCopied] = useState('');
  const choose = (question: number) => {
    onChange({ question });
    order({ type: 'choose', question });
  };
  // Whoever opens the link sees the policy as it is now.
  const shown = writeSetup({ ...setup, question, trained: trainings, weights });
  const address = new URL(shown, location.href.replace(/[?#].*$/, '')).href;
  const copy = async () => {
    history.replaceState(undefined, '', shown);
    await navigator.clipboard.writeText(address);
    setCopied(address);
  };
  const isBusy = work !== 'nothing';
  return (
    <div class="bar">
      <label class="grow">
        question
        <select
          value={String(question)}
          disabled={isBusy}
          onChange={({ currentTarget }) => choose(Number(currentTarget.value))}
        >
          {questions.map((text, index) => (
            <option key={index} value={String(index)}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        disabled={isBusy}
        onClick={() => choose(Math.floor(Math.random() * questions.length))}
      >
        Random
      </button>
      <button type="button" onClick={copy}>
        {copied === address ? 'Copied' : 'Copy link'}
      </button>
    </div>
  );
}
