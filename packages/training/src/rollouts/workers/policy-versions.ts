/** PolicyVersions: the policy of a worker, in its newest version. A version stays open until its last group ends. */
import { messageOf, ToolEnvError } from '@toolenv/core';
import type { PolicyHandle } from '@toolenv/core/plugins';

/** Opens a version by its name, such as `version-12`; without a name, a policy without versions. */
export type OpenPolicy = (version?: string) => Promise<PolicyHandle>;

/** A version, and what its episodes are stamped with. */
export interface PolicyVersion {
  name: string;
  policyVersion: number;
  restart: number;
}

interface OpenVersion {
  version: PolicyVersion | undefined;
  policy: PolicyHandle;
  groups: number;
}

export interface HeldPolicy {
  policy: PolicyHandle;
  version: PolicyVersion | undefined;
  release(): Promise<void>;
}

export class PolicyVersions {
  readonly #open: OpenPolicy;
  #newest: OpenVersion | undefined;
  /** The last version that could not be opened. */
  #refused: string | undefined;
  /** One version opens at a time. */
  #opening: Promise<unknown> = Promise.resolve();

  constructor(open: OpenPolicy) {
    this.#open = open;
  }

  /** The version that groups get now. */
  get version(): PolicyVersion | undefined {
    return this.#newest?.version;
  }

  /**
   * Holds the wanted version for a group. If it cannot be opened, holds the version before it: a server may not have it yet.
   * @param wanted `undefined` for a policy without versions.
   */
  hold(wanted: PolicyVersion | undefined): Promise<HeldPolicy> {
    const held = this.#opening.then(() => this.#hold(wanted));
    this.#opening = held.catch(() => {});
    return held;
  }

  /** For the end: closes the newest version too. */
  async close(): Promise<void> {
    await this.#opening;
    const newest = this.#newest;
    this.#newest = undefined;
    if (newest?.groups === 0) await newest.policy.close?.();
  }

  async #hold(wanted: PolicyVersion | undefined): Promise<HeldPolicy> {
    if (!this.#newest || this.#newest.version?.name !== wanted?.name) await this.#replace(wanted);
    const used = this.#newest!;
    used.groups += 1;
    return {
      policy: used.policy,
      version: used.version,
      release: async () => {
        used.groups -= 1;
        if (used.groups === 0 && used !== this.#newest) await used.policy.close?.();
      },
    };
  }

  async #replace(version: PolicyVersion | undefined): Promise<void> {
    let policy: PolicyHandle;
    try {
      policy = await this.#open(version?.name);
    } catch (error) {
      if (!this.#newest) throw error;
      const before = this.#newest.version?.name;
      if (this.#refused === version?.name) return;
      this.#refused = version?.name;
      process.emitWarning(
        `${version?.name} cannot be opened (${messageOf(error)}): still playing ${before}.`,
      );
      return;
    }
    const old = this.#newest;
    this.#newest = { version, policy, groups: 0 };
    if (old?.groups === 0) await old.policy.close?.();
  }
}

/** The text with the name of a version in place of `{version}`. */
export function withVersion(text: string, version: string): string {
  return text.replaceAll(versionMark, version);
}

export const versionMark = '{version}';

/** @throws ToolEnvError `usage.policy_version` unless the text has `{version}` exactly where a trainer publishes versions. */
export function checkVersioned(text: string, hasTrainer: boolean): void {
  if (text.includes(versionMark) === hasTrainer) return;
  const message = hasTrainer
    ? `--policy ${text}: a trainer publishes versions in this folder: put {version} in place of the version's name, as in --policy <folder>/policy/{version} or openai:<url>#{version}.`
    : `--policy ${text}: no trainer publishes versions in this folder: name a policy without {version}.`;
  throw new ToolEnvError('usage.policy_version', message);
}
