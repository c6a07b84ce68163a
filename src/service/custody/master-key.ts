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
import { failure, SvcError } from '../../core/errors.ts'
import type { Wrapping } from '../call/keyring.ts'
import type { Db } from '../storage/schema.ts'
import { keepSetting, readSetting } from '../storage/settings.ts'
import { createWrapping, opens } from './wrapping.ts'

const markerName = 'custody'

export const masterKeyFile = (dataDir: string): string => join(dataDir, 'master.key')

/** The 32 bytes of a master key from its text. Throws an SvcError that names where it came `from`. */
export const decodeMasterKey = (text: string, from: string): Buffer => {
  const trimmed = text.trim()
  const key = /^[0-9a-f]{64}$/i.test(trimmed) ? Buffer.from(trimmed, 'hex') : Buffer.from(trimmed, 'base64')
  if (key.length === 32 && /^[\w+/-]+=?$/.test(trimmed)) return key
  throw new SvcError(
    'usage',
    'bad_master_key',
    `${from} is not a master key: it must be 32 bytes as base64 or hex`,
    { hint: 'Set it to the key that this store was created with. For a new store: openssl rand -hex 32' },
  )
}

/**
 * The master key, which wraps every stored secret: from `SVC_MASTER_KEY`, or from a file that is created for a new store.
 * A store that has secrets already (`used`) cannot be opened with a new key.
 */
export const loadMasterKey = (dataDir: string, env: Env, used: boolean): Buffer => {
  if (env.SVC_MASTER_KEY) return decodeMasterKey(env.SVC_MASTER_KEY, 'SVC_MASTER_KEY')
  const file = masterKeyFile(dataDir)
  if (!existsSync(file)) {
    if (used)
      throw failure(
        'no_master_key',
        `The master key of this store is missing: ${file}`,
        'Set SVC_MASTER_KEY to it, put the file back, or restore a backup that contains it: svc service restore BACKUP.db --data-dir NEWFOLDER',
      )
    const key = randomBytes(32)
    writeFileSync(file, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true })
    return key
  }
  const stat = lstatSync(file)
  if (!stat.isFile() || (stat.mode & 0o077) !== 0)
    throw failure(
      'open_master_key',
      `${file} can be read by others, or is not a regular file`,
      `chmod 600 '${file}'`,
    )
  return decodeMasterKey(readFileSync(file, 'utf8'), file)
}

/**
 * The file of the next master key during a rotation. It exists from before the store is wrapped under that key until it
 * replaces the current file, so that one of the two always opens the marker, wherever a rotation is interrupted.
 */
export const pendingKeyFile = (dataDir: string): string => `${masterKeyFile(dataDir)}.next`

const syncFolder = (dataDir: string): void => {
  const descriptor = openSync(dataDir, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/** Saves the next master key. It is on the disk when this returns, before the store is committed under it. */
export const savePending = (dataDir: string, key: Buffer): void => {
  writeFileSync(pendingKeyFile(dataDir), `${key.toString('base64')}\n`, { mode: 0o600, flush: true })
  syncFolder(dataDir)
}

/** Replaces the current key with the pending one. */
export const finishPending = (dataDir: string): void => {
  renameSync(pendingKeyFile(dataDir), masterKeyFile(dataDir))
  syncFolder(dataDir)
}

/** Whether a master key opens the marker of a store. */
export const keyOpens = (key: Buffer, marker: string): boolean =>
  opens(createWrapping(key), marker, markerName)

/** Whether a master key, as its file contains it, opens the marker of a store. */
export const textOpens = (text: string, marker: string): boolean => {
  try {
    return keyOpens(decodeMasterKey(text, 'the file'), marker)
  } catch {
    return false
  }
}

const fileOpens = (file: string, marker: string): boolean =>
  existsSync(file) && textOpens(readFileSync(file, 'utf8'), marker)

/**
 * Ends an interrupted rotation: finishes it if the store was committed under the pending key, and otherwise deletes that
 * key, which nothing depends on. If neither key opens the store, both stay. Returns whether it finished the rotation.
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

/**
 * The marker of a store whose rows are authenticated. It is wrapped, so only the master key can create one, and it shows
 * whether a master key is the right one.
 */
export const readMarker = (db: Db): Promise<string | undefined> => readSetting(db, markerName)

export const keepMarker = (db: Db, { wrap }: Wrapping, at: string): Promise<string> =>
  keepSetting(db, markerName, wrap(at, markerName))
