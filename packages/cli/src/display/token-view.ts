/** Sampled tokens in a terminal, shaded by their probability. */
import { ownSequence, paint } from './guarded-output.ts';
import { safeText } from './terminal-text.ts';

/** From likely, blue, to unlikely, orange, which people with any colour vision can tell apart: the least probability, a background of 256 colours, and a background of 8. */
const shades = [
  { from: 0.9, colour: 117, basic: 'bgCyan' },
  { from: 0.5, colour: 153, basic: 'bgWhite' },
  { from: 0.1, colour: 230, basic: 'bgYellow' },
  { from: 0.01, colour: 222, basic: 'bgMagenta' },
  { from: 0, colour: 208, basic: 'bgRed' },
] as const;

type Shade = (typeof shades)[number];

/** Tokens that the environment or the chat template wrote: mask 0. */
export function contextTokens(texts: readonly string[]): string {
  return paint('dim', visible(texts.join('')));
}

/**
 * Tokens that the policy sampled: mask 1. Without colours, they stand between « and », and a token below 0.9 has its
 * probability behind it.
 * @param logprobs In nats, one for each text.
 */
export function sampledTokens(texts: readonly string[], logprobs: ArrayLike<number>): string {
  const painted = texts.map((text, index) => {
    const probability = Math.exp(logprobs[index] ?? Number.NaN);
    const shade = shades.find(({ from }) => probability >= from);
    if (isColoured()) return shade ? shaded(visible(text), shade) : paint('inverse', visible(text));
    return probability >= 0.9 ? visible(text) : `${visible(text)}[${probability.toFixed(2)}]`;
  });
  return isColoured() ? painted.join('') : `«${painted.join('')}»`;
}

export function tokenLegend(): string {
  if (!isColoured()) {
    return 'Tokens: «sampled by the policy, mask 1»; a number in brackets is a probability below 0.9. The rest has mask 0.';
  }
  const samples = shades.map((shade, index) => {
    const text = index === shades.length - 1 ? ' less ' : ` from ${shade.from} `;
    return shaded(text, shade);
  });
  return `Tokens by probability: ${samples.join('')}  ${paint('dim', 'not sampled: mask 0')}`;
}

function shaded(text: string, { colour, basic }: Shade): string {
  const has256 = process.stdout.isTTY && process.stdout.hasColors(256);
  // styleText knows no background of 256 colours. Each line gets its own, so that the terminal does not colour margins.
  const one = (line: string) =>
    has256
      ? ownSequence(`\u001b[38;5;16;48;5;${colour}m`) + line + ownSequence('\u001b[39;49m')
      : paint(['black', basic], line);
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : one(line)))
    .join('\n');
}

/** A line break is shown as a sign before it breaks the line. */
function visible(text: string): string {
  return safeText(text).replaceAll('\n', '↵\n');
}

function isColoured(): boolean {
  return paint('red', 'x') !== 'x';
}
