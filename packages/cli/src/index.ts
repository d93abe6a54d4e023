/** toolenv: the parts of the command line that other programs can use. */

export { episodeText } from './display/episode-text.ts';
export { countText, scoreText, timeText } from './display/number-text.ts';
export { Progress } from './display/progress.ts';
export { RunningScores } from './display/status-line.ts';
export { terminalChart } from './display/terminal-chart.ts';
export { TrainingProgress } from './display/training-progress.ts';
export { parseFlags } from './flags/parse-flags.ts';
export { Interrupted, runAsProcess } from './run/run-as-process.ts';
