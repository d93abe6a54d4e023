/** makeReport: runs as one HTML file that can be sent, and opened without a server. */
import { createRedactor } from '@toolenv/core/recording';
import { redacted, secretNames, shortestSecret } from '@toolenv/core/secrets';
import { groupBy, type MetricsLine } from '@toolenv/training';
import type { RunOverview } from '../overview/run-overview.ts';
import { chooseRows } from '../view/episode-choice.ts';
import type { EpisodeRow } from '../view/episode-index.ts';
import { type KnownEnv, type Routes, routesOf } from '../view/routes.ts';
import type { TokenTexts } from '../view/token-texts.ts';
import type { RunHead, ViewedRun } from '../view/viewed-run.ts';
import { ViewedRuns } from '../view/viewed-runs.ts';
import type { ReportData, ReportedRun } from './report-data.ts';
import { type ReportParts, readReportParts, reportHtml } from './report-html.ts';

export interface ReportOptions {
  /** Folders that train or eval wrote, or files of trajectories. */
  runs: readonly string[];
  /** Finds what gives the tokens of a run their texts. Without it, tokens are shown as ids. */
  tokenTexts?: (path: string) => Promise<TokenTexts>;
  /** Finds the environment with a reference, which knows the right answers. */
  environment?: (ref: string) => Promise<KnownEnv | undefined>;
  /** Where the page opens: the part of its address from `#` on. Default: its first page. */
  start?: string;
}

/** Bytes of the file at most. */
const maxBytes = 3_000_000;
/** Rows of the list of episodes, and steps with metrics, of all runs together. */
const maxRows = 20_000;
const maxSteps = 2_000;
/** Characters of an episode, of a value of the configuration, and of the name of a metric. Larger ones are left out. */
const maxEpisodeLength = 1_000_000;
const maxValueLength = 100_000;
const maxNameLength = 200;

/**
 * The overview, the curves, the options and the list of episodes of each run, and in full the episodes that say most: at most 3 MB. Keys of
 * the configuration are left out.
 * @returns HTML.
 * @throws ToolEnvError `usage.no_run` if a path neither is nor holds a run, `usage.page_not_built`.
 */
export async function makeReport(options: ReportOptions): Promise<string> {
  return reportOf(options, await readReportParts());
}

/** @param parts The page. */
export async function reportOf(
  { runs: paths, tokenTexts, environment, start }: ReportOptions,
  parts: ReportParts,
): Promise<string> {
  const runs = new ViewedRuns(paths);
  await runs.close();
  const routes = routesOf(runs, {
    tokenTexts: async (path) => (await tokenTexts?.(path)) ?? {},
    environment: async (ref) => environment?.(ref),
  });
  return reportOfRuns(runs.all, { episode: routes['/api/episode'], start }, parts);
}

/**
 * The report of runs that have been read, by the names that they have.
 * @param episode Gives an episode whole.
 */
export async function reportOfRuns(
  runs: readonly ViewedRun[],
  { episode, start }: { episode: Routes['/api/episode']; start: string | undefined },
  parts: ReportParts,
): Promise<string> {
  const share = 1 / runs.length;
  const read = async (run: ViewedRun): Promise<ReportedRun> => {
    const overview = await run.overview();
    const rows = run.episodes?.rows ?? [];
    const episodes: ReportedRun['episodes'] = {};
    for (const number of chooseEpisodes(rows, overview).slice(0, Math.ceil(96 * share))) {
      const query = new URLSearchParams({ run: run.name, number: String(number) });
      const answer = await episode(query, new AbortController().signal);
      if (JSON.stringify(answer).length <= maxEpisodeLength) episodes[number] = answer;
    }
    return {
      // Where the folder lies on this machine is nobody else's concern.
      head: withoutLarge({ ...(await run.head()), path: run.name }),
      state: run.state,
      overview,
      metrics: shortened(run.metrics, maxSteps * share),
      rows: rows.slice(-Math.ceil(maxRows * share)),
      facets: run.episodes?.facets,
      episodes,
    };
  };
  const reported: ReportedRun[] = [];
  for (const run of runs) reported.push(withoutKeys(await read(run)));
  const made = new Date().toISOString();
  const data: ReportData = { version: 1, made, ...(start && { start }), runs: reported };
  return fitted(data, (fits) => reportHtml(fits, parts));
}

function withoutLarge({ facts, changes, ...head }: RunHead): RunHead {
  const isSmall = (value: unknown) => (JSON.stringify(value) ?? '').length <= maxValueLength;
  return {
    ...head,
    facts: Object.fromEntries(Object.entries(facts).filter(([, value]) => isSmall(value))),
    changes: changes.filter(isSmall),
  };
}

/** Leaves out what says least until the file is small enough. */
function fitted(data: ReportData, html: (data: ReportData) => string): string {
  for (let { runs } = data; ; runs = runs.map(halved)) {
    const text = html({ ...data, runs });
    if (Buffer.byteLength(text) <= maxBytes || runs.every(isBare)) return text;
  }
}

/** First fewer episodes in full, then fewer rows, then fewer steps of the curves. At last, only the name and the status of the run are left. */
function halved(run: ReportedRun): ReportedRun {
  const { head, episodes, rows, metrics } = run;
  const numbers = Object.keys(episodes).map(Number);
  const kept = numbers.slice(0, Math.floor(numbers.length / 2));
  if (numbers.length > 0)
    return { ...run, episodes: Object.fromEntries(kept.map((number) => [number, episodes[number]!])) };
  if (rows.length > 1) return { ...run, rows: rows.slice(Math.ceil(rows.length / 2)) };
  if (metrics.length > 1) return { ...run, metrics: metrics.slice(Math.ceil(metrics.length / 2)) };
  return {
    ...run,
    head: { ...head, facts: {}, changes: [] },
    overview: { ...run.overview, scores: [], diagnoses: [], causes: {} },
    metrics: [],
    rows: [],
    facets: undefined,
  };
}

function isBare({ episodes, rows, metrics }: ReportedRun): boolean {
  return rows.length + metrics.length + Object.keys(episodes).length === 0;
}

/** Steps at equal distances with the last one, all evaluations, and five digits of each number. */
function shortened(lines: readonly MetricsLine[], maxSteps: number): MetricsLine[] {
  const steps = [...new Set(lines.map(({ step }) => step))];
  const every = Math.max(1, Math.ceil(steps.length / maxSteps));
  const kept = new Set(steps.filter((_, index) => index % every === 0 || index === steps.length - 1));
  return lines
    .filter(({ type, step }) => type === 'evaluation' || kept.has(step))
    .map(({ type, step, metrics }) => ({
      type,
      step,
      metrics: Object.fromEntries(
        Object.entries(metrics)
          .filter(([name]) => name.length <= maxNameLength)
          .map(([name, value]) => [name, Number.isFinite(value) ? Number(value.toPrecision(5)) : value]),
      ),
    }));
}

/** Of a run. */
const most = 48;
const perDiagnosis = 4;

/** @returns Numbers of episodes, each once. */
export function chooseEpisodes(
  rows: readonly EpisodeRow[],
  { diagnoses }: Pick<RunOverview, 'diagnoses'>,
): number[] {
  const last = rows.at(-1)?.step;
  const shown = diagnoses.flatMap(({ episodes }) =>
    episodes ? chooseRows(rows, { ...episodes }).slice(-perDiagnosis) : [],
  );
  const chosen = [
    ...shown,
    ...mostDifferentGroup(rows.filter(({ step }) => step === last)),
    ...latestOfEach(rows, ({ end }) => [end]),
    ...latestOfEach(rows, ({ mistakes }) => mistakes),
    ...mostDifferentGroup(rows.filter(({ step }) => step === rows[0]?.step)),
    ...chooseRows(rows, { sort: '-reward' }).slice(0, perDiagnosis),
    ...rows.slice(-most),
  ];
  return [...new Set(chosen.map(({ number }) => number))].slice(0, most);
}

/** The group in which the rewards of a step differ most: its episodes show what the trainer compares. */
function mostDifferentGroup(rows: readonly EpisodeRow[]): EpisodeRow[] {
  const groups = groupBy(rows, ({ group }) => group);
  const spread = (group: readonly EpisodeRow[]) => {
    const rewards = group.flatMap(({ reward }) => reward ?? []);
    return rewards.length === 0 ? -1 : Math.max(...rewards) - Math.min(...rewards);
  };
  const sorted = [...groups.values()].sort((a, b) => spread(b) - spread(a));
  return sorted[0]?.slice(0, 12) ?? [];
}

function latestOfEach(
  rows: readonly EpisodeRow[],
  keys: (row: EpisodeRow) => readonly string[],
): EpisodeRow[] {
  const latest = new Map<string, EpisodeRow>();
  for (const row of rows) for (const key of keys(row)) latest.set(key, row);
  return [...latest.values()];
}

/** A name that no value has. */
const none = /(?!)/;

/**
 * Values with secret names leave the configuration, whatever they are. Elsewhere their values leave the texts, as do those of this
 * process: an episode may have a field `password` that belongs to its task.
 */
function withoutKeys(run: ReportedRun): ReportedRun {
  const { head, ...rest } = run;
  const named = secretsIn([head.facts, head.changes, process.env]);
  const everywhere = createRedactor({ keys: none, values: named });
  return {
    head: createRedactor({ values: named })(head),
    ...everywhere(rest),
  };
}

/** The texts below secret names. */
function secretsIn(value: unknown, isSecret = false): string[] {
  if (typeof value === 'string')
    return isSecret && value.length >= shortestSecret && value !== redacted ? partsOf(value) : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => secretsIn(part, isSecret || secretNames.test(name)));
}

/** A scheme such as `Bearer` is not secret. */
function partsOf(value: string): string[] {
  const credential = /^[A-Za-z]+ +(\S+)$/.exec(value)?.[1];
  return credential !== undefined && credential.length >= shortestSecret ? [value, credential] : [value];
}
