import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import type { Io } from '../terminal/io.ts'

/** SVC_CONFIG_DIR, else `svc` where the platform keeps configuration. A relative XDG_CONFIG_HOME is to be ignored. */
export const configDir = ({ env, cwd }: Pick<Io, 'env' | 'cwd'>): string => {
  if (env['SVC_CONFIG_DIR']) return resolve(cwd, env['SVC_CONFIG_DIR'])
  const xdg = env['XDG_CONFIG_HOME']
  if (xdg && isAbsolute(xdg)) return join(xdg, 'svc')
  if (process.platform === 'win32' && env['APPDATA']) return join(env['APPDATA'], 'svc')
  return join(env['HOME'] || homedir(), '.config', 'svc')
}
