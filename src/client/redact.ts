import { fieldsOf } from '../contract/describe.ts'
import type { Operation } from '../contract/operation.ts'

const secretName = /token|key|secret|otp|password|credential/i

/** An address for a debug line: what the table marks secret, and what is named like a secret, stands as `***`. */
export const redactedUrl = (
  url: string,
  operation?: Operation,
  input: Record<string, unknown> = {},
): string => {
  const shown = new URL(url)
  for (const name of new Set(shown.searchParams.keys()))
    if (secretName.test(name)) shown.searchParams.set(name, '***')
  // spec: the one route of the specification with a token in its path
  shown.pathname = shown.pathname.replace(/(\/save\/faceauth\/success\/).*/, '$1***')
  const secrets = (operation ? fieldsOf(operation) : [])
    .filter(({ name, meta }) => meta.secret && typeof input[name] === 'string')
    .map(({ name }) => encodeURIComponent(input[name] as string))
  return secrets
    .filter((secret) => secret !== '')
    .reduce((text, secret) => text.replaceAll(secret, '***'), shown.href)
}
