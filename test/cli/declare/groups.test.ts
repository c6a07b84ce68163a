import { describe, expect, test } from 'vitest'
import { readDocument } from '../../../src/cli/declare/document.ts'
import { exportText } from '../../../src/cli/declare/export-text.ts'
import { planFrom } from '../../../src/cli/declare/plan.ts'
import { planText } from '../../../src/cli/declare/plan-output.ts'
import { dataOf, refusal } from '../../service/fixtures.ts'
import {
  ada,
  alan,
  create,
  grace,
  installHooks,
  list,
  membersOf,
  service,
  show,
} from '../../service/members/groups-stage.ts'
import { apply, clientOf, read } from './in-process.ts'

installHooks()

/** A file that holds only groups, by the mobile numbers of their members. */
const file = (groups: Record<string, string[]>) => {
  const rows = Object.entries(groups).map(
    ([name, members]) => `  - name: ${name}\n    members: [${members.map((one) => `"${one}"`).join(', ')}]\n`,
  )
  const head = 'svc: 1\norganization: { slug: acme, name: acme }\n'
  return readDocument(`${head}groups:${rows.length === 0 ? ' []\n' : `\n${rows.join('')}`}`, 'x')
}

describe('the groups of a file', () => {
  test('are created, changed and deleted', async () => {
    const client = clientOf(service)
    const made = await apply(file({ dba: [grace.mobile], sre: [ada.mobile, grace.mobile] }), client)
    expect(made.failed).toEqual([])
    expect(await membersOf('sre')).toEqual([ada.id, grace.id])
    await apply(file({ sre: [alan.mobile] }), client)
    expect(await membersOf('sre')).toEqual([alan.id])
    expect(refusal(await show('dba'))[0]).toBe(404)
  })

  test('are what an export writes', async () => {
    dataOf(await create('sre', [ada.id, grace.id]))
    const client = clientOf(service)
    const state = await read(client)
    const text = exportText(state)
    expect(text).toContain('groups:\n  - name: sre\n    members:')
    const { steps } = planFrom(readDocument(text, 'x'), state, { prune: true })
    expect(steps).toEqual([])
  })

  test('are shown with hidden numbers', async () => {
    const plan = planFrom(file({ sre: [ada.mobile] }), await read(clientOf(service)), { prune: false })
    const text = planText(plan, { colour: false, masked: true })
    expect(text).toContain('+ groups/sre  members +1••••••0101')
    expect(text).not.toContain(ada.mobile)
  })

  test('name somebody in the organization', async () => {
    const { failed } = await apply(file({ sre: ['+12025550199'] }), clientOf(service))
    expect(failed.map(({ error }) => error.message)).toEqual([
      'No user of the organization has the number +12025550199',
    ])
    expect(dataOf(await list())).toEqual([])
  })

  test('are left alone by a file without them', async () => {
    dataOf(await create('sre', [ada.id]))
    await apply(readDocument(`svc: 1\norganization: { slug: acme, name: acme }\n`, 'x'), clientOf(service))
    expect(await membersOf('sre')).toEqual([ada.id])
  })
})
