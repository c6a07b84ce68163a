import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { hosts, type HostName } from '../../../src/cli/hook/host.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { svc } from '../svc.ts'

// A home folder with the configuration of hosts, new for each test.

export let folder: ReturnType<typeof temporaryFolder>

/** Installs the set-up hooks in the test file that calls it. */
export const installHooks = (): void => {
  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(() => folder.remove())
}

export const env = () => ({ HOME: folder.path })
export const run = (line: string) => svc(line, { env: env(), cwd: folder.path })
export const fileOf = (host: HostName) => hosts[host].files(env(), folder.path).user!
export const put = (host: HostName, text: string): string => {
  const file = fileOf(host)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}
export const read = (host: HostName) => JSON.parse(readFileSync(fileOf(host), 'utf8'))
export const to = '--to +12025550101'
