/** TRN-1: a trainer's options have a valid schema, and the trainer refuses what the schema does not allow. */
import { ToolEnvError } from '@toolenv/core';
import type { Trainer } from '@toolenv/core/plugins';
import { checkOptionsSchema } from '../options-schema.ts';
import { brief, Violation } from '../violation.ts';
import type { TrainerSubject } from './trainer-subject.ts';

/** A value that few options accept. */
const odd = { 'no such': ['value'] };

export function checkStepsOption({ options }: Trainer): void {
  checkOptionsSchema('TRN-1', options);
  const { steps } = (options.properties ?? {}) as Record<string, unknown>;
  if (steps === undefined)
    throw new Violation('TRN-1', 'an option "steps", the number of updates', brief(options));
}

export async function checkRefusals(subject: TrainerSubject): Promise<void> {
  await refuses(subject, 'no_such_option', 1);
  for (const name of subject.optionNames) {
    if (!subject.accepts(name, odd)) await refuses(subject, name, odd);
  }
}

async function refuses(subject: TrainerSubject, name: string, value: unknown): Promise<void> {
  const received = await subject.first({ [name]: value });
  if (ToolEnvError.isInstance(received) && received.code.startsWith('usage.')) return;
  throw new Violation('TRN-1', `a usage.* error for the option ${name}: ${brief(value)}`, brief(received));
}
