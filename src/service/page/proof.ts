import { forbidden, type Refusal } from '../../core/refusal.ts'
import type { Call, Outside } from '../call/call.ts'
import { requirePerson, type SignedIn } from '../call/caller.ts'
import type { Service } from '../call/service.ts'
import { activeDevices, devicesInAnyState, devicesOfMembers } from '../devices/active.ts'
import { deviceNotAuthentic } from '../devices/record.ts'
import { credentialOf, type DeviceRow, isAuthenticDevice, noteOnDevices } from '../devices/rows.ts'
import { readSite } from '../devices/site.ts'
import { createChallenge, type Question, readChallenge, type Signed, useChallenge } from './challenge.ts'
import { setConfirmed } from './session.ts'
import { membershipEnded } from './standing.ts'

const deviceNotRegistered = (): Refusal =>
  forbidden(
    'device_not_registered',
    'This device is not registered here, or no longer registered',
    'Ask for a new link: svc user enroll',
  )

type Answer = { challenge: string; response: { id: string } }

type Proof = {
  device: DeviceRow
  /**
   * In the transaction: uses up the challenge, stores the counter and, if the device signed in its own session, confirms it.
   * Fails unless the device still counts.
   */
  settle(call: Call): Promise<void>
}

/**
 * Verifies that a registered device, after it checked its user, signed a challenge for `question`. Fails with 403, and
 * with 410 for another challenge. Outside of a transaction. A question that names no device can be answered by pending and
 * revoked ones, too: the caller checks the state, and a device of a former member learns why not.
 */
export const proveDevice = async (
  { storage, keyring, publicUrl, dev }: Service,
  { challenge, response }: Answer,
  question: Question,
): Promise<Proof> => {
  const deviceId = 'device_id' in question ? question.device_id : undefined
  const inAnyState = deviceId === undefined
  const expires_at = readChallenge(keyring, challenge, question, storage.now())
  const found = inAnyState ? devicesInAnyState : activeDevices
  const [device, site] = await storage.read(async (db) => [
    (await found(db, dev)
      .where('d.credential_id', '=', response.id)
      .$if(deviceId !== undefined, (query) => query.where('d.id', '=', deviceId!))
      .selectAll('d')
      .executeTakeFirstOrThrow(() => deviceNotRegistered())) as DeviceRow,
    await readSite(db, publicUrl),
  ])
  if (!isAuthenticDevice({ keyring }, device)) throw deviceNotAuthentic()
  // Another program could put a device of another organization under the same id.
  if ('org_id' in question && device.org_id !== question.org_id) throw deviceNotRegistered()
  // The verifier is slow to load, and not every service needs it.
  const { verifyAssertion } = await import('../../receipt/assertion.ts')
  const checked = verifyAssertion(response, credentialOf(device), site, challenge)
  if (!checked.ok)
    throw forbidden(
      'assertion_refused',
      `The signature of the device is not valid: ${checked.problem}`,
      'Request a new challenge and sign it',
    )
  if (inAnyState) {
    const ended = await storage.read((db) => membershipEnded({ db }, device))
    if (ended) throw ended
  }
  const { counter, backed_up } = checked
  const devices = inAnyState ? devicesOfMembers : activeDevices
  return {
    device,
    settle: async (call) => {
      await useChallenge(call, challenge, expires_at)
      const { db } = call
      const stored = await noteOnDevices(db, {
        counter,
        backed_up: backed_up ? 1 : 0,
        last_used_at: call.now,
      })
        .where('id', '=', device.id)
        .where('org_id', '=', device.org_id)
        .where((one) => one.or([one('counter', '<', counter), one('counter', '=', counter === 0 ? 0 : -1)]))
        .where('id', 'in', devices(db, dev).where('d.id', '=', device.id).select('d.id'))
        .returningAll()
        .executeTakeFirstOrThrow(() => deviceNotRegistered())
      if (!isAuthenticDevice({ keyring }, stored)) throw deviceNotAuthentic()
      const { person } = call.caller
      if (person?.device_id === device.id) setConfirmed(call, person.cookie, device)
    },
  }
}

/** What a person signs for an input. */
type Asks<I> = (input: I, person: SignedIn) => Signed

export const questionTo = ({ org_id, user_id, device_id }: SignedIn, signed: Signed): Question => ({
  org_id,
  user_id,
  device_id,
  ...signed,
})

/** The handler that gives the challenge of what the person at the page signs. */
export const challengeFor =
  <I>(asks: Asks<I>) =>
  async (input: I, call: Call) => {
    const person = requirePerson(call.caller)
    return createChallenge(call, questionTo(person, asks(input, person)))
  }

/** The handler of what the person at the page signs. `work` settles the proof, once it knows that they may. */
export const signs = <I extends Answer, D>(
  asks: Asks<NoInfer<I>>,
  work: (call: Call, input: I, proof: Proof & { person: SignedIn }) => Promise<D | Refusal>,
) => ({
  before: async (input: I, { service, caller }: Outside) => {
    const person = requirePerson(caller)
    const proof = await proveDevice(service, input, questionTo(person, asks(input, person)))
    return (call: Call) => work(call, input, { ...proof, person })
  },
})
