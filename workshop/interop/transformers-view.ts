/** What transformers makes of a checkpoint folder: asks transformers_view.py, which says what a request has. */
import { join } from 'node:path';
import { jsonOf } from './programs.ts';

export interface TransformersView {
  /** base64 of float32 [T, vocabulary] for each sequence. */
  logits: string[];
  ids: number[][];
  rendered: string[];
  rendered_ids: number[][];
  auto_tokenizer: { name: string; rendered_ids: number[][] };
  /** Of the examples, in one padded batch. */
  loss?: number;
  /** The likeliest tokens after each conversation. */
  greedy?: number[][];
}

/** @throws Error if transformers cannot open the folder; Python's output is on stderr. */
export function askTransformers(python: string, request: object): Promise<TransformersView> {
  return jsonOf(python, [join(import.meta.dirname, 'transformers_view.py')], request);
}

/** The numbers of {@link TransformersView.logits}. */
export function floatsOf(base64: string): Float32Array {
  const bytes = Buffer.from(base64, 'base64');
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
}

/** Infinity for NaN or different lengths. */
export function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  let largest = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs(a[i]! - b[i]!);
    if (!(difference <= largest)) largest = Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference;
  }
  return largest;
}
