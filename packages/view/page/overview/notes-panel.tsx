/** The note and the tags of a run. They are written as soon as the reader leaves a field. */
import { useState } from 'preact/hooks';
import type { RunHead } from '../../src/view/viewed-run.ts';
import { report } from '../report.ts';
import { post } from '../server.ts';

interface Props {
  run: RunHead;
  onWritten(): void;
}

export function NotesPanel({ run, onWritten }: Props) {
  const { note, tags } = run.notes ?? { note: '', tags: [] };
  const [written, setWritten] = useState({ note, tags: tags.join(' ') });
  const [said, setSaid] = useState('');
  if (report || !run.canNote) return <Notes note={note} tags={tags} />;
  const save = async () => {
    const now = { note: written.note, tags: written.tags.split(/[\s,]+/).filter(Boolean) };
    if (now.note === note && now.tags.join(' ') === tags.join(' ')) return;
    try {
      await post('/api/notes', { run: run.name, notes: now });
      setSaid('kept in notes.json');
      onWritten();
    } catch (error) {
      setSaid((error as Error).message);
    }
  };
  return (
    <section class="notes" aria-label="Notes">
      <label>
        tags
        <input
          value={written.tags}
          placeholder="baseline best"
          onInput={({ currentTarget }) => setWritten({ ...written, tags: currentTarget.value })}
          onChange={save}
        />
      </label>
      <label class="note-text">
        note
        <textarea
          rows={1}
          value={written.note}
          placeholder="what to remember of this run"
          onInput={({ currentTarget }) => setWritten({ ...written, note: currentTarget.value })}
          onChange={save}
        />
      </label>
      <small role="status">{said}</small>
    </section>
  );
}

function Notes({ note, tags }: { note: string; tags: readonly string[] }) {
  if (note === '' && tags.length === 0) return null;
  return (
    <section class="notes" aria-label="Notes">
      {tags.map((tag) => (
        <span key={tag} class="chip">
          {tag}
        </span>
      ))}
      <p>{note}</p>
    </section>
  );
}
