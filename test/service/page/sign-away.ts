import { dataOf } from '../fixtures.ts'
import type { Answer, TestService } from '../harness.ts'
import { answerTo, fromPhone, type Phone } from './phone.ts'

/** Signs an absence at the page. Returns what sends it. */
export const prepareAway = async (
  service: TestService,
  phone: Phone,
  wanted: object,
  signer = phone,
): Promise<() => Promise<Answer>> => {
  const { cookie } = phone
  const begun = await fromPhone(service, 'POST', 'away/challenge', { cookie, body: wanted })
  const { challenge } = dataOf(begun)
  const body = { ...wanted, challenge, response: answerTo(challenge, signer.key) }
  return () => fromPhone(service, 'POST', 'away', { cookie, body })
}

/** Sets an absence at the page. */
export const signAway = async (...signed: Parameters<typeof prepareAway>): Promise<Answer> =>
  (await prepareAway(...signed))()
