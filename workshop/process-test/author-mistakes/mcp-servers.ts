/** Mistakes in environments over MCP servers. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of modules
import type { Mistake } from './mistake.ts';

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

export const mistakes: readonly Mistake[] = [
  {
    did: 'a server that is not installed',
    in: sums,
    edits: [['command: process.execPath', "command: 'mcp-server-sums'"]],
    says: /`mcp-server-sums .* cannot be run: .*check the command/,
  },
  {
    did: 'a program of a server that is not there',
    in: sums,
    edits: [
      ['args: [program]', "args: ['no-such-server.js']"],
      ['const program = ', 'void '],
    ],
    says: /its stderr says: Error: Cannot find module .*no-such-server\.js/,
  },
  {
    did: 'a command as one text',
    in: sums,
    edits: [['{ command: process.execPath, args: [program] }', '`node ${program}`']],
    says: /a text for a server, .*give \{ command: 'node'/,
  },
  {
    did: 'only a tool that the server lacks',
    in: sums,
    edits: [["['get-sum']", "['get_sums']"]],
    says: /"only" names "get_sums".* Did you mean "get-sum"\?/,
  },
  {
    did: 'question for prompt',
    in: sums,
    edits: [["{ prompt: 'What is 17", "{ question: 'What is 17"]],
    says: /Task 1: \/prompt: expected must have required property 'prompt'/,
  },
  {
    did: 'a misspelt answer',
    in: sums,
    edits: [["answer: '42'", "anwser: '42'"]],
    says: /Task 1: \/anwser: expected must NOT have additional properties/,
  },
  {
    did: 'a split dev',
    in: sums,
    edits: [["split: 'train'", "split: 'dev'"]],
    says: /Task 1: \/split: .*\["train","validation","test"\]; received "dev"/,
  },
  {
    did: 'a variable that is not set',
    in: sums,
    edits: [['args: [program] }', "args: [program], env: { API_KEY: '${NO_SUCH_API_KEY}' } }"]],
    says: /needs the variable NO_SUCH_API_KEY, which is not set: set it/,
  },
];
