/** The frame of the page: runs, views, theme and help. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { RunHead } from '../src/view/viewed-run.ts';
import { RunsPage } from './all-runs/runs-page.tsx';
import { Bell, useBell } from './bell.tsx';
import { CurvesPage } from './curves/curves-page.tsx';
import { EpisodePage } from './episode/episode-page.tsx';
import { GroupPage } from './episode/group-page.tsx';
import { EpisodesPage } from './episodes/episodes-page.tsx';
import { Help } from './help.tsx';
import { useKeys } from './keys.ts';
import { OptionsPage } from './options-page.tsx';
import { OverviewPage } from './overview/overview-page.tsx';
import { report } from './report.ts';
import { go, hrefOf, useRoute, type ViewName } from './route.ts';
import { RunList } from './run-list.tsx';
import { SaveReport } from './save-report.tsx';
import { ScoresPage } from './scores/scores-page.tsx';
import { type States, useAnswer, useStates, useTicks } from './server.ts';
import { PairPage } from './tasks/pair-page.tsx';
import { TasksPage } from './tasks/tasks-page.tsx';
import { useTheme } from './theme.ts';

const allTabs: readonly { view: ViewName; name: string; key: string }[] = [
  { view: 'runs', name: 'Runs', key: '0' },
  { view: 'overview', name: 'Overview', key: '1' },
  { view: 'curves', name: 'Curves', key: '2' },
  { view: 'episodes', name: 'Episodes', key: '3' },
  { view: 'tasks', name: 'Tasks', key: '4' },
  { view: 'options', name: 'Options', key: '5' },
  { view: 'scores', name: 'Scores', key: '6' },
];

/** Milliseconds after which a run that goes on is looked at again. */
const lookEvery = 3000;

export function App() {
  const { view: named, query } = useRoute();
  const { states, isConnected } = useStates();
  const [theme, toggleTheme] = useTheme();
  const [isHelping, setHelping] = useState(false);
  const [made, setMade] = useState<string>();
  useEffect(() => void report?.then((data) => setMade(data.made)), []);
  // The facts of a run may come with its first step.
  const begun = Object.values(states).map(({ metrics }) => metrics.count > 0);
  const [noted, setNoted] = useState(0);
  const { answer: runs = [], problem } = useAnswer('/api/runs', {}, `${noted} ${begun.join()}`);
  const [isGoingOn, setGoingOn] = useState(false);
  const ticks = useTicks(lookEvery, isGoingOn);
  // The names of many runs come first.
  const hasRuns = runs.length > 0;
  const { answer: overviews = {} } = useAnswer('/api/overviews', {}, `${ticks} ${extents(states)}`, hasRuns);
  const isRunning = Object.values(overviews).some(({ status }) => status.kind === 'running');
  if (isRunning !== isGoingOn) setGoingOn(isRunning);

  const view = named ?? (runs.length > 1 ? 'runs' : 'overview');
  const compares = view === 'curves' || view === 'options' || view === 'scores';
  const run = query.run === undefined ? runs[0] : runs.find(({ name }) => name === query.run);
  const place = run === undefined || query.run === undefined ? {} : { run: query.run };
  const hidden = useMemo(() => new Set(query.hide?.split(',')), [query.hide]);
  const compared = useMemo(() => comparedRuns(runs, query.runs), [runs, query.runs]);
  const shown = useMemo(() => compared.filter(({ name }) => !hidden.has(name)), [compared, hidden]);
  const [unsaved, setUnsaved] = useState<string>();
  // A view of one run is sent with this run; the pair of two evaluations needs both.
  const sent = compares || view === 'runs' ? shown : [run, runs.find(({ name }) => name === query.with)];
  const shared = sent.flatMap((each) => each?.name ?? []);
  const hide = (names: ReadonlySet<string>) =>
    go(hrefOf(view, { ...query, hide: [...names].join(',') }), { isStep: false });
  const tabs = allTabs.filter(({ view }) => (view !== 'runs' && view !== 'scores') || runs.length > 1);
  useKeys({
    '?': () => setHelping(!isHelping),
    d: toggleTheme,
    ...Object.fromEntries(tabs.map((tab) => [tab.key, () => go(hrefOf(tab.view, place))])),
    ...(isHelping && { Escape: () => setHelping(false) }),
  });

  const { rings, clear } = useBell(overviews);
  const title = [run?.name, allTabs.find((tab) => tab.view === tabOf(view))?.name, 'toolenv'];
  useEffect(() => {
    const named = title.slice(view === 'runs' || compares ? 1 : 0).filter(Boolean);
    document.title = (rings.length > 0 ? '🔔 ' : '') + named.join(' · ');
  });

  const problems = [
    ...(isConnected ? [] : ['The server does not answer: is toolenv view still running?']),
    ...(problem ? [problem] : []),
    ...(unsaved ? [unsaved] : []),
    ...(runs.length > 0 && !run
      ? [`There is no run "${query.run}" here, only ${runs.map(({ name }) => name).join(', ')}.`]
      : []),
    ...Object.entries(states).flatMap(([name, state]) =>
      state.problem ? [`${name}: ${state.problem}`] : [],
    ),
  ];
  return (
    <>
      <header class="top">
        <h1>toolenv</h1>
        <nav aria-label="Views">
          {tabs.map((tab) => (
            <a
              key={tab.view}
              href={hrefOf(tab.view, place)}
              aria-current={tab.view === tabOf(view) ? 'page' : undefined}
            >
              {tab.name}
            </a>
          ))}
        </nav>
        {runs.length > 1 && view !== 'runs' && view !== 'pair' && !compares && (
          <RunChoice {...{ runs, run, view }} />
        )}
        <span class="grow" />
        {made !== undefined && <small>report of {made.slice(0, 10)}</small>}
        <SaveReport runs={shared} onProblem={setUnsaved} />
        <button type="button" onClick={toggleTheme} title="Dark or light (d)">
          {theme === 'dark' ? 'Light' : 'Dark'}
        </button>
        <button type="button" onClick={() => setHelping(!isHelping)} title="Keys (?)">
          Keys
        </button>
      </header>
      {problems.map((text) => (
        <p key={text} class="problem" role="alert">
          {text}
        </p>
      ))}
      <Bell rings={rings} onClear={clear} />
      {isHelping && <Help onClose={() => setHelping(false)} />}
      <main>
        {compares && runs.length > 1 && (
          <RunList runs={compared} of={runs.length} states={states} hidden={hidden} onHide={hide} />
        )}
        {view === 'runs' && <RunsPage {...{ runs, overviews, query }} />}
        {run && view === 'overview' && (
          <OverviewPage
            key={run.name}
            {...{ run, states, theme }}
            overview={overviews[run.name]}
            onNoted={() => setNoted(noted + 1)}
          />
        )}
        {view === 'curves' && <CurvesPage runs={shown} all={compared} {...{ states, theme, query }} />}
        {view === 'scores' && <ScoresPage runs={shown} all={compared} {...{ states, query }} />}
        {view === 'options' && <OptionsPage runs={shown} query={query} />}
        {run && view === 'episodes' && <EpisodesPage run={run} states={states} query={query} />}
        {run && view === 'tasks' && <TasksPage key={run.name} {...{ runs, run, query, states }} />}
        {view === 'pair' && <PairPage query={query} states={states} />}
        {run && view === 'episode' && <EpisodePage run={run} query={query} states={states} />}
        {run && view === 'group' && <GroupPage run={run} query={query} states={states} />}
      </main>
    </>
  );
}

/** Curves and options of so many runs can still be told apart. */
const mostCompared = 40;

/** The runs that the address names, in the order of all; without names, the first of them. */
function comparedRuns(runs: readonly RunHead[], names: string | undefined): readonly RunHead[] {
  if (names === undefined) return runs.slice(0, mostCompared);
  const wanted = new Set(names.split(','));
  return runs.filter(({ name }) => wanted.has(name)).slice(0, mostCompared);
}

/** The tab that a view belongs to. */
function tabOf(view: ViewName): ViewName {
  if (view === 'pair') return 'tasks';
  return view === 'episode' || view === 'group' ? 'episodes' : view;
}

/** What the overviews depend on. Episodes count only if there are no metrics, so that a file being read does not ask again and again. */
function extents(states: States): string {
  return Object.entries(states)
    .map(
      ([name, { metrics, episodes }]) => `${name} ${metrics.generation} ${metrics.count || episodes.count}`,
    )
    .join();
}

interface RunChoiceProps {
  runs: readonly RunHead[];
  run: RunHead | undefined;
  view: ViewName;
}

function RunChoice({ runs, run, view }: RunChoiceProps) {
  const to = view === 'overview' || view === 'tasks' ? view : 'episodes';
  return (
    <label class="run-choice">
      <span>run</span>
      <select
        value={run?.name}
        onChange={({ currentTarget }) => go(hrefOf(to, { run: currentTarget.value }))}
      >
        {runs.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}
