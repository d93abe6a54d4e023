/** Chooses the question. */
import type { Order, PlaygroundState } from './messages.ts';

interface Props {
  state: PlaygroundState;
  order(order: Order): void;
}

export function QuestionBar({ state: { work, question, questions }, order }: Props) {
  const choose = (question: number) => order({ type: 'choose', question });
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
            <option key={text} value={String(index)}>
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
    </div>
  );
}
