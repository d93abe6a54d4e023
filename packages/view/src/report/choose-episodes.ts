/** chooseEpisodes: the episodes of a run that a report shows in full, those that say most first. */
import type { RunOverview } from '../overview/run-overview.ts';
import { chooseRows } from '../view/episode-choice.ts';
import type { EpisodeRow } from '../view/episode-index.ts';

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
  const groups = new Map<number, EpisodeRow[]>();
  for (const row of rows) groups.set(row.group, [...(groups.get(row.group) ?? []), row]);
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
