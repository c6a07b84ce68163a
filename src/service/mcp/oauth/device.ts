import { randomInt } from 'node:crypto'
import { scopes } from '../../../contract/scopes.ts'
import { randomToken, sha256 } from '../../../core/ids.ts'
import { addMs } from '../../../core/iso-time.ts'
import { countRows } from '../../call/pagination.ts'
import type { Service } from '../../call/service.ts'
import { terminalClient, terminalId } from '../../call/sign-in.ts'
import { lifetimeMs, seal } from '../../page/authorization.ts'
import { hashOfCode, refusedAnswer } from '../../page/terminal-code.ts'
import type { Addresses } from './addresses.ts'
import { OAuthProblem } from './answer.ts'
import { readTerminal } from './client.ts'
import { admit, tooBusy } from './registration.ts'

// A terminal without a browser (RFC 8628). Its person types a code elsewhere, so it never gets more than to ask and to read:
// a victim who types the code of somebody else cannot know whose terminal it is.

const waitingAtMost = 1_000
/** Without vowels, digits and look-alikes (RFC 8628, section 6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ'

const newCode = (): string => {
  const code = Array.from({ length: 8 }, () => letters[randomInt(letters.length)]!).join('')
  return `${code.slice(0, 4)}-${code.slice(4)}`
}

/** Lets a terminal wait for a person. Throws 429, or an OAuthProblem. */
export const startDevice = async (
  { storage, keyring }: Service,
  addresses: Addresses,
  form: Record<string, string | undefined>,
  address: string | undefined,
) => {
  if (form['client_id'] !== terminalClient)
    throw new OAuthProblem('invalid_client', 'Only svc itself signs in with a code', 401)
  const { installation, host } = readTerminal(form)
  const asked = new Set((form['scope'] ?? 'ask read').split(' '))
  const [device_code, user_code] = [randomToken(), newCode()]
  const [hash, code_hash] = [sha256(device_code), hashOfCode(user_code)]
  await storage.write(
    async (db) => {
      const now = storage.now()
      await admit({ db, now }, 'device_codes', address, {
        kind: 'device authorization',
        code: 'too_many_codes',
        what: 'Too many terminals asked from this address',
      })
      if ((await countRows(db.selectFrom('device_codes'))) >= waitingAtMost)
        throw tooBusy('Too many terminals wait. Try again in ten minutes')
      const expires_at = addMs(now, lifetimeMs.request)
      const request = seal(keyring, 'authorization request', {
        client_id: terminalId(installation, true),
        client_name: 'svc',
        redirect_uri: '',
        code_challenge: '',
        resource: addresses.resource,
        scopes: scopes.filter((one) => one === 'ask' || (one === 'read' && asked.has(one))),
        terminal: { installation, host, device: { hash, code_hash, address: address ?? null } },
        expires_at,
      })
      await db
        .insertInto('device_codes')
        .values({ code_hash, device_hash: hash, request, expires_at })
        .execute()
    },
    { org: 0, routine: true },
  )
  return {
    device_code,
    user_code,
    verification_uri: `${addresses.page}#agents`,
    expires_in: lifetimeMs.request / 1000,
    interval: 5,
  }
}

/** The authorization code of a terminal whose person consented. Throws an OAuthProblem while it has to wait. */
export const codeOfDevice = async ({ storage }: Service, hash: string): Promise<string> => {
  const row = await storage.read((db) =>
    db
      .selectFrom('device_codes')
      .where('device_hash', '=', hash)
      .where('expires_at', '>', storage.now())
      .select('answer')
      .executeTakeFirst(),
  )
  if (!row) throw new OAuthProblem('expired_token', 'Nobody consented in time')
  if (row.answer === null) throw new OAuthProblem('authorization_pending', 'Nobody has consented yet')
  if (row.answer === refusedAnswer) throw new OAuthProblem('access_denied', 'The person did not consent')
  return row.answer
}
