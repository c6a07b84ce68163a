import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Env } from '../../core/env.ts'
import { SvcError } from '../../core/errors.ts'
import { createWrapping, opens } from './wrapping.ts'

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

/**
 * The next master key of a data folder, beside the current one from before the store is wrapped under it until it takes
 * that one's place. Whichever of the two opens the marker is the key of the store, wherever a rotation broke off.
 */
export const pendingKeyFile = (dataDir: string): string => `${masterKeyFile(dataDir)}.next`

const syncFolder = (dataDir: string): void => {
  const descriptor = openSync(dataDir, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/** On the disk when this returns: before the store is committed under it. */
export const keepPending = (dataDir: string, key: Buffer): void => {
  writeFileSync(pendingKeyFile(dataDir), `${key.toString('base64')}\n`, { mode: 0o600, flush: true })
  syncFolder(dataDir)
}

/** Puts the pending key in the place of the current one. */
export const finishPending = (dataDir: string): void => {
  renameSync(pendingKeyFile(dataDir), masterKeyFile(dataDir))
  syncFolder(dataDir)
}

/** Whether a master key, as its file holds it, opens the marker of a store. */
export const textOpens = (text: string, marker: string): boolean => {
  try {
    return opens(createWrapping(decodeMasterKey(text, 'the file')), marker, 'custody')
  } catch {
    return false
  }
}

/** A file that is missing or cut off does not. */
const fileOpens = (file: string, marker: string): boolean =>
  existsSync(file) && textOpens(readFileSync(file, 'utf8'), marker)

/**
 * Ends a rotation that broke off: after the store was committed under the pending key, by finishing it; before that, by
 * forgetting the key, which nothing depends on. Where neither key opens the store, both stay. Answers whether it was finished.
 */
export const settlePending = (dataDir: string, marker: string | undefined): boolean => {
  const pending = pendingKeyFile(dataDir)
  if (!existsSync(pending) || marker === undefined) return false
  if (fileOpens(pending, marker)) {
    finishPending(dataDir)
    return true
  }
  if (fileOpens(masterKeyFile(dataDir), marker)) rmSync(pending)
  return false
}
