import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Env, withoutSecrets } from '../../core/env.ts'
import { interrupted, SvcError } from '../../core/errors.ts'
import { sameSecret } from '../../core/ids.ts'
import { safeLine } from '../../core/safe-text.ts'
import { answerFinish, type Outcome } from './finish-page.ts'

const ofPlatform: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** The program that opens addresses; undefined on a machine without a screen. */
const openerOf = (env: Env): string[] | undefined => {
  if (env['BROWSER']) return [env['BROWSER']]
  const hasScreen = process.platform !== 'linux' || env['DISPLAY'] || env['WAYLAND_DISPLAY']
  return hasScreen ? (ofPlatform[process.platform] ?? ['xdg-open']) : undefined
}

/** Opens an address in the browser of this machine, without waiting for it. Returns whether there is one to try. */
export const openInBrowser = (url: string, env: Env): boolean => {
  const opener = openerOf(env)
  if (!opener) return false
  const [file, ...args] = opener
  const child = spawn(file!, [...args, url], { detached: true, stdio: 'ignore', env: withoutSecrets(env) })
  // The address is printed, too.
  child.on('error', () => undefined)
  child.unref()
  return true
}

type Expected = { state: string; issuer: string }

/** The code in a redirect (RFC 6749, 4.1.2); undefined for a request that is not ours. Throws if the person said no. */
const codeIn = (query: URLSearchParams, { state, issuer }: Expected): string | undefined => {
  if (!sameSecret(query.get('state') ?? '', state) || query.get('iss') !== issuer) return undefined
  const error = query.get('error')
  if (error === null) return query.get('code') ?? undefined
  const why = safeLine(query.get('error_description') ?? error)
  throw new SvcError('denied', safeLine(error), `Not signed in: ${why}`, { hint: 'Nothing was saved' })
}

const endOf = ({ reason }: AbortSignal): SvcError =>
  (reason as Error | undefined)?.name === 'TimeoutError'
    ? new SvcError('expired', 'no_consent', 'Nobody signed in within ten minutes', {
        hint: 'Run the command again',
      })
    : interrupted()

/**
 * Receives the one redirect of a browser on this machine (RFC 8252, section 7.3). Other requests to the port, also of other
 * users of the machine, change nothing.
 */
export const receiveRedirect = async (signal: AbortSignal) => {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  const received = (expected: Expected): Promise<string> =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(endOf(signal)), { once: true })
      server.on('request', ({ url = '/', headers }, response) => {
        const [pathname, query] = url.split('?', 2)
        const answer = (outcome: Outcome, done?: () => void): void =>
          answerFinish(response, outcome, headers['accept-language'], done)
        try {
          const code = pathname === '/' ? codeIn(new URLSearchParams(query), expected) : undefined
          if (code === undefined) return answer('nothing')
          answer('signedIn', () => resolve(code))
        } catch (error) {
          answer('refused', () => reject(error as Error))
        }
      })
    })
  return { redirect_uri: `http://127.0.0.1:${port}/`, received, close }
}
