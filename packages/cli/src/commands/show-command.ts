/** `toolenv show`: the curves of a run, and its episodes, one by one. */
import { stat } from 'node:fs/promises';
import { ToolEnvError } from '@toolenv/core';
import { encodeTrajectory } from '@toolenv/core/recording';
import { diagnose, readMetrics } from '@toolenv/training';
import { type RunRecords, readChanges } from '@toolenv/training/runs';
import { findRecordedRun, type RecordedEpisode, type RecordedRun } from '@toolenv/view/recorded';
import { diagnosisView } from '../display/diagnosis-view.ts';
import { hasKeys, pageEpisodes } from '../display/episode-pager.ts';
import { type EpisodeViewOptions, episodeView } from '../display/episode-view.ts';
import { paint } from '../display/guarded-output.ts';
import { countText, plural } from '../display/number-text.ts';
import { LateStatus } from '../display/progress.ts';
import { terminalWidth } from '../display/terminal-text.ts';
import { tokenLegend } from '../display/token-view.ts';
import { runView } from '../display/training-summary.ts';
import { completeFlags, schemaFlags } from '../flags/schema-flags.ts';
import {
  EpisodeCounts,
  type FilterFlags,
  filterFlags,
  orders,
  readFilter,
  type Selection,
  selectEpisodes,
} from '../show/select-episodes.ts';
import { tokenTextsOf } from '../show/token-texts.ts';
import type { MakeCommand } from './commands.ts';

interface OwnFlags extends FilterFlags {
  tokens?: boolean;
  policy?: string;
  json?: boolean;
}

const schema = {
  type: 'object',
  properties: {
    count: {
      type: 'integer',
      minimum: 0,
      description:
        'largest number of episodes (default: 3; all with --json; in a terminal all, or 100 with --sort)',
    },
    sort: {
      enum: orders,
      description: 'order: smallest first, or largest first with - (default: the order of the file)',
    },
  },
} as const;

/** Episodes without --count, and the most that an order keeps in memory without it. */
const few = 3;
const many = 100;

export const make: MakeCommand = (command, { signal }) => {
  command
    .description(
      'Shows a training run or an evaluation: its curves, what is wrong with it, then its episodes as conversations with their rewards. In a terminal, a key shows the next episode.',
    )
    .argument('<run>', 'folder that train or eval wrote, or file of trajectories');
  for (const flag of [...filterFlags(), ...schemaFlags(schema)]) command.addOption(flag);
  command
    .option(
      '--tokens',
      'show the sampled tokens, shaded by probability, and mark the tokens that are trained on',
    )
    .option(
      '--policy <folder>',
      "policy whose tokenizer gives the tokens their texts: Hugging Face folder, model of the Hugging Face Hub, or reference (default: the run's)",
    )
    .option('--json', 'print only the episodes, as lines of JSON');
  command.action((path: string, given: OwnFlags & Record<string, unknown>) => show(path, given, signal));
};

async function show(
  path: string,
  given: OwnFlags & Record<string, unknown>,
  signal: AbortSignal,
): Promise<void> {
  const run = findRecordedRun(path);
  const { count, sort } = completeFlags(schema, given);
  const isPaged = !given.json && hasKeys();
  if (given.json && sort !== undefined && count === undefined) {
    const message = `--json with --sort ${sort}: give --count, because sorted episodes are held in memory.`;
    throw new ToolEnvError('usage.arguments', message);
  }
  const most = given.json || isPaged ? (sort === undefined ? Number.POSITIVE_INFINITY : many) : few;
  const selection = { filter: readFilter(given), order: sort, count: count ?? most, signal };
  if (given.json) return printLines(run, selection);

  const width = terminalWidth();
  if (run.folder !== undefined && run.kind !== 'episodes') {
    const metrics = await readMetrics(run.folder);
    const changes = await readChanges(run.folder);
    process.stdout.write(`${runView(run, { metrics, changes, width })}\n\n`);
    const { trainerOptions: options, rewardSpec } = run.facts as RunRecords & typeof run.facts;
    const diagnoses = diagnose({ metrics, options, rewardSpec });
    if (diagnoses.length > 0) process.stdout.write(`${diagnosisView(diagnoses, { run: path, width })}\n\n`);
  }
  if (selection.count === 0) return;
  if (run.episodes === undefined || (await stat(run.episodes)).size === 0) {
    process.stdout.write('The run kept no episodes.\n');
    return;
  }
  const tokens = given.tokens ? await tokenTextsOf(run, given.policy) : undefined;
  if (tokens)
    process.stdout.write(`${[tokenLegend(), ...(tokens.note ? [tokens.note] : [])].join('\n')}\n\n`);
  await showEpisodes(run.episodes, selection, { view: { width, tokens }, isPaged });
}

async function showEpisodes(
  file: string,
  { count, ...selection }: Selection,
  { view, isPaged }: { view: EpisodeViewOptions; isPaged: boolean },
): Promise<void> {
  const counts = new EpisodeCounts();
  const status = new LateStatus();
  const onRead = (read: number) => status.show(`${plural(read, 'episode')} read`);
  // One more than wanted, to know whether more follow.
  const episodes = selectEpisodes(file, { ...selection, count: count + 1, onRead }, counts);
  let shown = 0;
  let follow = false;
  const views = async function* (): AsyncGenerator<string, void, void> {
    for await (const episode of episodes) {
      follow = shown === count;
      if (follow) return;
      shown += 1;
      status.clear();
      yield episodeView(episode, view);
    }
  };
  try {
    if (isPaged) await pageEpisodes(views(), selection.signal);
    else for await (const text of views()) process.stdout.write(`${text}\n\n`);
  } finally {
    status.stop();
  }
  if (follow) process.stdout.write(`${paint('dim', 'More episodes follow: --count shows more.')}\n`);
  if (shown === 0) process.stdout.write(`${nothing(counts)}\n`);
}

async function printLines(run: RecordedRun, selection: Selection): Promise<void> {
  if (run.episodes === undefined) throw new ToolEnvError('usage.no_run', `${run.folder} kept no episodes.`);
  const counts = new EpisodeCounts();
  let shown = 0;
  for await (const episode of selectEpisodes(run.episodes, selection, counts)) {
    shown += 1;
    if (!(await writeLine(episode))) return;
  }
  if (shown === 0 && selection.count > 0) process.stderr.write(`${nothing(counts)}\n`);
}

/** Waits for a slow reader, so that the lines do not pile up in memory. False if the reader is gone, for example after `| head`. */
function writeLine(episode: RecordedEpisode): Promise<boolean> {
  return new Promise((resolve) => {
    process.stdout.write(`${encodeTrajectory(episode)}\n`, (error) => resolve(!error));
  });
}

function nothing(counts: EpisodeCounts): string {
  if (counts.episodes === 0) return 'The file has no episodes.';
  return `${counts.episodes === 1 ? 'The episode does not match' : `None of the ${countText(counts.episodes)} episodes matches`}. The file has\n${counts.text}`;
}
