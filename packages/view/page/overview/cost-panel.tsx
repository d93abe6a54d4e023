/** What a run cost: where its time went, and its tokens. */
import type { CostPart, RunCost } from '../../src/overview/run-cost.ts';
import { plural, short, timeText } from '../numbers.ts';

/** Told apart by their order and their words, too. */
const colours: Readonly<Record<CostPart, string>> = {
  generation: '#0072b2',
  environment: '#e69f00',
  update: '#009e73',
  evaluation: '#cc79a7',
  checkpoint: '#56b4e9',
  other: '#8a8f98',
};

export function CostPanel({ cost }: { cost: RunCost }) {
  const { parts, seconds = 0, generatedTokens, learnedTokens, toolTokens } = cost;
  const tokens = [
    ['generated', generatedTokens],
    ['learned from', learnedTokens],
    ['by judges and other models of tools', toolTokens],
  ] as const;
  return (
    <>
      {parts.length > 0 && (
        <>
          <div class="cost-bar" aria-hidden="true">
            {parts.map((part) => (
              <span
                key={part.name}
                style={{ flexGrow: part.seconds, background: colours[part.name] }}
                title={part.name}
              />
            ))}
          </div>
          <dl class="cost">
            {parts.map((part) => (
              <div key={part.name}>
                <dt>
                  <span class="swatch" style={{ background: colours[part.name] }} />
                  {part.name}
                </dt>
                <dd>
                  {timeText(part.seconds)} <small>{Math.round((100 * part.seconds) / seconds)} %</small>
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
      <p class="soft">
        {tokens
          .filter(([, count]) => count !== undefined)
          .map(
            ([word, count]) => `${count! < 1e4 ? plural(count!, 'token') : `${short(count)} tokens`} ${word}`,
          )
          .join(' · ')}
      </p>
    </>
  );
}
