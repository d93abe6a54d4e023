/** `toolenv view`: a web page over runs, live while they train. */
import { findRecordedRun } from '@toolenv/view/recorded';
import { completeFlags, schemaFlags } from '../flags/schema-flags.ts';
import { knownEnv } from '../show/known-env.ts';
import { tokenTextsOf } from '../show/token-texts.ts';
import type { MakeCommand } from './make-command.ts';
import { openFlag, openInBrowser, portOf, portProperty } from './open-page.ts';
import { stayOpen } from './stay-open.ts';
import { writeReport } from './write-report.ts';

const schema = {
  type: 'object',
  properties: { port: portProperty('view') },
} as const;

interface OwnFlags {
  policy?: string;
  export?: string;
  open?: boolean;
  json?: boolean;
}

export const make: MakeCommand = (command, { signal }) => {
  command
    .description(
      'Serves a web page on this machine, with an overview of one or more runs and what is wrong with them, their curves, their options side by side, and their episodes, token by token. The page follows runs that are still training. Ctrl-C ends it.',
    )
    .argument(
      '<run...>',
      'folders that train, eval or rollout wrote, folders of such folders, or files of trajectories',
    );
  for (const flag of schemaFlags(schema)) command.addOption(flag);
  command
    .addOption(openFlag())
    .option(
      '--policy <folder>',
      "policy whose tokenizer gives the tokens their texts: Hugging Face folder, model of the Hugging Face Hub, or reference (default: each run's)",
    )
    .option(
      '--export <file>',
      'write the page with its runs into one HTML file to send, instead of serving it',
    )
    .option('--json', 'print the address or the file as JSON');
  command.action((runs: string[], given: OwnFlags) => view(runs, given, signal));
};

async function view(runs: readonly string[], given: OwnFlags, signal: AbortSignal): Promise<void> {
  const { port } = completeFlags(schema, { ...given });
  const tokenTexts = (path: string) => tokenTextsOf(findRecordedRun(path), given.policy);
  const shown = { runs, tokenTexts, environment: knownEnv };
  if (given.export !== undefined) return writeReport(given.export, shown, given.json);
  const { serveView } = await import('@toolenv/view');
  const page = await serveView({ ...shown, port: await portOf('view', port) });
  const text = given.json ? JSON.stringify({ url: page.url }) : `${page.url}  (Ctrl-C ends it)`;
  process.stdout.write(`${text}\n`);
  if (given.open) openInBrowser(page.url);
  await stayOpen(page, signal);
}
