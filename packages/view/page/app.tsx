/** The frame of the page: runs, views, theme and help. */
import { useMemo, useState } from 'preact/hooks';
import { CurvesPage } from './curves/curves-page.tsx';
import { EpisodePage } from './episode/episode-page.tsx';
import { GroupPage } from './episode/group-page.tsx';
import { EpisodesPage } from './episodes/episodes-page.tsx';
import { Help } from './help.tsx';
import { useKeys } from './keys.ts';
import { OptionsPage } from './options-page.tsx';
import { go, hrefOf, useRoute, type ViewName } from './route.ts';
import { RunList } from './run-list.tsx';
import { useAnswer, useStates } from './server.ts';
import { useTheme } from './theme.ts';

const tabs: readonly { view: ViewName; name: string; key: string }[] = [
  { view: 'curves', name: 'Curves', key: '1' },
  { view: 'episodes', name: 'Episodes', key: '2' },
  { view: 'options', name: 'Options', key: '3' },
];

export function App() {
  const { view, query } = useRoute();
  const { states, isConnected } = useStates();
  const [theme, toggleTheme] = useTheme();
  const [isHelping, setHelping] = useState(false);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  // The facts of a run may come with its first step.
  const begun = Object.values(states).filter(({ metrics }) => metrics.count > 0).length;
  const { answer: runs = [], problem } = useAnswer('/api/runs', {}, begun);
  const shown = useMemo(() => runs.filter(({ name }) => !hidden.has(name)), [runs, hidden]);
  const run = query.run === undefined ? runs[0] : runs.find(({ name }) => name === query.run);
  const place = run === undefined || query.run === undefined ? {} : { run: query.run };
  useKeys({
    '?': () => setHelping(!isHelping),
    d: toggleTheme,
    ...Object.fromEntries(tabs.map((tab) => [tab.key, () => go(hrefOf(tab.view, place))])),
    ...(isHelping && { Escape: () => setHelping(false) }),
  });

  const problems = [
    ...(isConnected ? [] : ['The server does not answer: is toolenv view still running?']),
    ...(problem ? [problem] : []),
    ...(runs.length > 0 && !run
      ? [`There is no run "${query.run}" here, only ${runs.map(({ name }) => name).join(', ')}.`]
      : []),
    ...Object.entries(states).flatMap(([name, state]) =>
      state.problem ? [`${name}: ${state.problem}`] : [],
    ),
  ];
  return (
    <>
      <header>
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
        <RunList runs={runs} states={states} hidden={hidden} onHide={setHidden} />
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
      {isHelping && <Help onClose={() => setHelping(false)} />}
      <main>
        {view === 'curves' && <CurvesPage runs={shown} all={runs} states={states} theme={theme} />}
        {view === 'options' && <OptionsPage runs={shown} />}
        {run && view === 'episodes' && <EpisodesPage runs={runs} run={run} states={states} query={query} />}
        {run && view === 'episode' && <EpisodePage run={run} query={query} states={states} />}
        {run && view === 'group' && <GroupPage run={run} query={query} states={states} />}
      </main>
    </>
  );
}

/** The tab that a view belongs to. */
function tabOf(view: ViewName): ViewName {
  return view === 'episode' || view === 'group' ? 'episodes' : view;
}
