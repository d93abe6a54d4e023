/** The parts of a trainer that a command line names: `--loss`, `--advantage` and `--scorer` take a name, a reference or a file. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { loadPlugin, type PartKind, type Trainer, type TrainerPart } from '@toolenv/core/plugins';
import { partNouns, partProperties } from '@toolenv/training/runs';
import { flagName } from '../display/terminal-text.ts';
import { importPlugin } from '../subject/find-subject.ts';
import { fullName } from '../subject/full-name.ts';
import { valuesOf } from './first-argument.ts';

/** The trainer with the parts that its flags name, and the options that name them. */
export async function namedParts(
  trainer: Trainer,
  words: readonly string[],
): Promise<{ trainer: Trainer; preset: Record<string, string> }> {
  let made = trainer;
  const preset: Record<string, string> = {};
  for (const [option, { part: kind, enum: known }] of partProperties(trainer.options)) {
    const text = valuesOf(words, flagName(option).slice(2)).at(-1);
    if (text === undefined || known.includes(text)) continue;
    const value = fullName(text, [kind]);
    // Another text is refused with the flags.
    if (!value.includes('/') && !existsSync(value)) continue;
    const part = await partNamed(kind, value);
    // As an environment in a file, a part in a file is recorded by its name.
    preset[option] = existsSync(value) ? part.name : value;
    made = made.withPart!(option, part, preset[option]);
  }
  return { trainer: made, preset };
}

async function partNamed(kind: PartKind, value: string): Promise<TrainerPart> {
  if (!existsSync(value)) return loadPlugin(kind, value);
  const found = await importPlugin(resolve(value));
  if (found.kind === kind) return found.plugin as TrainerPart;
  throw new ToolEnvError('usage.not_a_plugin', `The default export of ${value} is not ${partNouns[kind]}.`);
}

/** The trainer with a part in the option that takes parts of this kind. */
export function trainerWithPart(trainer: Trainer, kind: PartKind, part: TrainerPart, name: string): Trainer {
  const [option] = partProperties(trainer.options).find(([, property]) => property.part === kind)!;
  return trainer.withPart!(option, part, name);
}
