/** toolenv: the parts of the command line that programs of one's own can use. */
export { parseFlags } from './command-line.ts';
export { type Curve, trainingCurves } from './curves.ts';
export { episodeText } from './episode-text.ts';
export { evaluationTable } from './evaluation-table.ts';
export { countText, scoreText, timeText } from './number-text.ts';
export { Progress } from './progress.ts';
export { Interrupted, runAsProcess } from './run-as-process.ts';
export { type Checkpoint, exportPolicy, newestCheckpoint, writeWhole } from './run-folder.ts';
export { type MetricsLine, RunLog, readMetrics } from './run-log.ts';
export { RunningScores } from './running-scores.ts';
export { chartColors, type Marker, type SvgChartOptions, svgChart } from './svg-chart.ts';
export { type TerminalChartOptions, terminalChart } from './terminal-chart.ts';
export { TrainingProgress } from './training-progress.ts';
