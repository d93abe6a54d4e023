/** `toolenv capture`: a proxy in front of a model server, which records conversations as training data. */
import type { JsonSchema } from '@toolenv/core';
import { readKey } from '@toolenv/core/remote';
import { type ServeOptions, serveProperties } from '@toolenv/serving';
import { httpFlags, readHttpFlags } from '../flags/http-flags.ts';
import { importPackage, optionalSchema } from '../flags/import-optional.ts';
import { completeFlags, schemaFlags } from '../flags/schema-flags.ts';
import { announceEndpoint, withToken } from './announce-endpoint.ts';
import type { MakeCommand } from './commands.ts';
import { stayOpen } from './open-page.ts';

const schema = {
  type: 'object',
  properties: {
    port: { ...serveProperties.port, default: 8_001 },
    apiKey: {
      type: 'string',
      minLength: 1,
      description: 'environment variable with the key of the server (default: clients send their own)',
    },
  },
} as const;

/** Flags of the listener. A proxy has no sessions. */
const ofListener = [
  'host',
  'token',
  'allowedHosts',
  'allowedOrigins',
  'idleTimeout',
  'requestTimeout',
  'maxBodyBytes',
  'userHeader',
];

interface Flags extends Record<string, unknown> {
  upstream: string;
  out: string;
}

export const make: MakeCommand = async (command, { signal }) => {
  const { properties } = await optionalSchema('capture');
  const http = {
    properties: Object.fromEntries(
      ofListener.map((name) => [name, (properties as Record<string, unknown>)[name]]),
    ),
  };
  command
    .description(
      'Forwards requests to a model server, and records its conversations in a file that @toolenv/trainer-sft/sft-v1 takes as --data. Clients need no change but the base URL.',
    )
    .requiredOption('--upstream <url>', 'base URL of the server, such as https://api.openai.com/v1')
    .requiredOption('--out <file>', 'append each conversation to this JSONL file once it grows no more');
  for (const flag of [...schemaFlags(schema), ...httpFlags(http)]) command.addOption(flag);
  command.action((given: Flags) => serveCapture(given, http, signal));
};

async function serveCapture(given: Flags, http: JsonSchema, signal: AbortSignal): Promise<void> {
  const { capture } = await importPackage('gateway', 'toolenv capture');
  const { upstream, out } = given;
  const { port, apiKey } = completeFlags(schema, given);
  const options: ServeOptions = readHttpFlags(http, given, port);
  const key = apiKey === undefined ? {} : { key: readKey(apiKey, 'usage.api_key') };
  const secret = withToken(options);
  const service = await capture({ ...options, ...key, upstream, out });
  announceEndpoint(`${upstream} is recorded in ${out}`, service.url, {
    secret,
    key:
      options.token !== undefined ? 'the token as key' : apiKey === undefined ? 'their own key' : 'any key',
  });
  await stayOpen(service, signal);
}
