/** Reads how a step is judged: in which container, by which tests, and what it gets of the agent's files. */
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { Artifact, BoxSpec, TaskPolicy, VerifierSpec } from './harbor-task.ts';
import { imageSource, readBox } from './read-box.ts';
import {
  asksNetwork,
  fillVariables,
  type StepTable,
  type TaskFile,
  taskMistake,
  type VerifierTable,
} from './task-file.ts';

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
  const { kind, carriesChanges } = kindOf(step, place);
  const { box, hasTests, asked } =
    kind === 'shared'
      ? { box: place.box, hasTests: false, asked: false }
      : verifierBox(step, { ...place, carriesChanges });
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
    isOffline: asked && !box.network,
    carriesChanges,
    tests: hasTests ? [] : folders,
    timeout: (ofStep.timeout_sec ?? of.timeout_sec ?? verifierTime) * 1000,
    env: fillVariables({ ...of.env, ...ofStep.env }, variables),
    user: String(ofStep.user ?? of.user ?? ''),
    artifacts: carriesChanges ? declared : withConventional(declared),
    collect: [...(of.collect ?? []), ...(ofStep.collect ?? [])].map(
      ({ command, timeout_sec: time = collectTime, user = '' }) => ({
        command,
        timeout: time * 1000,
        user: String(user),
      }),
    ),
  };
}

/**
 * In Harbor, a task that says nothing is judged in the agent's container. Here, its verifier gets what it declares as artifacts; if it
 * declares none, or says that the verifier must see everything, whatever the agent has changed.
 */
function kindOf(
  step: StepTable | undefined,
  { table, policy }: StepPlace,
): Pick<VerifierSpec, 'kind' | 'carriesChanges'> {
  const asked = modeOf(step?.verifier) ?? modeOf(table.verifier);
  if (asked === 'separate') return { kind: 'fresh', carriesChanges: false };
  if (policy.verifier === 'shared') return { kind: 'shared', carriesChanges: false };
  const declares = (table.artifacts?.length ?? 0) + (step?.artifacts?.length ?? 0) > 0;
  return { kind: 'fresh', carriesChanges: asked === 'shared' || !declares };
}

function modeOf({ environment_mode: mode, environment }: VerifierTable = {}) {
  return mode ?? (environment && 'separate');
}

/** The container of a verifier: of the step's own image, the task's image for verifiers, or the agent's image. */
function verifierBox(
  step: StepTable | undefined,
  { file, table, folder, own, prefix, box, policy, carriesChanges }: StepPlace & { carriesChanges: boolean },
): { box: BoxSpec; hasTests: boolean; asked: boolean } {
  const tables = [
    { key: `${prefix}verifier.environment`, given: step?.verifier?.environment, tests: join(own, 'tests') },
    { key: 'verifier.environment', given: table.verifier?.environment, tests: join(folder, 'tests') },
  ];
  // What has changed since an image belongs to that image.
  const image = carriesChanges
    ? undefined
    : tables.map(({ given, tests }) => imageSource(given, tests)).find((found) => found !== undefined);
  const described = tables.find(({ given }) => given !== undefined) ?? {
    key: 'environment',
    given: table.environment,
  };
  const asked = asksNetwork(described.given, table.verifier, step?.verifier);
  const network = asked && policy.network !== 'none';
  const place = { file, key: described.key, policy, network, image: image ?? box.image };
  return { box: readBox(described.given, place), hasTests: image !== undefined, asked };
}

/** The folder that every task may use without declaring it. */
const conventional = '/logs/artifacts';

/** Paths in which an artifact could pass for the verifier's own files, or for the machine's. */
const guarded = ['/tests', '/logs/verifier', '/solution', '/proc', '/sys', '/dev'];

/** @throws ToolEnvError `usage.harbor_task` for a path that an artifact must not have. */
function readArtifacts(file: string, key: string, given: TaskFile['artifacts'] = []): Artifact[] {
  return given.map((entry, index) => {
    const { source, exclude = [] } = typeof entry === 'string' ? { source: entry } : entry;
    const at = `${key}[${index}]`;
    if (!source.startsWith('/') || source.includes('\0') || source.split('/').includes('..'))
      throw taskMistake(file, at, `"${source}" must be an absolute path without ".."`);
    const path = posix.normalize(source).replace(/(.)\/$/, '$1');
    const taken = guarded.find((folder) => isWithin(path, folder) || isWithin(folder, path));
    if (taken !== undefined)
      throw taskMistake(
        file,
        at,
        `"${source}" may not be taken from the agent, because it would replace ${taken}: declare the files that the agent is to make`,
      );
    return { source: path, exclude };
  });
}

/** The declared artifacts behind the conventional folder. */
function withConventional(declared: readonly Artifact[]): readonly Artifact[] {
  const isDeclared = declared.some(({ source }) => source === conventional);
  return isDeclared ? declared : [{ source: conventional, exclude: [] }, ...declared];
}

/** Whether a path is the folder, or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}
