/** `toolenv completion`: the script that makes a shell complete toolenv's commands, flags and names. */
import { Argument } from 'commander';
import type { MakeCommand } from './make-command.ts';

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
      const { completionsOf } = await import('./completions.ts');
      // Other variables of the shell's completion are spaces too: zsh has a tab before the first word.
      const typed = words.split('\t');
      const found = await completionsOf(name === 'zsh' && typed[0] === '' ? typed.slice(1) : typed);
      process.stdout.write(found.map((each) => `${each.join('\t')}\n`).join(''));
    });
};
