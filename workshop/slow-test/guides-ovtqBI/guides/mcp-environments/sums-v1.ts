// sums-v1.ts
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
