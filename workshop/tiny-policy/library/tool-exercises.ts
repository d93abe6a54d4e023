/** Tool exercises: calls of tools that no environment has, so that a model learns to read the names of tools and arguments. */
import { createRng, type Rng, type ToolDescription } from '@toolenv/core';
import { worldVocabulary } from '@toolenv/envs-qa';
import type { Conversation } from '../lines.ts';
import { drawSymbol } from './draw-symbol.ts';

/** Endless conversations: several tools, a request that names one of them with its arguments, the call, and its result as the answer. */
export function* toolExercises(seed: number): Generator<Conversation, never, void> {
  const words = worldVocabulary().filter((word) => /^[a-z]{3,}$/.test(word));
  const names = worldVocabulary().filter((word) => /^[A-Z]/.test(word));
  const drawValue = (rng: Rng) => (rng.float() < 0.5 ? drawSymbol(rng) : rng.pick(names));
  for (let number = 0; ; number++) {
    const rng = createRng(seed, 'tools', number);
    const tools = Array.from({ length: 1 + rng.int(4) }, () => drawTool(words, rng));
    const { name, inputSchema } = rng.pick(tools);
    const given = Object.keys(inputSchema.properties!).map((key) => [key, drawValue(rng)] as const);
    const request = given.map(([key, value]) => `${key} ${value}`).join(' and ');
    const call = { id: 'call-0', name, arguments: Object.fromEntries(given) };
    const result = drawValue(rng);
    const order = rng.pick(['Call', 'Use', 'Please use']);
    yield {
      messages: [
        { role: 'system', content: 'Use the tools.' },
        { role: 'user', content: `${order} ${name} with ${request}.` },
        { role: 'assistant', content: '', toolCalls: [call] },
        { role: 'tool', name, content: result, toolCallId: call.id },
        { role: 'assistant', content: result },
      ],
      tools,
    };
  }
}

function drawTool(words: readonly string[], rng: Rng): ToolDescription {
  const name = Array.from({ length: 1 + rng.int(2) }, () => rng.pick(words)).join('_');
  const keys = rng.shuffle(words).slice(0, 1 + rng.int(2));
  const properties = Object.fromEntries(keys.map((key) => [key, { type: 'string' }]));
  return { name, description: '', inputSchema: { type: 'object', properties, required: keys } };
}
