/** failedElsewhere: a judge or a server failed, which says nothing of the environment. WARN-6 names it. */

/** A failing tool does not count: state that episodes share may have made it fail. */
const abortedElsewhere = /"outcome":\{"kind":"aborted","cause":\{"code":"(?!infrastructure\.tool_)/;

/** @param transition As JSON. */
export function failedElsewhere(transition: string): boolean {
  return abortedElsewhere.test(transition);
}
