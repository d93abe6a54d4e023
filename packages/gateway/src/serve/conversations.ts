/** Conversations: those of clients that go on, so that the policy keeps its cache from turn to turn. Matches requests to conversations by their message history. */
import {
  type Action,
  type Message,
  type Observation,
  type Policy,
  parsedCalls,
  type ToolCall,
  turnMessage,
} from '@toolenv/core';
import { argumentsOf, digestsOf, keyOf, next, numberCalls, replyOf, servedCall } from '../sent-messages.ts';
import type { ModelReply, ModelRequest, SentCall, SentMessage } from '../wire/model-request.ts';

/** What the policy and the client said last. */
interface LastTurn {
  observation: Observation;
  message: Message;
  served: ModelReply;
}

interface Conversation {
  readonly episodeId: string;
  /** The digest of all messages, the last answer included, with numbered calls; `undefined` before the first answer. */
  digest: string | undefined;
  last: LastTurn | undefined;
  /** Of `performance.now`. */
  used: number;
}

/** A turn that the policy takes. */
export interface TakenTurn {
  readonly observation: Observation;
  /** Absent if the policy keeps nothing. */
  readonly episodeId: string | undefined;
  /** Ends the turn with the action of the policy. @returns What the client receives. */
  end(action: Action): ModelReply;
  /** Ends the turn without an action, once the policy has stopped. The conversation may go on from its last answer. */
  drop(): void;
}

export class Conversations {
  readonly #policy: Pick<Policy, 'endEpisode'>;
  readonly #most: number;
  readonly #onError: (error: unknown) => void;
  /** Those between two turns; the one that has been idle for longest first. */
  readonly #idle: Set<Conversation> = new Set();
  /** The same by their digest. Clients that were told the same differ at most in the ids of their calls. */
  readonly #byDigest: Map<string, Set<Conversation>> = new Map();
  #count = 0;

  /**
   * @param most Conversations that are kept between two turns.
   * @param onError Called with errors of the policy when it forgets one.
   */
  constructor(policy: Pick<Policy, 'endEpisode'>, most: number, onError: (error: unknown) => void) {
    this.#policy = policy;
    this.#onError = onError;
    this.#most = policy.endEpisode ? most : 0;
  }

  /** Those between two turns. */
  get size(): number {
    return this.#idle.size;
  }

  begin(request: ModelRequest): TakenTurn {
    const digests = this.#most > 0 ? digestsOf({ ...request, messages: numberCalls(request.messages) }) : [];
    const known = digests.findLastIndex((digest) => this.#byDigest.has(digest));
    const said = known < 0 ? [] : callsOf(request.messages[known]!);
    const found = known < 0 ? undefined : whichWasTold(said, this.#byDigest.get(digests[known]!)!);
    // While it takes a turn, no other request finds it.
    if (found) this.#take(found);
    const conversation = found ?? this.#open();
    const rest = request.messages.slice(known + 1);
    const messages = found ? continued(found.last!, said, rest) : toMessages(rest);
    const observation = { messages, tools: request.tools };
    return {
      observation,
      episodeId: this.#most > 0 ? conversation.episodeId : undefined,
      end: (action) => {
        const served = replyOf(action, parsedCalls(action).map(servedCall));
        if (this.#most > 0) {
          const answer: SentMessage = { role: 'assistant', text: served.text, calls: served.calls };
          const numbered = numberCalls([...request.messages, answer]).at(-1)!;
          conversation.digest = next(digests.at(-1)!, keyOf(numbered));
          conversation.last = { observation, message: turnMessage(action), served };
          this.#keep(conversation);
        }
        return served;
      },
      drop: () => this.#keep(conversation),
    };
  }

  /** Forgets those that have been idle for so many milliseconds. */
  forgetIdle(milliseconds: number): void {
    const before = performance.now() - milliseconds;
    for (const conversation of this.#idle) if (conversation.used <= before) this.#forget(conversation);
  }

  #open(): Conversation {
    this.#count += 1;
    return { episodeId: `conversation-${this.#count}`, digest: undefined, last: undefined, used: 0 };
  }

  #keep(conversation: Conversation): void {
    const { digest } = conversation;
    if (digest === undefined) {
      this.#forget(conversation);
      return;
    }
    conversation.used = performance.now();
    this.#idle.add(conversation);
    this.#byDigest.set(digest, (this.#byDigest.get(digest) ?? new Set()).add(conversation));
    const [oldest] = this.#idle;
    if (this.#idle.size > this.#most) this.#forget(oldest!);
  }

  #take(conversation: Conversation): void {
    this.#idle.delete(conversation);
    const alike = this.#byDigest.get(conversation.digest!);
    if (alike?.delete(conversation) && alike.size === 0) this.#byDigest.delete(conversation.digest!);
  }

  #forget(conversation: Conversation): void {
    this.#take(conversation);
    const { episodeId } = conversation;
    const end = async () => this.#policy.endEpisode?.(episodeId);
    end().catch(this.#onError);
  }
}

function callsOf(message: SentMessage): readonly SentCall[] {
  return message.role === 'assistant' ? message.calls : [];
}

/** The conversation that was told the ids of these calls. A client may give calls ids of its own: then any, because they say the same. */
function whichWasTold(calls: readonly SentCall[], alike: ReadonlySet<Conversation>): Conversation {
  const isTold = ({ last }: Conversation) => last!.served.calls.every(({ id }, i) => id === calls[i]!.id);
  const [first] = alike;
  return [...alike].find(isTold) ?? first!;
}

/**
 * The messages of a conversation that goes on: the policy's own as the policy gave them, so that its cache fits.
 * @param said The policy's last calls as the client names them.
 */
function continued(
  { observation, message }: LastTurn,
  said: readonly SentCall[],
  rest: readonly SentMessage[],
): Message[] {
  const own = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  const calls = new Map(said.map(({ id }, i) => [id, own[i]!]));
  return [...observation.messages, message, ...toMessages(rest, calls)];
}

/** @param calls The calls before, by the ids that the client knows. */
function toMessages(
  sent: readonly SentMessage[],
  calls: Map<string, Pick<ToolCall, 'id' | 'name'>> = new Map(),
): Message[] {
  return sent.map((message) => {
    if (message.role === 'tool') {
      const { id, name } = calls.get(message.id) ?? { id: message.id, name: '' };
      return { role: 'tool', content: message.text, toolCallId: id, name };
    }
    if (message.role !== 'assistant') return { role: message.role, content: message.text };
    for (const { id, name } of message.calls) calls.set(id, { id, name });
    const toolCalls = message.calls.map(
      (call): ToolCall => ({ id: call.id, name: call.name, arguments: argumentsOf(call) }),
    );
    return { role: 'assistant', content: message.text, ...(toolCalls.length > 0 && { toolCalls }) };
  });
}
