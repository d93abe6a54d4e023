/** The environments of the library that the small policy learns besides questions of synthetic worlds. */
import { arithmetic } from './arithmetic.ts';
import { bank } from './bank.ts';
import { household } from './household.ts';
import { safe } from './safe.ts';
import { sql } from './sql.ts';
import { wordle } from './wordle.ts';

export const library = { arithmetic, household, bank, sql, wordle, safe };

export type LibraryName = keyof typeof library;
