/** Problem: why a request has no answer, whatever the wire. */

export interface Problem {
  status: number;
  message: string;
  /** The field of the body that is wrong. */
  field?: string | undefined;
  /** What programs tell by, such as `context_length_exceeded`. */
  code?: string | undefined;
}

/** The body of an error on OpenAI's wires. */
export function openAiError({ status, message, field, code }: Problem): object {
  const type = status >= 500 ? 'server_error' : status === 429 ? 'rate_limit_error' : 'invalid_request_error';
  return { error: { message, type, param: field ?? null, code: code ?? null } };
}
