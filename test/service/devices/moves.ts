import type { SoftwareKey } from '../../../src/client/software-authenticator.ts'
import { answerTo, begin, cookieOf, fromPhone } from '../page/phone.ts'
import { dataOf } from '../fixtures.ts'
import type { Answer, TestService } from '../harness.ts'

export type Holder = { key: SoftwareKey; cookie?: string }

/** Signs in with a device, whatever the service says to it. */
export const signIn = async (service: TestService, key: SoftwareKey, code?: string): Promise<Answer> => {
  const challenge = await begin(service)
  const body = { challenge, response: answerTo(challenge, key), ...(code !== undefined && { code }) }
  return fromPhone(service, 'POST', 'session', { body })
}

export const cookieFor = async (service: TestService, key: SoftwareKey): Promise<string> => {
  const answer = await signIn(service, key)
  dataOf(answer)
  return cookieOf(answer)
}

/** Approves or refuses a pending device with another one, as the page does it. */
export const moveDevice = async (
  service: TestService,
  { key, cookie }: Holder,
  device: string,
  move: 'approve' | 'refuse' | 'remove' | 'remove_last' = 'approve',
): Promise<Answer> => {
  const own = cookie ?? (await cookieFor(service, key))
  const path = `devices/${device}`
  const begun = await fromPhone(service, 'POST', `${path}/challenge`, { cookie: own, body: { move } })
  if (begun.status !== 200) return begun
  const { challenge } = dataOf(begun)
  return fromPhone(service, 'POST', `${path}/move`, {
    cookie: own,
    body: { move, challenge, response: answerTo(challenge, key) },
  })
}
