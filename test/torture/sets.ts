import { verifyApproval } from '../../src/receipt/approval.ts'
import { verifyReceipt, type ReceiptVerification } from '../../src/receipt/verify.ts'
import { createIssuer, now } from '../receipt/specimen.ts'
import { makeSet, type Made } from './made-sets.ts'
import { type Case, kinds } from './set-mutations.ts'
import type { Result, Torture } from './torture.ts'

const genuine = 200
const mutationsEach = 100

/** What binds receipts of several people together. The broken variant believes the completion instead. */
const together = new Set([
  'agreement',
  'same question',
  'same request',
  'people',
  'keys',
  'exclusions',
  'lines',
  'assignment',
  'completed',
])

const isFinished = ({ checks }: ReceiptVerification): boolean => checks.at(-1)?.name === 'past'
const believing = (verdict: ReceiptVerification): boolean =>
  isFinished(verdict) && verdict.checks.every(({ name, ok }) => ok || together.has(name))

export const torture: Torture = {
  name: 'Mutated sets of receipts: by a stranger, and by the holder of the service key',
  must: '0 verify, all genuine ones verify',
  run: async (): Promise<Result> => {
    const [issuer, stranger] = [await createIssuer(), await createIssuer()]
    const hits: Record<string, number> = { genuine: 0 }
    const examples: string[] = []
    let [count, failures, control] = [0, 0, 0]
    const wrong = (example: string): void => {
      failures++
      examples.push(example.slice(0, 600))
    }
    const made: Made[] = []
    for (let at = 0; at < genuine; at++) made.push(await makeSet(issuer, at))
    // The most lenient options, so that nothing is detected only because other values were expected.
    const verify = (text: string) =>
      verifyReceipt(text, issuer.jwks, { allowDev: true, allowUnseparated: true }, now)
    const named = Object.entries(kinds)
    for (const [at, own] of made.entries()) {
      const text = JSON.stringify(own.set)
      const verdict = await verify(text)
      if (verdict.valid && (await verifyApproval(text, issuer.jwks))) hits.genuine!++
      else wrong(`a genuine one is rejected: ${JSON.stringify(verdict.checks.filter(({ ok }) => !ok))}`)
      const one: Case = { ...own, other: made[(at + 1) % made.length]!, issuer, stranger }
      for (let i = 0; i < mutationsEach; i++) {
        const [kind, mutate] = named[count++ % named.length]!
        const changed = JSON.stringify(await mutate(one))
        if (changed === text) throw new Error(`${kind} changed nothing`)
        hits[kind] = (hits[kind] ?? 0) + 1
        const mutated = await verify(changed)
        if (mutated.valid) wrong(`verifies: ${kind}: ${changed}`)
        // The service asks the same question of what it has stored, and allows for a clock that was set back.
        const isTime = /time/.test(kind)
        if (!isTime && (await verifyApproval(changed, issuer.jwks)))
          wrong(`the service uses it: ${kind}: ${changed}`)
        if (believing(mutated)) {
          control++
          const name = `believing the completion: ${kind}`
          hits[name] = (hits[name] ?? 0) + 1
        }
      }
    }
    return { count, failures, hits, control, examples: examples.slice(0, 8) }
  },
}
