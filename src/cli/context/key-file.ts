import { readdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { SoftwareKey } from '../../client/software-authenticator.ts'
import { attempted } from '../../core/attempted.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { parseJson } from '../../core/parse-json.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Io } from '../terminal/io.ts'
import type { Context } from './context.ts'
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
const savedFiles = (io: Io): string[] =>
  (attempted(() => readdirSync(configDir(io))) ?? [])
    .filter((file) => name.test(file))
    .sort()
    .map((file) => join(configDir(io), file))

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
      'svc user enroll ID --org ORG --software',
    )
  const path = resolve(io.cwd, file)
  const text = readPrivate(path, 'authenticator')
  if (text === undefined)
    throw usageError(`File ${path} not found`, 'svc user enroll ID --org ORG --software')
  const value = parseJson(text)
  if (isKeyFile(value)) return value
  throw new SvcError('failed', 'authenticator_file', `${path} is not a software authenticator`, {
    hint: 'svc user enroll ID --org ORG --software creates one',
  })
}

const mostShown = 5

/** Whose key it is: `Ada Lovelace (user 7) in Acme Corp`. Contains text from the service. */
const ownerOf = ({ name, organization, user_id, org_id }: KeyFile): string =>
  `${name === undefined ? `user ${user_id}` : `${name} (user ${user_id})`} in ${organization ?? `organization ${org_id}`}`

/** The authenticator that --authenticator names, the only saved one, or the one that the person at the terminal chooses. */
export const chooseKeyFile = async (file: string | undefined, context: Context): Promise<KeyFile> => {
  const saved = file === undefined ? savedFiles(context.io) : [file]
  if (saved.length < 2) return readKeyFile(saved[0], context.io)
  const named = saved.map((path) => {
    const key = readKeyFile(path, context.io)
    return { path, key, line: `${ownerOf(key)}, ${basename(path)}` }
  })
  const prompt = await context.prompt()
  if (prompt) {
    const lines = named.map(({ line }) => line)
    return named[lines.indexOf(await prompt.select('Whose software authenticator?', lines))]!.key
  }
  const commands = await Promise.all(
    named.slice(0, mostShown).map(async ({ path, key }) => {
      const again = await context.command!.again({ plus: ['--authenticator', path] })
      return `${again}   ${safeLine(ownerOf(key))}`
    }),
  )
  throw usageError(
    `Found ${saved.length} software authenticators: choose one with --authenticator`,
    commands.join('\n      '),
  )
}
