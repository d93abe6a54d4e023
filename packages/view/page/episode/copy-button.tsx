/** A button that copies a text. Where the browser does not let it, the text is shown to be copied by hand. */
import { useEffect, useRef, useState } from 'preact/hooks';

interface Props {
  name: string;
  title?: string;
  text(): string;
}

export function CopyButton({ name, title, text }: Props) {
  const [state, setState] = useState<'ready' | 'copied' | 'refused'>('ready');
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => area.current?.select(), [state]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      setState('copied');
    } catch {
      setState('refused');
    }
  };
  return (
    <>
      <button type="button" title={title} onClick={copy}>
        {name}
      </button>
      <span role="status" class="soft">
        {state === 'copied' && '✓ copied'}
        {state === 'refused' && 'Copy the text below.'}
      </span>
      {state === 'refused' && (
        <textarea
          ref={area}
          class="to-copy"
          readOnly
          rows={4}
          aria-label={`${name}: the text`}
          value={text()}
        />
      )}
    </>
  );
}
