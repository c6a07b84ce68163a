import type { Issue } from '../../core/errors.ts'
import { Refusal } from '../../core/refusal.ts'

export const invalidFields = (issues: Issue[]): Refusal => {
  const [first] = issues
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  return new Refusal(422, 'invalid_field', `${first!.field} ${first!.message}${more}`, { issues })
}
