/** Keys of the keyboard that a view takes. */
import { useEffect, useRef } from 'preact/hooks';

export type Keys = Readonly<Record<string, () => void>>;

/** Calls the function of a key, unless a person writes in a field or holds a modifier. */
export function useKeys(keys: Keys): void {
  // Keys may come faster than effects run: each finds the functions of the last drawing.
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const { target, key } = event;
      const isWriting = target instanceof Element && target.matches('input, select, textarea');
      if (isWriting && key !== 'Escape') return;
      // A link or a button that has the focus takes Enter.
      if (key === 'Enter' && target instanceof Element && target.matches('a, button, summary')) return;
      if (!Object.hasOwn(latest.current, key)) return;
      event.preventDefault();
      latest.current[key]!();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
