/** The environments of a training run: one or a mix to train on, and others to evaluate on. */

import { basename } from 'node:path';
import { type EnvHandle, type OpenedEnv, ToolEnvError } from '@toolenv/core';
import { completeOptions } from '@toolenv/core/plugins';
import { readPrompts, type ToolTap } from '@toolenv/core/recording';
import { mixEnvs } from '@toolenv/core/wrappers';
import type { PluginFlags, ResolvedPlugin } from '../flags/plugin-flags.ts';
import { propertiesOf, readPairs } from '../flags/schema-flags.ts';
import { findEnv } from '../subject/find-subject.ts';
import { type EnvFlags, openRunEnv, type RecordingFlags } from './open-run.ts';
import { recordedOptions } from './recorded-options.ts';

export interface TrainingFlags extends EnvFlags, RecordingFlags {
  weights?: string;
  evaluateOn?: string[];
}

/** An environment of the command line. */
interface ListedEnv extends Pick<ResolvedPlugin<'envs'>, 'source' | 'options'> {
  /** As it was typed. */
  text: string;
  roles: readonly string[];
  /** Names of its open texts. */
  texts: readonly string[];
}

/** What a run opens, and what config.json says of it. */
export interface TrainingEnvs {
  /** Both are absent without a training environment. */
  identity: { env?: string; envOptions?: Record<string, unknown> };
  open(settings: EnvFlags & { seed: number; tap?: ToolTap | undefined }): Promise<OpenedTrainingEnvs>;
}

interface OpenedTrainingEnvs {
  /** Absent if none was named. */
  env?: OpenedEnv<unknown>;
  evaluateOn: Record<string, EnvHandle<unknown>>;
  close(): Promise<void>;
}

/**
 * The environments that a command line names, if any. Flags set options of the first environment, and of the others where they have
 * the option. `?name=value&…` after another environment sets options there.
 * @param before The config.json of the run that is resumed. An environment by itself takes its options from there.
 * @throws ToolEnvError `usage.bad_flag` for weights, `usage.arguments` for environments that cannot be told apart, and what
 *   naming an environment throws.
 */
export async function chooseTrainingEnvs(
  named: PluginFlags<'envs'> | undefined,
  texts: readonly string[],
  given: TrainingFlags & Record<string, unknown>,
  before?: Readonly<Record<string, unknown>>,
): Promise<TrainingEnvs> {
  const shared = named?.given(given) ?? {};
  const mixed = await Promise.all(
    texts.map((each, i) =>
      i === 0 && named
        ? firstEnv(named, given, texts.length === 1 ? before : undefined)
        : listedEnv(each, shared),
    ),
  );
  const others = await Promise.all((given.evaluateOn ?? []).map((each) => listedEnv(each, shared)));
  const names = namesOf(mixed);
  const weights = readWeights(given.weights, names);
  namesOf(others, mixed);
  if (mixed.length > 1 && (given.record || given.replay)) {
    const flag = given.record ? '--record' : '--replay';
    throw new ToolEnvError('usage.arguments', `${flag} is for a single environment: name one.`);
  }
  if (mixed.length > 1 && given.prompts !== undefined) {
    const message = '--prompts is for a single environment: name one.';
    throw new ToolEnvError('usage.arguments', message);
  }
  const [own] = mixed;
  const identity =
    mixed.length < 2
      ? { env: typeof own?.source === 'object' ? own.source.name : own?.source, envOptions: own?.options }
      : {
          env: mixed.map(({ text: typed }) => typed).join(' + '),
          envOptions: {
            ...Object.fromEntries(mixed.map(({ options }, i) => [names[i]!, options])),
            ...(weights && { weights }),
          },
        };
  return { identity, open: (settings) => openAll({ mixed, others, weights, identity }, settings) };
}

function firstEnv(
  named: PluginFlags<'envs'>,
  given: TrainingFlags & Record<string, unknown>,
  before: Readonly<Record<string, unknown>> | undefined,
): ListedEnv {
  const { plugin, source, options } = named.chosen(given, recordedOptions(before, 'env', named.recordedName));
  const [roles, texts] = [Object.keys(plugin.roles), Object.keys(plugin.prompts ?? {})];
  return { source, options, text: named.name, roles, texts };
}

async function listedEnv(text: string, shared: Record<string, unknown>): Promise<ListedEnv> {
  const [name = '', query = ''] = text.split(/\?(.*)/s);
  const found = await findEnv(name);
  if (!found) throw new ToolEnvError('usage.not_an_environment', `${name} is not an environment.`);
  const { definition, source } = found;
  const known = Object.keys(propertiesOf(definition.options));
  const inherited = Object.fromEntries(Object.entries(shared).filter(([option]) => known.includes(option)));
  const set = readPairs(definition.options, query === '' ? [] : query.split('&'), name);
  const options = completeOptions(definition.options, { ...inherited, ...set }, name);
  const [roles, texts] = [Object.keys(definition.roles), Object.keys(definition.prompts ?? {})];
  return { source, options, text, roles, texts };
}

/** @param known Other environments, whose names must differ too. The same environment may be among them. */
function namesOf(envs: readonly ListedEnv[], known: readonly ListedEnv[] = []): string[] {
  const texts = envs.map(({ text }) => text);
  const others = known.map(({ text }) => text).filter((text) => !texts.includes(text));
  return shortNames([...texts, ...others]).slice(0, texts.length);
}

function readWeights(text: string | undefined, names: readonly string[]): Record<string, number> | undefined {
  if (text === undefined) return undefined;
  const weights = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  if (weights.length === names.length && weights.every((weight) => weight >= 0))
    return Object.fromEntries(names.map((name, i) => [name, weights[i]!]));
  const expected = `${names.length} ${names.length === 1 ? 'number' : 'numbers'} from 0 up, one for each environment`;
  throw new ToolEnvError('usage.bad_flag', `--weights ${text}: give ${expected}.`);
}

/** Opens everything, or nothing if one fails. */
async function openAll(
  {
    mixed,
    others,
    weights,
    identity,
  }: Pick<TrainingEnvs, 'identity'> & {
    mixed: readonly ListedEnv[];
    others: readonly ListedEnv[];
    weights: Record<string, number> | undefined;
  },
  { tap, tool = [], prompts: file, ...flags }: EnvFlags & { seed: number; tap?: ToolTap | undefined },
): Promise<OpenedTrainingEnvs> {
  const open: OpenedEnv<unknown>[] = [];
  const given = file === undefined ? [] : Object.keys(await readPrompts(file));
  const openOne = async (chosen: ListedEnv, ownTap?: ToolTap) => {
    const isForIt = (pair: string) => mixed.length === 1 || chosen.roles.includes(pair.split('=')[0]!);
    // Others than the first may lack the texts.
    const hasTexts = chosen === mixed[0] || given.every((name) => chosen.texts.includes(name));
    const prompts = hasTexts ? file : undefined;
    const env = await openRunEnv(chosen, { ...flags, tool: tool.filter(isForIt), prompts, tap: ownTap });
    open.push(env);
    return env;
  };
  const close = async () => void (await Promise.all(open.map((each) => each.close())));
  try {
    const training: OpenedEnv<unknown>[] = [];
    for (const chosen of mixed) training.push(await openOne(chosen, tap));
    const evaluateOn: Record<string, EnvHandle<unknown>> = {};
    for (const [i, name] of namesOf(others, mixed).entries()) evaluateOn[name] = await openOne(others[i]!);
    if (training.length < 2) return { env: training[0], evaluateOn, close };
    const mix = mixEnvs(Object.fromEntries(namesOf(mixed).map((name, i) => [name, training[i]!])), {
      weights,
    });
    const tools = Object.assign({}, ...training.map((each) => each.tools));
    const { env: ref = '', envOptions: options = {} } = identity;
    const disposal = { close, [Symbol.asyncDispose]: close };
    return {
      env: { ...(mix as EnvHandle<unknown>), ...disposal, ref, options, tools },
      evaluateOn,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * `lookup-v1` for `@toolenv/envs-qa/lookup-v1?topK=3`; with its options where another environment has the name, and the whole text
 * where that does not tell them apart.
 * @throws ToolEnvError `usage.arguments` for a text that is there twice.
 */
export function shortNames(texts: readonly string[]): string[] {
  const forms = texts.map((text) => {
    const [reference = '', query] = text.split(/\?(.*)/s);
    const short = basename(reference);
    return [short, query === undefined ? short : `${short}?${query}`, text];
  });
  const isUnique = (form: string, length: number) =>
    forms.filter((others) => others[length] === form).length === 1;
  return forms.map((own, index) => {
    const name = own.find(isUnique);
    if (name !== undefined) return name;
    const message = `${texts[index]} is named twice: give one of them other options.`;
    throw new ToolEnvError('usage.arguments', message);
  });
}
