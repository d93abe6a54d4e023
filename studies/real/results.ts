/** What a finished run leaves in the file of results. */

/** A test episode, to read. */
export interface ReadableEpisode {
  question: string;
  /** What the policy and its tools said. */
  turns: string[];
}

export interface Played {
  /** The score of each test task, and of each harder task. */
  scores: number[];
  harder?: number[];
  /** Of the first test tasks. */
  episodes: ReadableEpisode[];
  /** Tokens that the policy wrote in a test episode, on average. */
  tokens: number;
  /** The mean score of the episodes of each step. */
  curve: number[];
  /** Of training. */
  seconds: number;
}

export interface Result extends Played {
  environment: string;
  row: string;
  seed: number;
  /** Updates of the rows that begin with the policy of another. */
  steps: number;
  /** Git commit of the code that ran; `+` marks changes that were not committed. */
  commit: string;
}
