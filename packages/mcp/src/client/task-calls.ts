/**
 * withTasks: a transport on which a call that the server turns into a task looks like a call that takes long (the extension
 * `io.modelcontextprotocol/tasks` of MCP 2026-07-28, SEP-2663). The SDK has no part of the extension that a client runs.
 */
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type MessageExtraInfo,
  type RequestId,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import { messageOf } from '@toolenv/core';
import { isObject } from '@toolenv/core/schemas';
import { streamEnded } from './client-error.ts';

/** What a client declares, so that a server may turn calls into tasks. */
export const tasksExtension: Record<string, Record<string, never>> = { 'io.modelcontextprotocol/tasks': {} };

/** Milliseconds before the first question for a task. Each wait is twice as long as the last, up to what the server asks for. */
const firstWait = 20;
/** Milliseconds, if the server does not say. */
const defaultWait = 1_000;
/** Milliseconds. A server may ask for more than an episode has. */
const longestWait = 10_000;

type Fields = Readonly<Record<string, unknown>>;

/** A call that waits for its answer. */
interface Call {
  id: RequestId;
  /** Repeated with each question for its task. */
  meta: Fields | undefined;
  /** Set once the server has made a task of it. */
  taskId?: string;
  timer?: ReturnType<typeof setTimeout>;
}

/** The same transport for a client, with tasks hidden from it. */
export function withTasks<Inner extends Transport>(inner: Inner): Inner {
  const calls = new TaskCalls(inner);
  return new Proxy(inner, {
    get(_, name) {
      if (name === 'send') return calls.send;
      // What the transport itself does with a message comes first anyway.
      if (name === 'onmessage') return undefined;
      const value: unknown = Reflect.get(inner, name, inner);
      return typeof value === 'function' ? value.bind(inner) : value;
    },
    set(_, name, value) {
      if (name === 'onmessage') calls.deliver = value;
      else Reflect.set(inner, name, name === 'onclose' ? calls.closing(value) : value, inner);
      return true;
    },
  });
}

class TaskCalls {
  /** Hands a message to the client. */
  deliver: Transport['onmessage'];
  readonly #inner: Transport;
  readonly #calls = new Map<RequestId, Call>();
  /** Calls whose task waits for input, by what the client sends back with it. */
  readonly #parked = new Map<string, string>();
  /** Questions for tasks that wait for their answer. */
  readonly #asked = new Map<RequestId, (message: JSONRPCMessage) => void>();
  #questions = 0;

  constructor(inner: Transport) {
    this.#inner = inner;
    const before = inner.onmessage;
    inner.onmessage = (message, extra) => {
      before?.(message, extra);
      this.#receive(message, extra);
    };
  }

  readonly send = async (message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> => {
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      const { requestId } = message.params as { requestId: RequestId };
      if (this.#cancel(requestId)) return;
    }
    if (isJSONRPCRequest(message) && message.method === 'initialize')
      return this.#inner.send(withoutExtensions(message), options);
    if (!isJSONRPCRequest(message) || message.method !== 'tools/call')
      return this.#inner.send(message, options);
    const { id, params = {} } = message;
    const call: Call = { id, meta: params._meta as Fields | undefined };
    this.#calls.set(id, call);
    // Over HTTP, the client gives a call up without a message.
    options?.requestSignal?.addEventListener('abort', () => this.#cancel(id), { once: true });
    const taskId = this.#parked.get(String(params.requestState));
    if (taskId === undefined) return this.#inner.send(message, options);
    this.#parked.delete(String(params.requestState));
    call.taskId = taskId;
    this.#update(call, message);
  };

  /** Gives the task what it has asked for, which the client sends as another call. */
  async #update(call: Call, { params }: JSONRPCRequest): Promise<void> {
    const answer = await this.#ask(call, 'tasks/update', { inputResponses: params?.inputResponses });
    if (isJSONRPCErrorResponse(answer)) this.#end(call, answer);
    else this.#poll(call, firstWait, defaultWait);
  }

  #receive(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    const id = 'id' in message && !('method' in message) ? message.id : undefined;
    const asked = id === undefined ? undefined : this.#asked.get(id);
    if (asked) {
      this.#asked.delete(id!);
      asked(message);
      return;
    }
    const call = id === undefined ? undefined : this.#calls.get(id);
    const result = isJSONRPCResultResponse(message) ? (message.result as Fields) : {};
    if (call && result.resultType === 'task' && typeof result.taskId === 'string') {
      call.taskId = result.taskId;
      this.#poll(call, firstWait, result.pollIntervalMs);
      return;
    }
    if (call) this.#calls.delete(call.id);
    this.deliver?.(message, extra);
  }

  #poll(call: Call, wait: number, asked: unknown): void {
    const longest = typeof asked === 'number' && asked > 0 ? Math.min(asked, longestWait) : defaultWait;
    call.timer = setTimeout(
      async () => {
        const answer = await this.#ask(call, 'tasks/get', {});
        if (this.#calls.get(call.id) === call) this.#taken(call, answer, wait);
      },
      Math.min(wait, longest),
    );
  }

  /** What happens when the connection ends, which the client is told of. */
  closing(tell: Transport['onclose']): () => void {
    return () => {
      for (const { timer } of this.#calls.values()) clearTimeout(timer);
      this.#calls.clear();
      tell?.();
    };
  }

  /** What the server says of a task. */
  #taken(call: Call, answer: JSONRPCMessage, wait: number): void {
    const { id, taskId } = call;
    if (!isJSONRPCResultResponse(answer)) {
      this.#end(call, answer);
      return;
    }
    const { status, result, error, inputRequests, statusMessage, pollIntervalMs } = answer.result as Fields;
    if (status === 'working') {
      this.#report(call, statusMessage);
      this.#poll(call, 2 * wait, pollIntervalMs);
    } else if (status === 'completed' && isObject(result))
      this.#end(call, { jsonrpc: '2.0', id, result: { ...result, resultType: 'complete' } });
    else if (status === 'input_required' && isObject(inputRequests)) {
      // The client asks its hooks, and then calls again with the answers and this state.
      const requestState = `toolenv-task-${this.#questions}`;
      this.#parked.set(requestState, taskId!);
      const asking = { resultType: 'input_required', inputRequests, requestState };
      this.#end(call, { jsonrpc: '2.0', id, result: asking });
    } else if (status === 'failed' && isObject(error)) {
      const { code, message } = error;
      const said = { code: typeof code === 'number' ? code : -32603, message: String(message) };
      this.#end(call, { jsonrpc: '2.0', id, error: said });
    } else {
      const why = status === 'cancelled' ? 'the server has cancelled the task' : 'the task has no result';
      this.#end(call, { jsonrpc: '2.0', id, error: { code: -32603, message: why } });
    }
  }

  /** A task that works is a sign of life. */
  #report({ meta }: Call, message: unknown): void {
    const progressToken = meta?.progressToken as RequestId | undefined;
    if (progressToken === undefined) return;
    const params = {
      ...{ progressToken, progress: this.#questions },
      ...(typeof message === 'string' && { message }),
    };
    this.deliver?.({ jsonrpc: '2.0', method: 'notifications/progress', params });
  }

  /** Answers the call. */
  #end({ id }: Call, message: JSONRPCMessage): void {
    this.#calls.delete(id);
    this.deliver?.({ ...message, id } as JSONRPCMessage);
  }

  /** @returns Whether the call was a task. */
  #cancel(id: RequestId): boolean {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (call?.taskId === undefined) return false;
    clearTimeout(call.timer);
    this.#ask(call, 'tasks/cancel', {});
    return true;
  }

  /** The answer to a question for the task. A question that cannot be sent has a broken stream for an answer. */
  #ask({ meta = {}, taskId }: Call, method: string, params: Fields): Promise<JSONRPCMessage> {
    this.#questions += 1;
    const id = `toolenv-task-${this.#questions}`;
    const { progressToken: _, ...envelope } = meta;
    const message = { jsonrpc: '2.0', id, method, params: { taskId, ...params, _meta: envelope } } as const;
    return new Promise((resolve) => {
      this.#asked.set(id, resolve);
      this.#inner.send(message as JSONRPCMessage).catch((error) => {
        this.#asked.delete(id);
        const why = `${messageOf(error)}: ${streamEnded.message}`;
        resolve({ jsonrpc: '2.0', id, error: { ...streamEnded, message: why } });
      });
    });
  }
}

/** Older revisions know no extensions, and a server of theirs may refuse what it does not know. */
function withoutExtensions({ params, ...message }: JSONRPCRequest): JSONRPCRequest {
  const { extensions: _, ...capabilities } = (params?.capabilities ?? {}) as Fields;
  return { ...message, params: { ...params, capabilities } };
}
