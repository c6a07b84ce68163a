import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { decodeMasterKey, masterKeyFile } from './master-key.ts'
import { opens, createWrapping } from './wrapping.ts'

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
