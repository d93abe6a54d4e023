/** Action: what a policy does in one turn, and the tokens that it sampled. */
import type { Message, ToolCall } from './message.ts';
import type { TurnUsage } from './turn-usage.ts';

/** Text that looks like a tool call but does not parse. The environment answers it; it is not an exception. */
export interface ParseFailure {
  /** Why the text does not parse. */
  parseFailure: string;
  /** What the model wrote. */
  text: string;
}

/** The tokens exactly as sampled. History is never re-tokenised from text. */
export interface ActionTokens {
  /** [P] the whole prompt. */
  prompt: Int32Array;
  /** [A] the generated tokens, end-of-turn token included. */
  action: Int32Array;
  /**
   * [A] log-probability of each action token at the sampling temperature, in nats. It is normalised over the whole
   * vocabulary, even if topP, topK or minP excluded tokens, because learners compute it that way.
   */
  logprobs: Float32Array;
}

/** What the policy generated in one turn. */
export interface Action {
  /** The generated text without the tool calls that parsed. It becomes the content of the next observation's assistant message. */
  text: string;
  /** What the model thought before its text and its calls, without the marks of thoughts. Nothing in it is a call or an answer. */
  reasoning?: string;
  toolCalls: (ToolCall | ParseFailure)[];
  stopReason: 'stop' | 'length' | 'tool_call';
  tokens?: ActionTokens;
  /** What the turn asked of a server; absent if the policy computes on this machine. */
  usage?: TurnUsage;
}

/** Whether a call is text that was meant as a call and could not be read. */
export function isParseFailure(call: ToolCall | ParseFailure): call is ParseFailure {
  return 'parseFailure' in call;
}

/** The calls that could be read. */
export function parsedCalls({ toolCalls }: Pick<Action, 'toolCalls'>): ToolCall[] {
  return toolCalls.filter((call): call is ToolCall => !isParseFailure(call));
}

/** The turn as a message of the conversation, with the calls that could be read. */
export function turnMessage(action: Pick<Action, 'text' | 'toolCalls' | 'reasoning'>): Message {
  const { text, reasoning } = action;
  const toolCalls = parsedCalls(action);
  return {
    role: 'assistant',
    content: text,
    ...(reasoning !== undefined && { reasoning }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}
