/** The environment `openenv-v1`: an environment on an OpenEnv server, `openenv:<url>` for short. */
import { defineToolEnv, type EnvDefinition, type Message, type TaskSet } from '@toolenv/core';
import { withToolTimeout } from '@toolenv/core/tools';
import { answerName } from './action.ts';
import type { StepResult } from './frame.ts';
import { describeServer, readAddress, type ServerDescription } from './server-address.ts';
import { ServerSocket } from './server-socket.ts';
import { actionTool, listedTools, readMessages, ServerTurn, visible } from './server-tools.ts';

/** A task is the seed that the server is reset with. */
export interface OpenEnvTask {
  seed: number;
}

const options = {
  required: ['address'],
  properties: {
    address: {
      type: 'string',
      description: 'URL of the server, such as http://127.0.0.1:8000; openenv:<url> sets it',
    },
    tasks: {
      type: 'integer',
      minimum: 1,
      default: 100,
      description: 'tasks of each split: seeds of the server',
    },
    connectTimeout: {
      type: 'integer',
      minimum: 1,
      default: 30_000,
      description: 'milliseconds for a connection to open, restarts of the server included',
    },
    placeTimeout: {
      type: 'integer',
      minimum: 0,
      default: 600_000,
      description: 'milliseconds to wait for a place on a server that is full',
    },
  },
} as const;

/** Larger than any reward that a server gives. */
const range = [-1e9, 1e9] as const;
/** The first seed of each split, so that splits share none. */
const firstSeed = { train: 0, validation: 1_000_000_000, test: 2_000_000_000 };

const definition: EnvDefinition<OpenEnvTask> = defineToolEnv({
  name: 'openenv-v1',
  description: 'An environment on an OpenEnv server. The server gives its tools and its reward.',
  options,
  limits: { maxTurns: 32 },
  capabilities: { seedable: false, networked: true, remote: true },
  setup: ({ options: { address } }) => describeServer(readAddress(address)),
  tasks: ({ options: { tasks } }) => ({
    train: seeds(firstSeed.train, tasks),
    validation: seeds(firstSeed.validation, tasks),
    test: seeds(firstSeed.test, tasks),
  }),
  rewards: { reward: { kind: 'process', range } },
  async episode({ task, episodeId, options: times, shared: server, signal }) {
    const asked = { seed: task.seed, episode_id: episodeId };
    const { socket, step: begun } = await ServerSocket.reset(server.url, asked, times, signal);
    const turn = new ServerTurn(socket);
    try {
      const list = async (signal: AbortSignal) =>
        server.action
          ? [actionTool(server.action, server.description, turn)]
          : listedTools(await socket.ask('step', { type: 'list_tools' }, signal), turn);
      let listed = await list(signal);
      const hasAnswers = listed.some(({ name }) => name === answerName);
      return {
        messages: openingOf(begun, server),
        tools: () => listed.filter(({ name }) => name !== answerName),
        async onToolResults(_, { signal }) {
          if (turn.hasOtherTools && !turn.isOver) listed = await list(signal);
          return turn.end();
        },
        async onAnswer(answer, { signal, limits }) {
          if (!hasAnswers) return { end: 'answered' };
          const action = { type: 'call_tool', tool_name: answerName, arguments: { text: answer } };
          const time = { toolTimeout: limits.toolTimeout, signal };
          await withToolTimeout(answerName, time, (signal) => turn.act(action, signal));
          // An answer must have a reply.
          return { reply: 'Go on.', ...turn.end() };
        },
        close: () => socket.close(),
      };
    } catch (error) {
      socket.close();
      throw error;
    }
  },
}) as unknown as EnvDefinition<OpenEnvTask>;

export default definition;

function seeds(first: number, length: number): TaskSet<OpenEnvTask> {
  return { length, get: (index) => ({ seed: first + index }) };
}

/** The server's messages; if it has none, its description and its observation. */
function openingOf({ observation }: StepResult, { description }: ServerDescription): Message[] {
  const messages = readMessages(observation.messages);
  if (messages.length > 0) return messages;
  return [{ role: 'user', content: `${description}\n\n${JSON.stringify(visible(observation))}`.trim() }];
}
