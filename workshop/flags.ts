/** Flags of scripts, as JSON Schema. */

type Whole<Rest> = { type: 'integer'; minimum: number; description: string } & Rest;

/** A whole number from 1 up. @param rest Its default, another minimum, or a maximum. */
export function whole<
  const Rest extends { default?: number; minimum?: number; maximum?: number } = Record<never, never>,
>(description: string, rest?: Rest): Whole<Rest> {
  return { type: 'integer', minimum: 1, description, ...rest } as Whole<Rest>;
}

export function text<const Default extends string>(description: string, value: Default) {
  return { type: 'string', default: value, description } as const;
}
