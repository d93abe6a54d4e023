/**
 * Scripts for shells that start anew for each command: each command is run by a shell of its own, which begins with the variables,
 * functions and folder that the last one has left in a file. So a command that exits, or is killed, ends its own shell only.
 */

/** Where a shell leaves what the next one begins with. */
const stateFile = '/tmp/.shell';

/** `'it'\''s'` for `it's`. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * The script that runs a command in `bash`, or in the `sh` of an image without it, which keeps exported variables only.
 * @param home The folder of the first command.
 */
export function shellScript(
  command: string,
  {
    env = {},
    home,
    limits = '',
  }: { env?: Readonly<Record<string, string>> | undefined; home: string; limits?: string },
): string {
  const given = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}\n`);
  return `cd ${quoted(home)} 2>/dev/null
[ -r ${stateFile} ] && . ${stateFile} 2>/dev/null
${limits}
__leave() {
  __code=$?
  trap - EXIT
  {
    if [ -n "$BASH_VERSION" ]; then declare -p; declare -f; else export -p; fi
    printf "cd '%s'\\n" "$(pwd | sed "s/'/'\\\\\\\\''/g")"
  } 2>/dev/null > ${stateFile}.$$ && mv -f ${stateFile}.$$ ${stateFile} 2>/dev/null || rm -f ${stateFile}.$$
  exit $__code
}
trap __leave EXIT
${given.join('')}eval ${quoted(command)}
`;
}
