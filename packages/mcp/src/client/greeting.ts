/**
 * Greeting: the first exchange with a server process. It may be an older server that is silent at the question for its protocol, or it may
 * still start. So after a while the process gets `initialize` too, on the same pipe, and whichever it accepts counts.
 */

import { stripVTControlCharacters } from 'node:util';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type JSONRPCResultResponse,
  LATEST_PROTOCOL_VERSION,
  METHOD_NOT_FOUND,
} from '@modelcontextprotocol/client';

type Answer = JSONRPCResultResponse | JSONRPCErrorResponse;

/** Milliseconds between the answers of a server that answers out of order. */
const outOfOrder = 1_000;

const initializeId = 'toolenv-initialize';

/** Stands between the SDK's client, which asks one question after the other, and a pipe. */
export class Greeting {
  readonly #after: number;
  readonly #write: (message: JSONRPCMessage) => void;
  readonly #deliver: (message: JSONRPCMessage) => void;
  #timer: NodeJS.Timeout | undefined;
  /** `server/discover`, until the SDK has the answer. */
  #question: JSONRPCRequest | undefined;
  /** What the server has answered to it, while the answer to `initialize` is open. */
  #discovered: Answer | undefined;
  #hasInitialize = false;
  #initialized: Answer | undefined;
  /** Id of the SDK's own `initialize`, which is not sent if the server has one already. */
  #asked: JSONRPCRequest['id'] | undefined;
  /** Whether the question is answered, or the server has ended. */
  #isOver = false;

  /**
   * @param after Milliseconds until the server gets `initialize`.
   * @param write Sends a message to the server.
   * @param deliver Gives a message to the client.
   */
  constructor(
    after: number,
    write: (message: JSONRPCMessage) => void,
    deliver: (message: JSONRPCMessage) => void,
  ) {
    this.#after = after;
    this.#write = write;
    this.#deliver = deliver;
  }

  /** Whether the server is to get a message of the client. */
  sends(message: JSONRPCMessage): boolean {
    if (!('method' in message && 'id' in message)) return true;
    if (message.method === 'server/discover' && !this.#isOver) {
      this.#question = message;
      this.#timer = setTimeout(() => this.#initialize(), this.#after);
    }
    if (message.method !== 'initialize' || !this.#hasInitialize) return true;
    this.#asked = message.id;
    this.#pass();
    return false;
  }

  /** Whether the client is to get a message of the server now. */
  receives(message: JSONRPCMessage): boolean {
    if (!('result' in message || 'error' in message)) return true;
    if (message.id === initializeId) {
      this.#initialized = message;
      this.#pass();
      this.#settle();
      return false;
    }
    if (message.id === undefined || message.id !== this.#question?.id) return true;
    if (this.#hasInitialize && 'result' in message) {
      this.#discovered = message;
      this.#settle();
      return false;
    }
    this.end();
    return true;
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#question = undefined;
  }

  #initialize(): void {
    const meta = this.#question?.params?._meta;
    if (meta === undefined) return;
    this.#hasInitialize = true;
    const params = {
      protocolVersion: LATEST_PROTOCOL_VERSION,
      capabilities: meta[CLIENT_CAPABILITIES_META_KEY],
      clientInfo: meta[CLIENT_INFO_META_KEY],
    };
    this.#write({ jsonrpc: '2.0', id: initializeId, method: 'initialize', params });
  }

  /** A server that accepts `initialize` has chosen its protocol by it; one that refuses it may know the newer protocol. */
  #settle(): void {
    const question = this.#question;
    if (!question || !this.#initialized) return;
    if ('error' in this.#initialized && !this.#discovered) {
      this.#timer = setTimeout(() => this.#refuse(question.id), outOfOrder);
    } else if ('error' in this.#initialized) {
      this.end();
      this.#deliver(this.#discovered!);
    } else this.#refuse(question.id);
  }

  /** Makes the client ask with `initialize`. */
  #refuse(id: JSONRPCRequest['id']): void {
    if (!this.#question) return;
    this.end();
    this.#deliver({ jsonrpc: '2.0', id, error: { code: METHOD_NOT_FOUND, message: 'no server/discover' } });
  }

  /** Gives the client the answer to its `initialize`. */
  #pass(): void {
    const [answer, id] = [this.#initialized, this.#asked];
    if (answer === undefined || id === undefined) return;
    this.#asked = undefined;
    queueMicrotask(() => this.#deliver({ ...answer, id }));
  }
}

/** Longest explanation, in characters. */
const longest = 1_000;
/** Most lines of one explanation. */
const maxLines = 12;

/** Python draws a margin beside the parts of an exception group. */
const margin = /^\s*[|+][-+\s]*(?=\S)/;
const traceback = /\bTraceback \(most recent call last\)/;
/** The class of an error, as Python, Node and Java print it. */
const errorClass =
  /^(uncaught |unhandled |caused by: |exception in thread "[^"]*" )?([\w$]+\.)*[A-Z][\w$]*(Error|Exception|Failure|Timeout)( \[\w+\])?(:|$)/i;
/** An error as a program reports it: `error: …`, `server: error: …`, `Error starting …: …`, `panic: …`, uv's `× …`. */
const report = /^((\S+: )?(fatal|error|panic|critical)\b.*?:\s|thread '.*' .*panicked at|\s*× )/i;
/** A line of a log with the level of an error. */
const errorLevel = /\b(ERROR|FATAL|CRITICAL)\b|\[error\]|"level":\s*"(error|fatal)"/;
/** A line that mentions a failure in other words. */
const mention =
  /\b(errors?|fatal|exception|fail(ed|s|ure)?|cannot|can't|could not|unable|not found|no such|refused|denied|missing|required|invalid|must)\b/i;
/** Errors that the end of a server's input or output causes. */
const consequence =
  /^([\w$]+\.)*(KeyboardInterrupt|CancelledError|BrokenPipeError|BrokenResourceError|ClosedResourceError|SystemExit)\b|\bEPIPE\b/;

const npm = /^npm (error|ERR!|warn|WARN|notice|info|http|verb)\b/;
const npmError =
  /^npm (error|ERR!) (?!(code|path|workspace|location|command|errno|syscall|signal)\b|Lifecycle script|A complete log)\S.*/;
const frame = /^\s+(at |File ")/;
const cause = /^\s+\[cause\]: (.*\S)/;
const noise = /^\s*[│╭╰├](?!─▶)|^\s*\^+\s*$|^Node\.js v\d|^Exception ignored in/;
/** The beginning of a line of a log: a time, or a level. */
const logged =
  /^\s*(\[?\d{2,4}[-/:.]\d{2}|\[?(trace|debug|info|notice|warn(ing)?|error|fatal|critical)\b\]?[:\s]|\[[^\]]*\]\s|\{")/i;

/**
 * The last error in a server's stderr that explains why the server failed, with the lines that belong to it.
 * @returns One line; without an error, the last lines; '' for nothing but white space.
 */
export function lastError(stderr: string): string {
  const lines = stripVTControlCharacters(stderr)
    .split(/\r?\n/)
    .map((line) => line.replace(margin, ''));
  const errors = errorsIn(lines);
  const at =
    errors.findLast((line) => !consequence.test(lines[line]!)) ??
    errors.at(-1) ??
    lines.findIndex((line) => npmError.test(line));
  if (at >= 0) return cut(withContext(lines, at));
  const said = lines.filter((line) => line.trim() !== '' && !npm.test(line) && !noise.test(line));
  const mentioned = said.findLast((line) => mention.test(line));
  return mentioned === undefined ? said.join(' ').trim().slice(-longest) : cut(mentioned.trim());
}

/** The numbers of the lines that begin an error. */
function errorsIn(lines: readonly string[]): number[] {
  const errors: number[] = [];
  let inTraceback = false;
  for (const [number, line] of lines.entries()) {
    if (traceback.test(line)) inTraceback = true;
    // The first line after the frames of a traceback is its exception, of whatever class.
    else if (inTraceback && /^\S/.test(line) && !noise.test(line)) {
      errors.push(number);
      inTraceback = false;
    } else if (!npm.test(line) && !noise.test(line) && isError(line)) errors.push(number);
  }
  return errors;
}

function isError(line: string): boolean {
  return errorClass.test(line) || report.test(line) || errorLevel.test(line);
}

/** The error's line, the further lines of its message, and its causes. */
function withContext(lines: readonly string[], at: number): string {
  const parts = [lines[at]!.replace(npm, '')];
  const rest = lines.slice(at + 1, at + 1 + maxLines);
  const end = rest.findIndex((line) => ends(line));
  const frames = end >= 0 && frame.test(rest[end]!);
  for (const [number, line] of rest.slice(0, end < 0 ? undefined : end).entries()) {
    const belongs =
      frames || /^\s/.test(line) || /:$/.test(parts.at(-1)!) || /^\s+\S/.test(rest[number + 1] ?? '');
    if (!belongs) break;
    parts.push(line);
  }
  // Node prints causes after the frames, indented.
  if (frames) {
    for (const line of lines.slice(at + 1)) {
      if (/^\S/.test(line) && isError(line)) break;
      const [, found] = cause.exec(line) ?? [];
      if (found !== undefined) parts.push(`(${found})`);
    }
  }
  return parts.map((part) => part.trim()).join(' ');
}

/** Whether a line ends the message of the error before it. */
function ends(line: string): boolean {
  return (
    line.trim() === '' ||
    frame.test(line) ||
    logged.test(line) ||
    npm.test(line) ||
    noise.test(line) ||
    traceback.test(line) ||
    isError(line)
  );
}

function cut(text: string): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}
