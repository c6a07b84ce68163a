import { approval, approverKey, createIssuer, now, specimen } from '../receipt/specimen.ts'
import type { Receipt } from '../../src/receipt/receipt.ts'
import { verifyReceipt, type ReceiptVerification } from '../../src/receipt/verify.ts'
import { kinds, type Case } from './receipt-mutations.ts'
import type { Result, Torture } from './torture.ts'

const genuine = 1000
const mutationsEach = 20

const human = new Set(['challenge', 'user verified', 'software key', 'human signature', 'key signature'])

/** The broken variant runs all checks except those of the human's own signature. */
const withoutEvidence = ({ checks }: ReceiptVerification): boolean =>
  checks.at(-1)?.name === 'past' && checks.every(({ name, ok }) => ok || human.has(name))

const createIssuers = async () => ({
  active: await createIssuer('EdDSA'),
  retired: await createIssuer('ES256'),
  stranger: await createIssuer('EdDSA'),
})

type Issuers = Awaited<ReturnType<typeof createIssuers>>

const issuerOf = (at: number, { active, retired }: Issuers) =>
  at % 10 === 9 ? { issuer: retired, retired: active } : { issuer: active, retired }

const makeReceipts = async (issuers: Issuers): Promise<Receipt[]> => {
  const receipts: Receipt[] = []
  for (let at = 0; at < genuine; at++) {
    const context = {
      ...approval,
      request_id: `apr_${at}`,
      action: `${approval.action} no ${at}`,
      approver: { ...approval.approver, mobile: `+1202555${String(at).padStart(4, '0')}` },
      reason: at % 4 === 0 ? null : approval.reason,
      factors: approval.factors.slice(0, at % 3),
      decision: at % 5 === 0 ? ('deny' as const) : ('approve' as const),
    }
    const key = approverKey(at % 2 === 0 ? 'ES256' : 'EdDSA')
    receipts.push(await specimen(issuerOf(at, issuers).issuer, context, key, { dev: at % 7 === 0 }))
  }
  return receipts
}

/** The most lenient options, so that nothing is detected only because other values were expected. */
const verifier = ({ active, retired }: Issuers) => {
  const jwks = { keys: [active.publicJwk, retired.publicJwk] }
  const as = (text: string, status: 'approved' | 'denied') =>
    verifyReceipt(text, jwks, { status, allowDev: true }, now)
  return async (text: string): Promise<ReceiptVerification> => {
    const verdict = await as(text, 'approved')
    return verdict.receipts[0]?.status === 'denied' ? as(text, 'denied') : verdict
  }
}

export const torture: Torture = {
  name: 'Mutated receipts: by a stranger, and by the holder of the service key',
  must: '0 verify, all genuine ones verify',
  run: async (): Promise<Result> => {
    const issuers = await createIssuers()
    const verify = verifier(issuers)
    const receipts = await makeReceipts(issuers)
    const hits: Record<string, number> = { genuine: 0 }
    const examples: string[] = []
    const named = Object.entries(kinds)
    let [count, failures, control] = [0, 0, 0]
    for (const [at, receipt] of receipts.entries()) {
      const forms = [JSON.stringify(receipt), `${JSON.stringify(receipt, null, 2)}\n`, receipt.jws]
      const verdict = await verify(forms[at % 3]!)
      if (verdict.valid) hits.genuine!++
      else {
        failures++
        examples.push(`a genuine one is rejected: ${JSON.stringify(verdict.checks.at(-1))}`)
      }
      const one: Case = {
        receipt,
        other: receipts[(at + 1) % receipts.length]!,
        ...issuerOf(at, issuers),
        stranger: issuers.stranger,
      }
      for (let i = 0; i < mutationsEach; i++) {
        const [kind, mutate] = named[count++ % named.length]!
        const text = await mutate(one)
        if (forms.includes(text)) throw new Error(`${kind} changed nothing`)
        hits[kind] = (hits[kind] ?? 0) + 1
        const mutated = await verify(text)
        if (mutated.valid) {
          failures++
          examples.push(`verifies: ${kind}: ${text}`)
        }
        if (withoutEvidence(mutated)) {
          control++
          const name = `without the human's signature: ${kind}`
          hits[name] = (hits[name] ?? 0) + 1
        }
      }
    }
    return { count, failures, hits, control, examples: examples.slice(0, 8) }
  },
}
