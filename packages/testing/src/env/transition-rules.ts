/** The rules that every transition must follow, whatever the action. */
import type {
  EnvSpec,
  JsonSchema,
  Observation,
  Rewards,
  ToolCall,
  ToolCallRecord,
  ToolDescription,
  Transition,
} from '@toolenv/core';
import { type Action, isParseFailure, type ParseFailure, rewardTolerance } from '@toolenv/core';
import { validate, wireSchemas } from '@toolenv/core/schemas';
import { notJson } from '../json-value.ts';
import type { RuleId } from '../rules.ts';
import { brief, Violation } from '../violation.ts';

/** The step that a transition answers. */
export interface StepTaken {
  action: Action;
  spec: EnvSpec;
  /** Tools that the policy could call. */
  offered: readonly ToolDescription[];
  /** The conversation that the action is a turn of. */
  conversation?: string | undefined;
  /** Number of the step among those of the first player, from 1. */
  turn: number;
}

/** Room for the note that says how much of a text was cut. */
const noteLength = 60;

/** A transition as it crosses a wire: the cause of an aborted outcome becomes its code and message. */
export function plainTransition(transition: Transition): { observation: Observation; outcome: object } {
  const { outcome } = transition ?? {};
  if (outcome?.kind !== 'aborted' || !outcome.cause) return transition;
  const { code, message } = outcome.cause;
  return { ...transition, outcome: { ...outcome, cause: { code, message } } };
}

/** @throws Violation unless the value is a well-formed transition. */
export function checkTransitionForm(transition: Transition): void {
  const infinite = Object.entries(transition?.rewards ?? {}).find(
    ([, value]) => typeof value === 'number' && !Number.isFinite(value),
  );
  if (infinite) throw new Violation('ENV-21', `a finite "${infinite[0]}", or null`, String(infinite[1]));
  const plain = plainTransition(transition);
  const unheld = notJson(plain);
  if (unheld) throw new Violation('ENV-16', 'a transition that JSON can hold', unheld);
  const wrong = validate(wireSchemas.transition, plain)[0];
  if (!wrong) return;
  const expected = `${wrong.path || 'the transition'} ${wrong.expected}`;
  throw new Violation(ruleOf(wrong.path), expected, wrong.received);
}

/** The rules that a well-formed transition breaks. */
export function* transitionViolations(transition: Transition, step: StepTaken): Generator<Violation> {
  yield* toolViolations(transition.observation.tools);
  const { outcome, rewards } = transition;
  const isAborted = outcome.kind === 'aborted';
  if (isAborted !== (rewards === undefined)) {
    const expected = isAborted ? 'no rewards in an aborted transition' : 'an object of rewards';
    yield new Violation('ENV-18', expected, brief(rewards));
  }
  if (rewards) yield* rewardViolations(rewards, transition, step.spec);
  yield* playerViolations(transition, step.spec);
  const asksPlayer = step.spec.players?.includes(transition.observation.conversation ?? '');
  if (step.turn >= step.spec.limits.maxTurns && outcome.kind === 'running' && !asksPlayer) {
    yield new Violation('ENV-23', `the end at step ${step.spec.limits.maxTurns}`, brief(outcome));
  }
  if (step.action.stopReason === 'length') yield* cutOffViolations(transition, step);
  else if (!isAborted) yield* callViolations(transition.calls, step);
}

/** Tool names must be distinct, and their schemas valid. */
export function* toolViolations(tools: readonly ToolDescription[]): Generator<Violation> {
  const names = tools.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    yield new Violation('ENV-14', 'tools with distinct names', `two tools named "${twice}"`);
  for (const { name, inputSchema } of tools) {
    if (!/^[\w.:/-]+$/.test(name)) {
      const hint = `Rename the tool, because model servers refuse such a name: "${name.replaceAll(/\W+/g, '_')}".`;
      yield new Violation('ENV-14', 'names of tools without spaces and quotation marks', `"${name}"`, hint);
    }
    const wrong = schemaError(inputSchema);
    const expected = `a valid inputSchema of tool "${name}"`;
    if (wrong) yield new Violation('ENV-14', expected, wrong, schemaHint);
    const absent = undeclared(inputSchema);
    const schema = `"required" of tool "${name}" to name properties`;
    if (absent) yield new Violation('ENV-14', schema, `"${absent}", which "properties" lacks`, schemaHint);
  }
}

const schemaHint =
  "Write a JSON Schema of an object: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }.";

/** A required property that no call can guess, because the schema names others only. */
function undeclared({ type, properties, required, ...rest }: JsonSchema): string | undefined {
  const isPlain = Object.keys(rest).every((word) =>
    ['additionalProperties', '$schema', 'description', 'title'].includes(word),
  );
  if (!isPlain || !Array.isArray(required) || typeof properties !== 'object' || properties === null)
    return undefined;
  return required.find((name) => !Object.hasOwn(properties, name));
}

/** Why a schema itself is invalid; `undefined` if it is valid. */
export function schemaError(schema: JsonSchema): string | undefined {
  try {
    validate(schema, {});
    return undefined;
  } catch (error) {
    return brief(error);
  }
}

function ruleOf(path: string): RuleId {
  if (path.startsWith('/observation')) return 'ENV-14';
  if (path.startsWith('/rewards')) return 'ENV-21';
  if (path.startsWith('/calls')) return path.includes('/mistake') ? 'ENV-25' : 'ENV-26';
  if (path.startsWith('/learn')) return 'ENV-38';
  if (path.startsWith('/playerRewards')) return 'ENV-39';
  return path.startsWith('/info') ? 'ENV-16' : 'ENV-17';
}

function* rewardViolations(rewards: Rewards, { outcome }: Transition, spec: EnvSpec): Generator<Violation> {
  for (const [name, value] of Object.entries(rewards)) {
    const component = Object.hasOwn(spec.rewards, name) ? spec.rewards[name] : undefined;
    if (!component) {
      const declared = Object.keys(spec.rewards).join(', ') || 'none';
      yield new Violation('ENV-20', `a declared component (${declared})`, `"${name}"`);
      continue;
    }
    if (value === null) continue;
    const [low, high] = component.range;
    if (!(value >= low - rewardTolerance && value <= high + rewardTolerance)) {
      yield new Violation('ENV-21', `"${name}" within [${low}, ${high}]`, brief(value));
    }
    if (component.kind === 'outcome' && outcome.kind === 'running') {
      yield new Violation('ENV-19', `"${name}" unscored while the episode runs`, brief(value));
    }
  }
  for (const [name, { kind }] of Object.entries(outcome.kind === 'truncated' ? spec.rewards : {})) {
    if (kind === 'outcome' && (rewards[name] ?? null) === null) {
      yield new Violation('ENV-22', `a value of "${name}" in a truncated episode`, brief(rewards));
    }
  }
}

function* playerViolations(transition: Transition, spec: EnvSpec): Generator<Violation> {
  const { playerRewards = {} } = transition;
  for (const [player, rewards] of Object.entries(playerRewards)) {
    if (spec.players?.includes(player)) yield* rewardViolations(rewards, transition, spec);
    else yield new Violation('ENV-39', `a player of the spec (${spec.players ?? 'none'})`, `"${player}"`);
  }
}

function* cutOffViolations(
  { outcome, calls }: Transition,
  { conversation }: StepTaken,
): Generator<Violation> {
  const isRight = outcome.kind === 'truncated' || conversation !== undefined;
  if (outcome.kind === 'aborted' || (isRight && calls.length === 0)) return;
  yield new Violation('ENV-24', 'a truncated outcome and no calls', brief({ outcome, calls: calls.length }));
}

function* callViolations(records: readonly ToolCallRecord[], step: StepTaken): Generator<Violation> {
  const { toolCalls } = step.action;
  const recorded = records.map(({ call }) => call);
  if (JSON.stringify(recorded) !== JSON.stringify(toolCalls)) {
    yield new Violation('ENV-26', `records of ${brief(toolCalls)}`, brief(recorded));
    return;
  }
  const { maxToolCharacters } = step.spec.limits;
  for (const [index, { text, mistake }] of records.entries()) {
    if (text.length > maxToolCharacters + noteLength) {
      const expected = `a text of ${maxToolCharacters} characters at most`;
      yield new Violation('ENV-35', expected, `${text.length} characters`);
    }
    const allowed = mistakesOf(toolCalls[index]!, index, step);
    const code = mistake?.code ?? 'none';
    if (!allowed.includes(code)) {
      const expected = `mistake ${allowed.join(' or ')} for call ${index + 1}: ${brief(toolCalls[index])}`;
      yield new Violation('ENV-25', expected, brief(mistake ?? 'none'));
    }
  }
}

/** Codes of the mistakes that may answer a call. */
function mistakesOf(call: ToolCall | ParseFailure, index: number, { offered, spec }: StepTaken): string[] {
  const late = index >= spec.limits.maxCallsPerTurn ? ['too_many_calls'] : [];
  if (isParseFailure(call)) return ['malformed_call', ...late];
  const tool = offered.find(({ name }) => name === call.name);
  if (!tool) return ['unknown_tool', ...late];
  if (validate(tool.inputSchema, call.arguments).length > 0) return ['invalid_arguments', ...late];
  // A tool may refuse arguments that its schema allows.
  return late.length > 0 ? late : ['none', 'invalid_arguments'];
}
