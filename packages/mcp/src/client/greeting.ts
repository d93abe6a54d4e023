/**
 * Greeting: the first exchange with a server process. It may be an older server that is silent at the question for its protocol, or it may
 * still start. So after a while the process gets `initialize` too, on the same pipe, and whichever it accepts counts.
 */
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
