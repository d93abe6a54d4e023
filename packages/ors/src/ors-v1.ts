/** The environment `ors-v1`: an environment on a server of the Open Reward Standard, `ors:<url>#<environment>` for short. */
import {
  defineToolEnv,
  type EnvDefinition,
  messageOf,
  type Split,
  type TaskSource,
  ToolEnvError,
} from '@toolenv/core';
import { withToolTimeout } from '@toolenv/core/tools';
import { readAddress, readSecrets } from './address.ts';
import { findEnvironment, findSplits, type OrsTask, orsTasks } from './describe-server.ts';
import { OrsServer } from './ors-server.ts';
import { OrsSession } from './ors-session.ts';
import { readTools, ServerTurn } from './server-tools.ts';
import { maxReward, readMessages } from './tool-output.ts';

const milliseconds = (standard: number, description: string) =>
  ({ type: 'integer', minimum: 1, default: standard, milliseconds: true, description }) as const;
const splitOf = (type: Split) =>
  ({
    type: 'string',
    minLength: 1,
    description: `name of the server's split for ${type} (default: ${type}, else its first split of this type)`,
  }) as const;

const options = {
  required: ['address'],
  properties: {
    address: {
      type: 'string',
      description:
        'URL of the server and name of the environment, such as http://127.0.0.1:8080#maths; ors:<url>#<name> sets it',
    },
    trainSplit: splitOf('train'),
    validationSplit: splitOf('validation'),
    testSplit: splitOf('test'),
    secrets: {
      type: 'array',
      items: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*(=[A-Za-z_][A-Za-z0-9_]*)?$' },
      default: [],
      description: 'variables whose values the environment gets as secrets: NAME, or name=VARIABLE',
    },
    answerTool: {
      type: 'string',
      minLength: 1,
      description:
        "tool that takes a text answer (default: the server's terminal tool, else submit, answer or submit_answer)",
    },
    images: {
      enum: ['refuse', 'describe'],
      default: 'refuse',
      description:
        'what becomes of a prompt with images: its episode is aborted, or the type of an image takes its place',
    },
    connectTimeout: milliseconds(30_000, 'time for a connection to open, restarts of the server included'),
    lookupTimeout: milliseconds(120_000, 'time for an answer about splits, tasks and sessions'),
    setupTimeout: milliseconds(
      900_000,
      'time for an episode to be set up, and to wait for a place on a full server',
    ),
    heartbeatTimeout: milliseconds(
      30_000,
      'time without a sign of life after which the stream of a call counts as cut',
    ),
    pingInterval: milliseconds(10_000, 'time between pings, which keep a session while the policy thinks'),
  },
} as const;

/** The word that a trajectory has for an answer that reached nobody. */
const unheard = 'answer_without_tool';

const range = [-maxReward, maxReward] as const;

const definition: EnvDefinition<OrsTask> = defineToolEnv({
  name: 'ors-v1',
  description:
    'An environment on a server of the Open Reward Standard. The server gives its tasks, tools and rewards.',
  options,
  limits: { maxTurns: 32 },
  capabilities: { seedable: false, networked: true, remote: true },
  async setup({ options }) {
    const address = readAddress(options.address);
    const server = new OrsServer(address.url);
    const environment = await findEnvironment(server, address, options);
    const splits = await findSplits(server, environment, options);
    return { server, environment, splits, secrets: readSecrets(options.secrets) };
  },
  tasks({ options, shared: { server, environment, splits } }) {
    const tasks = (type: Split, chosen: string | undefined): TaskSource<OrsTask> | undefined => {
      const names = splits[type];
      const name = chosen ?? (names.includes(type) ? type : names[0]);
      return name === undefined ? undefined : () => orsTasks(server, environment, name, options);
    };
    return {
      train: tasks('train', options.trainSplit),
      validation: tasks('validation', options.validationSplit),
      test: tasks('test', options.testSplit),
    };
  },
  rewards: { reward: { kind: 'process', range } },
  async episode({ task, options, shared, signal }) {
    const { server, environment, secrets } = shared;
    const session = await OrsSession.begin(server, environment, { task, secrets, times: options, signal });
    const turn = new ServerTurn(session);
    const read = <T>(what: string, work: () => T): T => {
      try {
        return work();
      } catch (error) {
        throw ToolEnvError.isInstance(error)
          ? error
          : server.malformed(`/${environment}/${what}`, messageOf(error));
      }
    };
    try {
      const prompt = await session.prompt(signal);
      const messages = read('prompt', () => readMessages(prompt, options.images));
      const list = async (signal: AbortSignal) => {
        const listed = await session.tools(signal);
        return read('task_tools', () => readTools(listed, turn, options.answerTool));
      };
      let listed = await list(signal);
      return {
        messages,
        tools: () => listed.tools,
        async onToolResults(_, { signal }) {
          if (turn.hasOtherTools && !turn.isOver) listed = await list(signal);
          return turn.end();
        },
        async onAnswer(answer, { signal, limits }) {
          const { answer: taker } = listed;
          if (!taker) return { end: unheard, rewards: { reward: null } };
          const args = taker.argument === undefined ? {} : { [taker.argument]: answer };
          const time = { toolTimeout: limits.toolTimeout, signal };
          const { content } = await withToolTimeout(taker.name, time, (signal) =>
            turn.call(taker.name, args, signal),
          );
          const said = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
          // An answer must have a reply.
          return { reply: said || 'Go on.', ...turn.end() };
        },
        close: () => session.close(),
      };
    } catch (error) {
      await session.close();
      throw error;
    }
  },
}) as unknown as EnvDefinition<OrsTask>;

export default definition;
