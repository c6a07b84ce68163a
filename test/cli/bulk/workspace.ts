import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../temporary-folder.ts'
import type { MemoryOptions } from '../memory-io.ts'
import { svc } from '../svc.ts'

/** A folder with files, and commands that run in it, in this process. */
export const openWorkspace = (baseUrl: string, key = 'key') => {
  const folder = temporaryFolder()
  const path = (name: string): string => join(folder.path, name)
  const env = { SVC_CONFIG_DIR: path('config'), SVC_BASE_URL: baseUrl, SVC_API_KEY: key }
  return {
    put: (name: string, content: string | Buffer): void => writeFileSync(path(name), content),
    svc: (args: string[], options: MemoryOptions = {}) => svc(args, { cwd: folder.path, env, ...options }),
    close: folder.remove,
  }
}
export type Workspace = ReturnType<typeof openWorkspace>
