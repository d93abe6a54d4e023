/** The state of an evolution in a checkpoint, candidates.json. */
import { type Prompts, ToolEnvError } from '@toolenv/core';
import { validate } from '@toolenv/core/schemas';

/** Texts that the evolution keeps. JSON values. */
export interface Candidate {
  prompts: Prompts;
  /** The number of the candidate that it was made from. */
  parent: number | null;
  /** The score on each Pareto task; `null` if the episode was aborted. */
  scores: readonly (number | null)[];
}

interface State {
  episodes: number;
  reflections: number;
  candidates: Candidate[];
}

const count = { type: 'integer', minimum: 0 };
const schema = {
  type: 'object',
  required: ['version', 'episodes', 'reflections', 'candidates'],
  properties: {
    version: { const: 1 },
    episodes: count,
    reflections: count,
    candidates: {
      type: 'array',
      items: {
        type: 'object',
        required: ['prompts', 'parent', 'scores'],
        properties: {
          prompts: { type: 'object', additionalProperties: { type: 'string' } },
          parent: { type: ['integer', 'null'] },
          scores: { type: 'array', items: { type: ['number', 'null'] } },
        },
      },
    },
  },
};

/**
 * @param tasks Number of the Pareto tasks.
 * @throws ToolEnvError `usage.checkpoint_damaged` for another form, `usage.other_run` for scores on another number of tasks.
 */
export function readState(text: string, tasks: number): State {
  const state: unknown = JSON.parse(text);
  const [wrong] = validate(schema, state);
  if (wrong) {
    const what = `candidates.json: ${wrong.path || 'the whole file'}: expected ${wrong.expected}; received ${wrong.received}`;
    throw new ToolEnvError('usage.checkpoint_damaged', `${what}: start a new run.`);
  }
  const { candidates } = state as State;
  const other = candidates.find(({ scores }) => scores.length !== tasks)?.scores.length;
  if (other === undefined) return state as State;
  const message = `The texts of the run were compared on ${other} Pareto tasks, and now there are ${tasks}: give --pareto-tasks ${other}, or start a new run.`;
  throw new ToolEnvError('usage.other_run', message);
}
