/** The studies, by name. */
import { budget } from '../budget/study.ts';
import { failures } from '../failures/study.ts';
import { masks } from '../masks/study.ts';
import { price } from '../price/study.ts';
import { staleness } from '../staleness/study.ts';
import { table } from '../table/study.ts';
import type { Study } from './study.ts';

export const studies = { table, masks, budget, price, staleness, failures } as const satisfies Record<
  string,
  Study
>;
