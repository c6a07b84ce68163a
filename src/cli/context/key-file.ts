import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { SoftwareKey } from '../../client/software-authenticator.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { parseJson } from '../../core/parse-json.ts'
import type { Io } from '../terminal/io.ts'
import { configDir, readPrivate } from './private-file.ts'

/** A software authenticator and its owner, as `svc user enroll --software` saves them. A secret. */
export type KeyFile = {
  version: 1
  device_id: string
  org_id: number
  user_id: string
  /** E.164. */
  mobile: string
  /** The names of the person and the organization at the enrollment, if the service returned them. */
  name?: string
  organization?: string
  key: SoftwareKey
}

const name = /^approver-\d{1,15}-[\w.~!*'()%-]{1,200}\.json$/

/** The default path of a key: next to the profiles. */
export const keyFilePath = (io: Pick<Io, 'env' | 'cwd'>, org_id: number, user_id: string): string =>
  join(configDir(io), `approver-${org_id}-${encodeURIComponent(user_id)}.json`)

/** The authenticators next to the profiles. */
export const savedFiles = (io: Io): string[] => {
  try {
    return readdirSync(configDir(io))
      .filter((file) => name.test(file))
      .sort()
      .map((file) => join(configDir(io), file))
  } catch {
    return []
  }
}

const isKeyFile = (value: unknown): value is KeyFile => {
  const { version, org_id, mobile, key } = (value ?? {}) as Partial<KeyFile>
  return (
    version === 1 &&
    typeof org_id === 'number' &&
    typeof mobile === 'string' &&
    typeof key?.credential_id === 'string' &&
    typeof key.private_jwk === 'object' &&
    typeof key.rp_id === 'string' &&
    (key.alg === 'ES256' || key.alg === 'EdDSA')
  )
}

/** The authenticator in a file. Refuses a file that others can read. */
export const readKeyFile = (file: string | undefined, io: Io): KeyFile => {
  if (file === undefined)
    throw usageError(
      'No software authenticator found; --authenticator FILE names one',
      'svc user enroll 7 --org acme --software',
    )
  const path = resolve(io.cwd, file)
  const text = readPrivate(path, 'authenticator')
  if (text === undefined)
    throw usageError(`File ${path} not found`, 'svc user enroll 7 --org acme --software')
  const value = parseJson(text)
  if (isKeyFile(value)) return value
  throw new SvcError('failed', 'authenticator_file', `${path} is not a software authenticator`, {
    hint: 'svc user enroll 7 --org acme --software creates one',
  })
}
