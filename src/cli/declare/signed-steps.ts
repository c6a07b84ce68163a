import { rowsIn } from '../../client/answer-data.ts'
import type { Client } from '../../client/client.ts'
import type { Input } from '../../contract/operation.ts'
import { rule } from '../../contract/rule.ts'
import { user } from '../../contract/user.ts'
import { SvcError } from '../../core/errors.ts'
import type { Step } from './plan.ts'
import { fieldsAfter } from './requests.ts'

type Changes = Input<typeof rule.setRules>

/** Applies all changes of groups and rules in one request, so that people approve them together. */
export const runSignedSteps = async (steps: readonly Step[], client: Client, org_id = 0): Promise<void> => {
  const idOf = async (mobile: string): Promise<string> => {
    const [found] = rowsIn(user.listUsers, await client.call(user.listUsers, { org_id, mobile }))
    if (found?.id === undefined)
      throw new SvcError('failed', 'no_user', `No user of the organization has the number ${mobile}`, {
        hint: 'Add the number to users in the file',
      })
    return String(found.id)
  }
  const groups = []
  for (const step of steps.filter(({ section }) => section === 'groups')) {
    const members: string[] = []
    for (const mobile of (fieldsAfter(step).members ?? []) as string[]) members.push(await idOf(mobile))
    groups.push({ name: step.key, members })
  }
  const changed = steps.filter(({ section }) => section === 'rules')
  const rules = changed.flatMap(({ key, whole }) => (whole ? [{ name: key, ...whole }] : []))
  const removed = changed.filter(({ action }) => action === 'delete').map(({ key }) => key)
  const changes = {
    ...(groups.length > 0 && { groups }),
    ...(rules.length > 0 && { rules }),
    ...(removed.length > 0 && { removed }),
  }
  await client.call(rule.setRules, { org_id, ...changes } as Changes)
}
