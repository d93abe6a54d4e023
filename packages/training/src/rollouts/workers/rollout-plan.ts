/** plan.json of a shared folder: what its workers play, and how. All of them must agree, or their episodes could not be merged. */
import {
  type EnvHandle,
  type OnBug,
  type OnDeadline,
  type OnImages,
  type OpenedEnv,
  type Prompts,
  type Split,
  ToolEnvError,
} from '@toolenv/core';
import { jsonWithoutSecrets } from '@toolenv/core/secrets';
import { readJson } from '../../run-folder/read-json.ts';
import { envName } from '../../run-folder/run-config.ts';
import { changesText, differences, valuesOf } from '../../run-folder/run-differences.ts';
import { writeOnce } from './shared-folder.ts';

/** Values are JSON. */
export interface RolloutPlan {
  version: 1;
  env: string;
  envOptions?: Readonly<Record<string, unknown>>;
  /** Role → tool. */
  tools?: Readonly<Record<string, string>>;
  /** Texts in place of the environment's own. */
  prompts?: Prompts;
  split: Split;
  /** Tasks to play, from the first of the split. Absent if a trainer says again and again what to play. */
  count?: number;
  /** Episodes of each task: one group. */
  samples: number;
  seed: number;
  temperature: number;
  maxTokens: number;
  topP?: number;
  topK?: number;
  minP?: number;
  /** Milliseconds of an episode. */
  deadline: number;
  onDeadline: OnDeadline;
  onBug: OnBug;
  onImages: OnImages;
}

/** What a plan says of an environment. */
export function planOfEnv(
  env: EnvHandle<unknown>,
): Pick<RolloutPlan, 'env' | 'envOptions' | 'tools' | 'prompts'> {
  const { options, tools, identity } = env as Partial<OpenedEnv<unknown>>;
  const prompts = identity?.prompts as Prompts | undefined;
  return {
    env: envName(env),
    ...(options && { envOptions: options }),
    ...(tools && { tools }),
    // Also if there are none, so that a worker without texts is refused where others have them.
    ...(env.prompts && { prompts: prompts ?? {} }),
  };
}

/**
 * Writes the plan, unless the folder has the same.
 * @throws ToolEnvError `usage.other_plan` with all differences, if the folder has another.
 */
export async function agreeOnPlan(file: string, plan: RolloutPlan): Promise<void> {
  if (await writeOnce(file, `${jsonWithoutSecrets(plan, 2)}\n`)) return;
  refuseOtherPlan(file, (await readPlan(file))!, plan);
}

/** `undefined` if there is none yet. */
export function readPlan(file: string): Promise<RolloutPlan | undefined> {
  return readJson(file, {
    check(content) {
      const { version, samples } = Object(content);
      if (version === 1 && Number.isInteger(samples)) return content as RolloutPlan;
      throw new Error('it is not a plan of version 1');
    },
    code: 'usage.other_plan',
    remedy: 'choose another folder',
  });
}

/**
 * @param wanted The values that must be those of the plan; others may be absent.
 * @throws ToolEnvError `usage.other_plan` with all differences.
 */
export function refuseOtherPlan(file: string, plan: RolloutPlan, wanted: Partial<RolloutPlan>): void {
  const known = valuesOf({ ...wanted });
  const all = Object.entries(differences(valuesOf({ ...plan }), known));
  const isWhole = wanted.version !== undefined;
  const changes = Object.fromEntries(
    all.filter(([name]) => isWhole || Object.hasOwn(wanted, name.split('.')[0]!)),
  );
  if (Object.keys(changes).length === 0) return;
  const message = `${file} differs: ${changesText(changes)}. Give the same values or another folder.`;
  throw new ToolEnvError('usage.other_plan', message);
}
