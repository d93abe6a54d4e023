/** @toolenv/training/reports: where metrics go besides the folder of a run, and charts of them. */
export type { MetricSink, ReportedMetrics, ReportedRun, RunEnd } from './metric-sink.ts';
export { mlflow } from './mlflow.ts';
export { type Curve, type SvgChartOptions, svgChart, svgCharts } from './svg-chart.ts';
export { wandb } from './wandb.ts';
