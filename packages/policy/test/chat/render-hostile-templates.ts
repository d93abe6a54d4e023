/** Renders each hostile template in this process, and prints a line with its name, its milliseconds and its error. */
import { writeSync } from 'node:fs';
import { messageOf, type Observation, ToolEnvError } from '@toolenv/core';
import { Chat } from '../../src/chat/chat.ts';
import { wordCheckpoint } from '../word-checkpoint.ts';
import { hostileTemplates } from './hostile-templates.ts';

const checkpoint = wordCheckpoint();
const question = { role: 'user', content: 'where is the river ?' } as const;
const observation: Observation = { messages: [question, question], tools: [] };

for (const [name, chat_template] of Object.entries(hostileTemplates)) {
  const start = performance.now();
  let error = 'none';
  try {
    const tokenizerConfig = { ...checkpoint.tokenizerConfig, chat_template };
    new Chat({ ...checkpoint, tokenizerConfig }).render(observation);
  } catch (thrown) {
    error = `${ToolEnvError.isInstance(thrown) && thrown.code}: ${messageOf(thrown)}`;
  }
  // A later template may end the process: write at once.
  writeSync(1, `${JSON.stringify({ name, milliseconds: performance.now() - start, error })}\n`);
}
