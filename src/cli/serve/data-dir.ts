import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Io } from '../terminal/io.ts'

/** Where the service of this person keeps its data when --data-dir does not say. */
export const dataDir = (io: Io, given?: string): string =>
  given === undefined
    ? join(io.env.XDG_DATA_HOME || join(io.env.HOME || homedir(), '.local', 'share'), 'svc')
    : resolve(io.cwd, given)
