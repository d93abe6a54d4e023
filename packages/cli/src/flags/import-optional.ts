/** Loads the packages that only some commands need, so that other commands run without them. */
import { type JsonSchema, ToolEnvError } from '@toolenv/core';
import { serveProperties } from '@toolenv/serving';

/**
 * @param need The command or flag that needs the package, as the start of a sentence.
 * @throws ToolEnvError `usage.missing_package` if the package is not installed.
 */
export function importMcp(need: string): Promise<typeof import('@toolenv/mcp')> {
  return importOptional('@toolenv/mcp', need, () => import('@toolenv/mcp'));
}

/** Throws as {@link importMcp} does. */
export function importGateway(need: string): Promise<typeof import('@toolenv/gateway')> {
  return importOptional('@toolenv/gateway', need, () => import('@toolenv/gateway'));
}

/** Throws as {@link importMcp} does. */
export function importOpenEnv(need: string): Promise<typeof import('@toolenv/openenv')> {
  return importOptional('@toolenv/openenv', need, () => import('@toolenv/openenv'));
}

/** Throws as {@link importMcp} does. */
export function importOrs(need: string): Promise<typeof import('@toolenv/ors')> {
  return importOptional('@toolenv/ors', need, () => import('@toolenv/ors'));
}

/** Throws as {@link importMcp} does. */
export function importSearch(need: string): Promise<typeof import('@toolenv/tools-search')> {
  return importOptional('@toolenv/tools-search', need, () => import('@toolenv/tools-search'));
}

/** Throws as {@link importMcp} does. */
export function importDataset(need: string): Promise<typeof import('@toolenv/dataset')> {
  return importOptional('@toolenv/dataset', need, () => import('@toolenv/dataset'));
}

const everyServer: JsonSchema = { type: 'object', properties: serveProperties };

/** The schema of the options of serving over HTTP; without `@toolenv/mcp`, the options of every protocol. */
export function httpSchema(): Promise<JsonSchema> {
  const load = async () => (await import('@toolenv/mcp/http-options')).httpOptionsSchema;
  return unlessMissing('@toolenv/mcp', load, () => everyServer);
}

/** The schema of the options of serving a policy; empty without `@toolenv/gateway`. */
export function policySchema(): Promise<JsonSchema> {
  const load = async () => (await import('@toolenv/gateway/options')).ownSchema;
  return unlessMissing('@toolenv/gateway', load, () => ({}));
}

/** The schema of the options of a recording proxy; without `@toolenv/gateway`, those of every server. */
export function captureSchema(): Promise<JsonSchema> {
  const load = async () => (await import('@toolenv/gateway/capture-options')).captureSchema;
  return unlessMissing('@toolenv/gateway', load, () => everyServer);
}

/** The schema of the options of MCP servers; empty without `@toolenv/mcp`. */
export function serverSchema(): Promise<JsonSchema> {
  const load = async () => (await import('@toolenv/mcp/server-options')).serverOptionsSchema;
  return unlessMissing('@toolenv/mcp', load, () => ({}));
}

/** The schema of the options of an index; empty without `@toolenv/tools-search`. */
export function indexSchema(): Promise<JsonSchema> {
  const load = async () => (await import('@toolenv/tools-search/options')).indexOptionsSchema;
  return unlessMissing('@toolenv/tools-search', load, () => ({}));
}

/** The schema of the options of `toolenv tasks`; empty without `@toolenv/dataset`. */
export function trafficOptionsSchema(): Promise<JsonSchema> {
  const load = async () => (await import('@toolenv/dataset/traffic-options')).trafficSchema;
  return unlessMissing('@toolenv/dataset', load, () => ({}));
}

function importOptional<Module>(name: string, need: string, load: () => Promise<Module>): Promise<Module> {
  return unlessMissing(name, load, (cause) => {
    const message = `${need} needs ${name}: npm install ${name}`;
    throw new ToolEnvError('usage.missing_package', message, { cause });
  });
}

/** @param otherwise Gives the result if the package, or its file, cannot be found. */
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
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`);
    if (isMissing || message.startsWith(`toolenv tried to access ${name} `)) return otherwise(error);
    throw error;
  }
}
