/** fullName: the reference that a short name stands for, such as `@toolenv/envs-qa/bridge-v1` for `bridge-v1` and for `bridge`. */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { ToolEnvError } from '@toolenv/core/errors';
import { listPlugins, type PluginInfo, type PluginKind } from '@toolenv/core/plugins';
import type { Argument, Command, Option } from 'commander';
import { isKnownPlayer } from './known-player.ts';

/**
 * @param name May be followed by options: `lookup?topK=3`. Without a version, the newest counts. References, addresses, paths that exist and
 *   names of nothing that is installed stay as they are.
 * @param plugins Those that are installed, for a caller that has many names. Default: reads the manifests.
 * @throws ToolEnvError `usage.ambiguous_name` if several packages have a plugin of this name.
 */
export function fullName(
  name: string,
  kinds: readonly PluginKind[],
  plugins?: readonly PluginInfo[],
): string {
  const [short = '', query] = name.split(/(\?.*)/s);
  const isPlayer = kinds.includes('policies') && isKnownPlayer(short);
  if (isPlayer || !/^[a-z0-9][\w.-]*$/.test(short) || existsSync(name)) return name;
  const named = (plugins ?? listPlugins(pluginFolders())).filter(
    ({ kind, ref }) =>
      kinds.includes(kind) && [ref, withoutVersion(ref)].some((each) => basename(each) === short),
  );
  const names = [...new Set(named.map(({ ref }) => withoutVersion(ref)))];
  if (names.length > 1) {
    const message = `"${short}" is the name of ${named.map(({ ref }) => ref).join(' and of ')}: give one of these references.`;
    throw new ToolEnvError('usage.ambiguous_name', message);
  }
  const newest = named.map(({ ref }) => ref).sort((a, b) => versionOf(b) - versionOf(a))[0];
  return newest === undefined ? name : newest + (query ?? '');
}

function withoutVersion(ref: string): string {
  return ref.replace(/-v\d+$/, '');
}

function versionOf(ref: string): number {
  return Number(/-v(\d+)$/.exec(ref)?.[1]);
}

/** The kinds of plugin that an option or an argument names, in whatever command. */
export const kindsOf: Readonly<Record<string, readonly PluginKind[]>> = {
  environment: ['envs'],
  'evaluate-on': ['envs'],
  policy: ['policies'],
  against: ['policies'],
  openai: ['policies'],
  trainer: ['trainers'],
};

/** Makes the options and the argument of a command that name plugins take short names, and keep the references that these stand for. */
export function takeShortNames(command: Command): void {
  for (const taker of [...command.options, ...command.registeredArguments]) {
    const kinds = kindsOf[taker.name()];
    if (kinds) readFullNames(taker, kinds);
  }
}

function readFullNames(taker: Option | Argument, kinds: readonly PluginKind[]): void {
  const { parseArg, variadic } = taker;
  const collect = (text: string, before: string[] = []) => [...before, text];
  const read = parseArg ?? (variadic ? collect : (text: string) => text);
  taker.argParser((text: string, before: unknown) => read(fullName(text, kinds), before as string[]));
}

/** References are resolved from the working folder first, then from the folder of this command. */
export function pluginFolders(): string[] {
  return [process.cwd(), import.meta.dirname];
}
