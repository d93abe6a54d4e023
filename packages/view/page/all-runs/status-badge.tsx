/** How a run is going: a sign, a colour and a word. */
import type { RunOverview } from '../../src/overview/run-overview.ts';

const signs = { running: '▶', done: '✓', stopped: '■', crashed: '✘' } as const;

export function StatusBadge({ status }: { status: RunOverview['status'] }) {
  return (
    <span class={`status ${status.kind}`}>
      <span aria-hidden="true">{signs[status.kind]}</span> {status.kind}
    </span>
  );
}
