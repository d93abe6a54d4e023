/** `toolbox-v1`: find the right tools among a thousand, and use them. */
import { createRng, defineTool, defineToolEnv, type Tool } from '@toolenv/core';
import { toolSearch } from '@toolenv/core/tools';
import { generatedTasks } from './generated-tasks.ts';
import { type Operation, operations, toolNameOf, verbs } from './toolbox/services.ts';

const system =
  'You work with the tools of a company. Do what is asked, in its order. Each tool gives a receipt. Answer with the receipts in that order, with commas between them, and nothing else.';

/** An operation on an object with a number. */
interface Errand extends Operation {
  id: number;
}

interface ToolboxTask {
  errands: readonly Errand[];
  /** Makes the receipts of this task. */
  key: number;
}

export default defineToolEnv({
  name: 'toolbox-v1',
  description: 'Find the right tools among a thousand, and use them. Many differ by one word.',
  options: {
    properties: {
      tasks: { type: 'integer', minimum: 1, default: 1000, description: 'number of training tasks' },
      errands: {
        type: 'integer',
        minimum: 1,
        maximum: 5,
        default: 3,
        description: 'most tools that a task needs',
      },
      offer: {
        enum: ['search', 'all'],
        default: 'search',
        description:
          'search: the policy begins with find_tools and gets what it finds; all: it gets every tool',
      },
    },
  },
  prompts: { system },
  limits: { maxTurns: 12 },
  tasks({ options: { tasks, errands }, seed }) {
    // No tool is needed in two splits.
    const shuffled = createRng(seed, 'toolbox', 'operations').shuffle(operations);
    const [tenth, fifth] = [operations.length / 10, operations.length / 5];
    const own = {
      train: shuffled.slice(tenth + fifth),
      validation: shuffled.slice(0, tenth),
      test: shuffled.slice(tenth, tenth + fifth),
    };
    return generatedTasks(tasks, (split, index): ToolboxTask => {
      const rng = createRng(seed, 'toolbox', split, index);
      const chosen = rng.shuffle(own[split]).slice(0, 1 + rng.int(errands));
      return {
        errands: chosen.map((each) => ({ ...each, id: 1000 + rng.int(9000) })),
        key: rng.int(2 ** 31),
      };
    });
  },
  rewards: {
    /** All receipts, in order. */
    correct: { kind: 'outcome' },
    /** The share of the receipts that the turn gets for the first time. */
    done: { kind: 'process', weight: 0.1 },
  },
  episode({ prompt, task, options: { offer } }) {
    const got = new Set<string>();
    const tools = operations.map((operation) => toolOf(operation, task.key, got));
    const wanted = task.errands.map((errand) => receiptOf(errand, task.key));
    let before = 0;
    return {
      messages: [
        { role: 'system', content: prompt('system') },
        { role: 'user', content: questionOf(task) },
      ],
      tools: offer === 'all' ? tools : toolSearch(tools),
      onToolResults() {
        const reached = wanted.filter((receipt) => got.has(receipt)).length / wanted.length;
        const done = reached - before;
        before = reached;
        return { rewards: { done } };
      },
      onAnswer(answer) {
        const said = answer.split(',').map((part) => part.trim());
        const isRight = said.join() === wanted.join() && wanted.every((receipt) => got.has(receipt));
        return { end: 'answered', rewards: { correct: Number(isRight) } };
      },
    };
  },
  oracle({ errands, key }) {
    const searches = errands.map(({ service, verb, object }) => ({
      name: 'find_tools',
      arguments: { query: `${service} ${verb} ${object}` },
    }));
    const calls = errands.map((errand) => ({ name: toolNameOf(errand), arguments: { id: errand.id } }));
    const answer = errands.map((errand) => receiptOf(errand, key)).join(', ');
    // The first observation says how tools are offered.
    return ({ tools }, turn) => {
      const isSearch = tools[0]!.name === 'find_tools';
      return [...(isSearch ? [searches] : []), calls, answer][turn] ?? '';
    };
  },
  label: ({ errands, key }) => receiptOf(errands[0]!, key),
});

function toolOf(operation: Operation, key: number, got: Set<string>): Tool {
  const { service, verb, object } = operation;
  return defineTool({
    name: toolNameOf(operation),
    description: `In ${service}: ${verb} one ${object}.`,
    inputSchema: {
      type: 'object',
      properties: { id: { type: 'integer', description: `Number of the ${object}.` } },
      required: ['id'],
    } as const,
    execute({ id }) {
      const receipt = receiptOf({ ...operation, id }, key);
      got.add(receipt);
      return receipt;
    },
  });
}

/** Six letters and digits that only the call tells. */
function receiptOf({ id, ...operation }: Errand, key: number): string {
  const rng = createRng(key, toolNameOf(operation), id);
  return Array.from({ length: 6 }, () => 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'[rng.int(32)]).join('');
}

/** In the words of a colleague, who does not know the tools. */
function questionOf({ errands }: ToolboxTask): string {
  const lines = errands.map(
    ({ service, verb, object, id }, index) =>
      `${index + 1}. In ${service}: ${verbs[verb]!.replace('#', `${object} ${id}`)}.`,
  );
  return lines.join('\n');
}
