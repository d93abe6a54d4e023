/** Loads the packages that only some commands need, so that other commands run without them. */
import { type JsonSchema, ToolEnvError } from '@toolenv/core';
import { serveProperties } from '@toolenv/serving';

interface Packages {
  dataset: typeof import('@toolenv/dataset');
  gateway: typeof import('@toolenv/gateway');
  harnesses: typeof import('@toolenv/harnesses');
  libtorch: typeof import('@toolenv/libtorch');
  mcp: typeof import('@toolenv/mcp');
  openenv: typeof import('@toolenv/openenv');
  ors: typeof import('@toolenv/ors');
  'tools-search': typeof import('@toolenv/tools-search');
}

const packages: { [Name in keyof Packages]: () => Promise<Packages[Name]> } = {
  dataset: () => import('@toolenv/dataset'),
  gateway: () => import('@toolenv/gateway'),
  harnesses: () => import('@toolenv/harnesses'),
  libtorch: () => import('@toolenv/libtorch'),
  mcp: () => import('@toolenv/mcp'),
  openenv: () => import('@toolenv/openenv'),
  ors: () => import('@toolenv/ors'),
  'tools-search': () => import('@toolenv/tools-search'),
};

/**
 * @param need The command or flag that needs the package, as the start of a sentence.
 * @throws ToolEnvError `usage.missing_package` if the package is not installed.
 */
export function importPackage<Name extends keyof Packages>(
  name: Name,
  need: string,
): Promise<Packages[Name]> {
  return unlessMissing(name, packages[name], (cause) => {
    const message = `${need} needs @toolenv/${name}: npm install @toolenv/${name}`;
    throw new ToolEnvError('usage.missing_package', message, { cause });
  });
}

const everyServer: JsonSchema = { type: 'object', properties: serveProperties };

/** Whose options a schema describes. */
type OptionsOwner = 'http' | 'policy' | 'capture' | 'servers' | 'index' | 'traffic';

/** The schemas, each with its package and what stands for it without the package. */
const schemas: Record<OptionsOwner, [keyof Packages, () => Promise<JsonSchema>, JsonSchema]> = {
  /** Of serving over HTTP. */
  http: ['mcp', async () => (await import('@toolenv/mcp/http-options')).httpOptionsSchema, everyServer],
  /** Of serving a policy. */
  policy: ['gateway', async () => (await import('@toolenv/gateway/options')).ownSchema, {}],
  /** Of a recording proxy. */
  capture: [
    'gateway',
    async () => (await import('@toolenv/gateway/capture-options')).captureSchema,
    everyServer,
  ],
  /** Of MCP servers. */
  servers: ['mcp', async () => (await import('@toolenv/mcp/server-options')).serverOptionsSchema, {}],
  /** Of an index. */
  index: ['tools-search', async () => (await import('@toolenv/tools-search/options')).indexOptionsSchema, {}],
  /** Of `toolenv tasks`. */
  traffic: ['dataset', async () => (await import('@toolenv/dataset/traffic-options')).trafficSchema, {}],
};

/** The schema of some options. */
export function optionalSchema(of: OptionsOwner): Promise<JsonSchema> {
  const [name, load, otherwise] = schemas[of];
  return unlessMissing(name, load, () => otherwise);
}

/**
 * @param name Of the package, without its scope.
 * @param otherwise Gives the result if the package, or its file, cannot be found.
 */
async function unlessMissing<Result>(
  name: string,
  load: () => Promise<Result>,
  otherwise: (error: unknown) => Result,
): Promise<Result> {
  try {
    return await load();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // The errors of Yarn's Plug'n'Play lose their code on the way from the thread that resolves imports.
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'@toolenv/${name}'`);
    if (isMissing || message.startsWith(`toolenv tried to access @toolenv/${name} `)) return otherwise(error);
    throw error;
  }
}
