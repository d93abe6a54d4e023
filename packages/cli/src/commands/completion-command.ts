/** `toolenv completion`: the script that makes a shell complete toolenv's commands, flags and names. */

import { basename } from 'node:path';
import { listPlugins, type PluginKind, pluginKinds } from '@toolenv/core/plugins';
import { Argument, type Command, type Option } from 'commander';
import { fullName, kindsOf, pluginFolders } from '../subject/full-name.ts';
import { commands, type MakeCommand, madeCommand } from './commands.ts';

const scripts = {
  // Bash ends words at : and @ too, and replaces only what follows the last of these.
  bash: `_toolenv() {
  local typed="\${COMP_LINE:0:COMP_POINT}" words last before candidate IFS=$' \\t\\n'
  words=($typed)
  [[ $typed == *' ' ]] && words+=('')
  last="\${words[\${#words[@]} - 1]}"
  before="\${last%"\${COMP_WORDS[COMP_CWORD]}"}"
  COMPREPLY=()
  IFS=$'\\t'
  while read -r candidate _; do
    COMPREPLY+=("\${candidate#"$before"}")
  done < <(toolenv completion bash --words "\${words[*]:1}" 2> /dev/null)
}
complete -o default -F _toolenv toolenv
`,
  zsh: `_toolenv() {
  local -a lines names
  lines=("\${(@f)$(toolenv completion zsh --words "\${(pj:\\t:)words[2,CURRENT-1]}"$'\\t'"$PREFIX" 2> /dev/null)}")
  names=("\${(@)lines%%$'\\t'*}")
  if [[ -n $lines ]]; then compadd -l -d lines -a names; else _files; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _toolenv toolenv
`,
  fish: `complete -c toolenv -a '(toolenv completion fish --words (string join \\t -- (commandline -opc)[2..-1] (commandline -ct)) 2> /dev/null)'
`,
} as const;

export const make: MakeCommand = (command) => {
  command
    .description(
      'Prints a script that makes a shell complete the commands of toolenv, their flags, and the names of installed plugins. The first lines of the help of your shell say where it reads such scripts.',
    )
    .addArgument(new Argument('<shell>', 'shell that is to complete').choices(Object.keys(scripts)))
    .option(
      '--words <words>',
      'print what completes these words, with tabs between them, instead of the script',
    )
    .action(async (name: keyof typeof scripts, { words }: { words?: string }) => {
      if (words === undefined) return void process.stdout.write(scripts[name]);
      // Other variables of the shell's completion are spaces too: zsh has a tab before the first word.
      const typed = words.split('\t');
      const found = await completionsOf(name === 'zsh' && typed[0] === '' ? typed.slice(1) : typed);
      process.stdout.write(found.map((each) => `${each.join('\t')}\n`).join(''));
    });
};

/** A word, and what it is. */
type Completion = readonly [word: string, about: string];

/**
 * What may follow the words of an unfinished command line.
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
