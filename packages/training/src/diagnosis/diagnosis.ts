/** Diagnosis: a fault that the records of a run show, and what helps. */
import type { RunHistory } from './run-history.ts';

/** The faults that are looked for. */
export type DiagnosisName =
  | 'growing-aborts'
  | 'aborted-episodes'
  | 'wrong-template'
  | 'malformed-calls'
  | 'sampler-mismatch'
  | 'leaked-answer'
  | 'failing-tool'
  | 'stale-policy'
  | 'learning-rate-too-high'
  | 'reward-without-outcome'
  | 'monitor-rises'
  | 'truncated-by-tokens'
  | 'no-calls'
  | 'truncated-by-turns'
  | 'truncated-by-context'
  | 'truncated-by-deadline'
  | 'length-at-limit'
  | 'entropy-collapse'
  | 'process-reward-alone'
  | 'all-right'
  | 'all-wrong'
  | 'no-variance'
  | 'learning-rate-too-low'
  | 'constant-component';

/** The number that decided. */
export interface Evidence {
  /** A name of `metricNames`; `success` is the mean outcome reward as a share of its range. */
  metric: string;
  value: number;
  /** The value beyond which the diagnosis is made. */
  threshold: number;
}

/** Conditions of `toolenv show`, and of the viewer's list, that choose the episodes. */
export interface ExampleEpisodes {
  outcome?: string;
  mistake?: string;
  tool?: string;
  /** A range such as `3..`. */
  step: string;
}

/** What a rule finds in a run. */
export interface Finding {
  /** A sentence with numbers. */
  title: string;
  /** The step from which on the run has the fault. */
  since: number;
  evidence: Evidence;
  /** Episodes that show the fault, where metrics can tell which. */
  episodes?: ExampleEpisodes;
}

/** A fault, and how it is found. */
export interface DiagnosisRule {
  /** What is wrong, in a few words without numbers. */
  readonly fault: string;
  /** A sentence. */
  readonly remedy: string;
  /** Page and section below `docs`. */
  readonly page: string;
  /** Says nothing before the records have evidence: a number of steps, or of values of the metric. */
  find(run: RunHistory): Finding | undefined;
}

/** A fault of a run, with its remedy. */
export interface Diagnosis extends Finding {
  name: DiagnosisName;
  remedy: string;
  /** Address of the page and section with more on the remedy. */
  page: string;
}
