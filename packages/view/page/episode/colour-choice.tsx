/** What the tokens are coloured by: a choice, and what its colours mean. */
import type { TokenColour } from './token-colours.ts';

interface Props {
  colours: readonly TokenColour[];
  chosen: TokenColour | undefined;
  /** @param name Empty for none. */
  onChoose(name: string): void;
}

export function ColourChoice({ colours, chosen, onChoose }: Props) {
  return (
    <>
      <label>
        colour tokens by
        <select value={chosen?.name ?? ''} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
          <option value="">nothing</option>
          {colours.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      {chosen && <span class="legend">{chosen.legend}</span>}
    </>
  );
}

/** The name of the colour after `chosen`; none comes after the last. */
export function nextColour(colours: readonly TokenColour[], chosen: TokenColour | undefined): string {
  return colours[chosen ? colours.indexOf(chosen) + 1 : 0]?.name ?? '';
}
