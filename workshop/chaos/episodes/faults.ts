/** Everything that a tool may do wrong: each fault is the body of a tool call. */
import { defineTool, failure, type ToolContext, ToolEnvError } from '@toolenv/core';
import { type Screen, screenTool } from '@toolenv/core/tools';

export interface Fault {
  readonly name: string;
  readonly kind: 'throws' | 'hangs' | 'huge' | 'malformed' | 'reports';
  /** `aborts`: the episode must be aborted. `data`: the model reads it, and the episode is scored as any other. */
  readonly means: 'aborts' | 'data';
  /** The tool's execute. Its type is not that of a tool, because the result is wrong. */
  act(context: ToolContext): unknown;
}

/** Characters of a huge result. All calls share the text, so that memory is the harness's only once. */
const hugeLength = 10 * 2 ** 20;
const huge = Buffer.alloc(hugeLength, 'huge result ').toString('latin1');
const block = (text: unknown) => ({ type: 'text', text });
const result = (rest: object) => ({ content: [block('ok')], ...rest });

function thrower(name: string, makes: () => unknown): Fault {
  return {
    name,
    kind: 'throws',
    means: 'aborts',
    act() {
      throw makes();
    },
  };
}

function malformed(name: string, act: Fault['act']): Fault {
  return { name, kind: 'malformed', means: 'aborts', act };
}

function hanging(name: string, act: Fault['act']): Fault {
  return { name, kind: 'hangs', means: 'aborts', act };
}

/** A tool that answers as it should, and its screen, which does not. */
function screened(screen: Screen, said: unknown = 'ok'): Fault['act'] {
  const tool = defineTool({
    name: 'page',
    description: 'A page.',
    inputSchema: { type: 'object' },
    execute: () => ({ content: [block(said)] }) as never,
  });
  return (context) => screenTool(tool, screen).execute({}, context);
}

const throws: Fault[] = [
  thrower('throws an Error', () => new Error('no disk')),
  thrower('throws a text', () => 'no disk'),
  thrower('throws undefined', () => undefined),
  thrower('throws null', () => null),
  thrower('throws an object without a prototype', () => Object.create(null)),
  thrower('throws an object whose toString throws', () => ({
    toString() {
      throw new Error('toString');
    },
  })),
  thrower('throws an Error whose message throws', () =>
    Object.defineProperty(new Error('hidden'), 'message', { get: throwing }),
  ),
  thrower('throws a Proxy that throws', hostileProxy),
  thrower(
    'throws an infrastructure error',
    () => new ToolEnvError('infrastructure.search', 'The index is gone.'),
  ),
  thrower('throws an Error of 10 MB', () => new Error(huge)),
  { name: 'its screen throws', kind: 'throws', means: 'aborts', act: screened(throwing) },
  {
    name: 'rejects',
    kind: 'throws',
    means: 'aborts',
    act: async () => {
      await undefined;
      throw new Error('no network');
    },
  },
];

/** Goes on 50 ms after the deadline. */
const late = ({ signal }: ToolContext, goOn: () => void) =>
  signal.addEventListener('abort', () => setTimeout(goOn, 50));

const hangs: Fault[] = [
  hanging('never answers', () => new Promise(() => {})),
  hanging(
    'its screen never answers',
    screened(() => new Promise(() => {})),
  ),
  hanging(
    'rejects after the deadline',
    (context) => new Promise((_resolve, reject) => late(context, () => reject(new Error('late')))),
  ),
  hanging(
    'answers after the deadline',
    (context) => new Promise((resolve) => late(context, () => resolve(result({})))),
  ),
  hanging(
    'throws in its abort listener',
    ({ signal }) => new Promise(() => signal.addEventListener('abort', throwing)),
  ),
  // biome-ignore lint/suspicious/noThenProperty: the thenable is the fault.
  hanging('is a thenable that never settles', () => ({ then() {} })),
];

const hugeResults: Fault[] = [
  { name: 'answers with 10 MB', kind: 'huge', means: 'data', act: () => ({ content: [block(huge)] }) },
  { name: 'its screen answers with 10 MB', kind: 'huge', means: 'data', act: screened(() => huge) },
  { name: 'its screen withholds 10 MB', kind: 'huge', means: 'data', act: screened(() => 'withheld', huge) },
  {
    name: 'fails with 10 MB',
    kind: 'huge',
    means: 'data',
    act: () => result({ content: [block(huge)], isError: true }),
  },
];

const malformedResults: Fault[] = [
  malformed('nothing', () => undefined),
  malformed('null', () => null),
  malformed('a number', () => 7),
  malformed('no content', () => ({})),
  malformed(
    'a number of a screen',
    screened(() => 7 as never),
  ),
  malformed(
    'a null block of a screen',
    screened(() => ({ content: [null] }) as never),
  ),
  malformed(
    'a Proxy of a screen that throws',
    screened(() => hostileProxy() as never),
  ),
  malformed('content that is a text', () => ({ content: 'ok' })),
  malformed('content that is an object', () => ({ content: { 0: block('ok'), length: 1 } })),
  malformed('a null block', () => ({ content: [null] })),
  malformed('an undefined block', () => ({ content: [undefined] })),
  malformed('a hole for a block', () => ({ content: new Array(1) })),
  malformed('a text for a block', () => ({ content: ['ok'] })),
  malformed('a block without a type', () => ({ content: [{ text: 'ok' }] })),
  malformed('a text block without a text', () => ({ content: [{ type: 'text' }] })),
  malformed('a text block with a number', () => ({ content: [block(7)] })),
  malformed('a text whose toString throws', () => ({ content: [block({ toString: throwing })] })),
  malformed('a text getter that throws', () => ({
    content: [Object.defineProperty({ type: 'text' }, 'text', { enumerable: true, get: throwing })],
  })),
  malformed('a content getter that throws', () =>
    Object.defineProperty({}, 'content', { enumerable: true, get: throwing }),
  ),
  malformed('a Proxy that throws', hostileProxy),
  malformed('a revoked Proxy', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  }),
  malformed('a block that is a Proxy that throws', () => ({ content: [hostileProxy()] })),
  malformed('a cycle', () => {
    const data: Record<string, unknown> = {};
    data.self = data;
    return result({ structuredContent: data });
  }),
  malformed('data of depth 10,000', () => {
    let data: unknown = 1;
    for (let depth = 0; depth < 10_000; depth++) data = { data };
    return result({ structuredContent: data });
  }),
  malformed('a BigInt', () => result({ structuredContent: { count: 1n } })),
  malformed('a toJSON that throws', () => result({ structuredContent: { toJSON: throwing } })),
  malformed('a thenable that throws', () => ({
    // biome-ignore lint/suspicious/noThenProperty: the thenable is the fault.
    get then() {
      return throwing();
    },
  })),
];

const reports: Fault = {
  name: 'reports an error',
  kind: 'reports',
  means: 'data',
  act: () => failure('There is no such account.'),
};

export const faults: readonly Fault[] = [...throws, ...hangs, ...hugeResults, ...malformedResults, reports];

function throwing(): never {
  throw new Error('a getter threw');
}

function hostileProxy(): object {
  // Promises ask for `then`. A proxy that throws there is another fault.
  const get = (_target: object, key: string | symbol) => (key === 'then' ? undefined : throwing());
  return new Proxy({}, { get, has: throwing, ownKeys: throwing, getPrototypeOf: throwing });
}
