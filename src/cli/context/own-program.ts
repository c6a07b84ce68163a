import { realpathSync } from 'node:fs'
import type { Io } from '../terminal/io.ts'
import { configDir } from './private-file.ts'

// What another program needs to start svc.

/** The program that runs svc, by absolute paths: another program may have another PATH. */
export const ownProgram = (): [node: string, script: string] => [
  process.execPath,
  realpathSync(process.argv[1]!),
]

/** The folder of the profiles, if variables of this shell move it: another program does not pass them on. */
export const movedConfig = (io: Pick<Io, 'env' | 'cwd'>): { SVC_CONFIG_DIR?: string } =>
  io.env['SVC_CONFIG_DIR'] || io.env['XDG_CONFIG_HOME'] ? { SVC_CONFIG_DIR: configDir(io) } : {}
