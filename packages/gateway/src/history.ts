/** History: the conversations of an episode, as a forest of answered requests. Each request is placed where the model's own past continues. */
import { isDeepStrictEqual } from 'node:util';
import {
  type Action,
  isParseFailure,
  type Message,
  type Observation,
  type ToolCall,
  turnMessage,
} from '@toolenv/core';
import { argumentsOf, digestsOf, keyOf, next, plainly, replyOf, servedCall } from './sent-messages.ts';
import type { ModelReply, ModelRequest, SentCall, SentMessage } from './wire/model-request.ts';
import { mintId } from './wire/wire.ts';

/**
 * How a request relates to those before it.
 * - `first`: the first of the episode; `continued`: it goes on from the newest answer of a conversation.
 * - `helper`: it begins with other instructions or tools than the first, as a sub-agent does; `compaction`: with the same, and without the answers so far.
 * - `edit`: it changes what the model has read or said; `sample`: it asks for another answer to a request, as best-of-n does.
 */
export type Relation = 'first' | 'continued' | 'helper' | 'compaction' | 'edit' | 'sample';

/**
 * What becomes of a turn whose calls do not parse. `text`: the client receives what the model wrote, as from model servers. `call`: it receives
 * calls with the arguments as they were written, and its framework answers with an error. `correct`: the policy is told what is wrong, as in a ToolEnv,
 * and the client receives what it answers then.
 */
export type Malformed = 'text' | 'call' | 'correct';

/** A request with its place. */
export interface Placed {
  readonly request: ModelRequest;
  readonly observation: Observation;
  readonly relation: Relation;
  /** Equal for requests that say the same. */
  readonly digest: string;
}

/** An answered request. */
export interface Turn extends Placed {
  /** What the client received. */
  readonly served: ModelReply;
  /** The action as a message of the conversation. */
  readonly message: Message;
  /** Whether the answer reached the client. */
  isDelivered: boolean;
}

/** A call by the id that the client knows: the model's own id, its name, and the turn that made it. */
interface Minted {
  readonly id: string;
  readonly name: string;
}

/** Of one episode. */
export class History {
  /** How often requests had each relation, and how often one was sent again because its answer was lost. */
  readonly counts: Partial<Record<Relation | 'retry', number>> = {};
  readonly #malformed: Malformed;
  /** Turns by the digest of their request and answer. */
  readonly #turns: Map<string, Turn> = new Map();
  /** The newest turn of each conversation. */
  readonly #tips: Map<string | undefined, Turn> = new Map();
  readonly #minted: Map<string, Minted> = new Map();
  /** Turns by the ids of their calls. */
  readonly #callers: Map<string, Turn> = new Map();
  /** The last turn that answered each request, by its digest. */
  readonly #answered: Map<string, Turn> = new Map();
  readonly #names: Map<string, number> = new Map();
  #first: ModelRequest | undefined;

  constructor(malformed: Malformed) {
    this.#malformed = malformed;
  }

  count(relation: Relation | 'retry'): void {
    this.counts[relation] = (this.counts[relation] ?? 0) + 1;
  }

  /** [messages] the digest of the request up to each message. The last is equal for requests that say the same. */
  digests(request: ModelRequest): string[] {
    return digestsOf(request, (message) => this.#keyOf(message));
  }

  /** The last answer to a request with this digest. */
  answerTo(digest: string): Turn | undefined {
    return this.#answered.get(digest);
  }

  /** @param digests Of the request. */
  place(request: ModelRequest, digests: readonly string[]): Placed {
    const digest = digests.at(-1)!;
    const known = digests.findLastIndex((each) => this.#turns.has(each));
    const parent = known < 0 ? undefined : this.#turns.get(digests[known]!)!;
    const { messages, tools } = request;
    const past: Message[] = parent ? [...parent.observation.messages, parent.message] : [];
    const rest = messages.slice(known + 1).map((message) => this.#toMessage(message));
    const relation = this.#relationOf(request, digests, parent);
    this.count(relation);
    this.#first ??= request;
    const { stop } = request;
    const observation: Observation = {
      messages: [...past, ...rest],
      tools,
      ...(stop.length > 0 && { stop }),
    };
    if (relation === 'continued') {
      const { conversation } = parent!.observation;
      if (conversation !== undefined) observation.conversation = conversation;
    } else if (relation !== 'first') observation.conversation = this.#nameOf(observation);
    return { request, observation, relation, digest };
  }

  /** Records the answer to a request. What the client will send back of it is known from then on. */
  add(placed: Placed, action: Action): Turn {
    const calls = action.toolCalls.flatMap((call) => this.#serve(call));
    const served = replyOf(action, calls);
    const turn: Turn = { ...placed, served, message: turnMessage(action), isDelivered: false };
    for (const { id } of calls) this.#callers.set(id, turn);
    const said: SentMessage = { role: 'assistant', text: action.text, calls };
    this.#turns.set(next(placed.digest, this.#keyOf(said)), turn);
    this.#answered.set(placed.digest, turn);
    return turn;
  }

  /** The answer has reached the client, which may go on from it. */
  delivered(turn: Turn): void {
    turn.isDelivered = true;
    this.#tips.set(turn.observation.conversation, turn);
  }

  /** The result of a call in the messages of a request, by the id that the client knows. */
  resultOf(id: string, { messages }: ModelRequest): string | undefined {
    return messages.find((message) => message.role === 'tool' && message.id === id)?.text;
  }

  /** What identifies a message. The model's own answer keeps its key however a client writes it. */
  #keyOf(message: SentMessage): string {
    const caller = message.role === 'assistant' ? this.#callerOf(message.calls) : undefined;
    if (message.role !== 'assistant' || !caller || !isSaid(message, caller.served)) return keyOf(message);
    return JSON.stringify(['turn', ...message.calls.map(({ id }) => id)]);
  }

  #callerOf(calls: readonly SentCall[]): Turn | undefined {
    const [first] = calls;
    return first && this.#callers.get(first.id);
  }

  #relationOf(request: ModelRequest, digests: readonly string[], parent: Turn | undefined): Relation {
    if (!this.#first) return 'first';
    if (this.#answered.has(digests.at(-1)!)) return 'sample';
    if (parent) return this.#tips.get(parent.observation.conversation) === parent ? 'continued' : 'edit';
    if (digests.some((each) => this.#answered.has(each))) return 'edit';
    const first = this.#first!;
    const isMain =
      instructionsOf(first) === instructionsOf(request) && isDeepStrictEqual(first.tools, request.tools);
    return isMain ? 'compaction' : 'helper';
  }

  /** Named by its first request, in which nothing is random; those that begin alike are numbered. */
  #nameOf({ messages, tools }: Observation): string {
    const name = next('', JSON.stringify([messages, tools])).slice(0, 12);
    const count = (this.#names.get(name) ?? 0) + 1;
    this.#names.set(name, count);
    return count === 1 ? name : `${name}~${count}`;
  }

  #serve(call: Action['toolCalls'][number]): SentCall[] {
    if (!isParseFailure(call)) {
      const served = servedCall(call);
      this.#minted.set(served.id, { id: call.id, name: call.name });
      return [served];
    }
    if (this.#malformed !== 'call') return [];
    const id = mintId('call');
    this.#minted.set(id, { id: '', name: '' });
    const name = /"name"\s*:\s*"([^"]*)"/.exec(call.text)?.[1] || 'unknown';
    return [{ id, name, arguments: call.text }];
  }

  /** A message as the policy reads it: the model's own answers as the model gave them, never as the client repeats them. */
  #toMessage(message: SentMessage): Message {
    if (message.role === 'tool') {
      const { id, name } = this.#minted.get(message.id) ?? { id: message.id, name: '' };
      return { role: 'tool', content: message.text, toolCallId: id, name };
    }
    if (message.role !== 'assistant') return { role: message.role, content: message.text };
    const caller = this.#callerOf(message.calls);
    if (caller && isSaid(message, caller.served)) return caller.message;
    const toolCalls = message.calls.map(
      (call): ToolCall => ({
        id: this.#minted.get(call.id)?.id || call.id,
        name: call.name,
        arguments: argumentsOf(call),
      }),
    );
    return { role: 'assistant', content: message.text, ...(toolCalls.length > 0 && { toolCalls }) };
  }
}

function instructionsOf({ messages }: ModelRequest): string {
  return JSON.stringify(messages.filter(({ role }) => role === 'system').map(({ text }) => text));
}

/** Whether a client sends back what it received. It may trim the text and write arguments anew. */
function isSaid({ text, calls }: SentMessage & { role: 'assistant' }, served: ModelReply): boolean {
  if (text.trim() !== served.text.trim() || calls.length !== served.calls.length) return false;
  return calls.every(({ id, name, arguments: args }, i) => {
    const call = served.calls[i]!;
    if (id !== call.id || name !== call.name) return false;
    // Clients send an empty object back for arguments that they refuse, also for a key such as `__proto__`.
    return args === '{}' || plainly(args) === plainly(call.arguments);
  });
}
