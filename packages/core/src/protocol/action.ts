/** Action: what a policy does in one turn, with the tokens that it sampled. */
import type { ToolCall } from './message.ts';

/** Text that looks like a tool call but does not parse: data for the environment to answer, not an exception. */
export interface ParseFailure {
  parseFailure: string;
  /** What the model wrote. */
  text: string;
}

/** The tokens exactly as sampled; history is never re-tokenised from text. */
export interface ActionTokens {
  /** [P] the whole prompt. */
  prompt: Int32Array;
  /** [A] what was generated, end-of-turn token included. */
  action: Int32Array;
  /**
   * [A] log-probability of each action token under the sampling temperature, in nats. It is normalised over the whole
   * vocabulary, also where topP, topK or minP excluded tokens, because a learner computes it so.
   */
  logprobs: Float32Array;
}

export interface Action {
  /** The generated text without the tool calls that parsed; the next observation's assistant message has it as content. */
  text: string;
  toolCalls: (ToolCall | ParseFailure)[];
  stopReason: 'stop' | 'length' | 'tool_call';
  tokens?: ActionTokens;
}

export function isParseFailure(call: ToolCall | ParseFailure): call is ParseFailure {
  return 'parseFailure' in call;
}
