/** Saves what the page shows as one file for somebody else, which opens at the same place. */
import { useState } from 'preact/hooks';
import { report } from './report.ts';
import { save } from './save.ts';
import { ask } from './server.ts';

interface Props {
  /** Names of the runs. */
  runs: readonly string[];
  onProblem(message: string | undefined): void;
}

export function SaveReport({ runs, onProblem }: Props) {
  const [isMaking, setMaking] = useState(false);
  if (report || runs.length === 0) return null;
  const make = async () => {
    setMaking(true);
    onProblem(undefined);
    try {
      const { html } = await ask('/api/report', { runs: runs.join(','), start: location.hash || undefined });
      save(new Blob([html], { type: 'text/html' }), 'report.html');
    } catch (error) {
      onProblem((error as Error).message);
    } finally {
      setMaking(false);
    }
  };
  return (
    <button
      type="button"
      onClick={make}
      disabled={isMaking}
      title="One file to send, which opens at this place"
    >
      {isMaking ? 'Saving …' : 'Save report'}
    </button>
  );
}
