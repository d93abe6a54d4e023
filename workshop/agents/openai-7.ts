/** The OpenAI SDK 7. */
import OpenAI from 'openai7';
import { openaiAgents } from './openai.ts';

export const { runTools, chatLoop, responsesLoop } = openaiAgents(OpenAI);
