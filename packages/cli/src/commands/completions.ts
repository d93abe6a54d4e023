/** completionsOf: what may follow the words of an unfinished command line. */
import { basename } from 'node:path';
import { listPlugins, type PluginKind, pluginKinds } from '@toolenv/core/plugins';
import type { Command, Option } from 'commander';
import { fullName, kindsOf } from '../subject/full-name.ts';
import { pluginFolders } from '../subject/plugin-folders.ts';
import { commands, madeCommand } from './commands.ts';

/** A word, and what it is. */
type Completion = readonly [word: string, about: string];

/**
 * @param words What follows `toolenv`; the last word is unfinished, and may be empty.
 * @returns None where the shell itself knows best, as for files.
 */
export async function completionsOf(words: readonly string[]): Promise<Completion[]> {
  const typed = words.at(-1) ?? '';
  return (await candidates(words.slice(0, -1), typed)).filter(([word]) => word.startsWith(typed));
}

async function candidates(before: readonly string[], typed: string): Promise<readonly Completion[]> {
  const [name, ...rest] = before;
  if (name === undefined || name === 'help')
    return Object.entries(commands).map(([each, [, summary]]) => [each, summary]);
  if (!Object.hasOwn(commands, name)) return [];
  const command = await commandWith(name, rest);
  const last = command.options.find(({ long }) => long === rest.at(-1));
  if (last?.required) return valuesOf(last);
  if (typed.startsWith('-')) {
    const shown = command.options.filter(({ hidden }) => !hidden);
    const help: Completion = ['--help', 'show the options that matter; with --all all of them'];
    return [...shown.map(({ long, description }): Completion => [long!, firstWords(description)]), help];
  }
  const [argument] = command.registeredArguments;
  if (!argument) return [];
  if (argument.argChoices) return argument.argChoices.map((each) => [each, '']);
  return namesOf(argument.name() === 'subject' ? pluginKinds : (kindsOf[argument.name()] ?? []), typed);
}

/** The command with the flags of the plugins that the words name. A plugin that cannot be loaded has none. */
function commandWith(name: string, words: readonly string[]): Promise<Command> {
  return madeCommand(name, words).catch(() => madeCommand(name));
}

function valuesOf(option: Option): readonly Completion[] {
  const [, choices] = /<([\w-]+(?:\|[\w-]+)+)>/.exec(option.flags) ?? [];
  const words = option.argChoices ?? choices?.split('|');
  if (words) return words.map((each) => [each, '']);
  const kinds = kindsOf[option.name()];
  return kinds ? namesOf(kinds) : [];
}

/** The plugins of these kinds: by their short names if these are enough, and by reference where one has begun. */
function namesOf(kinds: readonly PluginKind[], typed = ''): readonly Completion[] {
  const plugins = listPlugins(pluginFolders()).filter(({ kind }) => kinds.includes(kind));
  return plugins.map(({ ref }) => {
    const short = basename(ref);
    const isEnough =
      !typed.startsWith('@') && plugins.filter((each) => basename(each.ref) === short).length === 1;
    return isEnough && fullName(short, kinds, plugins) === ref ? [short, ref] : [ref, ''];
  });
}

function firstWords(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
