/** acceptsOption: whether a trainer has an option, and takes a value for it. Trainers have different options. */
import type { JsonSchema } from '@toolenv/core';
import type { Trainer } from '@toolenv/core/plugins';
import { validate } from '@toolenv/core/schemas';

export function acceptsOption({ options }: Pick<Trainer, 'options'>, name: string, value: unknown): boolean {
  const schema = (options.properties as Record<string, JsonSchema> | undefined)?.[name];
  return schema !== undefined && validate(schema, value).length === 0;
}

/** The options that the trainer accepts. */
export function acceptedOptions(
  trainer: Pick<Trainer, 'options'>,
  options: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => acceptsOption(trainer, name, value)),
  );
}
