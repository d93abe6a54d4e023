/** The OpenAI SDK 6. */
import OpenAI from 'openai6';
import { openaiAgents } from './openai.ts';

export const { runTools, chatLoop, responsesLoop } = openaiAgents(OpenAI);
