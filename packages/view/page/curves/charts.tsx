/** Charts side by side. */
import type { Theme } from '../theme.ts';
import { Chart } from './chart.tsx';
import type { Axis, ChartData } from './chart-data.ts';
import type { ChartSpec } from './chart-specs.ts';

/** A chart and the values that it shows. */
interface DrawnChart {
  spec: ChartSpec;
  data: ChartData;
}

interface Props {
  charts: readonly DrawnChart[];
  axis?: Axis;
  isLogarithmic?: boolean;
  theme: Theme;
  /** Whether a curve is named after its run. */
  isOfRuns: boolean;
}

export function Charts({ charts, axis, isLogarithmic, theme, isOfRuns }: Props) {
  return (
    <div class="charts">
      {charts.map(({ spec, data }) => (
        <Chart
          key={spec.title}
          title={spec.title}
          unit={spec.unit}
          {...{ data, axis, isLogarithmic, theme, isOfRuns }}
        />
      ))}
    </div>
  );
}
