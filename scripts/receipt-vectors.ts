import { existsSync, writeFileSync } from 'node:fs'
import { verifyReceipt } from '../src/receipt/verify.ts'
import { nameOf } from '../src/receipt/sentence.ts'
import { now, ours } from '../test/receipt/specimen.ts'
import { createSigners } from '../test/receipt/vector.ts'
import { ofGrants } from '../test/receipt/vectors-of-grants.ts'
import { ofOne } from '../test/receipt/vectors-of-one.ts'
import { ofSeveral } from '../test/receipt/vectors-of-several.ts'

// Writes the vectors that are missing: `npx tsx scripts/receipt-vectors.ts`. Those that exist stay as they are, because other
// programs check themselves with them.

const write = async (): Promise<void> => {
  const signers = await createSigners()
  const jwks = { keys: [signers.issuer.publicJwk, signers.second.publicJwk] }
  const all = { ...(await ofOne(signers)), ...(await ofSeveral(signers)), ...(await ofGrants(signers)) }
  for (const [name, make] of Object.entries(all)) {
    const file = new URL(`../test/receipt/vectors/${name}.json`, import.meta.url)
    if (existsSync(file)) continue
    const { title, accept, attestation, expected } = await make()
    const wanted = { ...ours, ...expected }
    const { valid, checks } = await verifyReceipt(attestation, jwks, wanted, now)
    if (valid !== accept) throw new Error(`${name} is ${valid ? 'valid' : 'not valid'}`)
    const fails = checks.filter(({ ok }) => !ok).map(nameOf)
    const vector = { title, accept, fails, now: now.toISOString(), expected: wanted, jwks, attestation }
    writeFileSync(file, `${JSON.stringify(vector, null, 2)}\n`)
  }
}

void write()
