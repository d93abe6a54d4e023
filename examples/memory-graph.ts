/** `memory-graph-v1`: correct the knowledge graph of `@modelcontextprotocol/server-memory` after somebody has moved. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { defineMcpEnv } from '@toolenv/mcp';

const program = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-memory/dist/index.js'));
const cities = ['Oslo', 'Rome', 'Lima', 'Cairo', 'Hanoi'];
const home = (from: string, to: string) => ({ relations: [{ from, to, relationType: 'lives in' }] });
const moves = ['Ada', 'Ben', 'Eva', 'Kim'].flatMap((person) =>
  cities.flatMap((from) => cities.filter((to) => to !== from).map((to) => ({ person, from, to }))),
);

export default defineMcpEnv({
  name: 'memory-graph-v1',
  description: 'Correct a knowledge graph after somebody has moved.',
  server: ({ folder }) => {
    const env = { MEMORY_FILE_PATH: join(folder, 'graph.jsonl') };
    return { command: process.execPath, args: [program], env };
  },
  tasks: { train: moves.slice(0, 60), validation: moves.slice(60, 70), test: moves.slice(70) },
  // The server reads and writes its file without a lock, so that parallel calls would overwrite each other.
  limits: { maxCallsPerTurn: 1 },
  only: ['search_nodes', 'create_relations', 'delete_relations'],
  rewards: {
    graph: {
      kind: 'outcome',
      async score({ task: { person, to }, call }) {
        const graph = (await call('read_graph')).result?.structuredContent as object;
        return Number(isDeepStrictEqual({ ...graph, entities: [] }, { entities: [], ...home(person, to) }));
      },
    },
  },
  async episode({ task: { person, from, to }, call }) {
    const entities = [person, ...cities].map((name) => ({ name, entityType: 'name', observations: [] }));
    await call('create_entities', { entities });
    await call('create_relations', home(person, from));
    return { messages: `${person} has moved to ${to}. Correct the memory: a person lives in one city.` };
  },
});
