/** OptionFlag: the flag of a plugin's option. */
import type { JsonSchema } from '@toolenv/core';
import type { Option } from 'commander';
import { flagName } from '../display/terminal-text.ts';
import { type Property, propertiesOf, schemaFlag } from './schema-flags.ts';

export interface OptionFlag {
  /** Name of the option. */
  option: string;
  /** Name of the flag as a property: `topK` for `--top-k`. `undefined` if only `--env-option` sets the option. */
  name: string | undefined;
  property: Property;
  /** The command or plugin whose flag has the name of the option. */
  owner?: string | undefined;
}

/**
 * The flags of an environment: an option `topK` is `--top-k`; where another flag has this name, it is `--env-top-k`.
 * @param taken The flags that exist, and the command or plugin that has each.
 */
export function envOptionFlags(
  options: JsonSchema,
  taken: ReadonlyMap<string, string> = reservedFlags,
): OptionFlag[] {
  const used = new Set(taken.keys());
  return Object.entries(propertiesOf(options)).map(([option, property]) => {
    const isPlain = /^[a-z][\w-]*$/.test(option);
    const names = isPlain ? [option, `env${option[0]!.toUpperCase()}${option.slice(1)}`] : [];
    const attribute = (name: string) => schemaFlag(name, property).attributeName();
    const name = names.find((each) => !used.has(attribute(each)));
    if (name !== undefined) used.add(attribute(name));
    const owner = isPlain ? taken.get(attribute(option)) : undefined;
    return { option, name, property, owner };
  });
}

/** `undefined` if only `--env-option` sets the option. */
export function commandOption({ option, name, property, owner }: OptionFlag): Option | undefined {
  if (name === undefined) return undefined;
  const flag = schemaFlag(name, property);
  if (name !== option && owner) flag.description += ` (${flagName(option)} is a flag of ${owner})`;
  return flag;
}

/** Each flag of a command that opens environments, at the first command that has it. A test compares these with the commands. */
const flags = {
  'toolenv eval':
    'policy players out resume json envOption tool prompts skill agent agentTurns agentConfine record replay split count samples passScore concurrency temperature constrainCalls maxTokens deadline onDeadline retries onBug onImages maxAborted seed topP topK minP failBelow against junit metric margin confidence budget budgetTokens',
  'toolenv baseline': 'kind placement instruction',
  'toolenv train': 'weights evaluateOn trainer logSteps change trajectories tensorboard rollouts reportTo',
  'toolenv rollout': 'worker lease drain statusPort statusHost',
  'toolenv play': 'episode browser open task turns port',
  'toolenv serve':
    'openai modelName queue conversations http protocol scores host token allowedHost allowedOrigin maxSessions idleTimeout silenceTimeout requestTimeout maxBodyBytes reconnectTimeout controlToken publicUrl',
  'toolenv check': 'option material skip adversarial certificate panel learnable trainers actions timeout',
  toolenv: 'help version',
};

/** The owner of each flag, by the name under which commander keeps the flag's value. */
export const reservedFlags: ReadonlyMap<string, string> = new Map(
  Object.entries(flags).flatMap(([owner, names]) => names.split(' ').map((name) => [name, owner])),
);
