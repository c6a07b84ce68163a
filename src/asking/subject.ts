import type { SvcError } from '../core/errors.ts'
import { readSubject, SubjectError, type Subject } from '../receipt/subject.ts'

/** What would be done, as a subject. Throws what `refuse` makes of the problem: `data.argv must contain a command`. */
export const subjectFor = (
  subject: Parameters<typeof readSubject>[0],
  refuse: (problem: string) => SvcError,
): Subject => {
  try {
    return readSubject(subject)
  } catch (error) {
    throw error instanceof SubjectError ? refuse(`${error.path} ${error.message}`) : error
  }
}
