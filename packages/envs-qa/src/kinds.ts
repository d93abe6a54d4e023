/** All kinds of entities, by name. */
import type { Kind, KindName } from './entity.ts';
import { band } from './kinds/band.ts';
import { book } from './kinds/book.ts';
import { city } from './kinds/city.ts';
import { company } from './kinds/company.ts';
import { film } from './kinds/film.ts';
import { mountain } from './kinds/mountain.ts';
import { museum } from './kinds/museum.ts';
import { person } from './kinds/person.ts';
import { river } from './kinds/river.ts';
import { university } from './kinds/university.ts';

export const kinds: Readonly<Record<KindName, Kind>> = {
  person,
  film,
  book,
  company,
  city,
  band,
  university,
  river,
  mountain,
  museum,
};

export const kindNames: readonly KindName[] = Object.keys(kinds) as KindName[];
