/** tinkerPolicy: opens a base model on a Tinker server as a policy that samples and trains there. */
import { type EncodedRow, type Observation, type PlainText, ToolEnvError } from '@toolenv/core';
import type { TokenChat } from '@toolenv/core/remote';
import { Deadline } from '@toolenv/core/tools';
import { Connection, type ConnectionOptions } from './connection.ts';
import { probeNormalisation } from './normalisation.ts';
import { RemoteModel } from './remote-model.ts';
import { Session } from './session.ts';
import { SharedModel } from './shared-model.ts';
import { TinkerLearner } from './tinker-learner.ts';
import { TinkerPolicy } from './tinker-policy.ts';

export interface TinkerPolicyOptions extends ConnectionOptions {
  /** As the server names it. Default: the server's only model. */
  baseModel?: string | undefined;
  /** The model's tokens: what `openChat` of `@toolenv/policy/chat` gives. */
  tokens: {
    chat: TokenChat;
    contextLength: number;
    vocabularySize: number;
    /** For training on conversations and texts. */
    encode?: (example: Observation | PlainText) => EncodedRow[];
  };
  /** Tokens of a prompt and its action together, if the server has room for fewer than the tokenizer's model. */
  contextLength?: number | undefined;
  /** Of the adapter. 0 trains every weight, which SkyRL does on FSDP and Megatron. Default 32. */
  rank?: number | undefined;
  /** Seeds the initial adapter. Default 1. */
  seed?: number | undefined;
  /**
   * The gradient norm to which the server clips, which no request can change. Default: 0, no clipping, where the server takes
   * means (JAX); 1 where it takes sums (FSDP, Megatron), as SkyRL's configuration has it.
   */
  clipsAt?: number | undefined;
  /** Ends the opening, with its reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds that the opening may take. Default: unlimited. */
  deadline?: number | undefined;
  /** Folder of a checkpoint to begin with. */
  checkpoint?: string | undefined;
}

/**
 * Creates a model on the server, after a probe of the server's rules on a model that is thrown away. Close the policy, so that the
 * server unloads its models.
 * @throws ToolEnvError `usage.tinker_*`, `usage.checkpoint_*` and `infrastructure.tinker_*`, naming the remedy.
 */
export async function tinkerPolicy(options: TinkerPolicyOptions): Promise<TinkerPolicy> {
  const { tokens, rank = 32, seed = 1, checkpoint } = options;
  const connection = new Connection(options);
  const { signal: parent, deadline: after } = options;
  const reason = () => {
    const message = `${connection.url} has made no model in ${after! / 1000} s: start the server, or raise --deadline.`;
    return new ToolEnvError('infrastructure.tinker_unreachable', message);
  };
  const deadline = new Deadline({ ...(parent && { parent }), ...(after && { after }), reason });
  const { signal } = deadline;
  signal.throwIfAborted();
  let session: Session | undefined;
  const leave = () => {
    session?.close();
    connection.close();
  };
  // One that has aborted no longer waits for the server.
  signal.addEventListener('abort', leave);
  try {
    session = await Session.open(connection, options.baseModel);
    const shape = { rank, seed };
    const normalisation = await probeNormalisation(session, shape);
    const shared = new SharedModel(await RemoteModel.create(session, shape));
    const clipsAt = options.clipsAt ?? (normalisation === 'mean' ? 0 : 1);
    const learner = new TinkerLearner({ session, shape, shared, normalisation, clipsAt });
    if (checkpoint !== undefined) await learner.load(checkpoint);
    const { chat, vocabularySize, encode } = tokens;
    const contextLength = Math.min(tokens.contextLength, options.contextLength ?? Number.POSITIVE_INFINITY);
    const name = `tinker:${connection.url}#${session.baseModel}`;
    // The server samples with another engine than it trains with.
    const known = chat.toldTools === false && { capabilities: { knownTools: true } };
    const spec = { name, contextLength, usesSeparateSampler: true, ...known };
    return new TinkerPolicy({ spec, connection, shared, learner, chat, vocabularySize, encode, leave });
  } catch (error) {
    leave();
    signal.throwIfAborted();
    throw error;
  } finally {
    deadline.clear();
    signal.removeEventListener('abort', leave);
  }
}
