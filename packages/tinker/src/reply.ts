/** Reply: what a Tinker server answers, and the error that a refusal becomes. */
import { asClause, ToolEnvError } from '@toolenv/core';
import { tryObject } from '@toolenv/core/schemas';

export interface Reply {
  status: number;
  /** Whether the body is a protobuf message. */
  isBytes: boolean;
  bytes: Uint8Array;
}

/** @throws ToolEnvError `infrastructure.tinker_reply` if the body is no JSON object. */
export function readJson(reply: Reply, url: string): Record<string, unknown> {
  const value = jsonOf(reply);
  if (value) return value;
  const message = `${url} answers with no JSON object (${excerpt(reply)}): is it a Tinker server?`;
  throw new ToolEnvError('infrastructure.tinker_reply', message);
}

/**
 * The error of a request that the server does not take, or whose result failed.
 *
 * - `usage.tinker_key` (401, 403), `usage.tinker_wire` (404 of a path, 405, 415): the address or the server's version is wrong.
 * - `infrastructure.tinker_lost` (404): the server does not know the session, model, checkpoint or result.
 * - `bug.tinker_request` (409, 422): two requests have one number, or a request has a wrong form.
 * - `infrastructure.tinker_failed` (400): the server could not compute the result.
 * - `infrastructure.tinker_server` (everything else).
 */
export function refusal(reply: Reply, url: string, path: string): ToolEnvError {
  const { status } = reply;
  const detail = detailOf(reply);
  const said = `${url} answers ${path === 'result' ? '' : `${path} `}with status ${status}: ${detail}`;
  const cause = { status, detail };
  const error = (code: ToolEnvError['code'], remedy: string) =>
    new ToolEnvError(code, `${said}. ${remedy}`, { cause });
  if (status === 401 || status === 403)
    return error('usage.tinker_key', 'Set the variable that --api-key names.');
  if (status === 405 || status === 415 || (status === 404 && detail === 'Not Found'))
    return error('usage.tinker_wire', 'The server speaks another version of the API: use skyrl 0.4.0.');
  if (status === 404)
    return error(
      'infrastructure.tinker_lost',
      'The server was started anew: resume from the last checkpoint.',
    );
  if (status === 409 || status === 422)
    return error('bug.tinker_request', 'Resume from the last checkpoint, and report this message.');
  if (status === 400) return error('infrastructure.tinker_failed', "The server's log has the cause.");
  return error('infrastructure.tinker_server', "The server's log has the cause.");
}

/** FastAPI has `detail`, a text or a list of findings; a crashed handler answers in plain text. */
function detailOf(reply: Reply): string {
  const detail = jsonOf(reply)?.detail;
  if (detail === undefined) return excerpt(reply);
  return oneLine(typeof detail === 'string' ? detail : JSON.stringify(detail));
}

function jsonOf({ isBytes, bytes }: Reply): Record<string, unknown> | undefined {
  return isBytes ? undefined : tryObject(Buffer.from(bytes).toString('utf8'));
}

function excerpt({ isBytes, bytes }: Reply): string {
  if (isBytes) return `${bytes.length} bytes of protobuf`;
  return oneLine(Buffer.from(bytes.subarray(0, 2000)).toString('utf8')) || 'an empty body';
}

function oneLine(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return line.length > 300 ? `${line.slice(0, 300)}…` : asClause(line);
}
