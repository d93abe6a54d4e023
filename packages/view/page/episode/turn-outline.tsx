/** The turns of an episode as a list of links, with bars of their times. */
import type { RecordedEpisode } from '@toolenv/view/recorded';
import { duration } from '../numbers.ts';
import { go, hrefOf } from '../route.ts';

type Step = RecordedEpisode['steps'][number];

interface Props {
  steps: readonly Step[];
  /** Of the page's address. */
  query: Readonly<Record<string, string>>;
}

export function TurnOutline({ steps, query }: Props) {
  const times = steps.map(timesOf);
  const longest = Math.max(0, ...times.map(({ model, tools }) => model + tools));
  const hasModel = times.some(({ model }) => model > 0);
  return (
    <>
      <ol class="outline">
        {steps.map((step, index) => {
          const { model, tools } = times[index]!;
          return (
            <li key={index}>
              <a
                href={hrefOf('episode', { ...query, turn: index + 1 })}
                onClick={(event) => {
                  event.preventDefault();
                  go(event.currentTarget.getAttribute('href')!, { isStep: false });
                }}
                aria-current={query.turn === String(index + 1) ? 'true' : undefined}
              >
                {index + 1} {wordsOf(step)}
              </a>
              {hasFault(step) && <span class="bad">✘</span>}
              <span class="number">{model + tools > 0 ? duration(model + tools) : ''}</span>
              <span class="latency" aria-hidden="true">
                <span class="of-model" style={{ width: share(model, longest) }} />
                <span class="of-tools" style={{ width: share(tools, longest) }} />
              </span>
            </li>
          );
        })}
      </ol>
      {longest > 0 && (
        <p class="soft">
          {hasModel ? 'time of the model (solid) and of its tools (striped)' : 'time of the tools'}
        </p>
      )}
    </>
  );
}

/** In milliseconds. The calls of a turn run side by side. The time of a model on this machine is not recorded. */
function timesOf({ action, calls, environmentCalls = [] }: Step): { model: number; tools: number } {
  const longest = (records: Step['calls']) => Math.max(0, ...records.map(({ milliseconds }) => milliseconds));
  return { model: action.usage?.milliseconds ?? 0, tools: longest(calls) + longest(environmentCalls) };
}

/** `search ×2, fetch`, or what was said. */
function wordsOf({ action, calls }: Step): string {
  const counts = new Map<string, number>();
  for (const { call } of calls) {
    const name = 'parseFailure' in call ? 'unreadable call' : call.name;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const called = [...counts].map(([name, count]) => (count === 1 ? name : `${name} ×${count}`)).join(', ');
  return called || action.text.replaceAll(/\s+/g, ' ').trim().slice(0, 60) || 'said nothing';
}

function hasFault({ action, calls }: Step): boolean {
  return action.stopReason === 'length' || calls.some(({ mistake, result }) => mistake || result?.isError);
}

function share(part: number, whole: number): string {
  return whole === 0 ? '0' : `${((100 * part) / whole).toFixed(1)}%`;
}
