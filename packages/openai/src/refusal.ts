/** Refusal: why a server does not take a request, read from the forms of its error bodies. */
import { asClause, ToolEnvError } from '@toolenv/core';

export type Json = Record<string, unknown>;

/** A reply, or the reason why the server does not take the request as it is. */
export type Answer = { body: Json; refusal?: undefined } | { body?: undefined; refusal: Refusal };

export interface Refusal {
  status: number;
  /** In one line. */
  message: string;
  /** The server's own code or type of error. */
  code?: string;
  /** The prompt does not fit the context, or leaves less room than the request asks for. */
  isOverflow: boolean;
  /** Tokens that the context has left for the action, if the server tells. */
  room?: number;
}

const overflowCodes = ['exceed_context_size_error', 'context_length_exceeded'];
const overflowText =
  /maximum context length|context (?:size|length|window)|prompt (?:is )?too long|longer than the (?:model|maximum)|maximum model length/i;

/** @param body The JSON object, or the text of a reply that is not JSON. */
export function refusalOf(status: number, body: Record<string, unknown> | string): Refusal {
  const fields = Object(body);
  // FastAPI has `detail`, earlier versions of vLLM have the fields outside, everybody else has `error`.
  const error = typeof fields.error === 'object' && fields.error !== null ? fields.error : fields;
  const said = error.message ?? fields.error ?? fields.detail ?? body;
  const message = oneLine(typeof said === 'string' ? said : JSON.stringify(said));
  const code = [error.code, error.type].find((each): each is string => typeof each === 'string');
  const isOverflow =
    status < 500 &&
    (overflowCodes.some((each) => each === error.code || each === error.type) || overflowText.test(message));
  const room = isOverflow ? roomOf(error, message) : undefined;
  return { status, message, code, isOverflow, room };
}

/** llama.cpp has the numbers in fields; vLLM and OpenAI have them in the message. */
function roomOf(error: Record<string, unknown>, message: string): number | undefined {
  const { n_ctx: context, n_prompt_tokens: prompt } = error;
  if (typeof context === 'number' && typeof prompt === 'number') return Math.max(0, context - prompt);
  const limit = /context length (?:is|of) (\d+)/i.exec(message)?.[1];
  const given = /(\d+) (?:input tokens|in the messages|tokens? from the input)/i.exec(message)?.[1];
  return limit === undefined || given === undefined ? undefined : Math.max(0, Number(limit) - Number(given));
}

/**
 * The error of a policy whose request was refused.
 * @param spoken Whether the model has had a turn. Then the conversation is at fault, else the user's options.
 */
export function errorOf(refusal: Refusal, who: string, spoken: boolean): ToolEnvError {
  const { status, message, isOverflow } = refusal;
  if (isOverflow) return new ToolEnvError('context.overflow', `${who}: ${message}`);
  const code = spoken ? 'infrastructure.model_request' : 'usage.model_request';
  return new ToolEnvError(code, `${who} refuses the request with status ${status}: ${message}`);
}

/** The error after a transient status. A quota that is used up does not come back by waiting: it is thrown at once. */
export function transientError({ status, message, code }: Refusal, who: string): ToolEnvError {
  if (code === 'insufficient_quota') throw new ToolEnvError('usage.model_quota', `${who}: ${message}`);
  const kind = status === 429 ? 'infrastructure.model_rate_limit' : 'infrastructure.model_server';
  return new ToolEnvError(kind, `${who} answers with status ${status}: ${asClause(message)}.`);
}

function oneLine(text: string): string {
  const line = text
    .slice(0, 500)
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
  return text.length > 500 ? `${line}…` : line;
}
