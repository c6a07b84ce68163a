import { generateKeyPairSync, sign, verify } from 'node:crypto'
import type { verifyReceipt as Verify } from '../../src/library/verify.ts'
import { createIssuer, now, ours, specimen } from '../receipt/specimen.ts'
import { median, type Figure } from './figures.ts'

/** So few that another program seldom runs in between. */
const times = 10

/** As a program imports it. */
const library = new URL('../../dist/library/svc.mjs', import.meta.url)

/** Two signatures that are there already, of keys that are there already: the least that any verifier does. */
const bareVerifications = (): (() => void) => {
  const message = Buffer.alloc(1_000, 7)
  const signed = [1, 2].map(() => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    return { publicKey, signature: sign('sha256', message, privateKey) }
  })
  return () => {
    for (const { publicKey, signature } of signed)
      if (!verify('sha256', message, publicKey, signature)) throw new Error('The signature must be valid')
  }
}

const took = async (act: () => unknown): Promise<number> => {
  const began = performance.now()
  for (let i = 0; i < times; i++) await act()
  return performance.now() - began
}

/** Measures both in turn, so that other load affects both. The first rounds warm up. */
export const receiptFigure = async (): Promise<Figure> => {
  const { verifyReceipt } = (await import(library.href)) as { verifyReceipt: typeof Verify }
  const issuer = await createIssuer('ES256')
  const text = JSON.stringify(await specimen(issuer))
  const bare = bareVerifications()
  const whole = async (): Promise<void> => {
    const { valid } = await verifyReceipt(text, issuer.jwks, ours, now)
    if (!valid) throw new Error('The receipt must be valid')
  }
  const ratios: number[] = []
  for (let round = 0; round < 600; round++) ratios.push((await took(bare)) / (await took(whole)))
  return {
    what: 'verifyReceipt / two bare P-256 verifications, per second',
    figure: median(ratios.slice(400)),
    unit: '',
    must: 0.25,
    beyond: 0.5,
    more: true,
  }
}
