import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Env } from '../../core/env.ts'
import { SvcError } from '../../core/errors.ts'

export const masterKeyFile = (dataDir: string): string => join(dataDir, 'master.key')

/** The 32 bytes of a master key as text. Fails with an SvcError that names where it came `from`. */
export const decodeMasterKey = (text: string, from: string): Buffer => {
  const trimmed = text.trim()
  const key = /^[0-9a-f]{64}$/i.test(trimmed) ? Buffer.from(trimmed, 'hex') : Buffer.from(trimmed, 'base64')
  if (key.length === 32 && /^[\w+/-]+=?$/.test(trimmed)) return key
  throw new SvcError(
    'failed',
    'bad_master_key',
    `${from} is not a master key: it must be 32 bytes as base64 or hex`,
    {
      hint: 'Set it to the key that this store was made with. A new store: openssl rand -hex 32',
    },
  )
}

/**
 * The 32 bytes that wrap every stored secret: from `SVC_MASTER_KEY`, or from a file that is made for a new store. A store
 * that has secrets already (`used`) cannot do with a new key.
 */
export const loadMasterKey = (dataDir: string, env: Env, used: boolean): Buffer => {
  if (env.SVC_MASTER_KEY) return decodeMasterKey(env.SVC_MASTER_KEY, 'SVC_MASTER_KEY')
  const file = masterKeyFile(dataDir)
  if (!existsSync(file)) {
    if (used)
      throw new SvcError('failed', 'no_master_key', `The master key of this store is missing: ${file}`, {
        hint: 'Set SVC_MASTER_KEY to it, put the file back, or restore a backup that holds it: svc service restore BACKUP.db --data-dir NEWFOLDER',
      })
    const key = randomBytes(32)
    writeFileSync(file, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true })
    return key
  }
  const stat = lstatSync(file)
  if (!stat.isFile() || (stat.mode & 0o077) !== 0)
    throw new SvcError('failed', 'open_master_key', `${file} can be read by others, or is no plain file`, {
      hint: `chmod 600 '${file}'`,
    })
  return decodeMasterKey(readFileSync(file, 'utf8'), file)
}
