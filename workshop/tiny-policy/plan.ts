/** Plans: the documents to look up for a question, and the thought after each document. */
import { type Entity, kinds, type QaRecord } from '@toolenv/envs-qa';

/** A document to look up. */
export interface Hop {
  title: string;
  /** Text that the policy writes after it has read the document, before its next move. */
  think: string;
  /** The relevant fact in the document: a name or a year. */
  found: string;
}

/** Hops in the order in which they are needed. */
export type Plan = readonly Hop[];

/**
 * The plan for a question of any family.
 *
 * After each document, the policy writes what it looked for in the document, so that it need not find these words in the
 * distant question (docs/decisions/workshop.md).
 */
export function planOf(record: QaRecord, entities: ReadonlyMap<string, Entity>): Plan {
  const titles = [...new Set(record.supporting_facts.map(([title]) => title))];
  if (record.type === 'claims') return claimPlan(record, entities, titles);
  if (record.type !== 'comparison') return chainPlan(record, titles);
  const hops = titles.map((title) => entities.get(title)!);
  return record.answer === 'yes' || record.answer === 'no'
    ? sameTargetPlan(record.question, hops)
    : yearPlan(record.question, hops);
}

/** `the company that published X`, then `the leader of Y` …, and last the question with the last name in place of these phrases. */
function chainPlan({ question, answer }: QaRecord, titles: readonly string[]): Plan {
  let rest = question;
  return titles.map((title, i) => {
    const next = titles[i + 1];
    if (next === undefined) return { title, think: rest, found: answer };
    const think = phraseIn(rest, title);
    rest = rest.replace(think, next);
    return { title, think, found: next };
  });
}

/** Like a chain. The last thought has what the last document says, next to what the question claims. */
function claimPlan(record: QaRecord, entities: ReadonlyMap<string, Entity>, titles: readonly string[]): Plan {
  const hops = chainPlan(record, titles);
  const last = hops.at(-1)!;
  const phrase = phraseIn(last.think, last.title);
  const { kind, links } = entities.get(last.title)!;
  const names = [last.title, `the ${kinds[kind].noun} ${last.title}`];
  const [relation] = Object.entries(kinds[kind].relations).find(([, { phrases }]) =>
    phrases.some((template) => names.some((name) => template.replace('{x}', name) === phrase)),
  )!;
  const found = links[relation]!.name;
  const claimed = last.think.slice(`Is ${phrase} `.length, -'?'.length);
  return [...hops.slice(0, -1), { ...last, think: `${phrase}: ${found}. ${found}; ${claimed}`, found }];
}

/** Writes both years with their names, then answers the question. */
function yearPlan(question: string, hops: readonly Entity[]): Plan {
  const subjects = hops.length === 2 ? hops : [hops[0]!, hops[2]!];
  const dated = hops.length === 2 ? hops : [hops[1]!, hops[3]!];
  const facts = subjects.map(({ name }, i) => `${name}: ${dated[i]!.year}.`);
  const thoughts = [facts[0]!, `${facts.join(' ')} ${question}`];
  return hops.map((hop) => {
    const which = dated.indexOf(hop);
    if (which >= 0) return { title: hop.name, think: thoughts[which]!, found: String(hop.year) };
    const { relation } = kinds[hop.kind].byTargetYear!;
    const target = hops[hops.indexOf(hop) + 1]!;
    return { title: hop.name, think: phraseOf(hop, relation!), found: target.name };
  });
}

/** Writes both targets next to each other, then answers whether they are the same. */
function sameTargetPlan(question: string, hops: readonly Entity[]): Plan {
  const last = hops.length === 2 ? hops : [hops[1]!, hops[3]!];
  const relation = sharedRelation(question, hops);
  const targets = last.map((entity) => entity.links[relation]!.name);
  const thoughts = [`${phraseOf(last[0]!, relation)}: ${targets[0]}.`];
  thoughts.push(`${phraseOf(last[1]!, relation)}: ${targets[1]}. ${targets.join('; ')}`);
  return hops.map((hop, i) => {
    const which = last.indexOf(hop);
    if (which >= 0) return { title: hop.name, think: thoughts[which]!, found: targets[which]! };
    return { title: hop.name, think: phraseIn(question, hop.name), found: hops[i + 1]!.name };
  });
}

/** The relation of a yes/no question, found by filling the subjects into each relation's templates. */
function sharedRelation(question: string, hops: readonly Entity[]): string {
  const direct = hops.length === 2;
  const subjects = direct
    ? hops.map((hop) => namesIn(question, hop))
    : [hops[0]!, hops[2]!].map(({ name }) => phraseIn(question, name));
  const asked = direct ? hops[0]! : hops[1]!;
  for (const [name, { same = [] }] of Object.entries(kinds[asked.kind].relations)) {
    const filled = same.map((template) => template.replace('{a}', subjects[0]!).replace('{b}', subjects[1]!));
    if (filled.includes(question)) return name;
  }
  throw new RangeError(`"${question}" asks about no relation of ${asked.name}.`);
}

function namesIn(question: string, { kind, name }: Entity): string {
  const { noun } = kinds[kind];
  return noun && question.includes(`the ${noun} ${name}`) ? `the ${noun} ${name}` : name;
}

function phraseOf({ kind, name }: Entity, relation: string): string {
  return kinds[kind].relations[relation]!.phrases[0]!.replace('{x}', name);
}

/** The phrase in a question about a name: `the river that flows through the city X`. */
function phraseIn(question: string, name: string): string {
  const phrases = Object.values(kinds).flatMap(({ noun, relations }) =>
    Object.values(relations).flatMap((relation) =>
      relation.phrases.flatMap((phrase) => [
        phrase.replace('{x}', name),
        phrase.replace('{x}', `the ${noun} ${name}`),
      ]),
    ),
  );
  const [longest] = phrases.filter((phrase) => question.includes(phrase)).sort((a, b) => b.length - a.length);
  if (longest === undefined) throw new RangeError(`"${question}" contains no phrase about ${name}.`);
  return longest;
}
