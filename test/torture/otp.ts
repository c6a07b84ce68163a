import type { mobile } from '../../src/contract/mobile.ts'
import { type Handlers, prepare } from '../../src/service/call/call.ts'
import { startServer } from '../../src/service/http/server.ts'
import { confirmRegistration } from '../../src/service/mobile/confirmation.ts'
import { Refusal } from '../../src/core/refusal.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { codeFor } from '../service/mobile-user.ts'
import { nextMobile, send } from './requests.ts'
import { race, type Tally } from './race.ts'

const howMany = 20
const guesses = 50
const resends = 5
const triesAtMost = 5

type Confirm = Pick<Handlers<typeof mobile>, 'confirmRegistration'>

/** The broken variant throws the refusal, so the attempt is rolled back with the transaction. */
const forgetful: Confirm = {
  confirmRegistration: {
    before: async (input, outside) => {
      const work = await prepare(confirmRegistration, input, outside)
      return async (call) => {
        const answer = await work(call)
        if (answer instanceof Refusal) throw answer
        return answer
      }
    },
  },
}

/** Counts how often each code is compared with a guess. */
const countComparisons = ({ keyring }: TestService): Map<string, number> => {
  const compared = new Map<string, number>()
  const { unwrap } = keyring
  keyring.unwrap = (wrapped, context) => {
    if (context.startsWith('otps:')) compared.set(wrapped, (compared.get(wrapped) ?? 0) + 1)
    return unwrap(wrapped, context)
  }
  return compared
}

/** Guesses the code of each number 50 times at once over HTTP, and requests a new code after every tenth guess. */
const storm = async (tally: Tally, numbers: number, handlers?: Confirm): Promise<void> => {
  const service = await startTestService({ handlers })
  const server = await startServer(
    { port: 0, host: '127.0.0.1' },
    () => (request, bindings) => service.app.fetch(request, bindings as object),
  )
  const root = `http://127.0.0.1:${server.port}/admin/public/api`
  const ask = async (path: string, body: object): Promise<number> => {
    const reply = await send(root + path, 'POST', service.operatorKey, JSON.stringify(body))
    const { code = `${path} ${reply.status}` } = (reply.body.data ?? {}) as { code?: string }
    tally.hit(code)
    return reply.status
  }
  const compared = countComparisons(service)
  try {
    for (let n = 0; n < numbers; n++) {
      const mobile = `+1${nextMobile()}`
      const profile = {
        first_name: 'Ada',
        last_name: 'Lovelace',
        country_code: '+1',
        mobile: mobile.slice(2),
      }
      await ask('/wp/register/mobile/user', profile)
      await ask('/wp/send/sms', { mobile })
      const first = await codeFor(service, mobile)
      compared.clear()
      const wrong = (i: number): string => String((Number(first) + 1 + i) % 1_000_000).padStart(6, '0')
      await Promise.all(
        Array.from({ length: guesses + resends }, (_, i) =>
          i % 11 === 10
            ? ask('/wp/send/sms', { mobile })
            : ask('/wp/confirm/register', { mobile, otp: wrong(i) }),
        ),
      )
      tally.count += guesses
      for (const times of compared.values())
        tally.wrong(`a code compared ${times} times`, Math.max(0, times - triesAtMost))
      const together = [...compared.values()].reduce((sum, times) => sum + times, 0)
      tally.wrong(`codes of a number compared ${together} times`, Math.max(0, together - triesAtMost))
      tally.hit('compared', together)
      // Even the right code is not compared any more.
      const otp = await codeFor(service, mobile)
      if ((await ask('/wp/confirm/register', { mobile, otp })) === 200)
        tally.wrong('the right code was accepted')
    }
  } finally {
    await server.stop()
    await service.close()
  }
}

export const torture = race(
  {
    name: `One-time codes: ${guesses} guesses at once over HTTP with ${resends} resends between them, for ${howMany} numbers`,
    must: `0 comparisons beyond ${triesAtMost} per code and number, and then the right code is refused`,
  },
  storm,
  { n: howMany, control: howMany, broken: forgetful },
)
