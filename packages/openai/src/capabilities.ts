/** Capabilities: what a server can do for a model, found by a few requests of one token as the policy opens. */
import { type SamplingOptions, ToolEnvError } from '@toolenv/core';
import { errorOf, type Json } from './refusal.ts';
import type { Server } from './server.ts';

export interface Capabilities {
  model: string;
  /** Absent if the server does not tell. */
  contextLength?: number;
  /** Fields of a request that the server refuses by name, such as `top_k`. */
  refused: ReadonlySet<string>;
  /** Whether the model reads tools that are sent with a request. */
  tools: boolean;
}

/** Fields that sampling can do without, in the order in which they are given up. */
const optional = ['min_p', 'top_k', 'top_p', 'seed'];

/**
 * @param probesTools Whether to find out about tools.
 * @throws ToolEnvError `usage.model_unknown` if the server does not have the model, `usage.model_request` if it refuses a
 *   plain request, and as {@link Server.ask} does.
 */
export async function probeCapabilities(
  server: Server,
  wanted: string | undefined,
  probesTools: boolean,
): Promise<Capabilities> {
  const { model, contextLength } = await findModel(server, wanted);
  const { refused, body } = await negotiate(server, model);
  const plain = promptTokens(body);
  const tools = probesTools && (await readsTools(server, model, refused, plain));
  return { model, contextLength, refused, tools };
}

/**
 * The model in the server's list. A server without a list has to take the name on trust.
 * @throws ToolEnvError `usage.model_unknown`.
 */
export async function findModel(
  server: Server,
  wanted: string | undefined,
): Promise<{ model: string; contextLength?: number }> {
  const models = await listModels(server);
  const names = models?.map(({ id }) => String(id)) ?? [];
  const remedy = `${names.length > 0 ? `It has ${names.slice(0, 8).join(', ')}` : 'Its models are unknown'}: write openai:${server.url}#<model>.`;
  if (wanted === undefined && names.length !== 1) {
    throw new ToolEnvError('usage.model_unknown', `${server.url} has ${names.length} models. ${remedy}`);
  }
  const found = models?.find(({ id, aliases }) => {
    const others = Array.isArray(aliases) ? aliases : [];
    return wanted === undefined || id === wanted || others.includes(wanted);
  });
  // Services list a part of what they offer; a server of one model is strict.
  if (!found && names.length === 1) {
    throw new ToolEnvError('usage.model_unknown', `${server.url} has no model "${wanted}". ${remedy}`);
  }
  const meta = Object(found?.meta);
  const lengths = [found?.max_model_len, meta.n_ctx, found?.context_length, found?.max_context_length];
  const contextLength = lengths.find(
    (each): each is number => Number.isInteger(each) && (each as number) > 0,
  );
  return { model: wanted ?? names[0]!, contextLength };
}

/** `undefined` if the server has no list: it is not needed. A server that cannot be reached fails at the next request. */
async function listModels(server: Server): Promise<Json[] | undefined> {
  try {
    const { body } = await server.ask('models', undefined, { retries: 0 });
    return Array.isArray(body?.data) ? body.data.map((each) => Object(each) as Json) : undefined;
  } catch (error) {
    server.opening?.throwIfAborted();
    if (ToolEnvError.isInstance(error) && error.code === 'usage.model_key') throw error;
    return undefined;
  }
}

const hello = [{ role: 'user', content: 'Hello' }];

/** Sends every field that the policy may send, and gives up those that the server refuses. */
async function negotiate(server: Server, model: string): Promise<{ refused: Set<string>; body: Json }> {
  const refused = new Set<string>();
  for (;;) {
    const fields = { model, messages: hello, max_tokens: 1, seed: 1, top_p: 1, top_k: -1, min_p: 0 };
    const { body, refusal } = await server.ask('chat/completions', withoutRefused(fields, refused));
    if (body) return { refused, body };
    const left = ['max_tokens', ...optional].filter((name) => !refused.has(name));
    const named = left.filter((name) => new RegExp(`(?<![a-z_])${name}(?![a-z_])`).test(refusal.message));
    // Models that think refuse max_tokens and name the field that has its place.
    const next = named.length > 0 ? named : left.slice(1, 2);
    if (next.length === 0) throw errorOf(refusal, server.url, false);
    for (const name of next) refused.add(name);
  }
}

const probe = {
  type: 'function',
  function: {
    name: 'look_up',
    description: 'Looks a word up in a dictionary.',
    parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  },
};

/** A server that ignores tools counts as many tokens with them as without. */
async function readsTools(
  server: Server,
  model: string,
  refused: ReadonlySet<string>,
  plain: number | undefined,
): Promise<boolean> {
  const fields = { model, messages: hello, tools: [probe], max_tokens: 1 };
  const { body } = await server.ask('chat/completions', withoutRefused(fields, refused));
  const tokens = body && promptTokens(body);
  return body !== undefined && (plain === undefined || tokens === undefined || tokens > plain);
}

/** The fields that the server takes. `max_completion_tokens` has the place of a refused `max_tokens`. */
export function withoutRefused(fields: Json, refused: ReadonlySet<string>): Json {
  const { max_tokens, ...others } = fields;
  const limit = refused.has('max_tokens') ? { max_completion_tokens: max_tokens } : { max_tokens };
  const taken = Object.entries({ ...limit, ...others });
  return Object.fromEntries(taken.filter(([name, value]) => value !== undefined && !refused.has(name)));
}

function promptTokens(body: Json): number | undefined {
  const { prompt_tokens: tokens } = Object(body.usage);
  return typeof tokens === 'number' ? tokens : undefined;
}

/** llama.cpp reads 2³² − 1 as "any seed", vLLM takes 63 bits. */
const seeds = 2 ** 31;

/**
 * Every field is sent, because servers have defaults of their own.
 * @throws ToolEnvError `usage.model_request` or `usage.constrain_calls` for an option that the server does not have.
 */
export function samplingFields(
  { maxTokens, temperature, topP = 1, topK, minP = 0, constrainCalls, seed }: SamplingOptions,
  refused: ReadonlySet<string>,
  who: string,
): Json {
  refuseConstrainedCalls({ constrainCalls }, who);
  const needed = { top_p: topP !== 1, top_k: topK !== undefined, min_p: minP !== 0 };
  for (const [name, isNeeded] of Object.entries(needed)) {
    if (!isNeeded || !refused.has(name)) continue;
    throw new ToolEnvError('usage.model_request', `${who} has no ${name}: leave the option out.`);
  }
  const fields = {
    max_tokens: maxTokens,
    temperature,
    top_p: topP,
    // −1 is all tokens: llama.cpp's default is 40, and vLLM takes that of the checkpoint.
    top_k: topK ?? -1,
    min_p: minP,
    seed: ((seed % seeds) + seeds) % seeds,
  };
  return withoutRefused(fields, refused);
}

/** @throws ToolEnvError `usage.constrain_calls` if the option is on: the grammar of a server is its own. */
export function refuseConstrainedCalls(
  { constrainCalls }: Pick<SamplingOptions, 'constrainCalls'>,
  who: string,
): void {
  if (!constrainCalls) return;
  const message = `${who} draws its tokens elsewhere, where calls cannot be constrained: leave constrainCalls out.`;
  throw new ToolEnvError('usage.constrain_calls', message);
}
