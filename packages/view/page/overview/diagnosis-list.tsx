/** What is wrong with a run, causes first: the evidence, what helps, and where to look. */
import type { NamedDiagnosis } from '../../src/overview/run-overview.ts';
import { hrefOf } from '../route.ts';
import { sentence } from '../sentence.ts';

interface Props {
  run: string;
  diagnoses: readonly NamedDiagnosis[];
  /** Whether the run has episodes to link to. */
  hasEpisodes: boolean;
}

/** Further diagnoses are mostly consequences of the first. */
const most = 3;

export function DiagnosisList({ run, diagnoses, hasEpisodes }: Props) {
  const item = (diagnosis: NamedDiagnosis) => (
    <Item key={diagnosis.name} {...{ run, diagnosis, hasEpisodes }} />
  );
  const rest = diagnoses.slice(most);
  return (
    <>
      <ol class="diagnoses">{diagnoses.slice(0, most).map(item)}</ol>
      {rest.length > 0 && (
        <details>
          <summary>{rest.length} more, which may follow from these</summary>
          <ol class="diagnoses">{rest.map(item)}</ol>
        </details>
      )}
    </>
  );
}

/** Rewards that are farmed show best in the episodes that earned most. */
const sortOf: Readonly<Record<string, string>> = {
  'reward-without-outcome': '-reward',
  'process-reward-alone': '-reward',
  'leaked-answer': 'calls',
};

function Item({
  run,
  diagnosis,
  hasEpisodes,
}: {
  run: string;
  diagnosis: NamedDiagnosis;
  hasEpisodes: boolean;
}) {
  const { name, fault, title, remedy, page, episodes } = diagnosis;
  return (
    <li class="diagnosis">
      <h3>
        <span aria-hidden="true">▲</span> {sentence(fault)}
      </h3>
      <p>{title}</p>
      <p>{remedy}</p>
      <p class="links">
        {episodes && hasEpisodes && (
          <a href={hrefOf('episodes', { run, ...episodes, sort: sortOf[name] })}>Episodes that show it</a>
        )}
        <a href={page} target="_blank" rel="noreferrer">
          What helps, in the documentation
        </a>
        <small>{name}</small>
      </p>
    </li>
  );
}
