/** Reads how a step is judged: in which container, by which tests, and what it gets of the agent's files. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readArtifacts, withConventional } from './artifacts.ts';
import type { BoxSpec, TaskPolicy, VerifierSpec } from './harbor-task.ts';
import { fillVariables } from './host-variables.ts';
import { hasNetwork } from './network.ts';
import { imageSource, readBox } from './read-box.ts';
import type { StepTable, TaskFile, VerifierTable } from './task-file.ts';
import { taskMistake } from './task-mistake.ts';

/** Harbor's defaults, in seconds. */
const verifierTime = 600;
const collectTime = 60;

export interface StepPlace {
  /** task.toml and what it says. */
  file: string;
  table: TaskFile;
  /** Folder of the task, and of the step. They are one if the task has no `[[steps]]`. */
  folder: string;
  own: string;
  /** Key of the step's table, such as `steps[0].`; empty without `[[steps]]`. */
  prefix: string;
  /** Of the agent. */
  box: BoxSpec;
  policy: TaskPolicy;
}

/** @throws ToolEnvError `usage.harbor_task` */
export function readVerifier(step: StepTable | undefined, place: StepPlace): VerifierSpec {
  const { file, table, folder, own, prefix, policy } = place;
  const [of, ofStep]: [VerifierTable, VerifierTable] = [table.verifier ?? {}, step?.verifier ?? {}];
  const kind = kindOf(step, place);
  const { box, hasTests } =
    kind === 'shared' ? { box: place.box, hasTests: false } : verifierBox(step, place);
  const folders = [...new Set([join(folder, 'tests'), join(own, 'tests')])].filter((each) =>
    existsSync(each),
  );
  if (!hasTests && !folders.some((each) => existsSync(join(each, 'test.sh'))))
    throw taskMistake(
      join(own, 'tests', 'test.sh'),
      '',
      'there is no such file, and without it nothing is judged: add it',
    );
  const variables = { file, key: `${prefix}verifier.env`, allowed: policy.hostVariables };
  const declared = [
    ...readArtifacts(file, 'artifacts', table.artifacts),
    ...readArtifacts(file, `${prefix}artifacts`, step?.artifacts),
  ];
  return {
    kind,
    box,
    tests: hasTests ? [] : folders,
    timeout: (ofStep.timeout_sec ?? of.timeout_sec ?? verifierTime) * 1000,
    env: fillVariables({ ...of.env, ...ofStep.env }, variables),
    user: String(ofStep.user ?? of.user ?? ''),
    artifacts: withConventional(declared),
    collect: [...(of.collect ?? []), ...(ofStep.collect ?? [])].map(
      ({ command, timeout_sec: time = collectTime, user = '' }) => ({
        command,
        timeout: time * 1000,
        user: String(user),
      }),
    ),
  };
}

/** In Harbor, a task that says nothing is judged in the agent's container. Here, it must say what the verifier needs. */
function kindOf(
  step: StepTable | undefined,
  { file, table, prefix, policy }: StepPlace,
): VerifierSpec['kind'] {
  const [key, asked] =
    modeOf(`${prefix}verifier`, step?.verifier) ?? modeOf('verifier', table.verifier) ?? [];
  if (asked === 'separate') return 'fresh';
  if (policy.verifier === 'shared') return 'shared';
  const remedy =
    'set the option verifier to shared, which judges in the container that the agent controlled, and which a hostile agent deceives';
  if (asked === 'shared') throw taskMistake(file, key!, `the verifier has a fresh container: ${remedy}`);
  if (table.artifacts?.length || step?.artifacts?.length) return 'fresh';
  throw taskMistake(
    file,
    `${prefix}artifacts`,
    `none are declared, and the verifier has a fresh container that gets nothing else: list the files that the agent makes (artifacts = ["/app/out.txt"]), or ${remedy}`,
  );
}

function modeOf(key: string, { environment_mode: mode, environment }: VerifierTable = {}) {
  if (mode === undefined && !environment) return undefined;
  return [`${key}.environment_mode`, mode ?? 'separate'] as const;
}

/** The container of a verifier: of the step's own image, the task's image for verifiers, or the agent's image. */
function verifierBox(
  step: StepTable | undefined,
  { file, table, folder, own, prefix, box, policy }: StepPlace,
): { box: BoxSpec; hasTests: boolean } {
  const tables = [
    { key: `${prefix}verifier.environment`, given: step?.verifier?.environment, tests: join(own, 'tests') },
    { key: 'verifier.environment', given: table.verifier?.environment, tests: join(folder, 'tests') },
  ];
  const image = tables
    .map(({ given, tests }) => imageSource(given, tests))
    .find((found) => found !== undefined);
  const described = tables.find(({ given }) => given !== undefined) ?? {
    key: 'environment',
    given: table.environment,
  };
  const network = hasNetwork(
    file,
    [
      [described.key, described.given],
      ['verifier', table.verifier],
      ...(step ? ([[`${prefix}verifier`, step.verifier]] as const) : []),
    ],
    policy,
  );
  const place = { file, key: described.key, policy, network, image: image ?? box.image };
  return { box: readBox(described.given, place), hasTests: image !== undefined };
}
