/** `memory-graph-v1`: correct the knowledge graph of `@modelcontextprotocol/server-memory` after Ada has moved. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { defineMcpEnv } from '@toolenv/mcp';

const program = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-memory/dist/index.js'));
const memoryIn = (folder: string) => ({ MEMORY_FILE_PATH: join(folder, 'graph.jsonl') });
const cities = ['Oslo', 'Rome', 'Lima', 'Cairo', 'Hanoi', 'Quito'];
const moves = cities.flatMap((from) => cities.filter((to) => to !== from).map((to) => ({ from, to })));
const home = (city: string) => ({ relations: [{ from: 'Ada', to: city, relationType: 'lives in' }] });

export default defineMcpEnv({
  name: 'memory-graph-v1',
  description: 'Correct a knowledge graph after somebody has moved.',
  server: ({ folder }) => ({ command: process.execPath, args: [program], env: memoryIn(folder) }),
  tasks: { train: moves.slice(0, 20), validation: moves.slice(20, 24), test: moves.slice(24) },
  limits: { maxCallsPerTurn: 1 }, // The server reads and writes its file without a lock.
  only: ['search_nodes', 'create_relations', 'delete_relations'],
  rewards: {
    graph: {
      kind: 'outcome',
      async score({ task: { to }, call }) {
        const graph = (await call('read_graph')).result.structuredContent as ReturnType<typeof home>;
        return Number(isDeepStrictEqual(graph.relations, home(to).relations));
      },
    },
  },
  async episode({ task: { from, to }, call }) {
    const entities = ['Ada', ...cities].map((name) => ({ name, entityType: 'name', observations: [] }));
    await call('create_entities', { entities });
    await call('create_relations', home(from));
    return { messages: `Ada has moved to ${to}. Correct the memory: a person lives in one city.` };
  },
  oracle: ({ from, to }) => [
    [{ name: 'delete_relations', arguments: home(from) }],
    [{ name: 'create_relations', arguments: home(to) }],
    'Done.',
  ],
});
