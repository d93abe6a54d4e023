/** The report that the page was sent with: it answers in place of a server. */
import { containsText } from '../src/recorded/episode-filter.ts';
import type { ReportData, ReportedRun } from '../src/report/report-data.ts';
import { comparedScore, compareScores } from '../src/scores/compare-scores.ts';
import { compareTasks } from '../src/tasks/compare-tasks.ts';
import { scoredTasks } from '../src/tasks/scored-tasks.ts';
import { taskMap } from '../src/tasks/task-map.ts';
import { chooseRows, type EpisodeQuery } from '../src/view/episode-choice.ts';
import type { Answers, Path } from '../src/view/routes.ts';
import { readVisible } from '../src/view/visible-text.ts';
import { go } from './route.ts';

const element = document.getElementById('report');

/** Absent in a page that a server serves. */
export const report: Promise<ReportData> | undefined = element ? decode(element.textContent) : undefined;

async function decode(base64: string): Promise<ReportData> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const data = readVisible(await new Response(unpacked).text()) as ReportData;
  if (data.start && location.hash === '') go(data.start, { isStep: false });
  return data;
}

type Query = Readonly<Record<string, string>>;

/** @throws Error What is wrong with the query, or not in the report. */
export function answerFrom<P extends Path>({ runs }: ReportData, path: P, query: Query): Answers[P] {
  const find = (wanted = query.run) => {
    const run = runs.find(({ head }) => head.name === wanted);
    if (!run) throw new Error(`There is no run "${wanted}" in this report.`);
    return run;
  };
  const answers: { [Q in Path]: () => Answers[Q] } = {
    '/api/runs': () => runs.map(({ head }) => head),
    '/api/overviews': () => Object.fromEntries(runs.map(({ head, overview }) => [head.name, overview])),
    '/api/metrics': () => {
      const { metrics } = find();
      return { lines: metrics.slice(Number(query.from ?? 0)), next: metrics.length };
    },
    '/api/episodes': () => episodesOf(find(), query),
    '/api/tasks': () => taskMap(find().rows, { ...query, count: Number(query.count ?? 100) }),
    '/api/compared': () =>
      compareTasks(find().rows, find(query.with).rows, comparedScore(find().overview.scores)),
    '/api/task-scores': () => scoredTasks(find().rows, comparedScore(find().overview.scores)),
    '/api/scores': () =>
      compareScores(
        (query.runs ?? '')
          .split(',')
          .filter(Boolean)
          .map((name) => find(name)),
      ),
    '/api/report': () => ({ html: '' }),
    '/api/episode': () => {
      const run = find();
      const answer = run.episodes[Number(query.number)];
      if (answer) return answer;
      throw new Error(
        `Episode ${query.number} is only listed in this report, which has ${Object.keys(run.episodes).length} episodes in full.`,
      );
    },
  };
  return answers[path]();
}

/** The texts of an episode that is only listed are its question and its last words. */
function episodesOf({ rows, state, facets, episodes }: ReportedRun, query: Query): Answers['/api/episodes'] {
  const { run: _, from = 0, count = 100, ...conditions } = query;
  const { text = '', ...rest } = conditions as EpisodeQuery;
  const words = text.toLowerCase();
  const found = chooseRows(rows, rest).filter(({ number, question, answer }) => {
    if (words === '' || `${question} ${answer}`.toLowerCase().includes(words)) return true;
    const whole = episodes[number];
    return whole !== undefined && containsText(whole.episode, text);
  });
  return {
    total: found.length,
    of: state.episodes.count,
    rows: found.slice(Number(from), Number(from) + Number(count)),
    facets,
  };
}
