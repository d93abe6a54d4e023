/** A turn that a person writes: each tool as a form, and the answer. */
import type { ToolDescription } from '@toolenv/core';
import { useState } from 'preact/hooks';
import type { WrittenTurn } from '../../src/play/play-by-hand.ts';
import { ToolForm } from './tool-form.tsx';

/** Of more tools than so many, a person opens the form of each. */
const shownTools = 3;

interface Props {
  tools: readonly ToolDescription[];
  /** Whether it is not the person's turn. */
  isWaiting: boolean;
  /** Of the tool that runs. */
  progress?: string | undefined;
  onWrite(turn: WrittenTurn): void;
}

export function TurnForms({ tools, isWaiting, progress, onWrite }: Props) {
  const [text, setText] = useState('');
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
      {isWaiting && <p class="soft">{progress ?? 'The environment answers …'}</p>}
    </>
  );
}
