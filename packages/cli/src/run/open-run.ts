/** Opens what a run needs: the environment, whose tools may be recorded or replayed, and the policy. */
import {
  type Observation,
  type OpenEnvSettings,
  type OpenedEnv,
  openEnv,
  type Split,
  ToolEnvError,
} from '@toolenv/core';
import { changeableOptions, type OpeningRun, type PolicyHandle } from '@toolenv/core/plugins';
import { readPrompts, recordEnv, replayEnv, type ToolTap } from '@toolenv/core/recording';
import { untilAborted } from '@toolenv/core/tools';
import { type Skill, withSkill } from '@toolenv/core/wrappers';
import { Option } from 'commander';
import { importPackage } from '../flags/import-optional.ts';
import type { ResolvedPlugin } from '../flags/plugin-flags.ts';
import { fullName } from '../subject/full-name.ts';
import { readSkill } from './read-skill.ts';

/** The argument of a command that opens an environment. */
export const environmentHelp =
  'reference, such as @toolenv/envs-qa/bridge-v1, or a module; its options are flags';

/** What the flags of {@link envFlags} give. */
export interface EnvFlags {
  envOption?: string[];
  tool?: string[];
  prompts?: string;
  skill?: string[];
  agent?: string;
  agentTurns?: number;
  agentConfine?: boolean;
}

/** The flags of every command that opens an environment. */
export function envFlags(): Option[] {
  return [
    new Option(
      '--env-option <key=value...>',
      "set the environment's options by name; each option is also a flag, or --env-<name> if another flag has its name",
    ),
    new Option(
      '--tool <role=reference...>',
      "use this tool plugin in a role, instead of the environment's own",
    ),
    new Option(
      '--prompts <file>',
      'replace open texts of the environment by those of a JSON file, such as the prompts.json of a run',
    ),
    new Option(
      '--skill <folder>',
      'add a skill, a folder with SKILL.md, to the system message; none: no skill. eval compares the skills of several --skill on the same tasks',
    ).argParser((folder: string, before: string[] = []) => [...before, folder]),
  ];
}

/** The flags of commands that play many episodes. */
export function agentFlags(): Option[] {
  return [
    new Option(
      '--agent <name>',
      'let an installed coding agent play the episodes in its own loop, with the policy as its model: claude-code, cline, codex, continue, opencode, pi or qwen-code, or acp:<command> for a program that speaks the Agent Client Protocol',
    ),
    new Option('--agent-turns <count>', 'most requests of the agent in an episode (default: 20)').argParser(
      (text) => {
        const count = Number(text);
        if (Number.isSafeInteger(count) && count >= 1) return count;
        throw new ToolEnvError('usage.bad_flag', `--agent-turns ${text}: expected a whole number from 1.`);
      },
    ),
    new Option(
      '--agent-confine',
      'show the agent nothing of this machine but its installation, its model and the tools (Linux, with bubblewrap)',
    ),
  ];
}

/** What the flags of {@link recordingFlags} give. */
export interface RecordingFlags {
  record?: string;
  replay?: string;
}

export function recordingFlags(): Option[] {
  return [
    new Option(
      '--record <file>',
      "record every call of the environment's tools, and every turn of a model on a server, in a new file",
    ),
    new Option(
      '--replay <file>',
      "answer the calls of the environment's tools from a recording, without running the tools, and the turns of a model on a server without asking it",
    ).conflicts('record'),
  ];
}

export interface OpenRun<Env> {
  /** What `open` gave. */
  opened: Env;
  policy: PolicyHandle;
  /** Ends a recording, or refuses a replay that made fewer calls than its recording. For runs that ended well. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the environments and the policy, whose turns may be recorded or replayed too.
 * @param open Opens the environments, whose tools may be recorded or replayed.
 * @throws ToolEnvError What opening the environment, its recording or the policy throws, and the signal's reason; then nothing stays open.
 */
export async function openRun<Opened extends { close(): Promise<void> }>(
  open: (tap: ToolTap | undefined) => Promise<Opened>,
  chosen: ResolvedPlugin<'policies'>,
  { record, replay, seed, signal, deadline, revision }: RecordingFlags & OpeningRun,
): Promise<OpenRun<Opened>> {
  const { plugin, options } = chosen;
  const tap = record ? recordEnv(record) : replay ? await replayEnv(replay) : undefined;
  // An environment without tools can be recorded if the policy can, which is known once the policy is open.
  let name: string | undefined;
  const opened = await open(
    tap && {
      ...tap,
      opened(env) {
        name = env;
      },
    },
  );
  try {
    // A policy may ignore the signal.
    const openPolicy = () =>
      untilAborted(signal, () => plugin.open(options, { seed, signal, deadline, revision }));
    const identity = { name: plugin.name, options: identityOptions(chosen) };
    const policy: PolicyHandle = tap ? await tap.policy(identity, openPolicy) : await openPolicy();
    try {
      if (name !== undefined) tap?.opened(name);
    } catch (error) {
      await policy.close?.();
      throw error;
    }
    return {
      opened,
      policy,
      finish: async () => tap?.finish(),
      async close() {
        try {
          await policy.close?.();
        } finally {
          await opened.close();
        }
      },
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

interface OpeningSettings {
  seed: number;
  tap?: ToolTap | undefined;
  /** Folder that plugins are looked for from. Default: the working folder. */
  from?: string;
}

/**
 * @throws ToolEnvError What `openEnv`, `readPrompts` and `readSkill` throw; `usage.bad_flag` for several skills, and for limits of no agent; `usage.missing_package` and
 *   `usage.unknown_agent` for an agent.
 */
export async function openRunEnv(
  { source, options }: Pick<ResolvedPlugin<'envs'>, 'source' | 'options'>,
  { seed, tap, tool, prompts: file, skill: skills = [], from, ...agents }: EnvFlags & OpeningSettings,
): Promise<OpenedEnv<unknown>> {
  if (skills.length > 1)
    throw new ToolEnvError(
      'usage.bad_flag',
      `--skill ${skills[1]}: only eval takes several skills. Give one.`,
    );
  refuseWithoutAgent(agents);
  const [path = noSkill] = skills;
  const skill = path === noSkill ? undefined : await readSkill(path);
  const texts = file === undefined ? undefined : await readPrompts(file);
  const { skill: ofSkill, ...others } = texts ?? {};
  const prompts = skill && ofSkill !== undefined ? others : texts;
  const env = await openSource({ source, options }, { seed, tools: readTools(tool), tap, prompts, from });
  const shown = skill && { ...skill, text: ofSkill ?? skill.text };
  if (agents.agent !== undefined) return playedBy(agents.agent, agents, shown, env);
  return shown ? withSkill(env, shown) : env;
}

function refuseWithoutAgent({ agent, agentTurns, agentConfine }: EnvFlags): void {
  const flag = agentTurns !== undefined ? '--agent-turns' : agentConfine && '--agent-confine';
  if (flag && agent === undefined)
    throw new ToolEnvError('usage.bad_flag', `${flag} needs --agent: name the agent.`);
}

async function playedBy(
  agent: string,
  { agentTurns: maxTurns, agentConfine: confine = false }: EnvFlags,
  skill: Skill | undefined,
  env: OpenedEnv<unknown>,
): Promise<OpenedEnv<unknown>> {
  try {
    const { harnessNamed, withHarness } = await importPackage('harnesses', '--agent');
    const options = { confine, ...(skill && { skill }), ...(maxTurns !== undefined && { maxTurns }) };
    return (await withHarness(env, harnessNamed(agent), options)) as OpenedEnv<unknown>;
  } catch (error) {
    await env.close();
    throw error;
  }
}

/** What `--skill` names for an environment without a skill. */
export const noSkill = 'none';

/** Opens an environment by its reference or from its definition, whichever the source is. */
export function openSource(
  { source, options }: Pick<ResolvedPlugin<'envs'>, 'source' | 'options'>,
  settings: OpenEnvSettings,
): Promise<OpenedEnv<unknown>> {
  return typeof source === 'string' ? openEnv(source, options, settings) : openEnv(source, options, settings);
}

/** The options of a policy that a resumed run must have too. */
export function identityOptions({ plugin, options }: ResolvedPlugin<'policies'>): Record<string, unknown> {
  const mayChange = changeableOptions(plugin.options, options);
  return Object.fromEntries(Object.entries(options).filter(([name]) => !mayChange.includes(name)));
}

/** The tools that `--tool` puts into roles. */
export function readTools(pairs: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(pairs.map(readTool));
}

function readTool(pair: string): [role: string, ref: string] {
  const at = pair.indexOf('=');
  if (at > 0) return [pair.slice(0, at), fullName(pair.slice(at + 1), ['tools'])];
  const message = `--tool ${pair}: write it as role=reference, such as search=@toolenv/tools-search/search-v1.`;
  throw new ToolEnvError('usage.bad_flag', message);
}

/** What an environment shows once it is open: its tasks, and what the model reads first. */
export interface OpenedDetails {
  /** Tasks of each split. */
  tasks: Record<Split, number>;
  /** Of the first task of `split`; absent if the environment has no tasks. */
  observation?: Observation;
  split?: Split;
  /** Tool → milliseconds that a call may take, for tools with a limit of their own. */
  toolTimeouts?: Record<string, number>;
}

/** @throws What opening the environment throws. */
export async function openedDetails(
  chosen: Parameters<typeof openRunEnv>[0],
  { tool, seed, from, signal }: EnvFlags & { seed: number; from: string; signal: AbortSignal },
): Promise<OpenedDetails> {
  const open = await openRunEnv(chosen, { tool, seed, from });
  try {
    const { train, validation, test } = open.tasks;
    const tasks = {
      train: await train.length,
      validation: await validation.length,
      test: await test.length,
    };
    const split = (['train', 'validation', 'test'] as const).find((each) => tasks[each] > 0);
    if (split === undefined) return { tasks };
    const episode = open.episode();
    try {
      const observation = await episode.reset({ task: await open.tasks[split].get(0), seed, signal });
      const limited = (episode.tools?.() ?? []).flatMap(({ name, timeout }) =>
        timeout ? [[name, timeout]] : [],
      );
      return { tasks, split, observation, toolTimeouts: Object.fromEntries(limited) };
    } finally {
      await episode.close();
    }
  } finally {
    await open.close();
  }
}
