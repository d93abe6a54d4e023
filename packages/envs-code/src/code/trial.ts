/**
 * A trial: the program that calls a solution on the inputs of the hidden tests, and what its output says. The solution can do anything
 * to this program, so the program knows no output that is expected, and nothing that it writes is more than a claim to be compared.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Value } from './values.ts';

/** Longer programs are no solutions. */
const maxCharacters = 50_000;

const program = `
import sys, json
def _trial(data):
    dumps, write, flush = json.dumps, sys.stdout.write, sys.stdout.flush
    def plain(value, depth=0):
        kind = type(value)
        if kind in (bool, int, str):
            return value
        if depth < 9 and kind is list:
            return [plain(each, depth + 1) for each in value]
        if depth < 9 and kind is dict:
            return {"dict": [[plain(key, depth + 1), plain(value[key], depth + 1)] for key in value]}
        return {"type": kind.__name__}
    class Quiet:
        def write(self, text):
            return len(text)
        def flush(self):
            pass
    sys.stdout = sys.stderr = Quiet()
    results = []
    try:
        space = {"__name__": "solution"}
        exec(compile(data["code"], "solution", "exec"), space)
        solve = space["solve"]
        for given in data["inputs"]:
            try:
                results.append({"value": plain(solve(given))})
            except BaseException as error:
                results.append({"error": type(error).__name__})
    except BaseException as error:
        results = [{"error": type(error).__name__}]
    write("\\n" + data["mark"] + dumps(results) + "\\n")
    flush()
`;

/** The last block of Python in an answer, or the whole answer if it has no block. */
export function solutionOf(answer: string): string {
  const blocks = [...answer.matchAll(/^```[^\n`]*\n(.*?)^```/gms)];
  return blocks.at(-1)?.[1] ?? answer;
}

/** Whether a program is worth an interpreter: it names the function, and is not too long. */
export function mayPass(code: string): boolean {
  return code.includes('solve') && code.length <= maxCharacters;
}

/** @param mark Begins the line of results. */
export function trialOf(code: string, inputs: readonly Value[], mark: string): string {
  // Escaped twice, so that the program is ASCII whatever the solution has.
  const json = JSON.stringify({ code, inputs, mark }).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${program}\n_trial(json.loads(${JSON.stringify(json)}))\n`;
}

/** Which outputs are right, by what a trial wrote. */
export function judge(written: string, outputs: readonly Value[], mark: string): boolean[] {
  const results = resultsOf(written, mark);
  return outputs.map((output, at) =>
    isDeepStrictEqual(inOrder(results[at]), inOrder({ value: plain(output) })),
  );
}

function resultsOf(written: string, mark: string): unknown[] {
  const line = written.split('\n').findLast((each) => each.startsWith(mark));
  if (line === undefined) return [];
  try {
    const results = JSON.parse(line.slice(mark.length));
    return Array.isArray(results) ? results : [];
  } catch {
    return [];
  }
}

/** As the trial writes a value. */
function plain(value: Value): unknown {
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === 'object'
    ? { dict: Object.entries(value).map(([key, each]) => [key, plain(each)]) }
    : value;
}

/** The result, with the entries of a dictionary in an order of their own. Dictionaries are not nested. */
function inOrder(result: unknown): unknown {
  const dict: unknown = Object(Object(result).value).dict;
  if (!Array.isArray(dict)) return result;
  return { value: { dict: dict.map((entry) => JSON.stringify(entry)).sort() } };
}
