/** An editor of TypeScript: its lines have numbers, and what cannot be read is marked at its line while the reader types. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type SyntaxMistake, syntaxMistake } from './syntax-mistake.ts';

interface Props {
  label: string;
  rows: number;
  placeholder: string;
  value: string;
  onInput(value: string): void;
}

/** Milliseconds after the last key: a word that is half written is no mistake yet. */
const pause = 300;

export function CodeEditor({ label, rows, placeholder, value, onInput }: Props) {
  const [mistake, setMistake] = useState<SyntaxMistake>();
  const [text, gutter] = [useRef<HTMLTextAreaElement>(null), useRef<HTMLDivElement>(null)];
  useEffect(() => {
    const timer = setTimeout(() => setMistake(value === '' ? undefined : syntaxMistake(value)), pause);
    return () => clearTimeout(timer);
  }, [value]);
  const lines = value.split('\n');
  const goTo = (line: number) => {
    const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    text.current?.focus();
    text.current?.setSelectionRange(before, before + (lines[line - 1]?.length ?? 0));
  };
  return (
    <>
      <div class="editor">
        <div class="gutter" aria-hidden="true" ref={gutter}>
          {lines.map((_, index) => (
            <span key={index} class={mistake?.line === index + 1 ? 'mistaken' : ''}>
              {mistake?.line === index + 1 ? '▸' : ''}
              {index + 1}
            </span>
          ))}
        </div>
        <textarea
          ref={text}
          aria-label={label}
          aria-invalid={mistake !== undefined}
          rows={rows}
          spellcheck={false}
          autocomplete="off"
          placeholder={placeholder}
          value={value}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
          onScroll={({ currentTarget }) => gutter.current?.scrollTo(0, currentTarget.scrollTop)}
        />
      </div>
      {mistake && (
        <button type="button" class="mistake" onClick={() => goTo(mistake.line)}>
          line {mistake.line}: {mistake.message}
        </button>
      )}
    </>
  );
}
