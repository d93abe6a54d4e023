/** What the address of the page says: which view, and what of it. */
import { useLayoutEffect, useState } from 'preact/hooks';

export const views = [
  'runs',
  'overview',
  'curves',
  'episodes',
  'episode',
  'group',
  'tasks',
  'pair',
  'options',
  'scores',
] as const;
export type ViewName = (typeof views)[number];

export interface Route {
  /** Absent for the first page. */
  view?: ViewName;
  query: Readonly<Record<string, string>>;
}

export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const view = views.find((name) => name === path);
  return { view, query: Object.fromEntries(new URLSearchParams(query)) };
}

/** The address of a view. Empty values are left out. */
export function hrefOf(
  view: ViewName,
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return `#/${view}${given.length > 0 ? `?${new URLSearchParams(given)}` : ''}`;
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useLayoutEffect(() => {
    const follow = () => setRoute(parseRoute(location.hash));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return route;
}

/** Goes to an address. @param isStep Whether the browser's back button comes back to the present one. */
export function go(href: string, { isStep = true } = {}): void {
  if (isStep) location.hash = href;
  else {
    history.replaceState(null, '', href);
    dispatchEvent(new HashChangeEvent('hashchange'));
  }
}
