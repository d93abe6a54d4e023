/** How the episodes ended, and what went wrong in them, each with the list of its episodes. */
import type { Facets } from '../../src/view/episode-index.ts';
import { whole } from '../numbers.ts';
import { hrefOf } from '../route.ts';

interface Props {
  run: string;
  total: number;
  facets: Facets;
}

export function EndsPanel({ run, total, facets }: Props) {
  const rows = [
    ...sorted(facets.outcomes).map(([value, count]) => ['outcome', value, count] as const),
    ...sorted(facets.mistakes).map(([value, count]) => ['mistake', value, count] as const),
  ];
  return (
    <ul class="ends">
      {rows.map(([condition, value, count]) => (
        <li key={`${condition} ${value}`}>
          <a href={hrefOf('episodes', { run, [condition]: value })}>
            {condition === 'mistake'
              ? `mistake: ${value}`
              : value.replace('terminated:', '').replace(':', ': ')}
          </a>
          <span class="number">
            {whole(count)} <small>{share(count / total)}</small>
          </span>
          <span class="share" aria-hidden="true">
            <span class={kindOf(condition, value)} style={{ width: `${(100 * count) / total}%` }} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function kindOf(condition: string, value: string): string {
  return condition === 'mistake' ? 'mistaken' : value.split(':')[0]!;
}

function share(of: number): string {
  return of > 0 && of < 0.01 ? '< 1 %' : `${Math.round(100 * of)} %`;
}

function sorted(counts: Readonly<Record<string, number>>): [string, number][] {
  return Object.entries(counts).sort(([, a], [, b]) => b - a);
}
