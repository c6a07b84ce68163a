import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../temporary-folder.ts'
import type { MemoryOptions } from '../memory-io.ts'
import { svc } from '../svc.ts'

export type Line = Record<string, unknown> & { row?: number; status?: string; error?: { code: string } }

/** A folder with files, and commands that run in it, in this process. */
export const openWorkspace = (baseUrl: string, key = 'key') => {
  const folder = temporaryFolder()
  const path = (name: string): string => join(folder.path, name)
  const env = { SVC_CONFIG_DIR: path('config'), SVC_BASE_URL: baseUrl, SVC_API_KEY: key }
  return {
    path,
    put: (name: string, content: string | Buffer): void => writeFileSync(path(name), content),
    text: (name: string): string => readFileSync(path(name), 'utf8'),
    files: (): string[] => readdirSync(folder.path),
    has: (name: string): boolean => existsSync(path(name)),
    mode: (name: string): string => (statSync(path(name)).mode & 0o777).toString(8),
    lines: (name: string): Line[] =>
      readFileSync(path(name), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Line),
    svc: (args: string[], options: MemoryOptions = {}) => svc(args, { cwd: folder.path, env, ...options }),
    close: folder.remove,
  }
}
export type Workspace = ReturnType<typeof openWorkspace>
