import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { findAlteredRows } from '../../../src/service/custody/altered-rows.ts'
import { acme, ada, installHooks, service } from '../acme-with-ada.ts'
import { createApprover, decide, show } from '../approver.ts'
import { dataOf, refusal } from '../fixtures.ts'

installHooks()

const ask = () =>
  service.call('POST', '/svc/v1/approvals', {
    body: { action: 'Deploy 4.2', approvers: [ada.mobile] },
    key: acme.key,
  })
const update = (slug: string, key?: string) =>
  service.call('PUT', `/organization/${acme.id}/update`, { body: { slug }, key })

test('an organization whose slug another program has changed asks nobody until the operator sets it again', async () => {
  await service.runSql("UPDATE organizations SET slug = 'globex'")
  expect(refusal(await ask())).toEqual([409, 'organization_altered', []])
  expect(await findAlteredRows(service.service)).toEqual([
    { org_id: acme.id, kind: 'organization', id: String(acme.id) },
  ])
  dataOf(await update('globex', acme.key))
  expect(refusal(await ask())).toEqual([409, 'organization_altered', []])
  dataOf(await update('acme'))
  expect(dataOf(await ask()).status).toBe('pending')
  expect(await findAlteredRows(service.service)).toEqual([])
})

// A database runs a trigger in the middle of a transaction: after the service has checked a row, before it writes it again.

const onAnswerOf = (user: string, change: string) =>
  service.storage.write(
    (db) =>
      sql
        .raw(
          `create trigger mallory after update of status on ballots when new.user_id = ${user} begin ${change}; end`,
        )
        .execute(db),
    { org: acme.id },
  )

test.each(['approve', 'deny'] as const)(
  'a request that a trigger changes during the last answer (%s) is not made genuine',
  async (decision) => {
    const grace = await createApprover(service, acme.id, 2)
    const body = { action: 'Deploy 4.2', approvers: [ada.mobile, grace.mobile] }
    const { request_id } = dataOf(await service.call('POST', '/svc/v1/approvals', { body }))
    dataOf(await decide(service, request_id, ada.key))
    await onAnswerOf(grace.id, `update approvals set asked_by = 77 where request_id = '${request_id}'`)
    expect(refusal(await decide(service, request_id, grace.key, { decision }))).toEqual([
      403,
      'request_not_authentic',
      [],
    ])
    expect(dataOf(await show(service, request_id)).status).toBe('pending')
    expect(await findAlteredRows(service.service)).toEqual([])
  },
)

test('a request that another program changed is not made genuine by deleting one of its people', async () => {
  const grace = await createApprover(service, acme.id, 2)
  const body = { action: 'Deploy 4.2', approvers: [ada.mobile, grace.mobile] }
  const { request_id } = dataOf(await service.call('POST', '/svc/v1/approvals', { body }))
  await service.storage.write(
    (db) => db.updateTable('approvals').set({ asked_by: 77 }).where('request_id', '=', request_id).execute(),
    { org: acme.id },
  )
  dataOf(await service.call('DELETE', `/organization/${acme.id}/delete/user/${grace.id}`))
  expect(await findAlteredRows(service.service)).toHaveLength(1)
})
