/** The tools of episodes: how often each was called, how often a call failed, and how long a call took. */
import type { RecordedEpisode } from '@toolenv/view/recorded';
import { toolUse } from '../../src/recorded/tool-use.ts';
import { duration, whole } from '../numbers.ts';

export function ToolTable({ episodes }: { episodes: readonly Pick<RecordedEpisode, 'steps'>[] }) {
  const uses = toolUse(episodes);
  if (uses.length === 0) return <p class="nothing">No tool was called.</p>;
  return (
    <table class="tools">
      <thead>
        <tr>
          {['tool', 'calls', 'failed', 'mean', 'longest'].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {uses.map(({ tool, calls, failed, mean, longest }) => (
          <tr key={tool ?? ''}>
            <th scope="row">{tool ?? <em>unreadable</em>}</th>
            <td>{whole(calls)}</td>
            <td>
              {failed === 0 ? (
                '0'
              ) : (
                <span class="bad">{`✘ ${whole(failed)} ${percent(failed / calls)}`}</span>
              )}
            </td>
            <td>{duration(mean)}</td>
            <td>{duration(longest)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function percent(share: number): string {
  return `(${Math.round(100 * share)} %)`;
}
