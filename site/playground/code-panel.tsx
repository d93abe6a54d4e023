/** The reader's own reward and environment. Nothing of it runs before the reader says so: a link may have brought the code. */
import { CodeEditor } from './code-editor.tsx';
import { environmentExample, rewardExample, safeRewardExample } from './code-examples.ts';
import type { Setup } from './link.ts';
import type { Order, PlaygroundState } from './messages.ts';

type Code = PlaygroundState['code'];

interface Props {
  state: PlaygroundState;
  /** What the editors have. */
  code: Pick<Setup, keyof Code>;
  onEdit(code: Partial<Code>): void;
  order(order: Order): void;
}

/** The example of a reward fits the page's questions, or the example of an environment: they have other scores. */
const editorsFor = ({ environment }: Code) =>
  [
    {
      name: 'reward',
      title: 'Reward',
      example: environment === '' ? rewardExample : safeRewardExample,
      rows: 6,
    },
    { name: 'environment', title: 'Environment', example: environmentExample, rows: 24 },
  ] as const;

export function CodePanel({ state, code, onEdit, order }: Props) {
  const { work, checked } = state;
  const isInUse = state.code.reward === code.reward && state.code.environment === code.environment;
  const isBusy = work !== 'nothing';
  return (
    <section class="code" aria-label="Your code">
      <h2>Change what it learns</h2>
      <p class="soft">
        TypeScript, with what <code>@toolenv/core</code> and <code>@toolenv/envs-qa</code> export. Types are
        removed, not checked. The code runs in a worker of this tab once you press “Use this code”; “Stop”
        ends it. Another policy plays your environment: it knows few words, those of the example among them.
      </p>
      {!isInUse && (code.reward !== '' || code.environment !== '') && (
        <p class="note" role="status">
          The code below is not in use. If a link brought it, read it before you run it.
        </p>
      )}
      {editorsFor(code).map(({ name, title, example, rows }) => (
        <details
          key={name}
          open={code[name] !== ''}
          onToggle={({ currentTarget }) => {
            // An empty editor is no beginning.
            if (currentTarget.open && code[name] === '') onEdit({ [name]: example });
          }}
        >
          <summary>{title}</summary>
          <CodeEditor
            label={`${title} in TypeScript`}
            rows={rows}
            placeholder={`The playground's own ${name}`}
            value={code[name]}
            onInput={(value) => onEdit({ [name]: value })}
          />
          <div class="bar">
            <button
              type="button"
              disabled={code[name] === example}
              onClick={() => onEdit({ [name]: example })}
            >
              Example
            </button>
            <button type="button" disabled={code[name] === ''} onClick={() => onEdit({ [name]: '' })}>
              The playground’s own
            </button>
          </div>
        </details>
      ))}
      <div class="bar">
        <button
          type="button"
          class="main"
          disabled={isBusy || isInUse}
          onClick={() => order({ type: 'use', ...code })}
        >
          Use this code
        </button>
        <span role="status">
          {work === 'checking' && 'Checking …'}
          {checked && `${checked.passed} rules hold${checked.ok ? '.' : ', not all.'}`}
        </span>
      </div>
      {checked && checked.findings.length > 0 && (
        <ul>
          {checked.findings.map((finding) => (
            <li key={finding}>{finding}</li>
          ))}
        </ul>
      )}
    </section>
  );
}
