import { randomBytes } from 'node:crypto'
import type { Placeholder, PrintableRequest } from '../../client/curl.ts'

const looksSecret = (name: string): boolean => /secret|password|token|otp|key|credential/i.test(name)

/** What a person reads in place of a secret. */
const hidden = '***'

/** Puts placeholders in place of the secrets of a request that is printed. */
export const createPlaceholders = () => {
  const nonce = randomBytes(8).toString('hex')
  const all: Placeholder[] = []

  /** The placeholder for the value of a field. */
  const hide = (name: string, value: unknown): string => {
    // `MY_`: what is called TOKEN or PASSWORD may be set already, to something else.
    const base = `MY_${name.replace(/[^a-z0-9]+/gi, '_').toUpperCase()}`
    const taken = all.filter(({ variable }) => variable.replace(/_\d+$/, '') === base).length
    const token = `svc${nonce}n${all.length}x`
    all.push({
      token,
      variable: taken === 0 ? base : `${base}_${taken + 1}`,
      isText: typeof value === 'string',
    })
    return token
  }

  /** A copy without the values of what is named like a secret, at any depth. */
  const hideNamed = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value), (name, inner: unknown) => {
      const isHidden = typeof inner === 'string' && all.some(({ token }) => token === inner)
      return looksSecret(name) && !isHidden ? hide(name, inner) : inner
    }) as T

  const hideInUrl = (url: string): string => {
    const shown = new URL(url)
    for (const name of new Set(shown.searchParams.keys()))
      if (looksSecret(name)) shown.searchParams.set(name, hide(name, shown.searchParams.get(name)!))
    // spec: the one route of the specification with a token in its path
    shown.pathname = shown.pathname.replace(
      /(\/save\/faceauth\/success\/)(.+)/,
      (_, path: string, token: string) => path + hide('token', token),
    )
    return shown.href
  }

  const readable = (text: string): string =>
    all.reduce((shown, { token }) => shown.replaceAll(token, hidden), text)

  return {
    all,
    hide,
    hideNamed,
    hideInUrl,
    /** The request as a person reads it. */
    shown: (request: PrintableRequest): PrintableRequest =>
      JSON.parse(readable(JSON.stringify(request))) as PrintableRequest,
  }
}

export type Placeholders = ReturnType<typeof createPlaceholders>
