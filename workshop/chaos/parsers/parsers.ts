/** The part `parsers`: 200,000 texts for each format of tool calls, with a bound on the time of each. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { callFormats } from '@toolenv/core/tools';
import { inChild } from '../in-child.ts';
import { checkNone, type PartInput, type Reporter } from '../part.ts';
import { bound, type TextRange } from './parse-texts.ts';

/** Texts of each format, and milliseconds in which a process must have read its share of them. */
const full = { texts: 200_000, limit: 150_000 };
const quick = { texts: 2_000, limit: 30_000 };

export async function run({ quick: isQuick, seed }: PartInput, { say, report }: Reporter): Promise<void> {
  const { texts, limit } = isQuick ? quick : full;
  const processes = Math.min(4, availableParallelism());
  const share = Math.ceil(texts / processes);
  for (const { name: format } of callFormats) {
    const started = performance.now();
    const ranges = Array.from({ length: processes }, (_, index) => ({
      format,
      seed,
      from: index * share,
      to: Math.min(texts, (index + 1) * share),
    }));
    const results = await Promise.all(ranges.map((range) => parse(range, limit)));
    const done = results.reduce((sum, each) => sum + each.done, 0);
    const seconds = (performance.now() - started) / 1000;
    say(`${format}: ${done} texts`);
    const detail = `${done} texts in ${seconds.toFixed(0)} s, each within ${bound.text} ms and ${bound.kilobyte} ms for each kilobyte`;
    report(
      checkNone(
        `calls as ${format} writes them`,
        results.flatMap(({ wrong }) => wrong),
        detail,
      ),
    );
  }
}

async function parse(range: TextRange, limit: number): Promise<{ done: number; wrong: string[] }> {
  let done = 0;
  const say = (line: string) => {
    done = Number(line);
  };
  const end = await inChild<string[]>(join(import.meta.dirname, 'parse-texts.ts'), range, { limit, say });
  if (end.kind === 'returned') return { done, wrong: [...end.value, ...end.escapes] };
  const where = `among the 1,000 texts from number ${range.from + done}`;
  if (end.kind === 'hung') return { done, wrong: [`did not end within ${limit / 1000} s: stopped ${where}`] };
  return { done, wrong: [`ended ${where}: ${end.kind === 'threw' ? end.message : end.output || end.how}`] };
}
