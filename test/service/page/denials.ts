import { assert } from '../../../src/client/software-authenticator.ts'
import { challengeOf } from '../../../src/receipt/context.ts'
import { ask, post, show } from '../approver.ts'
import { dataOf } from '../fixtures.ts'
import { answerTo, fromPhone, readInbox, site } from './phone.ts'
import { acme, ada, service } from './visit.ts'

// What a test about denials does: Ada is asked, denies or reports, and lifts a mute.

export const request = async (more: object = {}, key = acme.key, phone = ada): Promise<string> =>
  dataOf(await ask(service, phone, more, key)).request_id
type Shown = { request_id: string; contexts: { deny: string }; reported?: { own?: true }; grant?: object }
export const pending = async (phone = ada): Promise<Shown[]> => (await readInbox(service, phone)).requests
export const statusOf = async (id: string) => dataOf(await show(service, id))
export const outcomeOf = async (id: string) =>
  dataOf(await fromPhone(service, 'GET', `requests/${id}`, { cookie: ada.cookie }))
export const deny = async (id: string, more: object = {}, userVerified = true) => {
  const { contexts } = (await pending()).find(({ request_id }) => request_id === id)!
  const challenge = challengeOf(new Uint8Array(Buffer.from(contexts.deny, 'base64url')))
  const response = assert(ada.key, { challenge, ...site }, userVerified)
  return post(service, id, { decision: 'deny', response, ...more })
}
export const report = async (id: string) => dataOf(await deny(id, { not_me: true }))

export const mutes = async (phone = ada) =>
  dataOf(await fromPhone(service, 'GET', 'mutes', { cookie: phone.cookie })).mutes

export const unmute = async (mute_id: string, { by = ada, signer = ada, of = mute_id } = {}) => {
  const { cookie } = by
  const path = `mutes/${of}`
  const { challenge } = dataOf(await fromPhone(service, 'POST', `${path}/challenge`, { cookie }))
  const body = { challenge, response: answerTo(challenge, signer.key) }
  return fromPhone(service, 'POST', `mutes/${mute_id}/end`, { cookie, body })
}
