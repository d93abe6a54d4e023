/** Dark or light: as the system has it, until a person chooses. Paper is light. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { usePrinting } from './printing.ts';

export type Theme = 'dark' | 'light';
const key = 'toolenv-theme';

export function useTheme(): [theme: Theme, toggle: () => void] {
  const [chosen, setTheme] = useState<Theme>(initial);
  const theme = usePrinting() ? 'light' : chosen;
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  const toggle = () => {
    const next = chosen === 'dark' ? 'light' : 'dark';
    remember(next);
    setTheme(next);
  };
  return [theme, toggle];
}

/** A page that is shown within another, as a report in a mail, may have no storage. */
function remember(theme: Theme): void {
  try {
    localStorage.setItem(key, theme);
  } catch {
    // The choice lasts as long as the page.
  }
}

function remembered(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function initial(): Theme {
  const chosen = remembered();
  if (chosen === 'dark' || chosen === 'light') return chosen;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}
