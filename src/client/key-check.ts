import { SvcError } from '../core/errors.ts'
import { isLoopbackHost } from '../core/loopback.ts'

/** A secret that is sent with requests, as errors name it. */
export type Noun = 'API key' | 'ask key' | 'bearer'

/** Throws if a key cannot be sent in a header. The message never contains the key. */
export const checkKey = (key: string, where: string, noun: Noun = 'API key'): string => {
  if (/^[\x21-\x7e]{1,4096}$/.test(key)) return key
  throw new SvcError(
    'usage',
    'bad_key',
    `The ${noun} ${where} cannot be used: it must be one line of plain ASCII`,
    {
      detail:
        key === ''
          ? 'It is empty.'
          : 'It contains a space, a line break or another character that is not allowed in a key.',
    },
  )
}

/** Throws if a secret would leave this machine unencrypted. */
export const requirePrivateWay = (url: URL, noun: Noun = 'API key'): void => {
  if (url.protocol === 'https:' || isLoopbackHost(url.hostname)) return
  throw new SvcError('usage', 'insecure_url', `The ${noun} is not sent to ${url.origin} over plain http`, {
    hint: `Use https://${url.host}`,
  })
}
