/** The flags of `toolenv serve` that say how to serve over HTTP, from the schema of `@toolenv/mcp`. */
import { type JsonSchema, ToolEnvError } from '@toolenv/core';
import { registerSecret } from '@toolenv/core/secrets';
import { Option } from 'commander';
import { flagName } from '../display/terminal-text.ts';
import { propertiesOf, readFlags, schemaFlag } from './schema-flags.ts';

/** Variables that give tokens. */
const tokenVariables: Readonly<Record<string, string>> = {
  token: 'TOOLENV_TOKEN',
  controlToken: 'TOOLENV_CONTROL_TOKEN',
};

/** A flag for each option except the port. A list is a flag that can be repeated: `allowedHosts` → `--allowed-host`. */
export function httpFlags(schema: JsonSchema): Option[] {
  return flagsOf(schema).map(({ flag }) => flag);
}

/**
 * The options that the flags give. The token can also be in the environment variable TOOLENV_TOKEN.
 * @param port `undefined` if the environment is served over stdio.
 * @throws ToolEnvError `usage.bad_flag`; `usage.arguments` for one of these flags without a port.
 */
export function readHttpFlags(
  schema: JsonSchema,
  given: Record<string, unknown>,
  port: number | undefined,
): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  for (const { name, flag, isList } of flagsOf(schema)) {
    const value = given[flag.attributeName()];
    if (value === undefined) continue;
    if (port === undefined) {
      const message = `${flag.long} is for HTTP: give --http <port> too.`;
      throw new ToolEnvError('usage.arguments', message);
    }
    const properties = { [name]: propertiesOf(schema)[name] };
    options[name] = isList ? value : readFlags({ properties }, given)[name];
  }
  const token = registerSecret((options.token as string | undefined) ?? process.env.TOOLENV_TOKEN);
  return { ...options, port, ...(token !== undefined && { token }) };
}

function flagsOf(schema: JsonSchema): { name: string; flag: Option; isList: boolean }[] {
  const properties = Object.entries(propertiesOf(schema)).filter(([name]) => name !== 'port');
  return properties.map(([name, property]) => {
    const isList = property.type === 'array';
    const one = `${flagName(name).replace(/s$/, '')} <name...>`;
    const flag = isList ? new Option(one, property.description) : schemaFlag(name, property);
    const variable = tokenVariables[name];
    if (variable)
      flag.description += `; prefer the variable ${variable}, because other users can read the flags of a process`;
    return { name, flag, isList };
  });
}
