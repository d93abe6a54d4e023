/** sdkAgent: a `HarnessAgent` of the AI SDK (ai-sdk.dev/docs/ai-sdk-harnesses), with the sandbox that it was given. */
import type { Harness, HarnessJob } from './harness.ts';

/** What a `HarnessAgent` has. */
interface HarnessAgent<Session extends { destroy(): Promise<unknown> }> {
  createSession(options: { abortSignal: AbortSignal }): Promise<Session>;
  generate(call: {
    session: Session;
    prompt: string;
    abortSignal: AbortSignal;
  }): PromiseLike<{ text: string }>;
}

/** An agent of the AI SDK. */
export interface SdkAgent<Session extends { destroy(): Promise<unknown> }>
  extends Pick<Harness, 'name' | 'package'> {
  /** The agent of an episode: its model is at `baseURL`, and the environment's tools on the MCP server `tools`. */
  agent(job: HarnessJob): HarnessAgent<Session> | Promise<HarnessAgent<Session>>;
}

/** A session an episode. Its text is the answer. */
export function sdkAgent<Session extends { destroy(): Promise<unknown> }>({
  agent,
  ...harness
}: SdkAgent<Session>): Harness {
  return {
    ...harness,
    async run(job) {
      const { ask: prompt, signal: abortSignal } = job;
      const made = await agent(job);
      const session = await made.createSession({ abortSignal });
      try {
        return (await made.generate({ session, prompt, abortSignal })).text.trim();
      } finally {
        await session.destroy();
      }
    },
  };
}
