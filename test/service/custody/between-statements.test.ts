import { expect, test } from 'vitest'
import { answerBallot, type VerifiedDecision } from '../../../src/service/approvals/answer.ts'
import { findBallot } from '../../../src/service/approvals/ballots.ts'
import { findApproval } from '../../../src/service/approvals/record.ts'
import type { DeviceRow } from '../../../src/service/devices/rows.ts'
import { useOnce } from '../../../src/service/approvals/consumption.ts'
import { proveApproval } from '../../../src/service/approvals/authentic.ts'
import type { Call } from '../../../src/service/call/call.ts'
import { useEnrollment } from '../../../src/service/devices/enrollment.ts'
import { acme, ada, installHooks, service } from '../acme-with-ada.ts'
import { ask, decide } from '../approver.ts'
import { createMember, dataOf } from '../fixtures.ts'
import { onPostgres } from '../storage/postgres-databases.ts'

// Another program writes the database after a row was proven and before the statement that uses it.

installHooks()

const callIn = (db: Call['db']) =>
  ({
    db,
    now: service.storage.now(),
    keyring: service.keyring,
    service: service.service,
    caller: { keyId: Number(acme.keyId), orgId: acme.id },
    audit: () => Promise.reject(new Error('nothing is used')),
  }) as unknown as Call

test('an approval is used only for what was proven', async () => {
  const { request_id } = dataOf(await ask(service, ada, {}, acme.key))
  dataOf(await decide(service, request_id, ada.key))
  const access = { orgId: acme.id, askedBy: Number(acme.keyId) }
  const proven = await proveApproval(service.service, request_id, access)
  const digest = 'f'.repeat(64)
  await service.runSql('UPDATE approvals SET subject_digest = ?', [digest])
  const use = service.storage.write((db) => useOnce(callIn(db), { request_id, digest }, proven), {
    org: acme.id,
  })
  await expect(use).rejects.toThrow('The request changed while it was used')
})

test('a device decides only if it was active when it was proven', async () => {
  const { request_id } = dataOf(await ask(service, ada, {}, acme.key))
  const answeredBy = (proven: Partial<DeviceRow>) =>
    service.storage.write(
      async (db) => {
        const row = await findApproval(db, request_id, { orgId: acme.id })
        const ballot = await findBallot(db, row, Number(ada.id))
        const device = await db.selectFrom('devices').selectAll().executeTakeFirstOrThrow()
        const decision = {
          row,
          ballot,
          device: { ...device, ...proven },
          counter: device.counter + 1,
          backedUp: false,
          decidedAt: service.storage.now(),
          input: { decision: 'approve' as const },
          ruling: [],
          attestation: null,
          digest: 'x',
        }
        return answerBallot(callIn(db), decision as VerifiedDecision, 'approved')
      },
      { org: acme.id },
    )
  expect(await answeredBy({ state: 'pending', bound_at: null })).toBeUndefined()
  expect(await answeredBy({ state: 'refused' })).toBeUndefined()
  expect(await answeredBy({})).toMatchObject({ request_id })
})

test('a link registers the device of the person for whom it was proven', async () => {
  const eve = await createMember(service, acme.id, 9)
  const path = `/svc/v1/organizations/${acme.id}/users/${eve.id}/enrollments`
  const { token } = dataOf(await service.call('POST', path, { key: acme.key, body: {} }))
  const used = service.storage.write(
    async (db) => {
      const call = callIn(db)
      const update = db.updateTable('enrollments').set({ user_id: Number(ada.id) })
      const swapped = db.withPlugin({
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => {
          await update.execute()
          return result
        },
      })
      return useEnrollment({ ...call, db: swapped } as Call, token)
    },
    { org: acme.id },
  )
  // PostgreSQL sees the change in its last statement, and uses nothing.
  const outcome = await used.catch((error: { code: string }) => error)
  expect(outcome).toMatchObject(onPostgres() ? { code: 'enrollment_over' } : { user_id: Number(eve.id) })
})
