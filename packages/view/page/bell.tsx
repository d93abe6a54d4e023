/** The bell: what happened to a run while the page was open. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { newRings, type Overviews, type Ring } from './new-rings.ts';
import { hrefOf } from './route.ts';

/** Rings that the reader has not put away, the newest last. */
export function useBell(overviews: Overviews): { rings: readonly Ring[]; clear(): void } {
  const before = useRef<Overviews>({});
  const [rings, setRings] = useState<readonly Ring[]>([]);
  useEffect(() => {
    const found = newRings(before.current, overviews);
    before.current = { ...before.current, ...overviews };
    if (found.length === 0) return;
    setRings((all) => [...all.filter(({ id }) => found.every((ring) => ring.id !== id)), ...found]);
    if (!mayNotify()) return;
    for (const { id, run, text } of found) new Notification(run, { body: text, tag: id });
  }, [overviews]);
  return { rings, clear: () => setRings([]) };
}

function mayNotify(): boolean {
  return typeof Notification !== 'undefined' && Notification.permission === 'granted';
}

export function Bell({ rings, onClear }: { rings: readonly Ring[]; onClear(): void }) {
  const [asked, setAsked] = useState(
    typeof Notification === 'undefined' || Notification.permission !== 'default',
  );
  if (rings.length === 0) return null;
  return (
    <section class="bell" role="alert" aria-label="News of the runs">
      <ul>
        {rings.map(({ id, run, text }) => (
          <li key={id}>
            <span aria-hidden="true">🔔</span> <a href={hrefOf('overview', { run })}>{run}</a>: {text}
          </li>
        ))}
      </ul>
      {!asked && (
        <button
          type="button"
          onClick={() => void Notification.requestPermission().then(() => setAsked(true))}
        >
          Tell me outside the page too
        </button>
      )}
      <button type="button" onClick={onClear}>
        Seen
      </button>
    </section>
  );
}
