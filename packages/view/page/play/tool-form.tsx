/** A tool as a form. */
import type { ToolDescription } from '@toolenv/core';
import { useState } from 'preact/hooks';
import { argumentsOf, type Field, fieldsOf } from './arguments-of.ts';

interface Props {
  tool: ToolDescription;
  isDisabled: boolean;
  onCall(args: Record<string, unknown>): void;
}

export function ToolForm({ tool, isDisabled, onCall }: Props) {
  const fields = fieldsOf(tool.inputSchema);
  const [written, setWritten] = useState<Record<string, string>>({});
  const [problem, setProblem] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    try {
      onCall(argumentsOf(fields, written));
      setProblem('');
      setWritten({});
    } catch (error) {
      setProblem(`This is not JSON: ${(error as Error).message}`);
    }
  };
  return (
    <form class="tool-form" onSubmit={submit} aria-label={tool.name}>
      {tool.description && <p class="soft">{tool.description}</p>}
      {fields.map((field) => (
        <label key={field.name} htmlFor={`${tool.name}-${field.name}`}>
          {field.name}
          {field.isRequired ? '' : ' (optional)'}
          <Input
            id={`${tool.name}-${field.name}`}
            field={field}
            value={written[field.name] ?? ''}
            onWrite={(text) => setWritten({ ...written, [field.name]: text })}
          />
          {field.description && <small>{field.description}</small>}
        </label>
      ))}
      {problem && (
        <p class="bad" role="alert">
          {problem}
        </p>
      )}
      <button type="submit" disabled={isDisabled}>
        Call {tool.name}
      </button>
    </form>
  );
}

interface InputProps {
  id: string;
  field: Field;
  value: string;
  onWrite(text: string): void;
}

function Input({ id, field, value, onWrite }: InputProps) {
  const { kind, values = [], isRequired } = field;
  if (kind === 'choice' || kind === 'boolean') {
    const choices = kind === 'boolean' ? ['true', 'false'] : values.map((_, index) => String(index));
    return (
      <select
        id={id}
        value={value}
        required={isRequired}
        onChange={({ currentTarget }) => onWrite(currentTarget.value)}
      >
        <option value="" />
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {kind === 'boolean' ? choice : String(values[Number(choice)])}
          </option>
        ))}
      </select>
    );
  }
  if (kind === 'json')
    return (
      <textarea
        id={id}
        rows={3}
        placeholder="JSON"
        value={value}
        required={isRequired}
        onInput={({ currentTarget }) => onWrite(currentTarget.value)}
      />
    );
  const shared = {
    id,
    value,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => onWrite(currentTarget.value),
  };
  return kind === 'number' ? <input type="number" step="any" {...shared} /> : <input {...shared} />;
}
