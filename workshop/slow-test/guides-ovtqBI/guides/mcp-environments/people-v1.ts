// people-v1.ts
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineMcpEnv } from '@toolenv/mcp';

const program = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-memory/dist/index.js'));
const person = (name: string) => ({ entities: [{ name, entityType: 'person', observations: [] }] });

export default defineMcpEnv({
  name: 'people-v1',
  description: 'Remember people in a knowledge graph.',
  server: ({ folder }) => ({
    command: process.execPath,
    args: [program],
    env: { MEMORY_FILE_PATH: join(folder, 'graph.jsonl') },
  }),
  tasks: { train: [{ name: 'Ada' }, { name: 'Bo' }], test: [{ name: 'Kim' }] },
  only: ['create_entities', 'search_nodes'],
  limits: { maxCallsPerTurn: 1 },
  rewards: {
    remembered: {
      kind: 'outcome',
      async score({ task, call }) {
        const { text } = await call('read_graph');
        return Number(text.includes(task.name) && text.includes('Eve'));
      },
    },
  },
  async episode({ task, call }) {
    await call('create_entities', person('Eve'));
    return { messages: `Remember ${task.name}, who is a person.` };
  },
  oracle: ({ name }) => [[{ name: 'create_entities', arguments: person(name) }], 'Done.'],
});
