/** SandboxProvider: what a package publishes for a kind of sandbox. */
import type { JsonSchema } from '../protocol/json-schema.ts';
import type { Sandbox } from '../protocol/sandbox.ts';

/** Makes the sandboxes of a run. */
export interface SandboxHost {
  /**
   * A new sandbox. It shares neither files nor processes with another.
   * @throws ToolEnvError `infrastructure.*` if it cannot be made.
   */
  sandbox(request?: { signal?: AbortSignal }): Promise<Sandbox>;
  /** Closes what is kept for the run, and the sandboxes that are still open. */
  close(): Promise<void>;
}

/** A sandbox that an ended process has left. */
export interface SandboxOrphan {
  /** Names it for a person. */
  name: string;
  remove(): Promise<void>;
}

/** What a provider can do on this machine. */
export interface SandboxReport {
  /** Why no sandbox can be made here, with the remedy; absent if sandboxes can be made. */
  problem?: string;
  /** What limits a command, by what is limited: `{ memory: 'cgroup', processes: 'none: …' }`. */
  limits: Readonly<Record<string, string>>;
  orphans: readonly SandboxOrphan[];
}

/** A kind of sandbox that a package publishes. */
export interface SandboxProvider<Options = Record<string, unknown>> {
  /** `<name>-v<N>`. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of `Options`, with defaults. */
  readonly options: JsonSchema;
  /**
   * Prepares what the sandboxes of a run share.
   * @throws ToolEnvError `usage.*` if this machine lacks what the provider needs, with the remedy.
   */
  open(options: Options): Promise<SandboxHost>;
  /** Says whether sandboxes can be made here. Makes none that stays, and never throws for what is missing. */
  inspect(options: Options): Promise<SandboxReport>;
}

/** Types the options of a provider. Returns its argument. */
export function defineSandboxProvider<Options>(provider: SandboxProvider<Options>): SandboxProvider<Options> {
  return provider;
}
