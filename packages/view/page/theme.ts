/** Dark or light: as the system has it, until a person chooses. */
import { useEffect, useState } from 'preact/hooks';

export type Theme = 'dark' | 'light';
const key = 'toolenv-theme';

export function useTheme(): [theme: Theme, toggle: () => void] {
  const [theme, setTheme] = useState<Theme>(initial);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  const toggle = () => {
    const next = theme === 'dark' ? 'light' : 'dark';
    localStorage.setItem(key, next);
    setTheme(next);
  };
  return [theme, toggle];
}

function initial(): Theme {
  const chosen = localStorage.getItem(key);
  if (chosen === 'dark' || chosen === 'light') return chosen;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}
