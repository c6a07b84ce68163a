import { chmodSync, lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Io } from '../terminal/io.ts'
import { createStore } from '../context/profile-store.ts'
import { failed, note, ok, type Finding } from './finding.ts'

const privateFile = 0o600
const privateFolder = 0o700

/** Takes the rights of others away; a link and another user's file are left to a person. */
const close = (path: string, mode: number): boolean => {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats || stats.isSymbolicLink() || stats.uid !== process.getuid?.()) return false
  if ((stats.mode & 0o777) === mode) return false
  chmodSync(path, mode)
  return true
}

/** The profile file: readable by its owner alone, and as svc writes it. */
export const checkFiles = (io: Io): Finding => {
  const store = createStore(io)
  try {
    const count = Object.keys(store.read().profiles).length
    return count === 0
      ? note('profiles', 'there are no profiles yet', 'svc profile login, or svc serve, creates one')
      : ok('profiles', `${count} in ${store.path}, readable only by you`)
  } catch (error) {
    return failed('profiles', error)
  }
}

/** Leaves the profiles to their owner alone; says what was done. */
export const closeFiles = (io: Io): Finding => {
  const { path } = createStore(io)
  const mended = [close(dirname(path), privateFolder), close(path, privateFile)].some(Boolean)
  return note(
    'profiles',
    mended ? `removed the permissions of others: ${path}` : 'svc cannot repair this by itself',
  )
}
