/** Loads the plugins that a command line names before its flags are parsed, because their options are flags. */
import { parseArgs } from 'node:util';
import type { Command } from 'commander';
import { type NamedEnv, namedEnv, noEnv, type TakenFlags } from './env-flags.ts';
import { firstArgument } from './first-argument.ts';
import {
  defaultTrainer,
  type NamedPlugin,
  namedPlugin,
  namedPolicy,
  referencePolicy,
  unloaded,
} from './plugin-flags.ts';
import { schemaFlags } from './schema-flags.ts';
import { namedParts } from './trainer-parts.ts';

/** The plugins that the command line names. */
export interface NamedPlugins {
  env: NamedEnv;
  /** The flags that exist without those of the environment. */
  taken: TakenFlags;
  /** Several of `eval`, those of `--policy` and `--against` of `baseline`, else one. */
  policies: readonly NamedPlugin<'policies'>[];
  trainer: NamedPlugin<'trainers'>;
}

export const noPlugins: NamedPlugins = {
  env: noEnv,
  taken: new Map(),
  policies: [unloaded(referencePolicy)],
  trainer: unloaded(defaultTrainer),
};

/** The commands that open an environment. Those of `general` take other subjects, too. */
const opening = ['eval', 'baseline', 'train', 'rollout', 'play', 'serve', 'check', 'info'];
const general = ['check', 'info'];

/**
 * @param bare All commands, without flags of plugins.
 * @throws ToolEnvError What loading a plugin throws, unless the command line asks for help.
 */
export async function namedPlugins(argv: string[], bare: readonly Command[]): Promise<NamedPlugins> {
  const at = argv.findIndex((word) => !word.startsWith('-'));
  const command = bare.find((each) => each.name() === argv[at]);
  if (!command || !opening.includes(command.name())) return noPlugins;
  const string = { type: 'string' } as const;
  const options = {
    policy: { ...string, multiple: true },
    against: string,
    trainer: string,
    help: { type: 'boolean' },
  } as const;
  const { values } = parseArgs({ args: argv, strict: false, options });
  const isHelp = values.help === true;
  const isTraining = command.name() === 'train';
  // A flag without its value is true; commander refuses it.
  const named = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const takesSeveral = command.name() === 'eval';
  const hasPolicy = ['eval', 'baseline', 'train', 'rollout'].includes(command.name());
  const names = [values.policy ?? undefined].flat();
  const against = command.name() === 'baseline' && values.against !== undefined ? [values.against] : [];
  const policies: NamedPlugin<'policies'>[] = [];
  for (const name of hasPolicy ? [...(takesSeveral ? names : names.slice(-1)), ...against] : [])
    policies.push(await namedPolicy(named(name), { isHelp, isTraining }));
  const trainer = isTraining
    ? await namedTrainer(named(values.trainer) ?? defaultTrainer, argv, { isHelp })
    : noPlugins.trainer;
  const taken = takenFlags(bare, [...policies, trainer]);
  const flags = [...policies, trainer].flatMap((plugin) => schemaFlags(plugin.flags));
  const env = await namedEnv(firstArgument(command, argv.slice(at + 1), flags), {
    isHelp,
    takesAll: general.includes(command.name()),
    taken,
  });
  return { env, taken, policies: hasPolicy ? policies : noPlugins.policies, trainer };
}

/** The trainer with the parts that the command line names: their options are flags too. */
async function namedTrainer(
  ref: string,
  argv: string[],
  { isHelp }: { isHelp: boolean },
): Promise<NamedPlugin<'trainers'>> {
  const found = await namedPlugin('trainers', ref, { isHelp });
  if (!found.plugin) return found;
  const { trainer, preset } = await namedParts(found.plugin, argv);
  return { ...found, plugin: trainer, flags: trainer.options, parts: preset };
}

/** A flag of any command that opens environments counts, so that an option of an environment has one flag in all of them. */
function takenFlags(bare: readonly Command[], plugins: readonly NamedPlugin[]): Map<string, string> {
  const taken = new Map([
    ['help', 'toolenv'],
    ['version', 'toolenv'],
  ]);
  const add = (name: string, owner: string) => taken.has(name) || taken.set(name, owner);
  for (const command of bare.filter((each) => opening.includes(each.name())))
    for (const option of command.options) add(option.attributeName(), `toolenv ${command.name()}`);
  for (const { ref, flags } of plugins) for (const flag of schemaFlags(flags)) add(flag.attributeName(), ref);
  return taken;
}
