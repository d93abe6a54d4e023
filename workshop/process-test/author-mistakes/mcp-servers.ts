/** Mistakes in environments over MCP servers. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of modules
import { type Mistake, mistakesIn } from './mistake.ts';

const sums = `
import { fileURLToPath } from 'node:url';
import { defineMcpEnv } from '@toolenv/mcp';

const program = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));

export default defineMcpEnv({
  name: 'sums-v1',
  description: 'Sums, with a tool.',
  server: { command: process.execPath, args: [program] },
  only: ['get-sum'],
  tasks: [
    { prompt: 'What is 17 + 25?', answer: '42', split: 'train' },
    { prompt: 'What is 30 + 4?', answer: ['34', '34.'] },
  ],
});
`;

export const right: Readonly<Record<string, string>> = { sums };

export const mistakes: readonly Mistake[] = mistakesIn(sums, {
  'a server that is not installed': [
    ['command: process.execPath', "command: 'mcp-server-sums'"],
    /`mcp-server-sums .* cannot be run: .*check the command/,
  ],
  'a program of a server that is not there': [
    ['args: [program]', "args: ['no-such-server.js']"],
    ['const program = ', 'void '],
    /its stderr says: Error: Cannot find module .*no-such-server\.js/,
  ],
  'a command as one text': [
    ['{ command: process.execPath, args: [program] }', '`node ${program}`'],
    /a text for a server, .*give \{ command: 'node'/,
  ],
  'only a tool that the server lacks': [
    ["['get-sum']", "['get_sums']"],
    /"only" names "get_sums".* Did you mean "get-sum"\?/,
  ],
  'question for prompt': [
    ["{ prompt: 'What is 17", "{ question: 'What is 17"],
    /Task 1: \/prompt: expected must have required property 'prompt'/,
  ],
  'a misspelt answer': [
    ["answer: '42'", "anwser: '42'"],
    /Task 1: \/anwser: expected must NOT have additional properties/,
  ],
  'a split dev': [
    ["split: 'train'", "split: 'dev'"],
    /Task 1: \/split: .*\["train","validation","test"\]; received "dev"/,
  ],
  'a variable that is not set': [
    ['args: [program] }', "args: [program], env: { API_KEY: '${NO_SUCH_API_KEY}' } }"],
    /needs the variable NO_SUCH_API_KEY, which is not set: set it/,
  ],
});
