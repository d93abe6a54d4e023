/** Commands as readers of the documents type them, on the packages of this repository. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');

/** Variables that {@link shell} reads. */
export const shellEnv: Readonly<Record<string, string>> = {
  NO_COLOR: '1',
  TOOLENV_ROOT: root,
  TSX: import.meta.resolve('tsx'),
  COLUMNS: '120',
};

/** The beginning of a bash script: `npx toolenv` runs the built program, and `npm create toolenv` runs from source. */
export const shell = `set -euo pipefail
PATH="$TOOLENV_ROOT/node_modules/.bin:$PATH"
npx() {
  case "$1" in
    toolenv) node "$TOOLENV_ROOT/packages/cli/dist/main.js" "\${@:2}" ;;
    # tsc itself builds a package against built packages, as npm run packed does. Nobody reads these declarations.
    tsc) "$TOOLENV_ROOT/node_modules/.bin/esbuild" src/*.ts --outdir=dist --format=esm --log-level=error &&
      for each in dist/*.js; do : > "\${each%.js}.d.ts"; done ;;
    vitest) "$TOOLENV_ROOT/node_modules/.bin/vitest" "\${@:2}" ;;
    *) echo "npx $1 would need the network" >&2; return 1 ;;
  esac
}
npm() {
  if [ "$1 $2" = "create toolenv" ]; then
    local folder=$3; shift 4; node --import "$TSX" "$TOOLENV_ROOT/packages/create-toolenv/src/main.ts" "$folder" "$@"
  else command npm "$@" --loglevel=error; fi
}
`;

/** @throws Error with the outputs, if a command fails. */
export function runShell(commands: string, folder: string): Promise<{ stdout: string; stderr: string }> {
  const options = { cwd: folder, env: { ...process.env, ...shellEnv } };
  return promisify(execFile)('bash', ['-c', shell + commands], options);
}
