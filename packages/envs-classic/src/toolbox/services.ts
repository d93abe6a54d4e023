/** A company's services, and the thousand tools that they have: each service does the same things to objects of its own. */

/** Service → its objects. */
export const services: Readonly<Record<string, readonly string[]>> = {
  billing: ['invoice', 'refund', 'subscription', 'coupon', 'receipt'],
  shipping: ['parcel', 'label', 'pickup', 'route', 'claim'],
  hiring: ['applicant', 'interview', 'vacancy', 'offer', 'reference'],
  payroll: ['salary', 'bonus', 'payslip', 'deduction', 'allowance'],
  support: ['ticket', 'complaint', 'callback', 'survey', 'warranty'],
  warehouse: ['pallet', 'shelf', 'delivery', 'stocktake', 'forklift'],
  travel: ['flight', 'hotel', 'visa', 'itinerary', 'taxi'],
  legal: ['contract', 'lawsuit', 'patent', 'licence', 'settlement'],
  marketing: ['campaign', 'newsletter', 'banner', 'webinar', 'discount'],
  facilities: ['room', 'repair', 'badge', 'desk', 'parking'],
  security: ['incident', 'certificate', 'firewall', 'password', 'audit'],
  hosting: ['server', 'domain', 'database', 'backup', 'cluster'],
  learning: ['course', 'exam', 'mentor', 'workshop', 'diploma'],
  purchasing: ['order', 'supplier', 'quote', 'tender', 'catalogue'],
  research: ['experiment', 'sample', 'dataset', 'grant', 'publication'],
  insurance: ['policy', 'premium', 'damage', 'appraisal', 'beneficiary'],
  catering: ['menu', 'lunch', 'banquet', 'delivery', 'allergy'],
  fleet: ['van', 'driver', 'inspection', 'refuel', 'route'],
  events: ['booking', 'stage', 'speaker', 'ticket', 'sponsor'],
  archive: ['record', 'scan', 'folder', 'retention', 'loan'],
};

/** What tools do, in their own word and in the words of a colleague, where `#` stands for the object. */
export const verbs: Readonly<Record<string, string>> = {
  cancel: 'call off #',
  approve: 'give the go-ahead for #',
  postpone: 'put # back',
  duplicate: 'make another one like #',
  archive: 'put # away',
  assign: 'hand # over',
  lock: 'protect # from changes',
  export: 'save # to a file',
  escalate: 'take # to the boss',
  restore: 'bring # back',
};

/** What a tool does. */
export interface Operation {
  service: string;
  verb: string;
  object: string;
}

export const operations: readonly Operation[] = Object.entries(services).flatMap(([service, objects]) =>
  Object.keys(verbs).flatMap((verb) => objects.map((object) => ({ service, verb, object }))),
);

export function toolNameOf({ service, verb, object }: Operation): string {
  return `${service}_${verb}_${object}`;
}
