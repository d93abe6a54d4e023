/** The keys of all views. */
import { useEffect, useRef } from 'preact/hooks';

const keys: readonly [key: string, action: string][] = [
  ['1 2 3 4 5 6', 'overview, curves, episodes, tasks, options, scores'],
  ['0', 'the runs, if there are several'],
  ['j k or ↓ ↑', 'next or previous episode of the list'],
  ['Enter', 'open the chosen episode'],
  ['/', 'search in texts'],
  ['n p', 'next or previous episode of the file, in an episode'],
  ['c', 'colour tokens by the next quantity'],
  ['g', 'the episodes of the same group beside each other'],
  ['t', 'the same task over all steps'],
  ['Esc', 'back to the list'],
  ['d', 'dark or light'],
  ['?', 'these keys'],
];

export function Help({ onClose }: { onClose(): void }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  return (
    <section class="help" role="dialog" aria-label="Keys">
      <h2>Keys</h2>
      <dl>
        {keys.map(([key, action]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{action}</dd>
          </div>
        ))}
      </dl>
      <button ref={button} type="button" onClick={onClose}>
        Close
      </button>
    </section>
  );
}
