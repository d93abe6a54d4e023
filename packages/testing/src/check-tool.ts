/** checkTool: checks a tool against the TOOL rules of the spec. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonSchema, Tool, ToolContext, ToolPlugin, ToolResult } from '@toolenv/core';
import { createRng, deriveSeed } from '@toolenv/core';
import { validate, wireSchemas } from '@toolenv/core/schemas';
import fc from 'fast-check';
import { schemaError } from './env/transition-rules.ts';
import { ignoredSignal } from './ignored-signal.ts';
import { answered, withTimeout } from './in-time.ts';
import { notJson } from './json-value.ts';
import { expectNoLeaks } from './leaks.ts';
import { isObjectSchema } from './options-schema.ts';
import { type CheckOptions, type Report, Reporter } from './report.ts';
import type { RuleId } from './rules.ts';
import { schemaValues } from './schema-values.ts';
import { brief, thrownText, Violation } from './violation.ts';

type Arguments = Record<string, unknown>;

export interface CheckToolOptions extends CheckOptions {
  /** Seeds the arguments and the tool. Default 1. */
  seed?: number;
  /** Number of calls with arguments generated from the input schema. Default 100. */
  calls?: number;
  /** Valid arguments to try in addition; required if none can be generated from the schema. */
  examples?: readonly Arguments[];
  /** Milliseconds that a call may take at most. Default 10,000. */
  timeout?: number;
}

/** Milliseconds in which a call must settle once its signal aborts. */
const grace = 1000;

/** Rules that every call is checked against. */
const callRules: readonly RuleId[] = ['TOOL-3', 'TOOL-4', 'TOOL-5', 'TOOL-6', 'TOOL-7', 'TOOL-11', 'TOOL-12'];

/**
 * Makes the tool several times, calls it with arguments that its schema allows, and reports the rules that it breaks.
 * @param subject A plugin, whose example is used, or a function that makes the tool: `() => createSearchTool({ documents })`.
 * @throws Whatever the function throws.
 */
export async function checkTool<Material>(
  subject: ToolPlugin<Material> | (() => Tool | Promise<Tool>),
  options: CheckToolOptions = {},
): Promise<Report> {
  if (typeof subject === 'function') return checkOpened(subject, options);
  const { name, example, create } = subject;
  const open = () => create(example.material);
  const report = new Reporter(`tool "${name}"`, 'TOOL', options);
  await report.check(['TOOL-14'], async () => {
    const expected = "a tool from the example's material";
    if (!example) throw new Violation('TOOL-14', expected, 'no example');
    let tool: Tool | undefined;
    try {
      tool = await open();
      await tool?.close?.();
    } catch (error) {
      throw new Violation('TOOL-14', expected, thrownText(error));
    }
    if (!tool) throw new Violation('TOOL-14', expected, 'create returned nothing: return the tool');
  });
  if (!report.report.ok) return report.report;
  return checkOpened(open, { ...options, examples: [...(example.calls ?? []), ...(options.examples ?? [])] });
}

async function checkOpened(
  open: () => Tool | Promise<Tool>,
  { seed = 1, calls = 100, examples = [], timeout = 10_000, ...options }: CheckToolOptions,
): Promise<Report> {
  const tool = await open();
  const report = new Reporter(`tool "${tool.name}"`, 'TOOL', options);
  const caller = new Caller(tool, report, timeout, seed);
  try {
    await checkDescription(tool, report);
    if (!report.report.ok) return report.report;
    await report.check(['TOOL-14'], () => checkExamples(tool.inputSchema, examples));
    if (report.broken('TOOL-14')) return report.report;
    const args = [...examples, ...validArguments(tool.inputSchema, calls, seed)];
    if (args.length === 0) {
      const reason = 'no valid arguments could be generated from inputSchema: give examples';
      report.skip([...callRules, 'TOOL-8', 'TOOL-9', 'TOOL-10', 'TOOL-13'], reason);
      return report.report;
    }
    await report.check(callRules, () => caller.callAll(args));
    await report.check(['TOOL-8'], () => cancel(caller, args[0]!));
    if (report.report.ok) await report.check(['WARN-7'], () => checkSignal(caller, args[0]!));
    await checkRepeats(caller, args.slice(0, 20));
    await report.check(['TOOL-13'], () => leaves(open, args.slice(0, 5), timeout, seed));
  } finally {
    await tool.close?.();
  }
  return report.report;
}

/** Calls a tool as an environment does, and checks its results. */
class Caller {
  readonly tool: Tool;
  readonly report: Reporter;
  readonly timeout: number;
  readonly #seed: number;

  constructor(tool: Tool, report: Reporter, timeout: number, seed: number) {
    this.tool = tool;
    this.report = report;
    this.timeout = timeout;
    this.#seed = seed;
  }

  /** The context of call number `index`. Its randomness depends only on the seed and `index`. */
  context(index: number, signal: AbortSignal = new AbortController().signal): ToolContext {
    const rng = createRng(this.#seed, 'tool', index);
    return { signal, rng, episodeId: 'check', callIndex: index };
  }

  async callAll(all: readonly Arguments[]): Promise<void> {
    for (const [index, args] of all.entries()) {
      try {
        const result = await this.call(args, index);
        for (const violation of this.#violations(result)) this.report.add(violation);
      } catch (error) {
        if (!(error instanceof Violation)) throw error;
        this.report.add(error);
        // Wait for a hanging tool once only.
        if (error.rule === 'TOOL-12') return;
      }
    }
  }

  async call(args: Arguments, index: number): Promise<ToolResult> {
    const given = structuredClone(args);
    const what = `a result for ${brief(args)}`;
    const result = await answered('TOOL-6', what, 2 * this.timeout, () =>
      withTimeout('TOOL-12', what, this.timeout, () => this.tool.execute(given, this.context(index))),
    );
    if (JSON.stringify(given) !== JSON.stringify(args)) {
      this.report.add(new Violation('TOOL-7', `arguments left as they were: ${brief(args)}`, brief(given)));
    }
    return result;
  }

  *#violations(result: ToolResult): Generator<Violation> {
    const unheld = notJson(result);
    if (unheld) yield new Violation('TOOL-5', 'a result that JSON can hold', unheld);
    const wrong = validate(wireSchemas['tool-result'], result)[0];
    if (wrong) {
      const rule = wrong.path.startsWith('/mistake') ? 'TOOL-11' : 'TOOL-4';
      yield new Violation(rule, `${wrong.path || 'the result'} ${wrong.expected}`, wrong.received);
      return;
    }
    if (result.mistake && (result.isError !== true || result.content.length === 0)) {
      yield new Violation('TOOL-11', 'isError and content together with a mistake', brief(result));
    }
    const { outputSchema } = this.tool;
    if (!outputSchema || result.isError || result.mistake) return;
    const data = validate(outputSchema, result.structuredContent)[0];
    if (!data) return;
    yield new Violation('TOOL-3', `structuredContent${data.path} ${data.expected}`, data.received);
  }
}

async function checkDescription(tool: Tool, report: Reporter): Promise<void> {
  const { name, description, inputSchema, outputSchema, timeout } = tool;
  await report.check(['TOOL-1'], () => {
    if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
      throw new Violation('TOOL-1', 'a name of 1 to 64 letters, digits, "_" or "-"', brief(name));
    }
    if (typeof description !== 'string' || description.trim() === '') {
      throw new Violation('TOOL-1', 'a description', brief(description));
    }
  });
  await report.check(['TOOL-2'], () => {
    if (!isObjectSchema(inputSchema))
      throw new Violation('TOOL-2', 'an inputSchema of type "object"', brief(inputSchema));
    const error = schemaError(inputSchema);
    if (error) throw new Violation('TOOL-2', 'a valid JSON Schema', error);
  });
  await report.check(['TOOL-3'], () => {
    const error = outputSchema && schemaError(outputSchema);
    if (error) throw new Violation('TOOL-3', 'a valid JSON Schema', error);
  });
  await report.check(['TOOL-12'], () => {
    if (timeout === undefined || (typeof timeout === 'number' && timeout > 0)) return;
    throw new Violation('TOOL-12', 'a timeout in milliseconds above 0', brief(timeout));
  });
}

function checkExamples(schema: JsonSchema, examples: readonly Arguments[]): void {
  for (const example of examples) {
    const wrong = validate(schema, example)[0];
    if (wrong)
      throw new Violation('TOOL-14', `${brief(example)}${wrong.path} ${wrong.expected}`, wrong.received);
  }
}

function validArguments(schema: JsonSchema, count: number, seed: number): Arguments[] {
  const candidates = fc.sample(schemaValues(schema), { seed: deriveSeed(seed, 'arguments'), numRuns: count });
  return candidates.filter((value): value is Arguments => validate(schema, value).length === 0);
}

/** Aborts the signal before a call and during one. The call must settle; it may resolve or reject. */
async function cancel(caller: Caller, args: Arguments): Promise<void> {
  const { tool, timeout } = caller;
  const limit = Math.min(grace, timeout);
  for (const [when, delay] of Object.entries({ before: 0, during: 10 })) {
    const controller = new AbortController();
    if (delay === 0) controller.abort(new Error('cancelled by the check'));
    const expected = `a call to settle when its signal aborts ${when} it`;
    const call = (async () => tool.execute(structuredClone(args), caller.context(0, controller.signal)))();
    const settled = call.then(brief, brief);
    await sleep(delay);
    controller.abort(new Error('cancelled by the check'));
    await withTimeout('TOOL-8', expected, limit, () => settled);
  }
}

/** A tool may take a second to stop, but a call that goes on to its end has not heard of its signal. */
async function checkSignal(caller: Caller, args: Arguments): Promise<void> {
  const call = async (signal: AbortSignal) => {
    await caller.tool.execute(structuredClone(args), caller.context(0, signal)).then(brief, brief);
  };
  const ignored = await ignoredSignal((time) => time(call));
  if (ignored !== undefined)
    throw new Violation('WARN-7', 'a call to stop soon after its signal aborts', ignored);
}

/** A tool that only reads, and only its own data, must give equal results for equal calls, concurrent calls included. */
async function checkRepeats(caller: Caller, all: readonly Arguments[]): Promise<void> {
  const { report, tool } = caller;
  const rules: RuleId[] = ['TOOL-9', 'TOOL-10'];
  if (!report.report.ok) {
    report.skip(rules, 'other rules are broken');
    return;
  }
  if (tool.annotations?.readOnlyHint !== true || tool.annotations.openWorldHint !== false) {
    report.skip(rules, 'without readOnlyHint: true and openWorldHint: false, results may change');
    return;
  }
  const alone: string[] = [];
  const repeat = async () => {
    for (const [index, args] of all.entries()) {
      const [first, second] = [await caller.call(args, index), await caller.call(args, index)];
      alone.push(JSON.stringify(first));
      if (JSON.stringify(second) === alone[index]) continue;
      const expected = `the same result for ${brief(args)} again: ${brief(first)}`;
      throw new Violation('TOOL-9', expected, brief(second));
    }
  };
  await report.check(['TOOL-9'], repeat, report.wants('TOOL-10'));
  if (report.settled('TOOL-9')) return;
  await report.check(['TOOL-10'], async () => {
    const together = await Promise.all(all.map((args, index) => caller.call(args, index)));
    const wrong = together.findIndex((result, index) => JSON.stringify(result) !== alone[index]);
    if (wrong < 0) return;
    const expected = `the same result concurrently as alone: ${brief(JSON.parse(alone[wrong]!))}`;
    throw new Violation('TOOL-10', expected, brief(together[wrong]));
  });
}

async function leaves(
  open: () => Tool | Promise<Tool>,
  all: readonly Arguments[],
  timeout: number,
  seed: number,
): Promise<void> {
  const work = async () => {
    const tool = await open();
    const caller = new Caller(tool, new Reporter(tool.name, 'TOOL', {}), timeout, seed);
    await caller.callAll(all);
    await tool.close?.();
  };
  // The first run may open what lasts as long as the process.
  await work();
  await expectNoLeaks('TOOL-13', 'after the calls and close()', work);
}
