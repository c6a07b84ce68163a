import { Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import type { Service } from '../call/service.ts'
import { activeDevices, devicesOfMembers } from '../devices/active.ts'
import { deviceNotAuthentic } from '../devices/record.ts'
import { credentialOf, type DeviceRow, isAuthenticDevice, noteOnDevices } from '../devices/rows.ts'
import { readSite } from '../devices/site.ts'
import { type Question, readChallenge, spendChallenge } from './challenge.ts'

const deviceOver = (): Refusal =>
  new Refusal(403, 'device_not_registered', 'This device is not registered here, or not any more', {
    hint: 'Ask for a new link: svc user enroll <user-id>',
  })

type Proof = {
  device: DeviceRow
  /** In the transaction: spends the challenge. Fails unless the device still counts and its counter went on; keeps the counter. */
  settle(call: Call): Promise<void>
}

type Which = {
  /** This device alone; whichever answers when left out. */
  deviceId?: number
  /** Pending and revoked ones too, for what they may still do; whoever calls looks at the state. */
  inAnyState?: boolean
}

/**
 * Verifies that a registered device signed a challenge that asks `question`, after it had checked its user. Fails with 403,
 * and with 410 for another challenge. Outside of a transaction.
 */
export const proveDevice = async (
  { storage, keyring, publicUrl, dev }: Service,
  { challenge, response }: { challenge: string; response: { id: string } },
  question: Question,
  { deviceId, inAnyState = false }: Which = {},
): Promise<Proof> => {
  const lapses = readChallenge(keyring, challenge, question, storage.now())
  const devices = inAnyState ? devicesOfMembers : activeDevices
  const [device, site] = await storage.read(async (db) => [
    (await devices(db, dev)
      .where('d.credential_id', '=', response.id)
      .$if(deviceId !== undefined, (query) => query.where('d.id', '=', deviceId!))
      .selectAll('d')
      .executeTakeFirstOrThrow(deviceOver)) as DeviceRow,
    await readSite(db, publicUrl),
  ])
  if (!isAuthenticDevice({ keyring }, device)) throw deviceNotAuthentic()
  // The verifier takes long to load, and not every service sees a device.
  const { verifyAssertion } = await import('../../receipt/assertion.ts')
  const checked = await verifyAssertion(response, credentialOf(device), site, challenge)
  if (!checked.ok)
    throw new Refusal(
      403,
      'assertion_refused',
      `The signature of the device does not count: ${checked.problem}`,
      { hint: 'Ask for a new challenge and sign it' },
    )
  const { counter } = checked
  return {
    device,
    settle: async (call) => {
      await spendChallenge(call, challenge, lapses)
      const { db } = call
      const kept = await noteOnDevices(db, { counter })
        .where('id', '=', device.id)
        .where('org_id', '=', device.org_id)
        .where((one) => one.or([one('counter', '<', counter), one('counter', '=', counter === 0 ? 0 : -1)]))
        .where('id', 'in', devices(db, dev).where('d.id', '=', device.id).select('d.id'))
        .returningAll()
        .executeTakeFirstOrThrow(deviceOver)
      if (!isAuthenticDevice({ keyring }, kept)) throw deviceNotAuthentic()
    },
  }
}
