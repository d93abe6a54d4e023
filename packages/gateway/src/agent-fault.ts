/** agentFault: whether an agent that failed was let down by the machinery or misled by the model. */
import {
  aborted,
  isInfrastructure,
  messageOf,
  type Outcome,
  ToolEnvError,
  terminated,
  truncated,
} from '@toolenv/core';
import { networkFault } from '@toolenv/core/env';

/** Errors with which frameworks say that the model took too many turns. */
const tooManyTurns = new Set(['GraphRecursionError', 'MaxTurnsExceededError']);
/** Errors with which frameworks say that the model wrote what they cannot use. */
const wrongOutput = new Set(['ModelBehaviorError', 'AI_NoSuchToolError', 'AI_InvalidToolInputError']);

/** Who is to blame for an error of an agent. */
export type FaultSource = 'model' | 'agent';

/**
 * How an episode ends whose agent has thrown. A fault of the model is scored: dropping it would favour policies that crash their agent. Anything else is
 * aborted, and only a fault of the network or of other machinery is worth a second try.
 * @throws The error itself, if it is a ToolEnvError of a bug or of wrong usage.
 */
export function agentFault(error: unknown, blame?: (error: unknown) => FaultSource | undefined): Outcome {
  const name = nameOf(error);
  const blamed = blame?.(error);
  if (blamed === undefined && tooManyTurns.has(name)) return truncated('max_turns');
  if (blamed === 'model' || (blamed === undefined && wrongOutput.has(name)))
    return terminated('agent_failed');
  if (ToolEnvError.isInstance(error) && !isInfrastructure(error)) throw error;
  const fault = networkFault(error);
  if (fault) return aborted(fault);
  const message = `The agent failed: ${messageOf(error)}`;
  return aborted(new ToolEnvError('infrastructure.agent', message, { cause: error }), false);
}

/** Empty for an error whose name cannot be read. */
function nameOf(error: unknown): string {
  try {
    return String(Object(error).name);
  } catch {
    return '';
  }
}
