/** The environment `nemo-gym-v1`: a resources server of NeMo Gym and its rows, `nemo-gym:<url>` for short. */
import { defineToolEnv, type EnvDefinition, type EpisodeContext, type Tool, text } from '@toolenv/core';
import { ToolNames } from '@toolenv/core/tools';
import { GymSession } from './gym-session.ts';
import { messagesOf, responseOf, toolsOf } from './responses.ts';
import { type NemoGymRow, rowSources } from './rows.ts';

const options = {
  required: ['address', 'path'],
  properties: {
    address: {
      type: 'string',
      pattern: '^https?://',
      description: 'URL of the resources server, such as http://127.0.0.1:11001; nemo-gym:<url> sets it',
    },
    path: { type: 'string', minLength: 1, description: 'file of the rows, such as data/train.jsonl' },
    testPath: {
      type: 'string',
      minLength: 1,
      description: 'file of the test rows (default: each fifth row of path is a test task)',
    },
    verifyTimeout: {
      type: 'integer',
      minimum: 1,
      default: 600_000,
      milliseconds: true,
      description: 'time for the server to set up an episode, and to verify it',
    },
  },
} as const;

const range = [-1e9, 1e9] as const;

/** What the hooks of an episode share. */
interface State {
  session?: GymSession;
  /** Names of tools as the policy calls them, and the server's own. */
  names: Map<string, string>;
  /** Messages of the row. */
  given: number;
}

type Context = EpisodeContext<NemoGymRow, State>;

const definition: EnvDefinition<NemoGymRow> = defineToolEnv({
  name: 'nemo-gym-v1',
  description:
    'A resources server of NeMo Gym. Its rows ask, it runs the tools, and it verifies the whole response.',
  options,
  limits: { maxTurns: 32 },
  capabilities: { seedable: false, networked: true, remote: true },
  tasks: ({ options: { path, testPath } }) => rowSources(path, testPath),
  state: (): State => ({ names: new Map(), given: 0 }),
  rewards: {
    // An episode that is cut off is verified too.
    reward: { kind: 'outcome', range, score: async (context) => (await verify(context as Context)).reward },
  },
  async episode({ task, state, options: { address, verifyTimeout: timeout }, signal }) {
    const params = task.responses_create_params;
    const messages = messagesOf(params);
    const listed = toolsOf(params);
    const session = await GymSession.begin(address.replace(/\/+$/, ''), task, {
      hasTools: listed.length > 0,
      timeout,
      signal,
    });
    const names = new ToolNames().of(listed.map(({ name }) => name));
    state.session = session;
    state.names = new Map([...names].map(([own, shown]) => [shown, own]));
    state.given = messages.length;
    const tools = listed.map(
      ({ name, ...tool }): Tool => ({
        ...tool,
        name: names.get(name)!,
        execute: async (args, { signal }) => text(await session.call(name, args, signal)),
      }),
    );
    return {
      messages,
      tools,
      async onAnswer(_answer, context) {
        const verified = await verify(context as Context);
        return {
          end: 'answered',
          rewards: { reward: verified.reward },
          info: { verified: measuresOf(verified, task) },
        };
      },
    };
  },
}) as unknown as EnvDefinition<NemoGymRow>;

export default definition;

function verify({ task, state, conversation, outcome, episodeId, signal }: Context) {
  const { session, names, given } = state;
  const response = responseOf(conversation.slice(given), task.responses_create_params, {
    id: episodeId,
    isCut: outcome.kind === 'truncated',
    nameOf: (name) => names.get(name) ?? name,
  });
  return session!.verify({ ...task, response }, signal);
}

/** What the verifier has measured: numbers and verdicts that are not of the row, and the parts of the reward. */
function measuresOf(verified: Readonly<Record<string, unknown>>, row: NemoGymRow): Record<string, unknown> {
  const isMeasure = ([name, value]: [string, unknown]) =>
    name !== 'reward' &&
    !Object.hasOwn(row, name) &&
    (typeof value === 'number' || typeof value === 'boolean' || name === 'reward_components');
  return Object.fromEntries(Object.entries(verified).filter(isMeasure));
}
