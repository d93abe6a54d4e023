/** Draws the training tasks of a mix by the weights of its environments. */
import { drawInEpochs, type TaskDraw, type TaskDrawing, type TaskResult } from '../env/task-draw.ts';
import { createRng, deriveSeed } from '../protocol/rng.ts';

/** The training tasks of one environment of a mix. */
export interface MixPart {
  name: string;
  /** Index of its first task in the mix. */
  offset: number;
  length: number;
  /** Above 0. */
  weight: number;
  /** The environment's own way to draw. */
  draw?: TaskDraw | undefined;
}

/** Every environment has its share of the tasks of each step, to within one task. Within it, tasks are drawn as usual. */
export async function drawByWeights(parts: readonly MixPart[], drawing: TaskDrawing): Promise<number[]> {
  const { count, first, seed, step, attempt } = drawing;
  const places = attempt > 0 ? atRandom(parts, drawing) : inTurn(parts, first, count);
  const tasks = new Array<number>(count);
  for (const [j, part] of parts.entries()) {
    const { name, offset, length, draw } = part;
    const mine = places.filter(({ part: own }) => own === j);
    if (mine.length === 0) continue;
    const own = {
      step,
      attempt,
      count: mine.length,
      first: mine[0]!.earlier,
      seed: deriveSeed(seed, 'mix', name),
    };
    const drawn = draw
      ? await draw({ ...own, results: resultsOf(part, drawing.results) })
      : drawInEpochs(length, own);
    for (const [i, { place }] of mine.entries()) tasks[place] = offset + drawn[i]!;
  }
  return tasks;
}

/** A place in the step, the part that has it, and how many places the part had before. */
interface Place {
  place: number;
  part: number;
  earlier: number;
}

/**
 * Place by place, the part that is due first: the nth task of a part with share s is due at (n + ½) / s. The places of a step
 * can be computed without those of earlier steps.
 */
function inTurn(parts: readonly MixPart[], first: number, count: number): Place[] {
  const total = parts.reduce((sum, { weight }) => sum + weight, 0);
  const due = (part: number, n: number) => ((n + 0.5) * total) / parts[part]!.weight;
  // Fewer places than `first` are due before this time.
  const start = Math.max(0, first - parts.length);
  const had = parts.map(({ weight }, j) => {
    let n = Math.max(0, Math.ceil((start * weight) / total - 0.5));
    while (n > 0 && due(j, n - 1) >= start) n -= 1;
    while (due(j, n) < start) n += 1;
    return n;
  });
  const places: Place[] = [];
  for (let index = had.reduce((sum, n) => sum + n, 0); index < first + count; index++) {
    const part = parts.reduce((best, _, j) => (due(j, had[j]!) < due(best, had[best]!) ? j : best), 0);
    if (index >= first) places.push({ place: index - first, part, earlier: had[part]! });
    had[part]! += 1;
  }
  return places;
}

/** For tasks that replace others. */
function atRandom(parts: readonly MixPart[], { seed, step, attempt, count }: TaskDrawing): Place[] {
  const rng = createRng(seed, 'mix', step, attempt);
  const total = parts.reduce((sum, { weight }) => sum + weight, 0);
  return Array.from({ length: count }, (_, place) => {
    let left = rng.float() * total;
    const part = parts.findIndex(({ weight }) => {
      left -= weight;
      return left < 0;
    });
    return { place, part: part < 0 ? parts.length - 1 : part, earlier: 0 };
  });
}

function resultsOf(
  { offset, length }: MixPart,
  results: ReadonlyMap<number, TaskResult>,
): Map<number, TaskResult> {
  const own = [...results].filter(([index]) => index >= offset && index < offset + length);
  return new Map(own.map(([index, result]) => [index - offset, result]));
}
