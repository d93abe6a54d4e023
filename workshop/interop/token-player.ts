/** tokenPlayer: a policy that says what another says, in tokens of a real model. */
import { type Policy, parsedCalls, type Trajectory } from '@toolenv/core';
import { TokenTurns } from '@toolenv/core/remote';
import type { OpenedChat } from '@toolenv/policy/chat';

/** Coding agents write prompts of tens of thousands of tokens. No model computes them here. */
const contextLength = 10 ** 6;

/**
 * Each character is a token by itself, or several. A tokenizer would join them: whoever decodes a turn and encodes it again gets other tokens. Calls are
 * written as the chat template's system message asks for.
 */
export function tokenPlayer(player: Policy, { chat }: OpenedChat): Policy {
  const turns = new TokenTurns(chat, contextLength);
  return {
    ...player,
    async act(observation, options) {
      const said = await player.act(observation, options);
      const calls = parsedCalls(said).map(({ name, arguments: given }) => {
        const json = JSON.stringify({ name, arguments: given });
        return `<tool_call>\n${json}\n</tool_call>`;
      });
      const text = [said.text, ...calls].filter((part) => part !== '').join('\n');
      const tokens = [...text].flatMap((character) => [...chat.encode(character)]);
      tokens.push(chat.endTokens[0]!);
      return turns.act(observation, options, async () => ({
        tokens: Int32Array.from(tokens),
        logprobs: new Float32Array(tokens.length).fill(-1),
        isCut: false,
      }));
    },
    endEpisode: (episodeId) => turns.endEpisode(episodeId),
  };
}

/** Tokens of the turns, if each prompt begins with the tokens of the turn before it, as prompt and as answer; `undefined` otherwise. */
export function exactTokens({ steps }: Trajectory): number | undefined {
  let before: number[] = [];
  let sampled = 0;
  for (const { action } of steps) {
    if (!action.tokens) return undefined;
    const { prompt, action: own } = action.tokens;
    if (before.some((token, index) => prompt[index] !== token)) return undefined;
    before = [...prompt, ...own];
    sampled += own.length;
  }
  return sampled;
}
