import type { TestService } from '../harness.ts'
import { cookieFor, moveDevice } from '../devices/moves.ts'
import { dataOf } from '../fixtures.ts'
import { answerTo, fromPage, fromPhone, phoneRegistration, type Phone } from './phone.ts'

/** Adds a device of the same person at the page: a link from this one, a registration, and this one's approval. */
export const addDevice = async (service: TestService, from: Phone, name: string): Promise<Phone> => {
  const { cookie, key } = from
  const { challenge } = dataOf(await fromPhone(service, 'POST', 'device-link/challenge', { cookie }))
  const signed = { challenge, response: answerTo(challenge, key) }
  const { url } = dataOf(await fromPhone(service, 'POST', 'device-link', { cookie, body: signed }))
  const token = url.split('#enroll=')[1]
  const ceremony = dataOf(await fromPhone(service, 'POST', 'enrollment', { body: { token } }))
  const made = phoneRegistration(ceremony)
  const body = { token, name, response: made.response }
  const { id } = dataOf(await service.call('POST', '/svc/v1/devices', { key: null, body, headers: fromPage }))
  dataOf(await moveDevice(service, from, id))
  return { ...from, device: id, key: made.key, cookie: await cookieFor(service, made.key) }
}
